package admission_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// A door at which nobody may be let in, because its replica cannot read the
// settings or the ledger fails it, holds up no other: those who stand at a
// healthy one get in, though lower numbers stand at the sick one.
func TestASickDoorStopsNoOther(t *testing.T) {
	for name, sicken := range map[string]func(w *world, sick *atomic.Bool, books *admission.Books) (sales func(context.Context) ([]admission.Sale, error)){
		"settings": func(w *world, sick *atomic.Bool, _ *admission.Books) func(context.Context) ([]admission.Sale, error) {
			return func(ctx context.Context) ([]admission.Sale, error) {
				if sick.Load() {
					return nil, errDown
				}
				return w.sales(ctx)
			}
		},
		"ledger": func(w *world, sick *atomic.Bool, books *admission.Books) func(context.Context) ([]admission.Sale, error) {
			letIn, passOf := books.LetIn, books.PassOf
			books.LetIn = func(ctx context.Context, e admission.Entry) error {
				if sick.Load() {
					return errDown
				}
				return letIn(ctx, e)
			}
			books.PassOf = func(ctx context.Context, event string, epoch, place int64) (admission.Entry, bool, error) {
				if sick.Load() {
					return admission.Entry{}, false, errDown
				}
				return passOf(ctx, event, epoch, place)
			}
			return w.sales
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10, 100_000)
				store := newMemory(2*time.Millisecond, 8*time.Millisecond)
				good, _ := w.replica(t, store) // holds the lease
				healthy := line(t, good)
				var sick atomic.Bool
				books := w.books()
				sales := sicken(w, &sick, &books)
				bad, _ := w.replicaOf(t, store, books, sales)
				ill := line(t, bad)
				sick.Store(true)
				wait(t.Context(), 15*time.Second) //nolint:errcheck // virtual: its settings are too old by then
				const people = 40
				if n := halfAtEach(t, people, ill, healthy); n != people/2 {
					t.Errorf("a minute later %d of %d at the healthy door are in", n, people/2)
				}
			})
		})
	}
}

// Whoever stood in time at a door that lets nobody in is not late for coming to
// another once that replica has died.
func TestASickDoorMakesNobodyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people = 800
		w := newWorld(t, 5, 100_000)
		w.sale.CallWindow = 30 * time.Second
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		good, _ := w.replica(t, store)
		healthy := line(t, good)
		var sick atomic.Bool
		bad, die := w.replicaOf(t, store, w.books(), func(ctx context.Context) ([]admission.Sale, error) {
			if sick.Load() {
				return nil, errDown
			}
			return w.sales(ctx)
		})
		ill := line(t, bad)
		sick.Store(true)
		wait(t.Context(), 15*time.Second) //nolint:errcheck // virtual: its settings are too old by then
		ctx, end := context.WithCancel(t.Context())
		there, leave := context.WithCancel(ctx)
		var fans sync.WaitGroup
		k := ticket(t, healthy, join(t, healthy, 0))
		fans.Go(func() { comes(there, ill, k) }) //nolint:errcheck // it never gets in
		for i := 1; i < people; i++ {            // the sale goes on elsewhere
			other := ticket(t, healthy, join(t, healthy, i))
			fans.Go(func() { comes(ctx, healthy, other) }) //nolint:errcheck // until the end
		}
		wait(t.Context(), 100*time.Second) //nolint:errcheck // virtual: long past its call window
		leave()
		die()
		if me, err := healthy.Me(t.Context(), k); err != nil || me.View != admission.ViewCalled || me.Late {
			t.Errorf("who stood at a door since the call is %s there, late %t, %v", me.View, me.Late, err)
		}
		if n := len(w.after(0)); n < people/4 {
			t.Errorf("%d are in, too few for the sale to have gone on", n)
		}
		end()
		fans.Wait()
	})
}

// A replica that cannot read the settings, or what the claimers bear, does not stop
// the sale by holding the lease: one that can takes over, and lets in who stands
// at its door.
func TestASickHolderStopsNoOther(t *testing.T) {
	for _, what := range []string{"settings", "claimers"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10, 100_000)
				store := newMemory(2*time.Millisecond, 8*time.Millisecond)
				var sick atomic.Bool
				books := w.books()
				load := books.Load
				books.Load = func(ctx context.Context) (admission.Load, error) {
					if sick.Load() && what == "claimers" {
						return admission.Load{}, errDown
					}
					return load(ctx)
				}
				sales := func(ctx context.Context) ([]admission.Sale, error) {
					if sick.Load() && what == "settings" {
						return nil, errDown
					}
					return w.sales(ctx)
				}
				bad, _ := w.replicaOf(t, store, books, sales)
				ill := line(t, bad)
				eventually(t, "it releases", 5*time.Second, func() bool { return ill.Standing().State == admission.Open })
				good, _ := w.replica(t, store)
				healthy := line(t, good)
				sick.Store(true)
				wait(t.Context(), 15*time.Second) //nolint:errcheck // virtual: its settings are too old by then
				const people = 200
				if n := halfAtEach(t, people, ill, healthy); n != people/2 {
					s := healthy.Standing()
					t.Errorf("a minute later %d of %d at the healthy door are in; the sale is %s %s", n, people/2, s.State, s.Reason)
				}
				w.checkPace(t)
			})
		})
	}
}

// One place whose pass is in doubt for good rests nobody else.
func TestOnePlaceInDoubtRestsNoDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		ctx, end := context.WithCancel(t.Context())
		first := ticket(t, l, join(t, l, 0))
		if a, err := comes(ctx, l, first); err != nil || a.View != admission.ViewPassed {
			t.Fatal(a, err)
		}
		w.set(func(w *world) { // the ledger has another pass for the place
			e := w.passes[0]
			e.Take += 1000
			w.passes[0] = e
		})
		var fans sync.WaitGroup
		fans.Go(func() {
			for wait(ctx, 500*time.Millisecond) == nil {
				l.Pass(ctx, first) //nolint:errcheck // it never gets it
			}
		})
		var in atomic.Int64
		for i := range 10 {
			k := ticket(t, l, join(t, l, 1+i))
			fans.Go(func() {
				if a, err := comes(ctx, l, k); err == nil && a.View == admission.ViewPassed {
					in.Add(1)
				}
			})
		}
		wait(t.Context(), time.Minute) //nolint:errcheck // virtual
		if n := in.Load(); n != 10 {
			t.Errorf("a minute later %d of 10 others are in", n)
		}
		end()
		fans.Wait()
	})
}

// halfAtEach has half of the people come to a sick door and half to a healthy one,
// the lower numbers to the sick one, and says how many of the healthy one's are
// in a minute later.
func halfAtEach(t *testing.T, people int, ill, healthy *admission.Line) int {
	ctx, end := context.WithCancel(t.Context())
	var fans sync.WaitGroup
	var in atomic.Int64
	for i := range people {
		k := ticket(t, healthy, join(t, healthy, i))
		at := healthy
		if i < people/2 {
			at = ill
		}
		fans.Go(func() {
			if a, err := comes(ctx, at, k); err == nil && a.View == admission.ViewPassed && at == healthy {
				in.Add(1)
			}
		})
	}
	wait(t.Context(), time.Minute) //nolint:errcheck // virtual
	n := int(in.Load())
	end()
	fans.Wait()
	return n
}

// A replica whose ledger hangs takes no credits that it cannot make passes of:
// whoever stands at another door has the whole pace. What it took before is not
// lost: those places get their passes by the same takes once it can write again.
func TestAHangingLedgerHasNoShareOfThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, rate = 1200, 10
		w := newWorld(t, rate, 100_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		good, _ := w.replica(t, store)
		healthy := line(t, good)
		var sick atomic.Bool
		books := w.books()
		letIn := books.LetIn
		books.LetIn = func(ctx context.Context, e admission.Entry) error {
			if !sick.Load() {
				return letIn(ctx, e)
			}
			wait(ctx, 3*time.Second) //nolint:errcheck // it hangs, whoever waits
			return errDown
		}
		bad, _ := w.replicaOf(t, store, books, w.sales)
		ill := line(t, bad)
		sick.Store(true)
		ctx, end := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k, at := ticket(t, healthy, join(t, healthy, i)), healthy
			if i%2 == 0 {
				at = ill
			}
			fans.Go(func() { comes(ctx, at, k) }) //nolint:errcheck // until the end
		}
		before, taken := len(w.after(0)), healthy.Standing().Taken
		wait(ctx, 50*time.Second) //nolint:errcheck // virtual
		passes, takes := len(w.after(0))-before, healthy.Standing().Taken-taken
		if passes < 50*rate*8/10 || takes-int64(passes) > 4*rate {
			t.Errorf("in 50 s at %d/s %d credits were taken and %d passes written", rate, takes, passes)
		}
		sick.Store(false)
		eventually(t, "every credit is somebody's", 15*time.Second, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			n := 0
			for _, e := range w.evidence {
				if _, written := w.takes[e.Seq]; e.Kind == "take" && !written && time.Since(e.At) > time.Second {
					n++
				}
			}
			return n == 0
		})
		end()
		fans.Wait()
		w.checkPace(t)
	})
}
