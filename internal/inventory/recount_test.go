package inventory

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"waitroom/internal/pgtest"
)

func TestRecount(t *testing.T) {
	s := openSale(t, pgtest.New(t), 6, 5, "pay_within = '1 minute'")
	c := s.claimer(usual)
	wantTally(t, []Answer{
		c.Claim(t.Context(), s.attempt("paid", "k", s.seats[0], s.seats[2])),
		c.Claim(t.Context(), s.standing("paid-late", "k", 2)),
		c.Claim(t.Context(), s.attempt("over", "k", s.seats[3])),
	}, map[string]int{"claimed": 3})
	s.pay("paid%")
	s.exec(`UPDATE orders SET paid_at = pay_by - interval '10 s' WHERE account = 'paid-late'`)
	s.lapse("over")
	s.end("over", Expired)
	wantTally(t, []Answer{
		c.Claim(t.Context(), s.attempt("cart", "k", s.seats[5])),
		c.Claim(t.Context(), s.standing("soon", "k", 2)),
	}, map[string]int{"claimed": 2})
	s.exec(`UPDATE orders SET pay_by = now() + interval '20 s', holder = 'moved' WHERE account = 'soon'`)
	s.exec(`UPDATE seats SET held_back = true WHERE id = $1`, s.seats[1])

	before := time.Now()
	n, err := Recount(t.Context(), s.pool, s.event, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(n.Free, n.Pending, n.Sold, n.HeldBack, n.Due, n.Expired, n.PaidLate)
	if want := fmt.Sprint(3, 3, 4, 1, 2, 1, 1); got != want {
		t.Errorf("free, pending, sold, held back, due, expired, paid late: %s, want %s", got, want)
	}
	if n.At.Before(before) || n.At.After(time.Now()) {
		t.Errorf("counted at %s, between %s and now", n.At, before)
	}
	want := []SectionCount{{"Floor", "Standing", 1, 2, 2, 0, 0}, {"Stalls", "Front", 2, 1, 2, 1, 0}}
	if !slices.Equal(n.Sections, want) {
		t.Errorf("sections %v, want %v", n.Sections, want)
	}
	// by pos: paid, back, paid, free, free, cart; standing: paid, paid, cart, cart, free
	states := []byte{2, 2, 2, 0, 0, 1, 2, 2, 1, 1, 0}
	for pos, state := range states {
		if got := n.Bitmap[pos/4] >> (pos % 4 * 2) & 3; got != state {
			t.Errorf("pos %d is %d in the bitmap, want %d", pos, got, state)
		}
	}
	if len(n.Bitmap) != 3 {
		t.Errorf("the bitmap is %d bytes for 11 seats, want 3", len(n.Bitmap))
	}
}

// What is sold to codes alone just now is counted by itself, and is what a claim
// without a code is refused; once that is over it is free like all else.
func TestWhatIsKeptForCodesIsCountedByItself(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 3, `presales = '[
		{"name": "fans", "tiers": ["Standing"], "sections": []},
		{"name": "over", "tiers": ["Front"], "sections": [], "until": "2020-01-01T00:00:00Z"}]'`)
	c := s.claimer(usual)
	count := func(sections []SectionCount, free, kept int64, states ...byte) {
		t.Helper()
		n, err := Recount(t.Context(), s.pool, s.event, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(n.Sections, sections) || n.Free != free || n.Kept != kept {
			t.Errorf("%d free, %d of them kept, %v; want %d, %d, %v", n.Free, n.Kept, n.Sections, free, kept, sections)
		}
		for pos, state := range states {
			if got := n.Bitmap[pos/4] >> (pos % 4 * 2) & 3; got != state {
				t.Errorf("pos %d is %d in the bitmap, want %d", pos, got, state)
			}
		}
	}
	count([]SectionCount{{"Floor", "Standing", 0, 0, 0, 0, 3}, {"Stalls", "Front", 4, 0, 0, 0, 0}}, 7, 3, 0, 0, 0, 0, 3, 3, 3)
	wantTally(t, []Answer{c.Claim(t.Context(), s.standing("a", "k", 1)), c.Claim(t.Context(), s.attempt("b", "k", s.seats[0]))},
		map[string]int{"code_needed": 1, "claimed": 1})
	s.exec(`UPDATE seats SET held_back = true WHERE id = $1`, s.seats[3])
	// A section of numbered seats; units that stand in it are not of it.
	s.exec(`UPDATE events SET presales = '[{"name": "fans", "tiers": [], "sections": ["Stalls", "Floor"]}]'`)
	count([]SectionCount{{"Floor", "Standing", 3, 0, 0, 0, 0}, {"Stalls", "Front", 0, 1, 0, 1, 2}}, 5, 2, 1, 3, 3, 2, 0, 0, 0)
	wantTally(t, []Answer{c.Claim(t.Context(), s.standing("a", "k", 1)), c.Claim(t.Context(), s.attempt("c", "k", s.seats[1]))},
		map[string]int{"claimed": 1, "code_needed": 1})
	s.exec(`UPDATE events SET presales = jsonb_set(presales, '{0,until}', to_jsonb(now()))`)
	count([]SectionCount{{"Floor", "Standing", 2, 1, 0, 0, 0}, {"Stalls", "Front", 2, 1, 0, 1, 0}}, 4, 0, 1, 0, 0, 2, 1, 0, 0)
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("c", "k", s.seats[1]))}, map[string]int{"claimed": 1})
}

// An arena is counted once a second and event: it has to be cheap, also by a
// plan that was made while nothing was sold.
func TestRecountOfAnArena(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 20560, "")
	early := pgtest.Open(t, s.pool.Config().ConnString(), pgtest.Conns(1))
	recount := func() (Count, time.Duration) {
		began := time.Now()
		n, err := Recount(t.Context(), early, s.event, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return n, time.Since(began)
	}
	recount()
	s.sell(16000)
	s.pay("sold-1%")
	best := time.Hour
	for range 5 {
		n, took := recount()
		if n.Free != 4560 || n.Pending+n.Sold != 16000 || n.Sold != 4*1111 || len(n.Bitmap) != 5140 {
			t.Fatalf("%d free, %d pending, %d sold, %d bytes", n.Free, n.Pending, n.Sold, len(n.Bitmap))
		}
		best = min(best, took)
	}
	t.Logf("20,560 seats in 4,000 orders counted in %.1f ms", millis(best))
}

func TestReports(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	reports := func() []Report {
		t.Helper()
		r, err := Reports(t.Context(), s.pool)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := reports(); len(r) != 0 {
		t.Errorf("%d reports before any claimer, want 0", len(r))
	}
	c := NewClaimer(s.pool, Sizes{Queue: 2, Workers: 1, Batch: 1}, logOf(t), noMetrics())
	if err := c.Report(t.Context(), "idle"); err != nil {
		t.Fatal(err)
	}
	if r := reports(); len(r) != 1 || r[0].Claimer != "idle" || r[0].ClaimsPerSecond != 0 || r[0].P95 != 0 || r[0].Age < 0 || r[0].Age > 5*time.Second {
		t.Errorf("idle: %+v", r)
	}
	for i := range 3 {
		c.Submit(s.attempt(fmt.Sprint("fan-", i), "k", s.seats[i]), time.Now().Add(time.Minute), func(Answer) {})
	}
	if err := c.Report(t.Context(), "busy"); err != nil {
		t.Fatal(err)
	}
	c.Stop()
	c.Run(t.Context())
	if err := c.Report(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	r := reports()
	if len(r) != 3 || r[0].Claimer != "done" || r[1].Claimer != "busy" {
		t.Fatalf("reports %+v", r)
	}
	if b := r[1]; b.Queued != 2 || b.QueueAge <= 0 || b.ErrorsPerSecond <= 0 || b.AnswersPerSecond != b.ErrorsPerSecond {
		t.Errorf("with a full queue: %+v, want two queued, their age, and one error", b)
	}
	if d := r[0]; d.Queued != 0 || d.ClaimsPerSecond <= 0 || d.P95 <= 0 || d.ErrorsPerSecond != 0 || d.AnswersPerSecond != d.ClaimsPerSecond {
		t.Errorf("after two claims: %+v", d)
	}
	s.exec(`UPDATE claim_reports SET at = at - interval '10 s' WHERE claimer <> 'idle'`)
	if err := c.Retire(t.Context(), "idle"); err != nil {
		t.Fatal(err)
	}
	if r := reports(); len(r) != 2 || r[0].Age < 10*time.Second {
		t.Errorf("after the last live one retired: %+v, want two, older than 10 s", r)
	}
}
