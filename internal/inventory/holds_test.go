package inventory

import (
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/pgtest"
)

// What the house held back is on sale once it is freed: each seat once, however
// many free seats at the same time, and nothing of a sale that is closed.
func TestHeldSeatsAreFreedOnce(t *testing.T) {
	s := openSale(t, patientPool(t, 8), 30, 0, "")
	s.exec(`UPDATE seats SET held_back = true WHERE event_id = $1 AND pos < 20`, s.event)
	c := s.claimer(usual)
	if a := c.Claim(t.Context(), s.attempt("early", "k", s.seats[3])); a.Outcome == Claimed {
		t.Fatal("a seat that is held back was claimed")
	}
	var freed atomic.Int64
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			n, err := FreeHeld(t.Context(), s.pool, s.event, 3)
			if err != nil {
				t.Error(err)
			}
			freed.Add(n)
		})
	}
	group.Wait()
	if n := freed.Load(); n < 3 || n > 18 {
		t.Errorf("%d seats were freed by six of three each", n)
	}
	rest, err := FreeHeld(t.Context(), s.pool, s.event, 100)
	if err != nil || freed.Load()+rest != 20 {
		t.Errorf("%d and then %d seats were freed (%v), want 20 in all", freed.Load(), rest, err)
	}
	if a := c.Claim(t.Context(), s.attempt("late", "k", s.seats[3])); a.Outcome != Claimed {
		t.Errorf("a seat that was freed: %+v, want claimed", a)
	}
	s.exec(`UPDATE seats SET held_back = true WHERE event_id = $1 AND pos = 25`, s.event)
	s.exec(`UPDATE events SET control = 'closed' WHERE id = $1`, s.event)
	if n, err := FreeHeld(t.Context(), s.pool, s.event, 5); n != 0 || err != nil {
		t.Errorf("%d seats of a closed sale were freed (%v)", n, err)
	}
	if n, err := FreeHeld(t.Context(), pgtest.Open(t, s.pool.Config().ConnString()), "nobody", 5); n != 0 || err != nil {
		t.Errorf("%d seats of no event were freed (%v)", n, err)
	}
}
