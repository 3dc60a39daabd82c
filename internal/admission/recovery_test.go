package admission_test

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// lose forgets everything, as a table does that somebody deleted.
func (m *memory) lose() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = map[string]*memoryLine{}
}

// evening is a sale that loses its line's store midway.
type evening struct {
	*world
	t      *testing.T
	store  *memory
	lines  []*admission.Line
	places []admission.Joined

	mu     sync.Mutex
	passed map[int64]admission.Pass // by number
}

func (e *evening) ask(i int, until time.Duration) {
	l := e.lines[i%len(e.lines)]
	k := ticket(e.t, l, e.places[i])
	for end := time.Now().Add(until); time.Now().Before(end); {
		a, err := l.Pass(e.t.Context(), k)
		if err == nil && a.View == admission.ViewPassed {
			e.mu.Lock()
			if old, there := e.passed[k.Number]; there && old != a.Admitted {
				e.t.Errorf("place %d has the pass %+v, had %+v", k.Number, a.Admitted, old)
			}
			e.passed[k.Number] = a.Admitted
			e.mu.Unlock()
			return
		}
		if wait(e.t.Context(), max(a.RetryAfter, 100*time.Millisecond)) != nil {
			return
		}
	}
}

// all has everybody ask for their pass until then.
func (e *evening) all(until time.Duration) {
	var group sync.WaitGroup
	for i := range e.places {
		group.Go(func() { e.ask(i, until) })
	}
	group.Wait()
}

// After the loss of everything in the line's store, under running replicas or
// between two runs, everybody has the place and the pass that they had, nobody a
// second one, and the pace holds over it all.
func TestLineOutlivesItsStore(t *testing.T) {
	for name, c := range map[string]struct{ lobby, restart bool }{
		"running": {}, "between two runs": {restart: true},
		"a drawn line, running": {lobby: true}, "a drawn line, between two runs": {lobby: true, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10, 5000)
				e := &evening{world: w, t: t, store: newMemory(time.Millisecond, 8*time.Millisecond), passed: map[int64]admission.Pass{}}
				if c.lobby {
					w.lobbied("")
				}
				var stops []func()
				for range 2 {
					lines, stop := w.replica(t, e.store)
					e.lines, stops = append(e.lines, line(t, lines)), append(stops, stop)
				}
				if c.lobby {
					advance(t, 6*time.Second)
				}
				const people = 200
				for i := range people {
					e.places = append(e.places, join(t, e.lines[i%2], i))
				}
				if c.lobby {
					advance(t, 38*time.Second)
				}
				e.all(5 * time.Second)
				before := len(e.passed)
				if before < 20 || before > 150 {
					t.Fatalf("%d of %d were let in before the loss", before, people)
				}

				if c.restart {
					for _, stop := range stops {
						stop()
					}
				}
				e.store.lose()
				if c.restart {
					for i := range e.lines {
						lines, _ := w.replica(t, e.store)
						e.lines[i] = line(t, lines)
					}
				}
				advance(t, 4*time.Second)
				late, err := e.lines[0].Join(t.Context(), holder(people), admission.Ticket{})
				if err != nil || late.Place.Index < people {
					t.Errorf("who comes after the loss has index %d (%v), want one that nobody had", late.Place.Index, err)
				}
				for i := 0; i < people; i += 7 { // some reload their page
					k := ticket(t, e.lines[0], e.places[i])
					j, err := e.lines[1].Join(t.Context(), holder(i), k)
					if err != nil || j.New || j.Place.Index != k.Index || j.Place.Number != k.Number {
						t.Errorf("who joins again with their ticket has %+v (%v), want number %d", j.Place, err, k.Number)
					}
				}
				if c.lobby {
					shuffle := draw.New(w.sale.Lobby.Seed.Mix(""), people)
					if k := ticket(t, e.lines[1], e.places[5]); k.Number != shuffle.Number(5) {
						t.Errorf("after the loss index 5 has number %d, want %d", k.Number, shuffle.Number(5))
					}
				}
				e.all(time.Minute)
				if len(e.passed) != people || len(w.takes) != people {
					t.Errorf("%d of %d were let in, by %d passes", len(e.passed), people, len(w.takes))
				}
				t.Logf("%d let in before the loss, %d after it; who came then has index %d", before, len(e.passed)-before, late.Place.Index)
				w.checkPace(t)
			})
		})
	}
}

// How many gave their places up was in the line's store. Once that is lost nobody
// knows how many wait, and it is said so, by the next holder too, until all of those
// places were called.
func TestNobodyKnowsHowManyWaitAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, leave = 100, 30
		w := newWorld(t, 2000, 100_000)
		w.sale.OpensAt = time.Now().Add(time.Hour)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		first, stop := w.replica(t, store)
		l := line(t, first)
		second, _ := w.replica(t, store)
		next := line(t, second)
		for i := range people {
			if k := ticket(t, l, join(t, l, i)); i < leave {
				if _, err := l.Leave(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
		}
		says := func(l *admission.Line) *int64 {
			t.Helper()
			var d struct{ Waiting *int64 }
			if err := json.Unmarshal(l.Status().Body, &d); err != nil {
				t.Fatal(err)
			}
			return d.Waiting
		}
		eventually(t, "who left is told", 5*time.Second, func() bool { n := says(next); return n != nil && *n == people-leave })
		store.lose()
		wait(t.Context(), 10*time.Second) //nolint:errcheck // virtual: it is begun again, and released
		stop()
		wait(t.Context(), 10*time.Second) //nolint:errcheck // virtual: and taken over
		if n := says(next); n != nil {
			t.Errorf("%d wait, it says; nobody knows", *n)
		}
		w.set(func(w *world) { w.sale.OpensAt = time.Now() })
		eventually(t, "all were called", time.Minute, func() bool { n := says(next); return n != nil && *n == 0 })
	})
}

// A line whose checkpoint cannot be written allots what was promised, and then
// no more: better no place than one that a loss would give twice.
func TestNobodyStandsBeyondTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		store := newMemory(0, time.Millisecond)
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		w.set(func(w *world) { w.ledgerDown = errDown })
		if _, err := store.Allot(t.Context(), event, 1, 9_990, 1<<40); err != nil {
			t.Fatal(err)
		}
		got := 0
		for i := range 30 {
			if _, err := l.Join(t.Context(), holder(i), admission.Ticket{}); err == nil {
				got++
			}
		}
		if got < 1 || got > 10 {
			t.Errorf("%d places without a checkpoint that covers them, want 1 to 10", got)
		}
		w.set(func(w *world) { w.ledgerDown = nil })
		join(t, l, 100)
	})
}

// A place that stands at two doors has one pass, at both of them, even when the
// line's store is lost in between and gives the place another take.
func TestThePassOutlivesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0.2, 5000)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		var doors []*admission.Line
		for range 2 {
			lines, _ := w.replica(t, store)
			doors = append(doors, line(t, lines))
		}
		k := ticket(t, doors[0], join(t, doors[0], 0))
		for i := 1; i < 10; i++ {
			join(t, doors[0], i)
		}
		ctx, done := context.WithTimeout(t.Context(), 3*time.Minute)
		defer done()
		got := make(chan admission.Pass, len(doors))
		for _, l := range doors {
			go func() {
				for ctx.Err() == nil {
					if a, err := l.Pass(ctx, k); err == nil && a.View == admission.ViewPassed {
						got <- a.Admitted
						return
					}
					wait(ctx, 100*time.Millisecond) //nolint:errcheck // the loop looks
				}
			}()
		}
		next := func(tab string) (p admission.Pass) {
			select {
			case p = <-got:
			case <-ctx.Done():
				t.Fatalf("the %s tab of the place has no pass", tab)
			}
			return p
		}
		one := next("first")
		store.lose()
		if other := next("other"); other != one {
			t.Errorf("one tab has %+v, the other %+v", one, other)
		}
		if n := len(w.after(0)); n != 1 {
			t.Errorf("one person has %d passes", n)
		}
	})
}

// Who was called, and saw it, stays called when the line's store is lost: the
// front goes on from where this replica last saw it, not from the last checkpoint.
func TestTheFrontNeverFallsOverALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100, 1_000_000)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		w.sale.Control = admission.Pause
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		defer fans.Wait()
		defer done()
		for i := range 4000 {
			k := ticket(t, l, join(t, l, i))
			fans.Go(func() { comes(ctx, l, k) }) //nolint:errcheck // until the test ends
		}
		w.set(func(w *world) { w.sale.Control = admission.Run })
		advance(t, 15*time.Second) // the opening's burst is over
		checkpoint := func() int64 {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.kept[1].Front
		}
		eventually(t, "the front is beyond the checkpoint", time.Minute, func() bool {
			return l.Standing().Front > checkpoint()+20
		})
		shown, kept := l.Standing().Front, checkpoint()
		store.lose()
		var door admission.Door
		eventually(t, "the line is begun again", time.Minute, func() (there bool) {
			var err error
			door, err = store.Door(t.Context(), event)
			return err == nil
		})
		if door.Front < shown {
			t.Errorf("%d were shown as called, the checkpoint had %d; after the loss the front is %d", shown, kept, door.Front)
		}
	})
}

// What is told of the last minute after a loss of the store is people, and not the
// takes that were left out so that none is used twice.
func TestTheLastMinuteIsPeopleAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 100_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		for i := range 10 {
			if _, err := comes(t.Context(), l, ticket(t, l, join(t, l, i))); err != nil {
				t.Fatal(err)
			}
		}
		store.lose()
		advance(t, 6*time.Second)
		if n := l.Standing().Figures.LastMinute; n != 10 {
			t.Errorf("%d were let in during the last minute, it says; there were ten people", n)
		}
	})
}

// A store that comes back from a copy older than the checkpoint (last night's file,
// a table at a point in time) is no way back: the front stays where it was, nobody
// gets somebody else's number, and everybody gets in.
func TestAnOlderCopyOfTheStoreGivesNoNumberTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		a, stop := w.replica(t, store)
		advance(t, 3*time.Second)
		var tickets []admission.Ticket
		come := func(lines *admission.Lines, from, to int) {
			for i := from; i < to; i++ {
				l := line(t, lines)
				tickets = append(tickets, ticket(t, l, join(t, l, i)))
			}
		}
		come(a, 0, 20)
		store.mu.Lock() // the backup
		old := *store.lines[line(t, a).Event()]
		old.places = map[string]admission.Place{}
		maps.Copy(old.places, store.lines[line(t, a).Event()].places)
		old.reports = map[string][]byte{}
		store.mu.Unlock()
		come(a, 20, 40)
		advance(t, 5*time.Second)
		front := line(t, a).Standing().Front
		stop()
		store.mu.Lock()
		store.lines[old.door.Event] = &old
		store.mu.Unlock()
		b, _ := w.replica(t, store)
		advance(t, 5*time.Second)
		if now := line(t, b).Standing().Front; now < front {
			t.Errorf("the front was at %d and is at %d", front, now)
		}
		come(b, 40, 60)
		whose := map[int64]string{}
		twice := 0
		for _, k := range tickets {
			if h, there := whose[k.Number]; there && h != k.Holder() {
				twice++
			}
			whose[k.Number] = k.Holder()
		}
		if twice > 0 {
			t.Errorf("%d of 60 people have a number that somebody else has", twice)
		}
		passed, begun := 0, time.Now()
		for passed < len(tickets) && time.Since(begun) < 2*time.Minute {
			done := make(chan bool, len(tickets))
			for _, k := range tickets {
				go func() {
					a, err := comes(t.Context(), line(t, b), k)
					done <- err == nil && a.View == admission.ViewPassed
				}()
			}
			passed = 0
			for range tickets {
				if <-done {
					passed++
				}
			}
		}
		if passed < len(tickets) {
			t.Errorf("after two minutes at 10/s %d of %d people are let in", passed, len(tickets))
		}
	})
}
