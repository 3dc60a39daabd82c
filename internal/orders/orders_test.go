package orders_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// till is a hall with an inbox, and a provider that says what it is told to.
type till struct {
	*orderstest.Hall
	in orders.Inbox
}

// open makes a hall; what happened in it is judged when the test ends.
func open(t *testing.T, seats int) *till {
	t.Helper()
	pool := pgtest.New(t)
	h := &till{Hall: orderstest.NewHall(t, pool, seats)}
	h.in = orders.Inbox{Pool: pool, Install: "here", Read: read}
	t.Cleanup(func() { orderstest.Judge(t, pool) })
	return h
}

// read undoes body: these tests' provider writes its notices in our own words.
func read(body []byte) (orders.ProviderNotice, error) {
	var n orders.ProviderNotice
	err := json.Unmarshal(body, &n)
	n.Body = body
	return n, err
}

func body(t testing.TB, n orders.ProviderNotice) []byte {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// says makes a notice with an id of its own about a payment of the order.
func says(what orders.Says, order uuid.UUID, providerPayment string, amountMinor int64) orders.ProviderNotice {
	return orders.ProviderNotice{
		ID: "evt_" + uuid.NewString(), Kind: "payment_intent.told", Object: providerPayment, Says: what,
		Capture: orders.Capture{
			Provider: "stripe", ProviderPayment: providerPayment, Install: "here", Order: order,
			AmountMinor: amountMinor, ProviderAmount: amountMinor, Currency: orderstest.Currency,
		},
	}
}

// success says that one seat's price was captured.
func success(order uuid.UUID, providerPayment string) orders.ProviderNotice {
	return says(orders.SaysCaptured, order, providerPayment, orderstest.PriceMinor)
}

// receive delivers a notice and wants that outcome.
func (h *till) receive(t testing.TB, n orders.ProviderNotice, want orders.Outcome) {
	t.Helper()
	got, err := h.in.Receive(t.Context(), body(t, n))
	if err != nil || got != want {
		t.Fatalf("%s: outcome %q (%v), want %q", n.Object, got, err, want)
	}
}

// together runs f n times at the same instant.
func together(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			f(i)
		})
	}
	done.Wait()
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
