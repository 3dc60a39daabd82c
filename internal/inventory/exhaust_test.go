package inventory

import (
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pgtest"
)

// stockNotices are what was told of the event's stock, in order.
func (s *sale) stockNotices() []string {
	s.t.Helper()
	rows, _ := s.pool.Query(s.t.Context(), `SELECT kind || ' ' || version FROM notices WHERE subject = $1 ORDER BY id`, s.event+"/stock")
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// An event is told to be exhausted when its last seat is sold, not while an unpaid
// order may give one back; and to be open again when one is back; each once, however
// many look, however often.
func TestExhaustedAndReopenedAreToldOnceEach(t *testing.T) {
	s := openSale(t, pgtest.New(t), 2, 0, "order_limit = 2")
	c := s.claimer(usual)
	look := func() {
		t.Helper()
		var lookers sync.WaitGroup
		for range 4 {
			lookers.Go(func() {
				for range 3 {
					if _, err := TellStock(t.Context(), s.pool); err != nil {
						t.Error(err)
					}
				}
			})
		}
		lookers.Wait()
	}
	told := func(when string, want ...string) {
		t.Helper()
		look()
		if got := s.stockNotices(); !slices.Equal(got, want) {
			t.Fatalf("%s: told %q, want %q", when, got, want)
		}
	}
	told("free")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k", s.seats[0]))}, map[string]int{"claimed": 1})
	s.pay("a")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("b", "k", s.seats[1]))}, map[string]int{"claimed": 1})
	told("one is sold, one in a cart")
	s.end("b", Cancelled)
	told("that one is back")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("c", "k", s.seats[1]))}, map[string]int{"claimed": 1})
	s.pay("c")
	told("both are sold", "event.exhausted 1")
	s.exec(`UPDATE events SET control = 'paused', version = version + 1 WHERE id = $1`, s.event)
	told("the settings moved", "event.exhausted 1")
	s.exec(`INSERT INTO seats (event_id, pos, guid, kind, section, price_tier) VALUES ($1, 2, 'seat-2', 'numbered', 'Stalls', 'Front')`, s.event)
	told("there is another seat", "event.exhausted 1", "event.reopened 2")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("d", "k", s.seats[1]+1))}, map[string]int{"claimed": 1})
	told("it is in a cart", "event.exhausted 1", "event.reopened 2")
	s.pay("d")
	told("it is sold", "event.exhausted 1", "event.reopened 2", "event.exhausted 3")
	s.exec(`UPDATE events SET control = 'closed' WHERE id = $1`, s.event)
	s.exec(`INSERT INTO seats (event_id, pos, guid, kind, section, price_tier) VALUES ($1, 3, 'seat-3', 'numbered', 'Stalls', 'Front')`, s.event)
	told("the sale is closed", "event.exhausted 1", "event.reopened 2", "event.exhausted 3")
}
