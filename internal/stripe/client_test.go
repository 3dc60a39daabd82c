package stripe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/payprov"
	"waitroom/internal/stripe"
)

const key = "sk_test_client"

var aPayment = stripe.Payment{
	Tags:        stripe.Tags{Install: "i", Event: "e", Order: "o", Payment: "p-1"},
	AmountMinor: 4998, Currency: "EUR",
}

func provider(t *testing.T, fault payprov.Fault) (*payprov.Provider, string) {
	t.Helper()
	p := payprov.New(payprov.Config{SecretKey: key, Fault: fault})
	t.Cleanup(p.Close)
	s := httptest.NewServer(p.Handler())
	t.Cleanup(s.Close)
	return p, s.URL
}

func client(t *testing.T, s stripe.Settings) *stripe.Client {
	t.Helper()
	if s.SecretKey == "" {
		s.SecretKey = key
	}
	if s.Limit == 0 {
		s.Limit = 5 * time.Second
	}
	c, err := stripe.NewClient(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func intent(t *testing.T, a stripe.Answer, err error) stripe.Intent {
	t.Helper()
	if err != nil || a.Intent == nil {
		t.Fatalf("answer %+v, refused %+v, %v; want an intent", a, a.Refused, err)
	}
	return *a.Intent
}

func TestAPaymentIsOpenedPaidAndLookedAt(t *testing.T) {
	p, base := provider(t, nil)
	c := client(t, stripe.Settings{BaseURL: base, Method: "alipay"})
	pay := aPayment
	pay.ReturnURL = "https://shop.example/o"
	a, err := c.Create(t.Context(), pay)
	in := intent(t, a, err)
	if in.CheckoutURL != base+"/checkout/"+in.ID || in.ClientSecret == "" || in.Tags != pay.Tags || in.ReceivedMinor != 0 {
		t.Errorf("opened: %+v", in)
	}
	a, err = c.Create(t.Context(), pay)
	if again := intent(t, a, err); again != in {
		t.Errorf("asked again: %+v, want %+v", again, in)
	}
	resp, err := http.Post(in.CheckoutURL+"/pay", "application/x-www-form-urlencoded", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	a, err = c.Retrieve(t.Context(), in.ID)
	if got := intent(t, a, err); got.Status != stripe.Succeeded || got.ReceivedMinor != 4998 || got.Currency != "EUR" {
		t.Errorf("paid: %+v", got)
	}
	a, err = c.Cancel(t.Context(), in.ID, 1)
	if err != nil || a.Refused == nil || a.Refused.Status != stripe.Succeeded || a.Refused.Later() || a.Refused.Ours() {
		t.Errorf("cancelling a paid one: %+v, %v; want refused because it succeeded", a.Refused, err)
	}
	if n := len(p.Ledger().Payments); n != 1 {
		t.Errorf("%d payments at the provider, want 1", n)
	}
}

func TestACancelledPaymentStaysCancelled(t *testing.T) {
	_, base := provider(t, nil)
	c := client(t, stripe.Settings{BaseURL: base})
	a, err := c.Create(t.Context(), aPayment)
	in := intent(t, a, err)
	for range 2 { // the second is the same call: the same answer
		a, err = c.Cancel(t.Context(), in.ID, 1)
		if got := intent(t, a, err); got.Status != stripe.Cancelled {
			t.Errorf("cancelled: %+v", got)
		}
	}
}

func TestANoIsTold(t *testing.T) {
	p, base := provider(t, nil)
	c := client(t, stripe.Settings{BaseURL: base})
	a, err := c.Create(t.Context(), aPayment)
	intent(t, a, err)
	other := aPayment
	other.AmountMinor++
	a, err = c.Create(t.Context(), other)
	if !errors.Is(err, stripe.ErrKept) || a != (stripe.Answer{}) {
		t.Errorf("another amount under the same key: %+v, %v; want ErrKept", a, err)
	}
	a, err = c.Retrieve(t.Context(), "pi_none")
	if err != nil || a.Refused == nil || a.Refused.Code != "resource_missing" || a.Refused.HTTP != 404 {
		t.Errorf("a payment that is not there: %+v, %v", a.Refused, err)
	}
	a, err = client(t, stripe.Settings{BaseURL: base, SecretKey: "sk_test_wrong"}).Create(t.Context(), aPayment)
	if err != nil || a.Refused == nil || !a.Refused.Ours() {
		t.Errorf("a wrong key: %+v, %v", a.Refused, err)
	}
	before := len(p.Requests())
	for _, bad := range []stripe.Payment{
		{Tags: aPayment.Tags, AmountMinor: 100, Currency: "XXX"},
		{Tags: aPayment.Tags, AmountMinor: 18601, Currency: "KWD"},
		{AmountMinor: 100, Currency: "EUR"},
	} {
		if _, err := c.Create(t.Context(), bad); !errors.Is(err, stripe.ErrNotSent) || errors.Is(err, stripe.ErrUnknown) {
			t.Errorf("%+v: %v, want ErrNotSent", bad, err)
		}
	}
	for _, id := range []string{"", "pi_1/../../refunds", "pi_1?x", "ch_1"} {
		if _, err := c.Cancel(t.Context(), id, 1); !errors.Is(err, stripe.ErrNotSent) {
			t.Errorf("cancel %q: %v, want ErrNotSent", id, err)
		}
	}
	if n := len(p.Requests()) - before; n != 0 {
		t.Errorf("%d calls reached the provider that could not be meant", n)
	}
}

func TestWhatCannotBeBelievedIsUnknown(t *testing.T) {
	real := `{"object":"payment_intent","id":"pi_1","status":"requires_action","amount":4998,"amount_received":0,"currency":"eur",` +
		`"metadata":{"install":"i","event":"e","order":"o","payment":"p-1"}}`
	for _, c := range []struct {
		what   string
		status int
		body   string
	}{
		{"an empty object", 200, `{}`},
		{"a page", 200, `<html>ok</html>`},
		{"nothing", 200, ``},
		{"another amount", 200, strings.Replace(real, "4998", "4999", 1)},
		{"another currency", 200, strings.Replace(real, "eur", "usd", 1)},
		{"another payment of ours", 200, strings.Replace(real, "p-1", "p-2", 1)},
		{"another object", 200, strings.Replace(real, `"payment_intent"`, `"charge"`, 1)},
		{"half an answer", 200, real[:40]},
		{"an endless answer", 200, real[:len(real)-1] + `,"x":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"accepted for later", 202, real},
		{"a redirect", 302, real},
		{"a redirect that keeps the method", 307, real},
		{"a failure", 500, `{"error":{"type":"api_error","message":"x"}}`},
		{"a gateway", 502, `<html>bad gateway</html>`},
		{"a no that is not the provider's", 403, `<html>blocked</html>`},
		{"a no without a reason", 400, `{}`},
	} {
		var calls atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		a, err := client(t, stripe.Settings{BaseURL: s.URL}).Create(t.Context(), aPayment)
		if !errors.Is(err, stripe.ErrUnknown) || errors.Is(err, stripe.ErrNotSent) || a != (stripe.Answer{}) {
			t.Errorf("%s: %+v, %v; want ErrUnknown", c.what, a, err)
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%s: %d calls, want 1", c.what, n)
		}
		s.Close()
	}
}

func TestBusyMeansLaterWithTheSameKey(t *testing.T) {
	for _, status := range []int{429, 409} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use","message":"x"}}`)
		}))
		a, err := client(t, stripe.Settings{BaseURL: s.URL}).Create(t.Context(), aPayment)
		if err != nil || a.Refused == nil || !a.Refused.Later() || a.Refused.Ours() || a.Refused.RetryAfter != 7*time.Second {
			t.Errorf("%d: %+v, %v; want later, after 7 s", status, a.Refused, err)
		}
		s.Close()
	}
}

func TestNotSentIsNeverCalledUnknown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	c := client(t, stripe.Settings{BaseURL: "http://" + l.Addr().String()})
	if _, err := c.Create(t.Context(), aPayment); !errors.Is(err, stripe.ErrNotSent) || errors.Is(err, stripe.ErrUnknown) {
		t.Errorf("nobody listens: %v, want ErrNotSent", err)
	}
	p, base := provider(t, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, stripe.Settings{BaseURL: base}).Create(over, aPayment); !errors.Is(err, stripe.ErrNotSent) {
		t.Errorf("the caller had gone: %v, want ErrNotSent", err)
	}
	if n := len(p.Requests()); n != 0 {
		t.Errorf("%d calls reached the provider, want 0", n)
	}
}

func TestACallEndsAtItsLimit(t *testing.T) {
	release := make(chan struct{})
	p, base := provider(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		<-release
		next.ServeHTTP(w, r)
	})
	defer close(release)
	began := time.Now()
	_, err := client(t, stripe.Settings{BaseURL: base, Limit: 50 * time.Millisecond}).Create(t.Context(), aPayment)
	if !errors.Is(err, stripe.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the limit: %v, want ErrUnknown", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a limit of 50 ms ended after %v", took)
	}
	if n := len(p.Requests()); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	good := stripe.Settings{BaseURL: "https://api.stripe.com", SecretKey: "sk_live_x", Limit: time.Second}
	if _, err := stripe.NewClient(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*stripe.Settings){
		"no address":                 func(s *stripe.Settings) { s.BaseURL = "" },
		"an address without a host":  func(s *stripe.Settings) { s.BaseURL = "https://" },
		"another scheme":             func(s *stripe.Settings) { s.BaseURL = "ftp://api.stripe.com" },
		"an address with a user":     func(s *stripe.Settings) { s.BaseURL = "https://a:b@api.stripe.com" },
		"no key":                     func(s *stripe.Settings) { s.SecretKey = "" },
		"a key with its line end":    func(s *stripe.Settings) { s.SecretKey = "sk_test_x\n" },
		"a live key over plain HTTP": func(s *stripe.Settings) { s.BaseURL = "http://127.0.0.1:1" },
		"no limit":                   func(s *stripe.Settings) { s.Limit = 0 },
	} {
		s := good
		change(&s)
		if _, err := stripe.NewClient(s); err == nil || strings.Contains(err.Error(), "sk_") {
			t.Errorf("%s: %v, want a refusal that shows no key", what, err)
		}
	}
}

// counted counts the requests that were written to a connection.
func counted(ctx context.Context, sends *atomic.Int32) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sends.Add(1) },
	})
}

func posts(p *payprov.Provider) (n int) {
	for _, r := range p.Requests() {
		if r.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// A key whose first answer was the provider's own failure, or which is another
// request's, never has an answer: that is told apart from an answer that was lost.
// What was opened under it is found by its name.
func TestAKeyWithoutAnAnswerIsTold(t *testing.T) {
	for _, commit := range []bool{false, true} {
		p, base := provider(t, nil)
		c := client(t, stripe.Settings{BaseURL: base})
		if err := p.Play(payprov.Script{Path: "/v1/payment_intents", Say: payprov.ServerError, Commit: commit}); err != nil {
			t.Fatal(err)
		}
		for i, kept := range []bool{false, true, true} {
			_, err := c.Create(t.Context(), aPayment)
			if !errors.Is(err, stripe.ErrUnknown) || errors.Is(err, stripe.ErrKept) != kept {
				t.Errorf("commit %t, call %d: %v; want unknown, kept %t", commit, i+1, err, kept)
			}
		}
		if id, err := c.Search(t.Context(), aPayment.Tags); err != nil || (id != "") != commit {
			t.Errorf("commit %t: found %q, %v", commit, id, err)
		}
		other := aPayment.Tags
		other.Payment = "p-2"
		if id, err := c.Search(t.Context(), other); err != nil || id != "" {
			t.Errorf("another payment: found %q, %v", id, err)
		}
	}
}

// What is no result of a search says nothing of whether the payment is there.
func TestASearchThatIsNotAnsweredFindsNothingOut(t *testing.T) {
	for what, fault := range map[string]payprov.Script{
		"500": {Say: payprov.ServerError}, "429": {Say: payprov.TooMany}, "{}": {Say: payprov.Empty}, "cut": {Say: payprov.FIN},
	} {
		p, base := provider(t, nil)
		if err := p.Play(fault); err != nil {
			t.Fatal(err)
		}
		if _, err := client(t, stripe.Settings{BaseURL: base}).Search(t.Context(), aPayment.Tags); err == nil {
			t.Errorf("%s passes for a payment that is not there", what)
		}
	}
}
