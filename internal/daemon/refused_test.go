package daemon_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
	"waitroom/internal/orders"
	"waitroom/internal/pgtest"
)

// tooCheap is a provider that refuses one event's price, and opens every other payment.
type tooCheap struct{}

func (tooCheap) OpenPayment(_ context.Context, p orders.NewPayment) (orders.AtProvider, error) {
	return orders.AtProvider{Refused: p.AmountMinor < 50}, nil
}

// What the replicas that open payments report of one event's refusals is what that
// event's line reads, and no other's; once one of its payments opens, neither does.
func TestOneEventsPriceShutsNoOtherDoor(t *testing.T) {
	pool := pgtest.New(t)
	w := orders.Watch(tooCheap{}, prometheus.NewRegistry())
	ledger := admission.NewLedger(pool, admission.NewMetrics(prometheus.NewRegistry()))
	open := func(event string, amountMinor int64) {
		t.Helper()
		if _, err := w.OpenPayment(t.Context(), orders.NewPayment{Event: event, Order: uuid.New(), AmountMinor: amountMinor}); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(event string) bool {
		t.Helper()
		if err := w.Report(t.Context(), pool, "a"); err != nil {
			t.Fatal(err)
		}
		p, err := ledger.Books().Paying(t.Context(), event)
		if err != nil || p.At.IsZero() {
			t.Fatal(p, err)
		}
		return !p.Since.IsZero()
	}
	for range 10 {
		open("cheap", 30)
	}
	if here, there := fails("cheap"), fails("another"); !here || there {
		t.Errorf("one event's price is refused: its payments fail %t, another's %t; want the first alone", here, there)
	}
	open("another", 2500)
	if here, there := fails("cheap"), fails("another"); !here || there {
		t.Errorf("and another's are opened: its payments fail %t, the other's %t; want the first alone", here, there)
	}
	open("cheap", 2500)
	if fails("cheap") {
		t.Error("its payments are opened again, and its door is shut still")
	}
	open("cheap", 30)
	for range 10 {
		open("third", 30)
	}
	if !fails("another") {
		t.Error("two events' payments are refused and none is opened: another's door is open")
	}
}
