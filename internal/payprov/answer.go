package payprov

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// answer is what a request got, ready to be written, and to be written again.
type answer struct {
	status   int
	body     []byte
	fresh    bool // nothing was carried out: the next with this key starts anew
	replayed bool
}

// problem is the inside of the error envelope.
type problem struct {
	Type          string      `json:"type"`
	Code          string      `json:"code,omitempty"`
	DeclineCode   string      `json:"decline_code,omitempty"`
	Message       string      `json:"message"`
	Param         string      `json:"param,omitempty"`
	PaymentIntent *wireIntent `json:"payment_intent,omitempty"`
}

func ok(v any) answer { return answer{status: http.StatusOK, body: mustJSON(v)} }

// refusal is a no that was decided by what the account holds: it is kept.
func refusal(status int, e problem) answer {
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

func keyInUse() answer {
	return refusal(http.StatusConflict, problem{
		Type: "idempotency_error", Code: "idempotency_key_in_use",
		Message: "There is currently another in-progress request using this Idempotent Key. Please try again later.",
	})
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // whoever asked is gone, or not: the answer is kept
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
