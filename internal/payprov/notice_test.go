package payprov_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
	"go.uber.org/goleak"

	"waitroom/internal/payprov"
)

const secret = "whsec_test"

// shop receives notices, judges them with the vendor's verifier, and answers
// as it is told.
type shop struct {
	t      *testing.T
	answer func(try int) int
	mu     sync.Mutex
	ids    []string
	kinds  []string
	about  []string
	news   chan struct{}
}

func newShop(t *testing.T, answer func(int) int) (*shop, payprov.Endpoint) {
	s := &shop{t: t, answer: answer, news: make(chan struct{}, 4096)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, payprov.Endpoint{URL: server.URL, Secret: secret}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e, err := webhook.ConstructEvent(body, r.Header.Get("Stripe-Signature"), secret)
	if err != nil {
		s.t.Errorf("the vendor's verifier refuses: %v", err)
	}
	s.mu.Lock()
	s.ids, s.kinds = append(s.ids, e.ID), append(s.kinds, string(e.Type))
	s.about = append(s.about, e.GetObjectValue("id"))
	try := len(s.ids)
	s.mu.Unlock()
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(s.answer(try))
	s.news <- struct{}{}
}

// told waits until n copies have come.
func (s *shop) told(n int) ([]string, []string) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		ids, kinds := append([]string{}, s.ids...), append([]string{}, s.kinds...)
		s.mu.Unlock()
		if len(ids) >= n {
			return ids, kinds
		}
		select {
		case <-s.news:
		case <-deadline:
			s.t.Fatalf("%d notices came, want %d", len(ids), n)
		}
	}
}

func always(status int) func(int) int { return func(int) int { return status } }

func settled(t *testing.T, p *payprov.Provider) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for p.Undelivered() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d notices are not delivered", p.Undelivered())
		}
		<-time.After(time.Millisecond)
	}
}

func TestEveryChangeIsToldAndSigned(t *testing.T) {
	s, endpoint := newShop(t, always(200))
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}})
	step := func(n int, want ...string) {
		t.Helper()
		if _, kinds := s.told(n); len(kinds) != n {
			t.Errorf("told %v, want %d", kinds, n)
		} else {
			seen := map[string]int{}
			for _, kind := range kinds[n-len(want):] {
				seen[kind]++
			}
			for _, kind := range want {
				if seen[kind] != 1 {
					t.Errorf("told %v, want one %s", kinds, kind)
				}
			}
		}
	}
	in := post(t, base+"/v1/payment_intents", "", "amount", "100", "currency", "eur")
	post(t, base+"/checkout/"+in.ID+"/decline", "")
	step(1, "payment_intent.payment_failed")
	post(t, base+"/checkout/"+in.ID+"/pay", "")
	step(2, "payment_intent.succeeded")
	post(t, base+"/v1/refunds", "", "payment_intent", in.ID)
	step(4, "charge.refunded", "refund.created")
	in = post(t, base+"/v1/payment_intents", "", "amount", "100", "currency", "eur")
	post(t, base+"/v1/payment_intents/"+in.ID+"/cancel", "")
	step(5, "payment_intent.canceled")
	settled(t, p)
}

func TestANoticeIsToldUntilItIsAcknowledged(t *testing.T) {
	answers := []int{500, 302, 404, 204}
	s, endpoint := newShop(t, func(try int) int { return answers[min(try, len(answers))-1] })
	p, base := start(t, payprov.Config{Backoff: time.Millisecond})
	p.Notify(endpoint)
	id := paid(t, base, "100")
	ids, _ := s.told(4)
	settled(t, p)
	for _, got := range ids {
		if got != ids[0] {
			t.Errorf("tries of one notice have ids %v", ids)
		}
	}
	if len(ids) != 4 {
		t.Errorf("told %d times about %s, want 4: 500, a redirect, 404, 204", len(ids), id)
	}
}

func TestNoticesTravelLateTwiceAndOutOfOrder(t *testing.T) {
	const payments, doubled = 300, 0.3
	s, endpoint := newShop(t, always(200))
	p, base := start(t, payprov.Config{
		Webhooks: []payprov.Endpoint{endpoint},
		Disorder: payprov.Disorder{Doubled: doubled, MaxDelay: 200 * time.Millisecond, Seed: 1},
	})
	var order []string
	for range payments {
		order = append(order, paid(t, base, "100"))
	}
	settled(t, p)
	ids, _ := s.told(payments)
	distinct := map[string]bool{}
	for _, id := range ids {
		distinct[id] = true
	}
	if len(distinct) != payments {
		t.Errorf("%d distinct notices for %d payments", len(distinct), len(order))
	}
	place := map[string]int{}
	for i, id := range order {
		place[id] = i
	}
	overtaken := 0
	for i, id := range s.about[1:] {
		if place[id] < place[s.about[i]] {
			overtaken++
		}
	}
	if overtaken < payments/10 {
		t.Errorf("%d notices were overtaken by their successor, want at least %d", overtaken, payments/10)
	}
	if twice := len(ids) - len(distinct); twice < payments/6 || twice > payments/2 {
		t.Errorf("%d of %d notices were told twice, want about %.0f", twice, payments, doubled*payments)
	}
}

func TestAFullBacklogRefusesAndLosesNothing(t *testing.T) {
	s, endpoint := newShop(t, always(500))
	var mu sync.Mutex
	failing := true
	s.answer = func(int) int {
		mu.Lock()
		defer mu.Unlock()
		if failing {
			return 500
		}
		return 200
	}
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}, Backlog: 3, Backoff: 5 * time.Millisecond})
	for range 3 {
		paid(t, base, "100")
	}
	pay := []string{"amount", "100", "currency", "eur", "confirm", "true", "payment_method", "pm_card_visa"}
	wantRefused(t, "a fourth", post(t, base+"/v1/payment_intents", "k", pay...), 429, "invalid_request_error", "rate_limit")
	mu.Lock()
	failing = false
	mu.Unlock()
	settled(t, p)
	if got := post(t, base+"/v1/payment_intents", "k", pay...); got.Status != "succeeded" {
		t.Errorf("the same key once there is room: %d %s", got.status, got.body)
	}
	settled(t, p)
	if n := len(p.Ledger().Payments); n != 4 {
		t.Errorf("%d payments, want 4", n)
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	p := payprov.New(payprov.Config{SecretKey: key, Webhooks: []payprov.Endpoint{{URL: server.URL, Secret: secret}}})
	front := httptest.NewServer(p.Handler())
	paid(t, front.URL, "100")
	p.Close()
	close(hang)
	front.Close()
	server.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
