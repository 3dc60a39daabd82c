package admission

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// bench is a release with everything known, an hour after the opening.
type bench struct {
	r    *Release
	sale Sale
	door Door
	now  time.Time
	tail int64
}

func newBench() *bench {
	now := time.Unix(1_790_000_000, 0)
	sale := Sale{
		Event: "e", Epoch: 1, Control: Run, OpensAt: now.Add(-time.Hour), Rate: 50,
		OrderLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, Slack: 0.5, ReadAt: now,
	}
	door := Door{Event: "e", Epoch: 1, Term: 1}
	b := &bench{r: NewRelease(sale, door, now), sale: sale, door: door, now: now, tail: 1 << 40}
	b.r.Restock(Stock{Free: 1000, At: now})
	b.r.Claimers(now)
	return b
}

// step steps, so long after the last, with nobody at the door.
func (b *bench) step(after time.Duration) Decision {
	b.now = b.now.Add(after)
	d := b.r.Step(b.now, b.door, b.tail, 0)
	b.door, _ = b.door.Refill(d.Refill)
	b.r.Landed(b.now)
	return d
}

// fresh is a step with everything known, whatever time has passed.
func (b *bench) fresh(after time.Duration) Decision {
	b.r.now = b.now.Add(after)
	b.r.Claimers(b.r.now)
	b.sale.ReadAt = b.r.now
	b.r.Set(b.sale)
	stock := b.r.stock.Stock
	stock.At = b.r.now
	b.r.Restock(stock)
	return b.step(after)
}

// lobby gives the sale one, by times from now, and an opening an hour later.
func (b *bench) lobby(opens, closes time.Duration) {
	b.sale.Lobby = &Lobby{OpensAt: b.now.Add(opens), ClosesAt: b.now.Add(closes)}
	b.sale.OpensAt = b.now.Add(closes + time.Hour)
}

func TestStateAndReason(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *bench)
		state  SaleState
		reason Reason
		lets   bool
	}{
		{"all is known", func(*bench) {}, Open, NoReason, true},
		{"paused", func(b *bench) { b.sale.Control = Pause }, Paused, ByOrganiser, false},
		{"closed", func(b *bench) { b.sale.Control = Close }, Closed, ByOrganiser, false},
		{"past its end", func(b *bench) { b.sale.ClosesAt = b.now }, Closed, ByTime, false},
		{"before its end", func(b *bench) { b.sale.ClosesAt = b.now.Add(time.Minute) }, Open, NoReason, true},
		{"a control that nobody knows", func(b *bench) { b.sale.Control = "go" }, OnDoubt, NoSettings, false},
		{"no control", func(b *bench) { b.sale.Control = "" }, OnDoubt, NoSettings, false},
		{"no opening", func(b *bench) { b.sale.OpensAt = time.Time{} }, OnDoubt, NoSettings, false},
		{"rate never set", func(b *bench) { b.sale.Rate = 0 }, OnDoubt, NoRate, false},
		{"rate negative", func(b *bench) { b.sale.Rate = -1 }, OnDoubt, NoRate, false},
		{"rate not a number", func(b *bench) { b.sale.Rate = math.NaN() }, OnDoubt, NoRate, false},
		{"rate infinite", func(b *bench) { b.sale.Rate = math.Inf(1) }, OnDoubt, NoRate, false},
		{"another epoch's door", func(b *bench) { b.door.Epoch = 2 }, OnDoubt, NoSettings, false},
		{"tomorrow", func(b *bench) { b.sale.OpensAt = b.now.Add(24 * time.Hour) }, Scheduled, NoReason, false},
		{"tomorrow, rate never set", func(b *bench) { b.sale.OpensAt, b.sale.Rate = b.now.Add(24*time.Hour), 0 }, Scheduled, NoReason, false},
		{"in a moment", func(b *bench) { b.sale.OpensAt = b.now.Add(5 * time.Second) }, Scheduled, NoReason, false},
		{"its lobby opens in a moment", func(b *bench) { b.lobby(time.Minute, time.Hour) }, Scheduled, NoReason, false},
		{"in its lobby", func(b *bench) { b.lobby(0, time.Hour) }, InLobby, NoReason, false},
		{"in its lobby, rate never set", func(b *bench) { b.lobby(0, time.Hour); b.sale.Rate = 0 }, InLobby, NoReason, false},
		{"in its lobby, paused", func(b *bench) { b.lobby(0, time.Hour); b.sale.Control = Pause }, Paused, ByOrganiser, false},
		{"its lobby has closed", func(b *bench) { b.lobby(-time.Hour, 0) }, Drawing, NoReason, false},
		{"its lobby is drawn", func(b *bench) { b.lobby(-time.Hour, 0); b.r.Drawn() }, Scheduled, NoReason, false},
		{"not drawn in a moment", func(b *bench) { b.lobby(-time.Hour, 0); b.sale.OpensAt = b.now.Add(5 * time.Second) }, Drawing, NoReason, false},
		{"not drawn at the opening", func(b *bench) { b.lobby(-time.Hour, 0); b.sale.OpensAt = b.now }, OnDoubt, NotDrawn, false},
		{"drawn at the opening", func(b *bench) { b.lobby(-time.Hour, 0); b.sale.OpensAt = b.now; b.r.Drawn() }, Open, NoReason, true},
		{"in a moment, rate never set", func(b *bench) { b.sale.OpensAt, b.sale.Rate = b.now.Add(5*time.Second), 0 }, OnDoubt, NoRate, false},
		{"stock from the future is of now", func(b *bench) { b.r.Restock(Stock{Free: 5, At: b.now.Add(time.Hour)}) }, Open, NoReason, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			c.change(b)
			b.r.Set(b.sale)
			d := b.step(0)
			if d.Figures.State != c.state || d.Figures.Reason != c.reason || d.Refill.Stopped == c.lets {
				t.Errorf("%s, %q, stopped %v; want %s, %q, lets in %v", d.Figures.State, d.Figures.Reason, d.Refill.Stopped, c.state, c.reason, c.lets)
			}
			if d.Refill.Stopped && (d.Refill.Add != 0 || d.Refill.Cap != 0) {
				t.Errorf("a stopped door is given %d of %d", d.Refill.Add, d.Refill.Cap)
			}
		})
	}
}

func TestKnowledgeGetsOld(t *testing.T) {
	for _, c := range []struct {
		keep   func(b *bench)
		fresh  time.Duration
		reason Reason
	}{
		{func(b *bench) { b.r.Claimers(b.now); b.sale.ReadAt = b.now; b.r.Set(b.sale) }, 3 * time.Second, NoStock},
		{func(b *bench) { b.r.Restock(Stock{Free: 9, At: b.now}); b.sale.ReadAt = b.now; b.r.Set(b.sale) }, 3 * time.Second, NoClaimers},
		{func(b *bench) { b.r.Restock(Stock{Free: 9, At: b.now}); b.r.Claimers(b.now) }, 10 * time.Second, NoSettings},
	} {
		b := newBench()
		var was time.Duration
		for d := b.step(0); d.Figures.State == Open && was < time.Minute; d = b.step(10 * time.Millisecond) {
			c.keep(b)
			was += 10 * time.Millisecond
		}
		if b.r.reason != c.reason || was != c.fresh+10*time.Millisecond {
			t.Errorf("closed after %v, reason %q; want %q, after more than %v", was, b.r.reason, c.reason, c.fresh)
		}
	}
}

// What is told of the future gets old like what is told of now.
func TestTheFutureGetsOld(t *testing.T) {
	b := newBench()
	b.r.Restock(Stock{Free: 5, At: b.now.Add(time.Hour)})
	b.r.Claimers(b.now.Add(time.Hour))
	b.sale.ReadAt = b.now.Add(time.Hour)
	b.r.Set(b.sale)
	if d := b.step(0); d.Figures.State != Open {
		t.Errorf("%s, %q", d.Figures.State, d.Figures.Reason)
	}
	if d := b.step(3100 * time.Millisecond); d.Figures.Reason != NoStock {
		t.Errorf("%s, %q after 3.1 s without a recount", d.Figures.State, d.Figures.Reason)
	}
	b.r.Restock(Stock{Free: 5, At: b.now})
	if d := b.step(0); d.Figures.Reason != NoClaimers {
		t.Errorf("%s, %q after 3.1 s without claimers", d.Figures.State, d.Figures.Reason)
	}
	b.r.Claimers(b.now)
	b.step(7 * time.Second)
	b.r.Restock(Stock{Free: 5, At: b.now})
	b.r.Claimers(b.now)
	if d := b.step(0); d.Figures.Reason != NoSettings {
		t.Errorf("%s, %q after 10.1 s without settings", d.Figures.State, d.Figures.Reason)
	}
}

func TestExhaustedAndOpenAgain(t *testing.T) {
	b := newBench()
	stock := func(free, pending, due int64) { b.r.Restock(Stock{Free: free, Pending: pending, Due: due, At: b.now}) }
	b.fresh(0)
	stock(0, 10, 0)
	if d := b.fresh(4 * time.Second); d.Figures.State != Open {
		t.Fatalf("%s at the first sight of no seats", d.Figures.State)
	}
	if d := b.fresh(4900 * time.Millisecond); d.Figures.State != Open {
		t.Fatalf("%s after 4.9 s without seats", d.Figures.State)
	}
	d := b.fresh(100 * time.Millisecond)
	if d.Figures.State != Exhausted || d.Figures.Wave != 1 {
		t.Fatalf("%s, wave %d after 5 s without seats, want exhausted, 1", d.Figures.State, d.Figures.Wave)
	}
	if d.Refill.Stopped {
		t.Error("exhausted stops the door: the first seat to come back would find it shut")
	}
	next := NewRelease(b.sale, b.door, b.now) // a successor goes on from there
	next.Restock(Stock{Free: 1, At: b.now})
	next.Claimers(b.now)
	if d := next.Step(b.now, b.door, 0, 0); d.Figures.State != Open || d.Figures.Wave != 2 {
		t.Errorf("a successor that sees a seat is %s, wave %d; want open, 2", d.Figures.State, d.Figures.Wave)
	}
	stock(1, 9, 0)
	if d := b.fresh(Tick); d.Figures.State != Open || d.Figures.Wave != 2 || b.door.Budget < 1 {
		t.Errorf("%s, wave %d, budget %d with a seat free; want open, 2, at least 1", d.Figures.State, d.Figures.Wave, b.door.Budget)
	}
	stock(0, 10, 10) // 10 · 6/20 seats are about to return
	b.fresh(Tick)
	if d := b.fresh(time.Minute); d.Figures.State != Open {
		t.Errorf("%s with seats about to return", d.Figures.State)
	}
}

// A fact counts once, whoever tells it, in any order, however often.
func TestFactsCountOnce(t *testing.T) {
	type summary struct {
		Wanted, Asked, Seen int64
		Inside, Come, Door  float64
	}
	run := func(order []int, facts []func(r *Release)) summary {
		b := newBench()
		b.tail = 200
		b.fresh(0)
		b.door.Credit, b.door.Budget = 60*Milli, 60
		b.door, _ = b.door.Take(1, 60)
		b.fresh(30 * time.Second)
		for _, i := range order {
			facts[i](b.r)
		}
		b.fresh(Tick)
		return summary{b.r.learnt.wanted, b.r.learnt.asked, b.r.learnt.seen(), b.r.people, float64(b.r.front.came), float64(b.r.stock.expected())}
	}
	at := func(s int) time.Time { return newBench().now.Add(time.Duration(s) * time.Second) }
	var facts []func(r *Release)
	tell := func(f func(r *Release)) { facts = append(facts, f) }
	for take := int64(1); take <= 60; take++ {
		tell(func(r *Release) { r.Came(take, at(2)) })
		tell(func(r *Release) { r.LetIn(take, take, at(3), at(600)) })
		tell(func(r *Release) { r.Alive(take, at(20)) })
		switch take % 5 {
		case 0:
			tell(func(r *Release) { r.Claimed(take, 2, at(25)) })
		case 1:
			tell(func(r *Release) { r.FoundNothing(take, 4, at(25)) })
			tell(func(r *Release) { r.Claimed(take, 1, at(26)) })
		case 2:
			tell(func(r *Release) { r.Gone(take, at(27)) })
		case 3:
			tell(func(r *Release) { r.FoundNothing(take, 3, at(25)) })
			tell(func(r *Release) { r.Gone(take, at(26)) })
		}
	}
	order := make([]int, len(facts))
	for i := range order {
		order[i] = i
	}
	want := run(order, facts)
	if want.Wanted != 36 || want.Asked != 12*2+12*4+12*3 || want.Seen != 48 || want.Inside != 12 || want.Come != 60 {
		t.Errorf("told in order: %+v", want)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		twice := append(append([]int{}, order...), order...)
		rng.Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
		if diff := cmp.Diff(want, run(twice, facts)); diff != "" {
			t.Fatalf("told twice and shuffled (-in order +shuffled):\n%s", diff)
		}
	}
}

// Who leaves does so before who buys asks. Seconds into a sale that let in
// hundreds, the share must not be that of those who were quick.
func TestLeaversComeFirst(t *testing.T) {
	b := newBench()
	b.sale.SharePrior = 0.4
	b.r.Set(b.sale)
	b.fresh(0)
	b.door.Credit, b.door.Budget = 500*Milli, 500
	b.door, _ = b.door.Take(1, 500)
	b.fresh(0)
	for take := int64(1); take <= 500; take++ {
		b.r.LetIn(take, take, b.now, b.now.Add(b.sale.PassLife))
		b.r.Alive(take, b.now)
	}
	b.fresh(10 * time.Second)
	for take := int64(1); take <= 150; take++ { // half of those who will leave
		b.r.Gone(take, b.now)
	}
	b.fresh(time.Second)
	b.fresh(time.Second)
	share, _ := b.r.guess()
	t.Logf("after 150 of 500 left and nobody asked yet: share %.2f, counted plainly %.2f", share, (learnWeight*0.4)/(150+learnWeight))
	if share < 0.25 {
		t.Errorf("share %.2f, want it near the first guess while most did nothing yet", share)
	}
	for take := int64(151); take <= 350; take++ {
		b.r.Claimed(take, 3, b.now)
	}
	for take := int64(351); take <= 500; take++ {
		b.r.Gone(take, b.now)
	}
	b.fresh(time.Second)
	b.fresh(time.Second)
	share, tickets := b.r.guess()
	if want := (200 + learnWeight*0.4*doubt) / (500 + learnWeight); math.Abs(share-want) > 0.02 {
		t.Errorf("share %.3f when all is known, want %.3f", share, want)
	}
	if want := (600 + learnWeight*4.0) / (200 + learnWeight); math.Abs(tickets-want) > 0.001 {
		t.Errorf("tickets %.3f, want %.3f", tickets, want)
	}
}

func TestFirstGuesses(t *testing.T) {
	for _, c := range []struct {
		stock          int64
		share, tickets float64
		wantS, wantT   float64
	}{
		{99, 0, 0, 0.4 * doubt, 3},
		{100, 0, 0, 1, 4},
		{100, 0.5, 0, 0.5 * doubt, 4},
		{100, 0, 2, 1, 2},
		{100, 0.9, 2, 1, 2},
	} {
		s := Sale{OrderLimit: 4, PassQuota: 6, SharePrior: c.share, TicketsPrior: c.tickets}
		if share, tickets := s.fears(c.stock); share != c.wantS || tickets != c.wantT {
			t.Errorf("%+v: %v, %v", c, share, tickets)
		}
	}
}

// Who is inside: signs of life keep a pass for 20 s, a claim ends it, a credit
// that nobody was let in by counts for 20 s, and nobody outlives the pass.
func TestInside(t *testing.T) {
	b := newBench()
	b.fresh(0)
	b.door.Credit, b.door.Budget = 6*Milli, 6
	b.door, _ = b.door.Take(1, 6)
	inside := func(after time.Duration, want float64, why string) {
		t.Helper()
		if b.fresh(after); math.Abs(b.r.people-want) > 0.01 {
			t.Errorf("%s: %.2f people inside, want %.2f", why, b.r.people, want)
		}
	}
	inside(0, 6, "six takes")
	for take := int64(1); take <= 5; take++ {
		b.r.LetIn(take, take, b.now, b.now.Add(b.sale.PassLife))
		b.r.Alive(take, b.now.Add(time.Millisecond))
	}
	inside(20*time.Second, 6, "all within 20 s")
	b.r.Alive(1, b.now)
	b.r.Alive(2, b.now)
	b.r.Claimed(2, 1, b.now)
	b.r.Gone(3, b.now)
	inside(time.Second, 1, "one showed life; two silent, one unused, one claimed, one left")
	b.r.Alive(4, b.now)
	inside(time.Second, 2, "one that was silent shows life again")
	b.r.Alive(3, b.now)
	inside(time.Second, 2, "one that gave its pass back does not come back")
	for range 62 {
		b.r.Alive(1, b.now)
		b.fresh(10 * time.Second)
	}
	inside(0, 0, "the pass is over")
}

// A claim that the recount could not see yet is taken off it.
func TestClaimsSinceTheRecount(t *testing.T) {
	b := newBench()
	b.r.Restock(Stock{Free: 10, At: b.now})
	b.step(time.Second)
	b.r.Claimed(1, 4, b.now)
	b.r.Claimed(1, 4, b.now)
	if got := b.r.stock.expected(); got != 6 {
		t.Errorf("%v seats expected after 10 free and 4 claimed since, want 6", got)
	}
	b.r.Restock(Stock{Free: 6, At: b.now})
	if got := b.r.stock.expected(); got != 6 {
		t.Errorf("%v seats expected once the recount saw it, want 6", got)
	}
	b.r.Restock(Stock{Free: 10, At: b.now.Add(-time.Second)})
	if got := b.r.stock.expected(); got != 6 {
		t.Errorf("%v seats expected after an older recount, want 6", got)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		expected, inside, share, tickets, slack float64
		want                                    int64
	}{
		{0.49, 0, 0.4, 3, 0.5, 0},
		{0.5, 0, 0.4, 3, 0, 2},      // 0.5 / (0.4 · 1) = 1.25
		{1, 0, 1, 4, 0, 1},          // one seat: one person, who takes what there is
		{1, 0.01, 1, 4, 0, 1},       // rounded up
		{1, 1, 1, 4, 0, 0},          // somebody inside may take it
		{100, 0, 0.5, 2, 0, 100},    //
		{100, 30, 0.5, 2, 0, 70},    //
		{100, 0, 0.5, 2, 1, 115},    // + √200
		{100, 0, 0.001, 1, 0, 5000}, // at least 0.02 tickets a person
		{100, 500, 0.5, 2, 0, 0},
	} {
		if got := budget(c.expected, c.inside, c.share, c.tickets, c.slack); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A fraction is never lost: 0.4/s lets somebody in every 2.5 s.
func TestSlowPace(t *testing.T) {
	b := newBench()
	b.sale.Rate = 0.4
	b.r.Set(b.sale)
	var takes []time.Duration
	rng := rand.New(rand.NewPCG(1, 1))
	for now := time.Duration(0); now < 100*time.Second; {
		step := time.Duration(35+rng.IntN(12)) * time.Millisecond
		now += step
		b.fresh(step)
		if door, ok := b.door.Take(1, 1); ok {
			b.door = door
			takes = append(takes, now)
		}
	}
	if len(takes) != 39 {
		t.Errorf("%d people in 100 s at 0.4/s, want one each 2.5 s", len(takes))
	}
}

func TestFront(t *testing.T) {
	b := newBench()
	first := b.fresh(0).Refill.Front
	if want := int64(math.Ceil((50*6 + doorSpare) / 0.5)); first != want { // c = 5 s, half of them come
		t.Errorf("%d places called at first, want %d", first, want)
	}
	if second := b.fresh(Tick).Refill.Front; second != first {
		t.Errorf("front %d, %d: called more while enough are coming", first, second)
	}
	for n := range first * 7 / 10 { // 7 in 10 come
		b.r.Came(n, b.now.Add(2*time.Second))
		b.r.Came(n, b.now.Add(3*time.Second))
	}
	b.fresh(11 * time.Second)
	if turn := b.r.front.turn; math.Abs(turn-0.7) > 0.02 {
		t.Errorf("turn %.3f, want 0.7 after 431 of 616 came", turn)
	}
	before := b.r.called
	b.fresh(Tick)
	step := b.r.called - before
	if most := int64(math.Ceil(4*50*0.05/b.r.front.turn)) + 1; step > most || step < 1 {
		t.Errorf("%d places called in one step, want at most %d", step, most)
	}
	b.r.Restock(Stock{At: b.now})
	before = b.r.called
	if b.fresh(time.Minute); b.r.called != before {
		t.Error("places are called although nothing can ever come back")
	}
	learnt := b.r.front.turn
	if b.fresh(10 * time.Minute); b.r.front.turn != learnt {
		t.Errorf("turn %.3f ten minutes after the last call, want the last value %.3f", b.r.front.turn, learnt)
	}
}

// How many are wanted at the door: what the rate uses, what the stock does for,
// and a few while only returns are hoped for.
func TestDoorTarget(t *testing.T) {
	f := front{turn: 0.5}
	for budget, want := range map[int64]float64{0: 8, 10: 23, 200: 308, 5000: 308} { // c is 5 s
		if got := f.target(50, budget); got != want {
			t.Errorf("budget %d: %v wanted at the door, want %v", budget, got, want)
		}
	}
	b := newBench()
	b.r.Restock(Stock{Pending: 10, At: b.now})
	if d := b.fresh(0); d.Refill.Front != 16 || b.door.Budget != 0 {
		t.Errorf("front %d, budget %d with pending seats only; want 16 called, for 8 to come, and none let in", d.Refill.Front, b.door.Budget)
	}
	b = newBench()
	b.r.Restock(Stock{Sold: 10, At: b.now})
	if d := b.fresh(0); d.Refill.Front != 0 {
		t.Errorf("front %d with everything sold, want nobody called", d.Refill.Front)
	}
}

// A successor counts those whom it is told of, as long as their passes run.
func TestSuccessorKnowsWhoIsInside(t *testing.T) {
	b := newBench()
	b.door.Taken = 3
	b.r = NewRelease(b.sale, b.door, b.now)
	b.r.Restock(Stock{Free: 1000, At: b.now})
	b.r.LetIn(1, 1, b.now.Add(-9*time.Minute), b.now.Add(time.Minute))
	b.r.LetIn(2, 2, b.now.Add(-12*time.Minute), b.now.Add(-2*time.Minute))
	b.r.LetIn(3, 3, b.now.Add(-5*time.Minute), b.now.Add(5*time.Minute))
	b.r.Claimed(3, 2, b.now.Add(-4*time.Minute))
	if b.fresh(0); b.r.people <= 0 || b.r.people > 1 {
		t.Errorf("%v inside, want at most one of three: one's pass is over, one claimed", b.r.people)
	}
	if b.r.learnt.wanted != 0 {
		t.Error("learnt from people of an earlier holder's, whose shares it goes on from")
	}
}

// A pass ends when it says, and not by the settings of later.
func TestAPassEndsWhenItSays(t *testing.T) {
	b := newBench()
	b.fresh(0)
	b.door.Taken = 2
	for take, life := range map[int64]time.Duration{1: time.Minute, 2: time.Hour} {
		b.r.LetIn(take, take, b.now, b.now.Add(life))
	}
	b.sale.PassLife = 10 * time.Minute
	for seconds := 0; seconds <= 20*60; seconds += 10 {
		want := 1.0
		b.r.Alive(2, b.now)
		if seconds < 60 {
			b.r.Alive(1, b.now)
			want = 2
		}
		if b.fresh(0); b.r.people != want {
			t.Fatalf("after %d s %v are inside, want %v", seconds, b.r.people, want)
		}
		b.fresh(10 * time.Second)
	}
}

// A place that was given up is not called, does not count as waiting, and does
// not count against those who come.
func TestGaveUp(t *testing.T) {
	b := newBench()
	b.tail = 10_000
	b.sale.OpensAt = b.now.Add(time.Minute)
	b.r.Set(b.sale)
	for n := int64(0); n < 100; n++ {
		b.r.GaveUp(n, b.now)
		b.r.GaveUp(n, b.now)
	}
	if d := b.fresh(0); d.Figures.Waiting != 9900 || d.Refill.Front != 0 {
		t.Errorf("%d waiting, front %d; want 9,900, 0", d.Figures.Waiting, d.Refill.Front)
	}
	d := b.fresh(51 * time.Second)
	if want := int64(100 + 616); d.Refill.Front != want || d.Figures.State != Scheduled || !d.Refill.Stopped {
		t.Errorf("front %d, %s, stopped %v; want %d, scheduled, stopped", d.Refill.Front, d.Figures.State, d.Refill.Stopped, want)
	}
	if d.Figures.Waiting != 10_000-716 {
		t.Errorf("%d waiting, want 9,284", d.Figures.Waiting)
	}
	for n := int64(100); n < 716; n++ {
		b.r.GaveUp(n, b.now)
	}
	if coming := b.r.front.coming(b.now); coming != 0 {
		t.Errorf("%v coming although all who were called left", coming)
	}
}

// Who left before the call is no waiter for the next holder either, nor for the
// one after it, though nobody tells it who they were; until the front has passed
// them all. What is told again is counted once.
func TestWhoLeftStaysGoneAfterATakeOver(t *testing.T) {
	b := newBench()
	b.tail = 50_000
	b.r.Restock(Stock{Free: 10, At: b.now})
	b.fresh(Tick)
	for n := int64(10_000); n < 30_000; n += 2 {
		b.r.GaveUp(n, b.now)
	}
	before := b.fresh(publishEvery).Figures.Waiting
	if before > 40_000 || before < 39_000 {
		t.Fatalf("%d waiting of 50,000 of whom 10,000 left", before)
	}
	for more := range int64(3) {
		b.door, _ = b.door.Acquire(b.door, "another")
		told := b.now.Add(-time.Second)
		b.now = b.now.Add(LeaseFor)
		b.r = NewRelease(b.sale, b.door, b.now)
		b.r.Restock(Stock{Free: 10, At: b.now})
		for n := int64(10_000); n < 12_000; n += 2 {
			b.r.GaveUp(n, told)
		}
		after := b.fresh(Tick).Figures.Waiting
		if after > before || after < before-100 { // a few are called meanwhile
			t.Errorf("waiting: %d before the take-over, %d after it", before, after)
		}
		b.r.GaveUp(40_001+more, b.now)
		b.r.GaveUp(40_001+more, b.now)
		if now := b.fresh(publishEvery).Figures.Waiting; now > after-1 || now < after-100 {
			t.Errorf("waiting: %d before one more left, %d after it", after, now)
		}
		before = b.fresh(publishEvery).Figures.Waiting
	}
	b.door.Front = 30_000
	b.fresh(publishEvery)
	f := b.fresh(publishEvery).Figures
	if waiting := b.tail - b.r.called; f.Waiting > waiting || f.Waiting < waiting-11_000 {
		t.Errorf("%d waiting with the front at %d", f.Waiting, b.r.called)
	}
	b.door.Front = 45_000
	if f := b.fresh(publishEvery).Figures; f.Waiting != b.tail-b.r.called || f.Left != 0 {
		t.Errorf("%d waiting with the front at %d, beyond all who left; %d are still counted as gone", f.Waiting, b.r.called, f.Left)
	}
}

// Whoever lapsed is not told of as coming, also when the call window is shorter
// than people usually need.
func TestLapsedPlacesAreNotComing(t *testing.T) {
	b := newBench()
	b.sale.CallWindow, b.tail = 5*time.Second, 30
	called := b.fresh(0)
	if called.Refill.Front != 30 || called.Figures.Coming == 0 {
		t.Fatalf("front %d, %d coming; want all 30 called", called.Refill.Front, called.Figures.Coming)
	}
	if f := b.fresh(4900 * time.Millisecond).Figures; f.Coming != called.Figures.Coming {
		t.Errorf("%d coming before they lapse, want %d", f.Coming, called.Figures.Coming)
	}
	if f := b.fresh(200 * time.Millisecond).Figures; f.Coming != 0 || f.Waiting != 0 {
		t.Errorf("%d coming and %d waiting after all of them lapsed", f.Coming, f.Waiting)
	}
}

// Set with another epoch forgets everything.
func TestReset(t *testing.T) {
	b := newBench()
	b.fresh(0)
	b.r.Claimed(1, 3, b.now)
	b.sale.Epoch = 2
	b.r.Set(b.sale)
	b.door = Door{Event: "e", Epoch: 2}
	if d := b.step(0); d.Figures.State != OnDoubt || d.Refill.Front != 0 || b.r.learnt.wanted != 0 {
		t.Errorf("%s, front %d, %d learnt; want nothing known", d.Figures.State, d.Refill.Front, b.r.learnt.wanted)
	}
	if d := b.fresh(Tick); d.Figures.State != Open {
		t.Errorf("%s once all is known", d.Figures.State)
	}
}

func TestDocumentIsSmall(t *testing.T) {
	f := Figures{
		At: 1_790_000_000_000, State: OnDoubt, Reason: NoClaimers, Rate: 9999.9999, Wave: 99, Opens: 1_790_000_000_000,
		Waiting: 2_000_000, Coming: 99_999, AtDoor: 99_999, Inside: 999_999, LastMinute: 599_999,
		Share: 0.1234, Tickets: 99.1234, Turn: 0.1234, Come: 59.1234, Seen: 999_999, Called: 99_999,
		Burden: burden{Usual: 999_999, Slow: 9999.1234, Answers: 99_999.1234, Errors: 9999.1234, Mark: 1_790_000_000_000_000, Cut: 1_790_000_000_000},
	}
	doc, err := json.Marshal(f)
	if err != nil || len(doc) >= 550 {
		t.Errorf("%d bytes, want fewer than 550: %s (%v)", len(doc), doc, err)
	}
	if back, ok := Published(Door{Doc: doc}); !ok || back != f {
		t.Errorf("read back as %+v, %v", back, ok)
	}
	b := newBench()
	b.sale.Rate = math.NaN()
	b.r.Set(b.sale)
	if d := b.step(0); d.Refill.Doc == nil {
		t.Error("a senseless rate leaves the line without a document")
	}
	docs := 0
	for range 100 {
		if b.fresh(Tick).Refill.Doc != nil {
			docs++
		}
	}
	if docs < 3 || docs > 4 {
		t.Errorf("%d documents in 4 s, want one a second", docs)
	}
	b.sale.Rate, b.sale.Control = 50, Pause
	b.r.Set(b.sale)
	if d := b.fresh(Tick); d.Refill.Doc == nil || d.Figures.State != Paused {
		t.Error("a pause is not told at once")
	}
}

func TestLastMinute(t *testing.T) {
	b := newBench()
	b.fresh(0)
	for range 120 {
		b.door.Credit, b.door.Budget = 2*Milli, 2
		b.door, _ = b.door.Take(1, 2)
		b.fresh(time.Second)
	}
	if got := b.fresh(0).Figures.LastMinute; got != 120 {
		t.Errorf("%d let in during the last minute, want 120", got)
	}
}

// setBack is a time whose wall clock was set back by so many seconds, in the layout
// that time.Time has with a monotonic reading, which goes on.
func setBack(t time.Time, seconds uint64) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) -= seconds << 30
	return t
}

// The wall clock of whoever releases is set back in the middle of a term. Credit runs
// in as before, and as it is written down nobody came sooner.
func TestAClockThatIsSetBackLooksLikeNoCrowd(t *testing.T) {
	start := time.Now()
	b := newBench()
	b.sale.OpensAt, b.sale.ReadAt = start.Add(-time.Hour), start
	b.r = NewRelease(b.sale, b.door, start)
	var last time.Time
	for i := range 100 {
		now := start.Add(time.Duration(i) * Tick)
		if i >= 50 {
			now = setBack(now, 1)
		}
		if now.Sub(start) != time.Duration(i)*Tick {
			t.Fatalf("step %d: %s passed, want %s", i, now.Sub(start), time.Duration(i)*Tick)
		}
		d := b.r.Step(now, b.door, 1<<40, 1000)
		if step := d.Refill.At.Sub(last); i > 0 && (step < Tick-grain || step > Tick+grain) {
			t.Errorf("step %d is written down %s after the last, want %s", i, step, Tick)
		}
		last = d.Refill.At
	}
}
