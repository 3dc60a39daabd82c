package admission_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
)

// lame is a store that does not answer for one event while it is down.
type lame struct {
	admission.Store
	event string
	down  atomic.Bool
}

func (s *lame) fails(ctx context.Context, event string) error {
	if event != s.event || !s.down.Load() {
		return nil
	}
	if err := wait(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	return errDown
}

func (s *lame) Door(ctx context.Context, event string) (admission.Door, error) {
	if err := s.fails(ctx, event); err != nil {
		return admission.Door{}, err
	}
	return s.Store.Door(ctx, event)
}

func (s *lame) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	if err := s.fails(ctx, r.Event); err != nil {
		return admission.Door{}, false, err
	}
	return s.Store.Refill(ctx, r)
}

func (s *lame) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	if err := s.fails(ctx, seen.Event); err != nil {
		return admission.Door{}, false, err
	}
	return s.Store.Acquire(ctx, seen, owner)
}

func (s *lame) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	if err := s.fails(ctx, event); err != nil {
		return admission.Door{}, false, err
	}
	return s.Store.Take(ctx, event, epoch, k)
}

func (s *lame) Allot(ctx context.Context, event string, epoch, n, cap int64) (int64, error) {
	if err := s.fails(ctx, event); err != nil {
		return 0, err
	}
	return s.Store.Allot(ctx, event, epoch, n, cap)
}

func (s *lame) Tail(ctx context.Context, event string) (admission.Tail, error) {
	if err := s.fails(ctx, event); err != nil {
		return admission.Tail{}, err
	}
	return s.Store.Tail(ctx, event)
}

func (s *lame) Reports(ctx context.Context, event string) (map[string][]byte, error) {
	if err := s.fails(ctx, event); err != nil {
		return nil, err
	}
	return s.Store.Reports(ctx, event)
}

func (s *lame) PutReport(ctx context.Context, event, replica string, body []byte) error {
	if err := s.fails(ctx, event); err != nil {
		return err
	}
	return s.Store.PutReport(ctx, event, replica, body)
}

// install is one replica that serves several worlds, each its own event's.
func install(t testing.TB, store admission.Store, worlds map[string]*world) *admission.Lines {
	t.Helper()
	first := worlds[event]
	books := first.books()
	own := func(event string) admission.Books { return worlds[event].books() }
	books.LetIn = func(ctx context.Context, e admission.Entry) error { return own(e.Event).LetIn(ctx, e) }
	books.GiveBack = func(ctx context.Context, p admission.Pass) error { return own(p.Event).GiveBack(ctx, p) }
	books.Inside = func(ctx context.Context, event string, epoch int64) ([]admission.Entry, error) {
		return own(event).Inside(ctx, event, epoch)
	}
	books.After = func(ctx context.Context, event string, epoch, take int64) ([]admission.Entry, error) {
		return own(event).After(ctx, event, epoch, take)
	}
	books.Bought = func(ctx context.Context, event string, epoch int64, since time.Time) ([]admission.Bought, error) {
		return own(event).Bought(ctx, event, epoch, since)
	}
	books.PassOf = func(ctx context.Context, event string, epoch, place int64) (admission.Entry, bool, error) {
		return own(event).PassOf(ctx, event, epoch, place)
	}
	books.Keep = func(ctx context.Context, c admission.Checkpoint) error { return own(c.Event).Keep(ctx, c) }
	books.Recall = func(ctx context.Context, event string, epoch int64) (admission.Checkpoint, error) {
		return own(event).Recall(ctx, event, epoch)
	}
	books.Within = func(ctx context.Context, event string, epoch, since, take int64) (admission.Within, error) {
		return own(event).Within(ctx, event, epoch, since, take)
	}
	books.Evidence = func(e admission.Evidence) { own(e.Event).Evidence(e) }
	lines := admission.NewLines(admission.Config{
		Replica: "replica-1", Store: store, Books: books, Tickets: first.ticketKeys, Passes: first.passKeys,
		Recount: func(ctx context.Context, event string, theta time.Duration) (admission.Stock, error) {
			return worlds[event].recount(ctx, event, theta)
		},
		Log: slog.New(slog.DiscardHandler), Metrics: admission.NewMetrics(prometheus.NewRegistry()),
	}, func(ctx context.Context) (all []admission.Sale, err error) {
		for _, w := range worlds {
			one, err := w.sales(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); lines.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return lines
}

// One event's store does not answer for 20 s. The other event in the same
// replica is let in at its whole pace meanwhile, and its page never says anything
// but open. The one that failed lets nobody in, says so, and goes on from where
// it was when its store is back.
func TestOneEventsStoreIsNoOthersTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ball, rate = "ball", 20
		hallWorld, ballWorld := newWorld(t, rate, 100_000), newWorld(t, rate, 100_000)
		ballWorld.sale.Event = ball
		worlds := map[string]*world{event: hallWorld, ball: ballWorld}
		store := &lame{Store: newMemory(2*time.Millisecond, 8*time.Millisecond), event: ball}
		lines := install(t, store, worlds)
		here := map[string]*admission.Line{}
		eventually(t, "both lines open", 10*time.Second, func() bool {
			here[event], _ = lines.Line(event)
			here[ball], _ = lines.Line(ball)
			return here[event] != nil && here[ball] != nil && lines.Ready(t.Context()) == nil
		})
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range 1500 {
			for _, l := range here {
				fans.Go(func() { queues(ctx, l, i) })
			}
		}
		letIn := func(event string) int { return len(worlds[event].after(0)) }
		eventually(t, "both let people in", 30*time.Second, func() bool { return letIn(event) > 100 && letIn(ball) > 100 })

		store.down.Store(true)
		wait(ctx, 400*time.Millisecond) //nolint:errcheck // virtual; what was on its way to the store has come back
		front := here[ball].Standing().Front
		before := map[string]int{event: letIn(event), ball: letIn(ball)}
		const cut = 20
		var told time.Duration
		for begun := time.Now(); time.Since(begun) < cut*time.Second; wait(ctx, 50*time.Millisecond) { //nolint:errcheck // virtual
			if s := here[event].Standing(); s.State != admission.Open {
				t.Fatalf("%s into it the other is %s %s", time.Since(begun), s.State, s.Reason)
			}
			if s := here[ball].Standing(); told == 0 && s.State == admission.OnDoubt {
				told = time.Since(begun)
			}
		}
		if n := letIn(event) - before[event]; n < cut*rate*95/100 {
			t.Errorf("the other let %d in within %d s, want %d/s", n, cut, rate)
		}
		if n := letIn(ball) - before[ball]; n > 0 {
			t.Errorf("%d were let in where the store did not answer", n)
		}
		if told == 0 || told > 5*time.Second {
			t.Errorf("it said that it is in doubt after %s, want within 3 s and 2 s more", told)
		}
		store.down.Store(false)
		eventually(t, "it goes on", 10*time.Second, func() bool { return letIn(ball) > before[ball]+rate })
		if got := here[ball].Standing().Front; got < front {
			t.Errorf("it went on from place %d, and had been at %d", got, front)
		}
		t.Logf("in doubt after %s; the other let %d in meanwhile", told, letIn(event)-before[event])
		done()
		fans.Wait()
		for _, w := range worlds {
			w.checkPace(t)
		}
	})
}

// queues joins, and asks for its pass until it has it, whatever fails meanwhile.
func queues(ctx context.Context, l *admission.Line, i int) {
	for ctx.Err() == nil {
		j, err := l.Join(ctx, admission.HolderOf(fmt.Sprintf("%s, person %d", l.Event(), i)), admission.Ticket{})
		if err != nil {
			wait(ctx, time.Second) //nolint:errcheck // the loop looks
			continue
		}
		k, _, err := l.Ticket(j.Ticket)
		if err != nil {
			return
		}
		if a, err := comes(ctx, l, k); err == nil && a.View == admission.ViewPassed {
			return
		}
		wait(ctx, time.Second) //nolint:errcheck // the loop looks
	}
}
