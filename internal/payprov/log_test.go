package payprov_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"waitroom/internal/payprov"
)

// cut ends the connection in the place of an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
}

func TestEveryCallIsLoggedWhateverBecomesOfIt(t *testing.T) {
	p, base := start(t, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Idempotency-Key") == "cut" {
			cut(w)
			return
		}
		next.ServeHTTP(w, r)
	}})
	id := paid(t, base, "100")
	post(t, base+"/v1/refunds", "op", "payment_intent", id, "metadata[operation]", "refund:1")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/refunds", strings.NewReader("payment_intent="+id))
	if err != nil {
		t.Fatal(err)
	}
	req.GetBody = nil
	req.Header.Set("Idempotency-Key", "cut")
	fresh := &http.Transport{DisableKeepAlives: true}
	if resp, err := fresh.RoundTrip(req); err == nil {
		resp.Body.Close()
		t.Fatal("a cut connection answered")
	}
	log := ended(t, p, 3)
	if len(log) != 3 {
		t.Fatalf("%d calls logged, want 3: %+v", len(log), log)
	}
	refund, lost := log[1], log[2]
	if refund.Operation != "refund:1" || refund.Key != "op" || refund.Status != 200 || refund.InFlight != 1 || refund.Path != "/v1/refunds" {
		t.Errorf("logged %+v", refund)
	}
	if lost.Key != "cut" || lost.Status != 0 || lost.At < refund.At {
		t.Errorf("the cut call is logged as %+v", lost)
	}
	if !refund.Committed || lost.Committed {
		t.Errorf("committed: %v and %v, want the refund and not the cut call", refund.Committed, lost.Committed)
	}
	var told []payprov.Request
	for line := range strings.Lines(get(t, base+"/_admin/requests?since=2&path=/v1/refunds").body) {
		var r payprov.Request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		told = append(told, r)
	}
	if len(told) != 2 || told[0] != refund || told[1] != lost {
		t.Errorf("told %+v, want what Requests says of refunds", told)
	}
	var ledger payprov.Ledger
	if err := json.Unmarshal([]byte(get(t, base+"/_admin/ledger").body), &ledger); err != nil || len(ledger.Refunds) != 1 || ledger.Payments[0].Refunded != 100 {
		t.Errorf("ledger %+v (%v)", ledger, err)
	}
}

func TestTheLogSaysHowManyWereUnderWay(t *testing.T) {
	const calls = 5
	arrived, release := make(chan struct{}, calls), make(chan struct{})
	p, base := start(t, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		arrived <- struct{}{}
		<-release
		next.ServeHTTP(w, r)
	}})
	done := make(chan said, calls)
	for range calls {
		go func() { done <- get(t, base+"/v1/payment_intents") }()
		<-arrived
	}
	close(release)
	for range calls {
		<-done
	}
	ended(t, p, calls)
	if p.Peak() != calls || payprov.Peak(p.Requests()) != calls || payprov.Peak(p.Requests()[3:]) != calls-3 {
		t.Errorf("peak %d, of the log %d, of its end %d, want %d, %d, %d", p.Peak(),
			payprov.Peak(p.Requests()), payprov.Peak(p.Requests()[3:]), calls, calls, calls-3)
	}
	for i, r := range p.Requests() {
		if r.InFlight != i+1 || r.Took <= 0 {
			t.Errorf("call %d: %d in flight for %v, want %d", i, r.InFlight, r.Took, i+1)
		}
	}
}

func TestAFullLogForgetsTheOldestAndShowsIt(t *testing.T) {
	p, base := start(t, payprov.Config{Log: 4})
	for range 10 {
		get(t, base+"/v1/payment_intents")
	}
	log := p.Requests()
	if len(log) != 4 || log[0].Seq != 7 || log[3].Seq != 10 {
		t.Errorf("kept %+v, want numbers 7 to 10", log)
	}
}

func BenchmarkCreateAndPay(b *testing.B) {
	_, base := start(b, payprov.Config{Objects: 10_000_000})
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			in := post(b, base+"/v1/payment_intents", "", "amount", "100", "currency", "eur", "metadata[order]", "o")
			post(b, base+"/checkout/"+in.ID+"/pay", "")
		}
	})
	b.ReportMetric(2*float64(b.N)/time.Since(start).Seconds(), "req/s")
}
