package stripe_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"waitroom/internal/payprov"
	"waitroom/internal/stripe"
)

// cutter cuts the connection of every second call: before it is carried out,
// or after, when the payment exists and the answer is lost.
func cutter(after bool) payprov.Fault {
	var calls atomic.Int32
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if calls.Add(1)%2 == 1 {
			next.ServeHTTP(w, r)
			return
		}
		if after {
			next.ServeHTTP(discard{}, r)
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// A connection that is cut as the request arrives: the provider's log shows as
// many POSTs as we sent, and we sent as many as we made calls.
func TestACutConnectionSendsNothingTwice(t *testing.T) {
	for _, after := range []bool{false, true} {
		p, base := provider(t, cutter(after))
		c := client(t, stripe.Settings{BaseURL: base})
		const calls = 20
		var sends atomic.Int32
		unknown := 0
		for i := range calls {
			pay := aPayment
			pay.Tags.Payment = fmt.Sprint("p-", i)
			_, err := c.Create(counted(t.Context(), &sends), pay)
			if errors.Is(err, stripe.ErrUnknown) {
				unknown++
			} else if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if posts(p) != calls || int(sends.Load()) != calls || unknown != calls/2 {
			t.Errorf("cut after=%v: %d calls, %d sends, %d POSTs in the provider's log, %d unknown; want %d, %d, %d, %d",
				after, calls, sends.Load(), posts(p), unknown, calls, calls, calls, calls/2)
		}
		want := calls / 2
		if after {
			want = calls
		}
		if n := len(p.Ledger().Payments); n != want {
			t.Errorf("cut after=%v: %d payments at the provider, want %d", after, n, want)
		}
	}
}

// A look is one send too: Go would repeat every GET by itself.
func TestALookIsOneSend(t *testing.T) {
	p, base := provider(t, cutter(false))
	c := client(t, stripe.Settings{BaseURL: base})
	const calls = 20
	var sends atomic.Int32
	for range calls {
		_, err := c.Retrieve(counted(t.Context(), &sends), "pi_none")
		if err != nil && !errors.Is(err, stripe.ErrUnknown) {
			t.Error(err)
		}
	}
	if n := len(p.Requests()); n != calls || int(sends.Load()) != calls {
		t.Errorf("%d looks, %d sends, %d in the provider's log", calls, sends.Load(), n)
	}
	if stripe.OneSend().Proxy != nil {
		t.Error("the environment can put a proxy between us and the provider")
	}
}

// What the transport's settings are for: Go's own client, given the same
// calls, lets the provider see POSTs that nobody asked for.
func TestGosOwnClientWouldSendTwice(t *testing.T) {
	p, base := provider(t, cutter(false))
	const calls = 20
	var failed int
	for i := range calls {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/payment_intents", strings.NewReader("amount=1&currency=eur"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Idempotency-Key", fmt.Sprint("k-", i))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			failed++
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body) // or the connection is not kept
		resp.Body.Close()
	}
	if posts(p) <= calls {
		t.Errorf("%d calls, %d POSTs: the trap that this package avoids is gone, and the test beside this one shows nothing", calls, posts(p))
	}
	t.Logf("%d calls, %d POSTs in the provider's log, %d failed", calls, posts(p), failed)
}

// A lost answer is found again by the same call: the same key and bytes.
func TestALostAnswerIsFoundByTheSameCall(t *testing.T) {
	var calls atomic.Int32
	p, base := provider(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if calls.Add(1) > 1 {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(discard{}, r)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			conn.Close()
		}
	})
	c := client(t, stripe.Settings{BaseURL: base})
	if _, err := c.Create(t.Context(), aPayment); !errors.Is(err, stripe.ErrUnknown) {
		t.Fatalf("a lost answer: %v, want ErrUnknown", err)
	}
	a, err := c.Create(t.Context(), aPayment)
	in := intent(t, a, err)
	if l := p.Ledger(); len(l.Payments) != 1 || l.Payments[0].ID != in.ID {
		t.Errorf("found %s, the ledger has %+v", in.ID, l.Payments)
	}
}
