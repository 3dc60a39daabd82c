package payprov

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// answer is what a request got, ready to be written, and to be written again.
type answer struct {
	status int
	body   []byte
	fresh  bool   // nothing was carried out: the next with this key starts anew
	retry  string // Stripe-Should-Retry, where the provider says it
	first  string // it is a repeat: the Request-Id of the first
}

// problem is the inside of the error envelope.
type problem struct {
	Type          string      `json:"type"`
	Code          string      `json:"code,omitempty"`
	DocURL        string      `json:"doc_url,omitempty"`
	DeclineCode   string      `json:"decline_code,omitempty"`
	Message       string      `json:"message"`
	Param         string      `json:"param,omitempty"`
	PaymentIntent *wireIntent `json:"payment_intent,omitempty"`
}

func ok(v any) answer { return answer{status: http.StatusOK, body: mustJSON(v)} }

// refusal is a no that was decided by what the account holds: it is kept.
func refusal(status int, e problem) answer {
	if e.Code != "" {
		e.DocURL = "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(e.Code, "_", "-")
	}
	return answer{status: status, body: mustJSON(map[string]problem{"error": e})}
}

// invalid is a no to the request itself: it was never begun.
func invalid(status int, code, param, format string, args ...any) answer {
	a := refusal(status, problem{
		Type: "invalid_request_error", Code: code, Param: param, Message: fmt.Sprintf(format, args...),
	})
	a.fresh = true
	return a
}

func busy(message string) answer {
	a := refusal(http.StatusTooManyRequests, problem{Type: "invalid_request_error", Code: "rate_limit", Message: message})
	a.fresh = true
	return a
}

// serverError is kept like any other answer: the same key gets it again, so
// asking again is of no use.
func serverError() answer {
	a := refusal(http.StatusInternalServerError, problem{
		Type: "api_error", Message: "Sorry! There was an error while talking to the provider. Please try again.",
	})
	a.retry = "false"
	return a
}

func lockTimeout() answer {
	a := refusal(http.StatusTooManyRequests, problem{
		Type: "invalid_request_error", Code: "lock_timeout", Message: "This object cannot be accessed right now " +
			"because another API request or Stripe process is currently accessing it.",
	})
	a.fresh, a.retry = true, "true"
	return a
}

func keyInUse() answer {
	return refusal(http.StatusConflict, problem{
		Type: "idempotency_error", Code: "idempotency_key_in_use",
		Message: "There is currently another in-progress request using this Idempotent Key. Please try again later.",
	})
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.first != "" {
		w.Header().Set("Idempotent-Replayed", "true")
		w.Header().Set("Original-Request", a.first)
	}
	if a.retry != "" {
		w.Header().Set("Stripe-Should-Retry", a.retry)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // whoever asked is gone, or not: the answer is kept
	_, _ = w.Write([]byte("\n"))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	answer{status: status, body: mustJSON(v)}.write(w)
}

// mustJSON marshals our own plain structs; that cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
