package orders

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// How many orders of an event are refused, and since when, is told to whoever keeps its
// door: from the first refusal after the last that was opened, of that event alone.
func TestRefusalsAreCountedSinceTheLastOpening(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	one := uuid.New()
	for _, c := range []struct {
		what   string
		order  func() uuid.UUID
		opened int // the one that is not refused; 0: none is
		orders int16
		since  time.Duration
	}{
		{"all of many orders", uuid.New, 0, refusedOrders, 19 * time.Second},
		{"one order's", func() uuid.UUID { return one }, 0, 1, 19 * time.Second},
		{"all but one just now", uuid.New, 18, 2, time.Second},
		{"all since an early one", uuid.New, 1, refusedOrders, 18 * time.Second},
	} {
		w := Watch(nil, prometheus.NewRegistry())
		for n := 1; n <= 20; n++ {
			at := noon.Add(time.Duration(n) * time.Second)
			w.saw(map[bool]string{true: "answered", false: "refused"}[n == c.opened], NewPayment{Event: "cheap", Order: c.order()}, at, at)
		}
		w.saw("answered", NewPayment{Event: "another"}, noon, noon)
		r := w.news(noon.Add(20 * time.Second))
		i := slices.Index(r.events, "cheap")
		if len(r.events) != 2 || r.orders[i] != c.orders || r.refusing[i] == nil || *r.refusing[i] != c.since {
			t.Errorf("%s: %+v; want %d orders refused since %s", c.what, r, c.orders, c.since)
		}
		if again := w.news(noon.Add(20 * time.Second)); len(again.events) != 0 {
			t.Errorf("%s: told again of %v, of which nothing is new", c.what, again.events)
		}
		w.saw("answered", NewPayment{Event: "cheap"}, noon.Add(time.Minute), noon.Add(time.Minute))
		if r := w.news(noon.Add(time.Minute)); len(r.events) != 1 || r.orders[0] != 0 || r.refusing[0] != nil {
			t.Errorf("%s, then one is opened: %+v", c.what, r)
		}
		if w.news(noon.Add(2 * time.Hour)); len(w.openings) != 0 {
			t.Errorf("%s: %d events are remembered two hours later", c.what, len(w.openings))
		}
	}
}

// A refusal is one to Watched, as it comes through it, and an answer of the provider's.
func TestRefusalsAreSeen(t *testing.T) {
	w := Watch(refusing{}, prometheus.NewRegistry())
	if _, err := w.OpenPayment(t.Context(), NewPayment{Event: "e", Order: uuid.New()}); err != nil || len(w.of("e").orders) != 1 || w.answered.IsZero() || !w.failing.IsZero() {
		t.Errorf("one refusal: %+v, answered %s, failing %s, %v", w.of("e"), w.answered, w.failing, err)
	}
}

type refusing struct{}

func (refusing) OpenPayment(context.Context, NewPayment) (AtProvider, error) {
	return AtProvider{Refused: true}, nil
}
