package inventory

import (
	"testing"
	"time"

	"waitroom/internal/pgtest"
)

// Where there is a line, nothing is claimed without a pass; where there is none,
// nothing by one, nothing before the opening, and nothing while the sale is paused;
// of these only a sale that is over is told so.
func TestAPassIsNeededWhereThereIsALine(t *testing.T) {
	pool := pgtest.New(t)
	for set, want := range map[string]map[bool]Outcome{ // with a pass, and without
		"admission = 'line'": {true: Claimed, false: SaleClosed},
		"admission = 'open'": {true: SaleClosed, false: Claimed},
		"admission = 'open', opens_at = now() + interval '1 hour'": {true: SaleClosed, false: SaleNotOpen},
		"admission = 'open', control = 'paused'":                   {true: SaleClosed, false: SalePaused},
		"admission = 'open', control = 'closed'":                   {true: SaleClosed, false: SaleClosed},
	} {
		s := openSale(t, pool, 2, 0, set)
		c := s.claimer(usual)
		for pass, want := range want {
			who := "nobody"
			if pass {
				who = "passed"
			}
			a := s.attempt(who, "k", s.seats[0])
			if !pass {
				a.Place, a.Take = 0, 0
			}
			if got := c.Claim(t.Context(), a); got.Outcome != want {
				t.Errorf("%s, with a pass %t: %s, want %s", set, pass, got.Outcome, want)
			}
		}
	}
}

// What an overdue order holds can be claimed, and counts as unsold; what was taken off
// sale does not. An attempt is told by its own name, orders by when they were made.
func TestWhatIsUnsold(t *testing.T) {
	s := openSale(t, pgtest.New(t), 1, 10, "admission = 'open'")
	c := s.claimer(usual)
	start, err := CountUnsold(t.Context(), s.pool, s.event, time.Time{}, nil)
	if err != nil || start.Free["Standing"] != 10 || len(start.Free) != 1 || len(start.Orders) != 0 {
		t.Fatalf("at first %+v, %v", start, err)
	}
	for _, who := range []string{"ann", "bob"} {
		a := s.standing(who, "k", 3)
		a.Place, a.Take = 0, 0
		if got := c.Claim(t.Context(), a); got.Outcome != Claimed {
			t.Fatalf("%s: %s", who, got.Outcome)
		}
	}
	s.exec(`UPDATE orders SET pay_by = now() - interval '1 second', extended_at = now() WHERE event_id = $1 AND account = 'ann'`, s.event)
	s.exec(`UPDATE seats SET held_back = true WHERE event_id = $1 AND pos = 10`, s.event)
	n, err := CountUnsold(t.Context(), s.pool, s.event, time.Time{}, []AttemptName{{"ann", "k"}, {"ann", "other"}, {"cy", "k"}})
	if err != nil || n.Free["Standing"] != 6 || len(n.Orders) != 1 || n.Orders[0] != (AttemptName{"ann", "k"}) {
		t.Errorf("%+v, %v; want 6 units and ann's order", n, err)
	}
	if n, err = CountUnsold(t.Context(), s.pool, s.event, start.At, nil); err != nil || len(n.Orders) != 2 {
		t.Errorf("since the start %v, %v; want both orders", n.Orders, err)
	}
}
