package payprov_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/payprov"
)

func TestAKeyIsActedOnOnce(t *testing.T) {
	p, base := start(t, payprov.Config{})
	intents := base + "/v1/payment_intents"
	first := post(t, intents, "k", "amount", "100", "currency", "eur")
	again := post(t, intents, "k", "currency", "eur", "amount", "100")
	if first.ID == "" || first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %s, first: %s", again.body, first.body)
	}
	wantRefused(t, "other parameters", post(t, intents, "k", "amount", "101", "currency", "eur"), 400, "idempotency_error", "")
	wantRefused(t, "another place", post(t, intents+"/"+first.ID+"/cancel", "k", "amount", "100", "currency", "eur"), 400, "idempotency_error", "")
	if n := len(p.Ledger().Payments); n != 1 {
		t.Errorf("%d payments for one key, want 1", n)
	}
	// A request that was never begun leaves its key free.
	post(t, intents, "k2", "amount", "x", "currency", "eur")
	if got := post(t, intents, "k2", "amount", "100", "currency", "eur"); got.status != 200 {
		t.Errorf("after a malformed request: %d %s", got.status, got.body)
	}
}

func TestAKeyInUseIsAConflict(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	_, base := start(t, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		close(reached)
		<-release
		next.ServeHTTP(w, r)
	}})
	first := make(chan said, 1)
	go func() { first <- post(t, base+"/v1/payment_intents", "k", "amount", "100", "currency", "eur") }()
	<-reached
	wantRefused(t, "while in use", post(t, base+"/v1/payment_intents", "k", "amount", "100", "currency", "eur"),
		409, "idempotency_error", "idempotency_key_in_use")
	close(release)
	if got := <-first; got.status != 200 {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := payprov.New(payprov.Config{SecretKey: key})
		defer p.Close()
		create := func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/payment_intents", strings.NewReader("amount=100&currency=eur"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Idempotency-Key", "k")
			p.Handler().ServeHTTP(httptest.NewRecorder(), r)
		}
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {24*time.Hour - time.Second, 1}, {time.Second, 2}} {
			<-time.After(step.wait)
			create()
			if n := len(p.Ledger().Payments); n != step.want {
				t.Errorf("%v later: %d payments, want %d", step.wait, n, step.want)
			}
		}
	})
}
