package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ledger is what the provider says that it has: the truth that money is judged
// by. Amounts are in its own units, currencies in lower case.
type ledger struct {
	Payments []theirPayment `json:"payment_intents"`
	Refunds  []theirRefund  `json:"refunds"`
}

type theirPayment struct {
	ID       string `json:"id"`
	Captured int64  `json:"captured"`
	Currency string `json:"currency"`
	Metadata struct {
		Event   string `json:"event"`
		Order   string `json:"order"`
		Payment string `json:"payment"`
	} `json:"metadata"`
}

type theirRefund struct {
	ID       string `json:"id"`
	Payment  string `json:"payment_intent"`
	Status   string `json:"status"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Key      string `json:"idempotency_key"`
	Metadata struct {
		Operation string `json:"operation"`
	} `json:"metadata"`
}

// came is a refund whose money arrived; goes is one that is under way.
func (r theirRefund) came() bool { return r.Status == "succeeded" }
func (r theirRefund) goes() bool { return r.Status == "pending" || r.Status == "requires_action" }

// minor is an amount of the provider's in minor units. It counts three
// currencies in units of its own.
func minor(amount int64, currency string) int64 {
	switch strings.ToUpper(currency) {
	case "ISK", "UGX":
		return amount / 100
	case "MGA":
		return amount * 100
	}
	return amount
}

func readLedger(in io.Reader) (l ledger, err error) {
	if err = json.NewDecoder(in).Decode(&l); err != nil {
		err = fmt.Errorf("audit: the provider's ledger: %w", err)
	}
	return l, err
}

// asked is what reached the provider about refunds.
type asked struct {
	sends []send
	looks map[string]int // by the provider's payment
	gone  map[string]int // by the provider's refund: looks at one that its ledger lacks
	other []string       // what is neither
}

type send struct{ key, operation string }

// request is one line of the provider's log.
type request struct {
	Seq       int64  `json:"seq"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	Query     string `json:"query"`
	Operation string `json:"operation"`
	Key       string `json:"idempotency_key"`
}

// readRequests reads the provider's log from its first request on: one that
// has forgotten its beginning proves nothing.
func readRequests(in io.Reader, l ledger) (asked, error) {
	a := asked{looks: map[string]int{}, gone: map[string]int{}}
	of := map[string]string{}
	for _, r := range l.Refunds {
		of[r.ID] = r.Payment
	}
	var last int64
	whole := true
	err := eachLine(in, "the provider's requests", func(r request) {
		last++
		whole = whole && r.Seq == last
		a.hear(r, of)
	})
	switch {
	case err != nil:
		return a, err
	case !whole:
		return a, errors.New("audit: the provider's log of requests is not whole")
	}
	return a, nil
}

// hear sorts one request in; of says whose payment's a refund is.
func (a *asked) hear(r request, of map[string]string) {
	below, ours := strings.CutPrefix(r.Path, "/v1/refunds")
	if !ours {
		return
	}
	refund, single := strings.CutPrefix(below, "/")
	payment := of[refund]
	if q, err := url.ParseQuery(r.Query); below == "" && err == nil {
		payment = q.Get("payment_intent")
	}
	switch {
	case r.Method == http.MethodPost && below == "":
		a.sends = append(a.sends, send{r.Key, r.Operation})
	case r.Method == http.MethodGet && payment != "":
		a.looks[payment]++
	case r.Method == http.MethodGet && single && refund != "" && !strings.Contains(refund, "/"):
		a.gone[refund]++
	default:
		a.other = append(a.other, fmt.Sprintf("%s %s?%s", r.Method, r.Path, r.Query))
	}
}
