package orders

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// Where every opening is refused nobody can pay, as where none is answered: once that
// holds for ten seconds and five orders, the provider is failing, and one opening ends
// it. Fewer orders, or less time, say nothing of anybody else.
func TestNothingButRefusalsIsAFailure(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	one := uuid.New()
	for _, c := range []struct {
		what   string
		every  time.Duration
		order  func() uuid.UUID
		opened int // the one that is not refused; 0: none is
		want   bool
	}{
		{"all of many orders, for 20 s", time.Second, uuid.New, 0, true},
		{"a slow sale's, for minutes", time.Minute, uuid.New, 0, true},
		{"all, within 2 s", 100 * time.Millisecond, uuid.New, 0, false},
		{"one order's, for 20 s", time.Second, func() uuid.UUID { return one }, 0, false},
		{"all but one just now", time.Second, uuid.New, 18, false},
		{"all since an early one", time.Second, uuid.New, 1, true},
	} {
		w := Watch(nil, prometheus.NewRegistry())
		for n := 1; n <= 20; n++ {
			at := noon.Add(time.Duration(n) * c.every)
			if n == c.opened {
				w.saw(true, at, at)
				continue
			}
			w.sawRefusal(c.order(), at, at)
		}
		_, _, _, _, failing := w.lately(noon.Add(20 * c.every))
		if (failing != nil) != c.want {
			t.Errorf("%s: failing %v, want %t", c.what, failing, c.want)
		}
		w.saw(true, noon.Add(time.Hour), noon.Add(time.Hour))
		if _, _, _, _, failing := w.lately(noon.Add(time.Hour)); failing != nil {
			t.Errorf("%s: failing still, after an opening", c.what)
		}
	}
}

// A refusal is one to Watched, as it comes through it.
func TestRefusalsAreSeen(t *testing.T) {
	w := Watch(refusing{}, prometheus.NewRegistry())
	if _, err := w.OpenPayment(t.Context(), NewPayment{Order: uuid.New()}); err != nil || len(w.refused) != 1 || w.answered.IsZero() {
		t.Errorf("one refusal: %d refused, answered %s, %v", len(w.refused), w.answered, err)
	}
}

type refusing struct{}

func (refusing) OpenPayment(context.Context, NewPayment) (AtProvider, error) {
	return AtProvider{Refused: true}, nil
}
