package inventory

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

func of(event string, n int) *asked {
	return &asked{Attempt: Attempt{Event: event, Key: fmt.Sprint(n)}, came: time.Now()}
}

// An event with ten thousand attempts keeps another's one waiting for no more
// than the batch that is under way; within an event nobody is passed by.
func TestAHotEventDelaysNoOther(t *testing.T) {
	q := newQueue(20_000, 4)
	for i := range 10_000 {
		q.push(of("hot", i))
	}
	q.push(of("cold", 0))
	q.push(of("cool", 0))
	seen := map[string]int{}
	for _, want := range []int{64, 64} {
		batch, late := q.take(64, Patience{})
		if len(batch) != want || len(late) != 0 {
			t.Fatalf("%d taken and %d late, want %d and 0", len(batch), len(late), want)
		}
		for _, a := range batch {
			if a.Event == "hot" && a.Key != fmt.Sprint(seen["hot"]) {
				t.Fatalf("attempt %s is taken as number %d of its event", a.Key, seen["hot"])
			}
			seen[a.Event]++
		}
		if seen["cold"] != 1 || seen["cool"] != 1 {
			t.Errorf("after a batch %v are taken, want the others' single ones with the first", seen)
		}
	}
	if n, _ := q.state(); n != 10_000+2-128 {
		t.Errorf("%d wait, want %d", n, 10_000+2-128)
	}
}

// Another claimer chooses in an event's hall, and this one's choices wait for it: an
// event's own for their turn, and nobody else's claim with them.
func TestATurnToChooseDelaysNoOther(t *testing.T) {
	pool := pgtest.New(t, pgtest.Conns(16))
	hot, cold := openSale(t, pool, 40, 0, "").rowsOf(10), openSale(t, pool, 4, 0, "")
	c := NewClaimer(pool, usual, logOf(t), noMetrics())
	hots, colds := make(chan Answer, 8), make(chan Answer, 2)
	submit := func(a Attempt, told chan Answer) {
		c.Submit(a, time.Now().Add(time.Minute), func(a Answer) { told <- a })
	}
	for i := range 8 {
		submit(hot.best(fan(i), "k", Best{Count: 2}), hots)
	}
	submit(cold.attempt("a", "k", cold.seats[0]), colds)
	submit(cold.best("b", "k", Best{Count: 1}), colds)
	var running sync.WaitGroup
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		var b pgx.Batch
		oneChooser(&b, []*asked{{Attempt: hot.best("other", "k", Best{Count: 2})}})
		if err := tx.SendBatch(t.Context(), &b).Close(); err != nil {
			return err
		}
		running.Go(func() { c.Run(context.WithoutCancel(t.Context())) })
		wantTally(t, []Answer{<-colds, <-colds}, map[string]int{"claimed": 2})
		if len(hots) > 0 {
			t.Errorf("%d answers of the event whose turn it is not", len(hots))
		}
		return nil
	})
	c.Stop()
	running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var all []Answer
	for range 8 {
		all = append(all, <-hots)
	}
	wantTally(t, all, map[string]int{"claimed": 8})
}

// Of an event one batch at a time chooses, and a worker is left for who names seats,
// however many events choose. Whoever chooses of a closed queue is served too.
func TestOneWorkerIsLeftForNames(t *testing.T) {
	q := newQueue(100, 3)
	best := func(event string, n int) *asked {
		a := of(event, n)
		a.Best = &Best{Count: 2}
		return a
	}
	for i := range 4 {
		for _, event := range []string{"a", "b", "c"} {
			q.push(best(event, i))
		}
	}
	q.push(of("a", 9))
	q.push(of("d", 9))
	take := func(want string) []*asked {
		t.Helper()
		batch, _ := q.take(3, Patience{})
		var got string
		for _, a := range batch {
			got += a.Event + a.Key + " "
		}
		if got != want {
			t.Errorf("taken %q, want %q", got, want)
		}
		return batch
	}
	a := take("a0 a1 a2 ")
	b := take("b0 b1 b2 ")
	take("a9 d9 ")
	q.served(b)
	c := take("c0 c1 c2 ")
	q.served(a)
	q.close()
	a = take("a3 ")
	rest := make(chan []*asked)
	go func() { rest <- take("b3 ") }()
	q.served(c)
	q.served(<-rest)
	q.served(a)
	take("c3 ")
	take("")
}

// A queue that one event has filled has room for another's attempts, as many as
// are fair: whoever came last of the longest lane makes it.
func TestAFullQueueHasRoomForOthers(t *testing.T) {
	q := newQueue(10, 4)
	for i := range 10 {
		if without := q.push(of("hot", i)); without != nil {
			t.Fatalf("no room for number %d of 10", i)
		}
	}
	if without := q.push(of("hot", 10)); without == nil || without.Key != "10" {
		t.Errorf("number 11 of 10 displaced %v, want itself", without)
	}
	for i := range 8 {
		without := q.push(of("cold", i))
		switch {
		case without == nil:
			t.Errorf("11 have room")
		case i < 5 && (without.Event != "hot" || without.Key != fmt.Sprint(9-i)):
			t.Errorf("cold %d displaced %s %s, want hot %d", i, without.Event, without.Key, 9-i)
		case i >= 5 && without.Event != "cold":
			t.Errorf("cold %d displaced %s %s, though both have as many", i, without.Event, without.Key)
		}
	}
	q.close()
	if a := of("new", 0); q.push(a) != a {
		t.Error("a closed queue took an attempt")
	}
	for n := 10; n > 0; {
		taken, _ := q.take(3, Patience{})
		n -= len(taken)
	}
	if taken, late := q.take(3, Patience{}); len(taken)+len(late) != 0 {
		t.Errorf("%d and %d come out of an empty closed queue", len(taken), len(late))
	}
}

// A burst is worked off, however long; a queue that does not get shorter turns away
// whoever has waited too long, and none any more once it has run dry.
func TestOnlyAStandingQueueTurnsAway(t *testing.T) {
	p := Patience{Target: 500 * time.Millisecond, Interval: time.Second}
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var d delay
	for i := 0; i <= 900; i += 100 { // a burst: each waits longer than the one before, to 3 s
		if d.tooLong(at(i), ms(600+i*3), p) {
			t.Fatalf("turned away after %d ms of a burst", i)
		}
	}
	if !d.tooLong(at(1100), ms(1100), p) {
		t.Error("the queue stands for an interval, and 1.1 s are not too long")
	}
	if d.tooLong(at(1200), ms(900), p) {
		t.Error("0.9 s are turned away, less than twice the target")
	}
	if d.tooLong(at(1300), ms(400), p) || d.tooLong(at(1310), ms(2000), p) {
		t.Error("turned away though the queue ran short meanwhile")
	}
	if d.tooLong(at(9000), ms(5000), p) {
		t.Error("the first after a silence is turned away")
	}
	if d = (delay{}); d.tooLong(at(0), time.Hour, Patience{}) || d.tooLong(at(5000), time.Hour, Patience{}) {
		t.Error("turned away without a target")
	}
}

// Whoever is turned away is told so, at once and by name, and nothing was done
// for them; it is counted.
func TestWhoWaitedTooLongIsBusy(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	sizes := usual
	sizes.Patience = Patience{Target: time.Millisecond, Interval: time.Millisecond}
	c := NewClaimer(s.pool, sizes, logOf(t), noMetrics())
	var first, second Answer
	a, b := s.inHand(s.attempt("a", "k", s.seats[0]), &first), s.inHand(s.attempt("b", "k", s.seats[1]), &second)
	a.came = time.Now().Add(-time.Hour)
	b.came = a.came
	c.queue.push(a)
	c.queue.push(b)
	c.queue.lanes[laneOf{event: s.event}].delay = delay{until: time.Now().Add(time.Hour), least: time.Hour, stands: true}
	if !c.batch(t.Context()) {
		t.Error("a batch of late ones is taken for the end")
	}
	wantTally(t, []Answer{first, second}, map[string]int{"busy": 2})
	if n := s.count(`SELECT count(*) FROM buyers`); n != 0 || counterOf(t, c.meter.shed) != 2 {
		t.Errorf("%d accounts, %v turned away; want 0 and 2", n, counterOf(t, c.meter.shed))
	}
}
