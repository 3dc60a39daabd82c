package admission_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
	"waitroom/internal/admission/local"
)

// localStore is a line's file in memory where the machine has that.
func localStore(t testing.TB) *local.Store {
	t.Helper()
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "line"); err == nil {
		dir = shm
		t.Cleanup(func() { os.RemoveAll(shm) }) //nolint:errcheck // it is in memory
	}
	s, err := local.Open(filepath.Join(dir, "line.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A join delivered twice, the second after 20 others, finds the place.
func TestRepeatedJoinKeepsThePlace(t *testing.T) {
	w := newWorld(t, 10, 100)
	lines, _ := w.replica(t, localStore(t))
	l := line(t, lines)
	first := join(t, l, 0)
	for i := 1; i <= 20; i++ {
		join(t, l, i)
	}
	again := join(t, l, 0)
	if again.Place.Number != first.Place.Number || again.Ticket != first.Ticket || again.New || !first.New {
		t.Errorf("place %d (new %t), then place %d (new %t); want the same place and ticket",
			first.Place.Number, first.New, again.Place.Number, again.New)
	}
	if next := join(t, l, 21); next.Place.Number != 21 {
		t.Errorf("the next person got %d, want 21: repeated joins use no number", next.Place.Number)
	}
}

// Reload, second tab, double click, a lost answer, over two replicas at once:
// one holder has one place.
func TestOneHolderHasOnePlace(t *testing.T) {
	w := newWorld(t, 10, 100)
	store := localStore(t)
	a, _ := w.replica(t, store)
	b, _ := w.replica(t, store)
	both := []*admission.Line{line(t, a), line(t, b)}
	lost, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := both[0].Join(lost, holder(0), admission.Ticket{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("a join whose client was gone: %v", err)
	}
	var news atomic.Int32
	numbers := make([]int64, 40)
	var all sync.WaitGroup
	for i := range numbers {
		all.Go(func() {
			j, err := both[i%2].Join(t.Context(), holder(0), admission.Ticket{})
			if err != nil {
				t.Error(err)
			}
			if j.New {
				news.Add(1)
			}
			numbers[i] = j.Place.Number
		})
	}
	all.Wait()
	for _, n := range numbers {
		if n != numbers[0] {
			t.Fatalf("one holder got the places %v", numbers)
		}
	}
	if n := news.Load(); n > 1 {
		t.Errorf("%d of the answers said that the place is new, want at most 1", n)
	}
}

// Joins where there is nothing to join use no number, and nothing grows.
func TestJoiningNothingUsesNoNumber(t *testing.T) {
	for name, c := range map[string]struct {
		shut func(*admission.Sale)
		want error
	}{
		"closed": {func(s *admission.Sale) { s.Control = admission.Close }, admission.ErrOver},
		"over":   {func(s *admission.Sale) { s.ClosesAt = time.Now() }, admission.ErrOver},
		"the lobby is not open": {func(s *admission.Sale) {
			s.OpensAt = time.Now().Add(3 * time.Hour)
			s.Lobby = &admission.Lobby{OpensAt: time.Now().Add(time.Hour), ClosesAt: time.Now().Add(2 * time.Hour)}
		}, admission.ErrEarly},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 10, 100)
			c.shut(&w.sale)
			store := localStore(t)
			lines, _ := w.replica(t, store)
			l := line(t, lines)
			for i := range 5 {
				if _, err := l.Join(t.Context(), holder(i), admission.Ticket{}); !errors.Is(err, c.want) {
					t.Errorf("a join: %v, want %v", err, c.want)
				}
				if _, there := lines.Line(fmt.Sprintf("no-event-%d", i)); there {
					t.Error("a line for an event that does not exist")
				}
			}
			tail, err := store.Tail(t.Context(), event)
			if err != nil || tail.Next != 0 {
				t.Errorf("%d numbers used (%v), want none", tail.Next, err)
			}
			places := 0
			if err := l.Export(t.Context(), func(admission.Place) error { places++; return nil }); err != nil || places != 0 {
				t.Errorf("%d places (%v), want none", places, err)
			}
			if s := l.Standing(); s.Tail != 0 || s.Figures.Waiting != 0 || len(lines.All()) != 1 {
				t.Errorf("tail %d, %d waiting, %d lines; want none, none and 1", s.Tail, s.Figures.Waiting, len(lines.All()))
			}
		})
	}
}

// People join before the opening.
func TestJoinBeforeTheOpening(t *testing.T) {
	w := newWorld(t, 10, 100)
	w.sale.OpensAt = time.Now().Add(time.Hour)
	lines, _ := w.replica(t, localStore(t))
	l := line(t, lines)
	j := join(t, l, 0)
	me, err := l.Me(t.Context(), ticket(t, l, j))
	if err != nil || me.View != admission.ViewWaiting || me.State != admission.Scheduled {
		t.Errorf("%+v, %v; want to wait for a sale that is scheduled", me, err)
	}
	if !me.Known || me.P50 < 50*time.Minute {
		t.Errorf("ETA %s, want about the hour until the opening", me.P50)
	}
}

// A line is full at its cap and not before; those who came first have it.
func TestLineIsFullAtItsCap(t *testing.T) {
	w := newWorld(t, 10, 100)
	w.sale.OpensAt = time.Now().Add(time.Hour) // nobody is called meanwhile
	w.sale.LineCap = 60
	store := localStore(t)
	a, _ := w.replica(t, store)
	b, _ := w.replica(t, store)
	both := []*admission.Line{line(t, a), line(t, b)}
	var joined, full atomic.Int32
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			j, err := both[i%2].Join(t.Context(), holder(i), admission.Ticket{})
			switch {
			case errors.Is(err, admission.ErrFull):
				full.Add(1)
			case err != nil:
				t.Error(err)
			case j.Place.Number >= 60:
				t.Errorf("place %d beyond the cap of 60", j.Place.Number)
			default:
				joined.Add(1)
			}
		})
	}
	all.Wait()
	if joined.Load() != 60 || full.Load() != 40 {
		t.Errorf("%d joined and %d were told that it is full, want 60 and 40", joined.Load(), full.Load())
	}
}

// A block whose outcome is unknown is a hole: nobody gets its numbers, and all
// who wanted one get another.
func TestUnknownBlockIsBurned(t *testing.T) {
	w := newWorld(t, 10, 100)
	store := admissiontest.NewFaulty(localStore(t))
	lines, _ := w.replica(t, store)
	l := line(t, lines)
	store.Next("Allot", admissiontest.LostReply, admissiontest.LostCall)
	store.Next("Join", admissiontest.LostReply, admissiontest.LostCall)
	numbers := map[int64]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			j, err := l.Join(t.Context(), holder(i), admission.Ticket{})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			numbers[j.Place.Number] = true
		})
	}
	all.Wait()
	if len(numbers) != 50 {
		t.Errorf("50 people have %d places", len(numbers))
	}
	tail, err := store.Tail(t.Context(), event)
	if err != nil || tail.Next <= 50 {
		t.Errorf("tail %d (%v), want a hole behind the lost reply", tail.Next, err)
	}
}
