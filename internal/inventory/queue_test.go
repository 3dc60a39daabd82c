package inventory

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/pgtest"
)

func of(event string, n int) *asked {
	return &asked{Attempt: Attempt{Event: event, Key: fmt.Sprint(n)}, came: time.Now()}
}

// An event with ten thousand attempts keeps another's one waiting for no more
// than the batch that is under way; within an event nobody is passed by.
func TestAHotEventDelaysNoOther(t *testing.T) {
	q := newQueue(20_000)
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

// A queue that one event has filled has room for another's attempts, as many as
// are fair: whoever came last of the longest lane makes it.
func TestAFullQueueHasRoomForOthers(t *testing.T) {
	q := newQueue(10)
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
	c.queue.lanes[s.event].delay = delay{until: time.Now().Add(time.Hour), least: time.Hour, stands: true}
	if !c.batch(t.Context()) {
		t.Error("a batch of late ones is taken for the end")
	}
	wantTally(t, []Answer{first, second}, map[string]int{"busy": 2})
	if n := s.count(`SELECT count(*) FROM buyers`); n != 0 || counterOf(t, c.meter.shed) != 2 {
		t.Errorf("%d accounts, %v turned away; want 0 and 2", n, counterOf(t, c.meter.shed))
	}
}
