package payprov_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/payprov"
)

// try asks for a refund of id on a connection of its own, so that Go sends it
// once; what can be read of the answer, and the error that cut it.
func try(t testing.TB, base, idempotencyKey, id string) (got said, cut error) {
	t.Helper()
	form := url.Values{"payment_intent": {id}, "amount": {"100"}, "metadata[operation]": {"refund:" + idempotencyKey}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/refunds", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Idempotency-Key", idempotencyKey)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return said{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return said{status: resp.StatusCode, header: resp.Header, body: string(body)}, err
}

// Every fault by itself: what is said, what is carried out, and what the same
// key gets afterwards.
func TestAScriptedRequestGoesWrongAsItSays(t *testing.T) {
	for _, c := range []struct {
		script    string
		fault     string // its name in the log
		status    int
		cut       error
		body      string // a part of it
		committed int    // refunds after it
		again     int    // the status of the same request again
		replayed  bool
		refunds   int // at the end
	}{
		{"say=fin", "fin", 0, io.EOF, "", 0, 200, false, 1},
		{"say=rst", "rst", 0, syscall.ECONNRESET, "", 0, 200, false, 1},
		{"say=fin&commit=true", "commit+fin", 0, io.EOF, "", 1, 200, true, 1},
		{"say=rst&commit=true", "commit+rst", 0, syscall.ECONNRESET, "", 1, 200, true, 1},
		{"say=half", "half", 200, io.ErrUnexpectedEOF, `"object":"refund"`, 1, 200, true, 1},
		{"say=500", "500", 500, nil, `"api_error"`, 0, 500, true, 0},
		{"say=500&commit=true", "commit+500", 500, nil, `"api_error"`, 1, 500, true, 1},
		{"say=409", "409", 409, nil, `"idempotency_key_in_use"`, 0, 200, false, 1},
		{"say=429&retry_after=7s", "429", 429, nil, `"rate_limit"`, 0, 200, false, 1},
		{"say=429&code=lock_timeout", "429", 429, nil, `"lock_timeout"`, 0, 200, false, 1},
		{"say={}", "{}", 200, nil, "{}", 0, 200, false, 1},
		{"say={}&commit=true", "commit+{}", 200, nil, "{}", 1, 200, true, 1},
		{"say=html", "html", 200, nil, "<!doctype html>", 0, 200, false, 1},
		{"say=html&commit=true", "commit+html", 200, nil, "<!doctype html>", 1, 200, true, 1},
		{"say=html&status=502", "html", 502, nil, "<!doctype html>", 0, 200, false, 1},
		{"say=html&status=503&commit=true", "commit+html", 503, nil, "<!doctype html>", 1, 200, true, 1},
		{"say=307&location=http://elsewhere.example/", "307", 307, nil, "", 0, 200, false, 1},
		{"say=307&commit=true", "commit+307", 307, nil, "", 1, 200, true, 1},
		{"say=amount", "amount", 200, nil, `"amount":101,`, 1, 200, true, 1},
		{"say=refuse", "refuse", 402, nil, `"card_declined"`, 0, 402, true, 0},
		{"say=refuse&status=400&code=charge_disputed", "refuse", 400, nil, `"charge_disputed"`, 0, 400, true, 0},
		{"say=refuse&status=404&code=resource_missing", "refuse", 404, nil, `"resource_missing"`, 0, 404, true, 0},
		{"say=refuse&status=401", "refuse", 401, nil, `"invalid_request_error"`, 0, 200, false, 1},
		{"say=refuse&status=403", "refuse", 403, nil, `"invalid_request_error"`, 0, 200, false, 1},
		{"before=1ms&after=1ms", "before=1ms+after=1ms", 200, nil, `"amount":100,`, 1, 200, true, 1},
	} {
		t.Run(c.script, func(t *testing.T) {
			p, base := start(t, payprov.Config{})
			id := paid(t, base, "1000")
			play(t, base, "method=POST&path=/v1/refunds&"+strings.ReplaceAll(c.script, "{}", "%7B%7D"))
			got, cut := try(t, base, "k", id)
			if got.status != c.status || !errors.Is(cut, c.cut) || !strings.Contains(got.body, c.body) {
				t.Errorf("said %d %s (%v), want %d, %s, %v", got.status, got.body, cut, c.status, c.body, c.cut)
			}
			if n := len(p.Ledger().Refunds); n != c.committed {
				t.Errorf("%d refunds after it, want %d", n, c.committed)
			}
			again, cut := try(t, base, "k", id)
			if replayed := again.header.Get("Idempotent-Replayed") == "true"; cut != nil || again.status != c.again || replayed != c.replayed {
				t.Errorf("again: %d, replayed %v (%v), want %d, %v", again.status, replayed, cut, c.again, c.replayed)
			}
			if again.status == 200 && !strings.Contains(again.body, `"amount":100,`) {
				t.Errorf("again: %s, want the truth", again.body)
			}
			if n := len(p.Ledger().Refunds); n != c.refunds {
				t.Errorf("%d refunds at the end, want %d", n, c.refunds)
			}
			log := ended(t, p, 3)[1:]
			if log[0].Fault != c.fault || log[0].Status != c.status || log[0].Committed != (c.committed == 1) || log[0].Operation != "refund:k" {
				t.Errorf("logged as %+v", log[0])
			}
			if log[1].Fault != "" || log[1].Committed != (c.refunds > c.committed) || log[1].Replayed != c.replayed {
				t.Errorf("the second is logged as %+v", log[1])
			}
			_, after, _ := strings.Cut(c.script, "retry_after=")
			retry := map[string]string{"500": "false", "commit+500": "false"}[c.fault]
			if strings.Contains(c.script, "lock_timeout") {
				retry = "true"
			}
			if strings.TrimSuffix(after, "s") != got.header.Get("Retry-After") || got.header.Get("Stripe-Should-Retry") != retry {
				t.Errorf("headers: %v, again %v", got.header, again.header)
			}
		})
	}
}

func play(t testing.TB, base, script string) {
	t.Helper()
	resp, err := http.Post(base+"/_admin/scripts", "application/x-www-form-urlencoded", strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("script %s: %d %s", script, resp.StatusCode, body)
	}
}

// A key that has an answer is never lied to.
func TestAScriptLeavesTheFirstAnswerAlone(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "1000")
	first, _ := try(t, base, "k", id)
	if err := p.Play(payprov.Script{Path: "/v1/refunds", Say: payprov.Refuse}, payprov.Script{Path: "/v1/refunds", Say: payprov.ServerError}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, _ := try(t, base, "k", id); again.status != 200 || again.body != first.body {
			t.Errorf("again: %d %s, first %s", again.status, again.body, first.body)
		}
	}
}

// Scripts are met by those that they name, so often as they say, in order.
func TestAScriptIsMetByWhatItNames(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "10000")
	err := p.Play(
		payprov.Script{Method: "GET", Path: "/v1/refunds", Say: payprov.TooMany},
		payprov.Script{Operation: "refund:b*", Times: 2, Say: payprov.InUse},
		payprov.Script{Key: "c", Say: payprov.Refuse},
		payprov.Script{Method: "POST", Path: "/v1/payment_intents/*/cancel", Say: payprov.Empty},
	)
	if err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, k := range []string{"a", "b1", "b2", "b3", "c", "c2"} {
		got, _ := try(t, base, k, id)
		statuses = append(statuses, got.status)
	}
	statuses = append(statuses, get(t, base+"/v1/refunds").status, get(t, base+"/v1/refunds").status)
	if want := []int{200, 409, 409, 200, 402, 200, 429, 200}; !slices.Equal(statuses, want) {
		t.Errorf("answers %v, want %v", statuses, want)
	}
	if got := post(t, base+"/v1/payment_intents/"+id+"/cancel", ""); strings.TrimSpace(got.body) != "{}" {
		t.Errorf("cancelled: %s", got.body)
	}
	var met []int
	for _, s := range p.Scripts() {
		met = append(met, s.Met)
	}
	if want := []int{1, 2, 1, 1}; !slices.Equal(met, want) {
		t.Errorf("met %v, want %v", met, want)
	}
	if p.Clear(); len(p.Scripts()) != 0 {
		t.Error("a cleared script is there")
	}
}

// A share is met by chance, and by the same requests with the same seed.
func TestAShareIsMetBySeed(t *testing.T) {
	met := func(seed uint64) (all []int) {
		p, base := start(t, payprov.Config{Disorder: payprov.Disorder{Seed: seed}})
		play(t, base, "path=/v1/payment_intents&share=0.1&say=429")
		for i := range 1000 {
			if r := serve(t, p, http.MethodGet, "/v1/payment_intents", "", ""); r.Code == 429 {
				all = append(all, i)
			}
		}
		return all
	}
	one, again, other := met(1), met(1), met(2)
	if !slices.Equal(one, again) || slices.Equal(one, other) || len(one) < 60 || len(one) > 140 {
		t.Errorf("of 1000, %d met it, %d with the same seed, %d with another; want about 100, the same, others", len(one), len(again), len(other))
	}
}

// serve asks without a network, so that a virtual clock can be used.
func serve(t testing.TB, p *payprov.Provider, method, path, idempotencyKey, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Idempotency-Key", idempotencyKey)
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	return w
}

// A slow request holds its key until it is carried out; a slow answer does not.
func TestASlowRequestHoldsItsKeyASlowAnswerDoesNot(t *testing.T) {
	for _, c := range []struct {
		script payprov.Script
		second int
	}{
		{payprov.Script{Key: "k", Before: 3 * time.Second}, 409},
		{payprov.Script{Key: "k", After: 3 * time.Second}, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := payprov.New(payprov.Config{SecretKey: key})
			defer p.Close()
			if err := p.Play(c.script); err != nil {
				t.Fatal(err)
			}
			create := func() int {
				return serve(t, p, http.MethodPost, "/v1/payment_intents", "k", "amount=100&currency=eur").Code
			}
			var wait sync.WaitGroup
			first := 0
			wait.Go(func() { first = create() })
			<-time.After(time.Second)
			second := create()
			wait.Wait()
			log := p.Requests()
			if first != 200 || second != c.second || log[0].Took != 3*time.Second || log[1].At-log[0].At != time.Second || log[1].InFlight != 2 {
				t.Errorf("%s: %d after %v, the second %d at %v with %d in flight; want 200 after 3s, %d at 1s, 2",
					c.script, first, log[0].Took, second, log[1].At-log[0].At, log[1].InFlight, c.second)
			}
			if n := len(p.Ledger().Payments); n != 1 {
				t.Errorf("%s: %d payments, want 1", c.script, n)
			}
		})
	}
}

// Whoever sends the next call on seeing the end of the last is never under way
// beside it: not after a long list, nor after a cut.
func TestCallsInTurnAreNeverUnderWayAtOnce(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "100000")
	for range 50 {
		post(t, base+"/v1/refunds", "", "payment_intent", id, "amount", "100")
	}
	for _, cut := range []string{"fin", "rst", "half"} {
		for range 30 {
			play(t, base, "method=POST&path=/v1/refunds&say="+cut)
			_, _ = try(t, base, "k", id)
			if list := get(t, base+"/v1/refunds?limit=50"); len(list.body) < 10_000 {
				t.Fatalf("a list of %d bytes", len(list.body))
			}
		}
	}
	if p.Peak() != 1 || payprov.Peak(p.Requests()) != 1 {
		t.Errorf("peak %d, by the stamps %d, want 1", p.Peak(), payprov.Peak(p.Requests()))
	}
}

// What was begun is carried out though nobody waits for it any more.
func TestItGoesOnAfterTheClientHasHungUp(t *testing.T) {
	p, base := start(t, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Idempotency-Key") == "k" {
			<-r.Context().Done() // the client is gone
		}
		next.ServeHTTP(w, r)
	}})
	id := paid(t, base, "100")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/refunds", strings.NewReader("payment_intent="+id))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Idempotency-Key", "k")
	client := http.Client{Timeout: 100 * time.Millisecond}
	if resp, err := client.Do(req); err == nil {
		resp.Body.Close()
		t.Fatal("answered")
	}
	if r := ended(t, p, 2)[1]; !r.Committed || !r.HungUp || r.Status != 200 || p.Ledger().Payments[0].Refunded != 100 {
		t.Errorf("logged %+v, refunded %d; want it committed, hung up on, and 100", r, p.Ledger().Payments[0].Refunded)
	}
}

// ended is the log once it has n calls and each is over: an answer is read
// before the call that gave it is at its end.
func ended(t testing.TB, p *payprov.Provider, n int) []payprov.Request {
	t.Helper()
	eventually(t, "the calls' end", func() bool {
		log := p.Requests()
		return len(log) >= n && !slices.ContainsFunc(log, func(r payprov.Request) bool { return r.Took == 0 })
	})
	return p.Requests()
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s has not come", what)
		}
		<-time.After(time.Millisecond)
	}
}

func TestASenselessScriptIsRefused(t *testing.T) {
	p, base := start(t, payprov.Config{})
	for _, form := range []string{
		"say=nothing", "say=refuse&commit=true", "say=429&commit=1", "say=409&commit=1", "times=-1", "share=1.5", "share=NaN",
		"before=-1s", "say=429&retry_after=1500ms", "say=refuse&status=500", "say=rst&status=400", "say=html&status=307", "path=[", "answer=rst", "refund_then=succeeded", "refund_in=1s", "refund_pending=1&refund_then=lost", "times=x",
	} {
		resp, err := http.Post(base+"/_admin/scripts", "application/x-www-form-urlencoded", strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 400 {
			t.Errorf("%s: %d, want 400", form, resp.StatusCode)
		}
	}
	if err := p.Play(payprov.Script{}, payprov.Script{Times: -1}); err == nil || len(p.Scripts()) != 0 {
		t.Errorf("one of two is senseless: %v, %d in force", err, len(p.Scripts()))
	}
}
