package admission_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// forecast is what the document told somebody at that time, in seconds.
type forecast struct {
	at    time.Time
	front int64
	of    admission.Figures
}

// At a constant rate the published median of the wait is right within a fifth,
// for everybody who waits and whenever they look, once it is known how many of
// those called come: here seven in ten, of whom nobody knew. Where one a second
// comes in, or fewer, a minute is too few people to know that by, and the half that is
// taken for it until then shows. The rate is got, and the store, which is sound, is
// never said to bound it.
func TestETAIsRightWithinAFifth(t *testing.T) {
	for _, c := range []struct {
		rate float64
		off  float64 // at worst
	}{{0.4, 0.4}, {1, 0.25}, {10, 0.2}, {40, 0.2}} {
		synctest.Test(t, func(t *testing.T) {
			people := int64(400 * c.rate)
			w := newWorld(t, c.rate, 1_000_000)
			w.sale.OpensAt = time.Now().Add(time.Minute)
			lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
			l := line(t, lines)
			ctx, done := context.WithCancel(t.Context())
			var fans sync.WaitGroup
			for i := range int(people) {
				k := ticket(t, l, join(t, l, i))
				if 7*i%10 < 7 { // evenly, for of so few it would be chance
					fans.Go(func() { comes(ctx, l, k) }) //nolint:errcheck // until the end
				}
			}
			wait(ctx, time.Until(w.sale.OpensAt)+time.Minute) //nolint:errcheck // virtual
			from, had := time.Now(), len(w.after(0))
			var told []forecast
			called := make([]time.Time, people)
			for s := l.Standing(); s.Front < people; s = l.Standing() {
				for n := range s.Front {
					if called[n].IsZero() {
						called[n] = time.Now()
					}
				}
				if by := s.Figures.By; by != admission.ByRate {
					t.Fatalf("at %v/s %s is said to bound the rate, and not who set it", c.rate, by)
				}
				told = append(told, forecast{time.Now(), s.Front, s.Figures})
				wait(ctx, time.Second) //nolint:errcheck // virtual
			}
			got := float64(len(w.after(0))-had) / time.Since(from).Seconds()
			errs := offBy(t, told, called)
			worst := errs[len(errs)-1]
			t.Logf("at %v/s %.2f/s were let in; %d forecasts: error %.1f %% in the median, %.1f %% at worst", c.rate, got, len(errs), 100*errs[len(errs)/2], 100*worst)
			if worst > c.off || len(errs) < 500 {
				t.Errorf("%.1f %% off at worst, want at most %.0f %%, of %d forecasts", 100*worst, 100*c.off, len(errs))
			}
			if got < 0.95*c.rate {
				t.Errorf("%.2f/s were let in, want %v/s", got, c.rate)
			}
			done()
			fans.Wait()
		})
	}
}

// offBy is by which share of the wait each forecast was wrong, ascending. Of those
// not called while we looked, or called in a moment, there is none.
func offBy(t *testing.T, told []forecast, called []time.Time) (errs []float64) {
	for _, f := range told {
		for n := f.front; n < int64(len(called)); n += 5 {
			p50, _, known := f.of.ETA(admission.Ahead(n, f.front), f.at)
			took := called[n].Sub(f.at)
			if called[n].IsZero() || took < 30*time.Second {
				continue
			}
			if !known {
				t.Fatalf("nobody can say at %s how long %d takes: %+v", f.at, n, f.of)
			}
			errs = append(errs, math.Abs(p50.Seconds()-took.Seconds())/took.Seconds())
		}
	}
	slices.Sort(errs)
	return errs
}

// Where the cap on people inside lets in fewer than the rate, the median of the
// wait says so: here one in twenty of what the rate alone would. It is right within
// a third once a few hundred have gone, of whom nobody knew how long they stay; and
// a take-over forgets none of it.
func TestETAKnowsOfTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 50, 1000
		w := newWorld(t, 20, 1_000_000)
		w.sale.MaxInside = most
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		first, stop := w.replica(t, store)
		second, _ := w.replica(t, store)
		l, other := line(t, first), line(t, second)
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k := ticket(t, other, join(t, other, i))
			fans.Go(func() {
				if a, err := comes(ctx, other, k); err == nil && wait(ctx, 30*time.Second+time.Duration(i%20)*time.Second) == nil {
					giveBack(ctx, t, other, a.Admitted)
				}
			})
		}
		wait(ctx, 4*time.Minute) //nolint:errcheck // virtual
		if at := l.Standing(); at.Figures.Pace == 0 || at.Figures.Room > 2 {
			t.Fatalf("the cap is not reached: %+v", at.Figures)
		}
		stop()
		wait(ctx, 10*time.Second) //nolint:errcheck // virtual
		var told []forecast
		called := make([]time.Time, people)
		for s := other.Standing(); s.Front < people; s = other.Standing() {
			for n := range s.Front {
				if called[n].IsZero() {
					called[n] = time.Now()
				}
			}
			told = append(told, forecast{time.Now(), s.Front, s.Figures})
			wait(ctx, time.Second) //nolint:errcheck // virtual
		}
		var worst float64
		judged := 0
		for _, f := range told {
			for n := f.front; n < people; n += 10 {
				took := called[n].Sub(f.at).Seconds()
				if called[n].IsZero() || took < 120 {
					continue // not called while we looked, or soon: one person is a lot then
				}
				p50, _, known := f.of.ETA(admission.Ahead(n, f.front), f.at)
				if !known {
					t.Fatalf("nobody can say at %s how long %d takes: %+v", f.at, n, f.of)
				}
				judged++
				worst = max(worst, math.Abs(p50.Seconds()-took)/took)
			}
		}
		t.Logf("%d forecasts, at worst %.0f %% off", judged, 100*worst)
		if worst > 1.0/3 || judged < 500 {
			t.Errorf("%.0f %% off at worst, want at most a third, of %d forecasts", 100*worst, judged)
		}
		done()
		fans.Wait()
	})
}

// Who closes the browser is inside for the pass's life, and while nobody has gone
// yet nothing says how long people stay. The median told then is still too long by
// no more than one pass's life.
func TestTheWaitUnderTheCapIsNoLongerThanPassesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 100, 500
		w := newWorld(t, 20, 1_000_000)
		w.sale.MaxInside, w.sale.PassLife = most, 3*time.Minute
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k := ticket(t, l, join(t, l, i))
			fans.Go(func() { comes(ctx, l, k) }) //nolint:errcheck // until the end
		}
		var told []forecast
		called := make([]time.Time, people)
		for s := l.Standing(); s.Front < people; s = l.Standing() {
			for n := range s.Front {
				if called[n].IsZero() {
					called[n] = time.Now()
				}
			}
			told = append(told, forecast{time.Now(), s.Front, s.Figures})
			wait(ctx, time.Second) //nolint:errcheck // virtual
		}
		var worst time.Duration
		judged := 0
		for _, f := range told {
			for n := f.front; n < people; n += 25 {
				if p50, _, known := f.of.ETA(admission.Ahead(n, f.front), f.at); known && !called[n].IsZero() {
					judged++
					worst = max(worst, p50-called[n].Sub(f.at))
				}
			}
		}
		t.Logf("%d forecasts, too long by %s at worst", judged, worst)
		if worst > w.sale.PassLife || judged < 500 {
			t.Errorf("told %s more than it took, of %d forecasts; nobody stays longer than %s", worst, judged, w.sale.PassLife)
		}
		done()
		fans.Wait()
	})
}

// A cap that is taken off and set again finds what was learnt under it: what the
// crowd did meanwhile, which nobody counted, says nothing of how long people stay.
func TestACapSetAgainKnowsHowLongPeopleStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 50, 5000
		w, l := capped(t, 10, most)
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k := ticket(t, l, join(t, l, i))
			fans.Go(func() {
				if a, err := comes(ctx, l, k); err == nil && wait(ctx, 30*time.Second+time.Duration(i%20)*time.Second) == nil {
					giveBack(ctx, t, l, a.Admitted)
				}
			})
		}
		wait(ctx, 5*time.Minute) //nolint:errcheck // virtual
		before := l.Standing().Figures.Stay
		w.set(func(w *world) { w.sale.MaxInside = 0 })
		wait(ctx, 5*time.Minute) //nolint:errcheck // virtual
		w.set(func(w *world) { w.sale.MaxInside = most })
		wait(ctx, 70*time.Second) //nolint:errcheck // virtual
		after := l.Standing().Figures.Stay
		t.Logf("a stay of %.1f s was learnt, a minute after the cap is set again %.1f s", before, after)
		if after < before/2 || after > 2*before {
			t.Errorf("a stay is %.1f s, was %.1f s, though nobody behaves differently", after, before)
		}
		done()
		fans.Wait()
	})
}

// looks is what one person was shown: answers of any replica, of which a page
// shows none that is earlier than the last.
type looks struct {
	t       *testing.T
	number  int64
	version int64
	ahead   int64
	eta     time.Duration // 0: nobody could say
	why     admission.Figures
	shown   int
}

// see takes in an answer, and what it was worked out from.
func (k *looks) see(s admission.Standing, number, ahead int64, eta time.Duration) {
	if s.Version < k.version {
		return
	}
	f := s.Figures
	slower := f.By == admission.ByStore && (k.why.Pace == 0 || f.Pace < k.why.Pace)
	reason := slower || f.Rate < k.why.Rate || f.Turn > k.why.Turn || f.Opens > k.why.Opens
	switch {
	case number != k.number:
		k.t.Errorf("place %d became %d", k.number, number)
	case k.shown > 0 && ahead > k.ahead:
		k.t.Errorf("place %d had %d ahead, now %d (versions %d, %d)", number, k.ahead, ahead, k.version, s.Version)
	case k.eta > 0 && eta > k.eta && !reason:
		k.t.Errorf("place %d had to wait %s, now %s, of %+v and now %+v", number, k.eta, eta, k.why, f)
	}
	k.version, k.ahead, k.eta, k.why = s.Version, ahead, eta, f
	k.shown++
}

// poll asks a replica as pages do, by its document, or as others do, by the
// ticket.
func (k *looks) poll(ctx context.Context, l *admission.Line, ticket admission.Ticket, byTicket bool) (waits bool) {
	s := l.Standing()
	number, ahead := ticket.Number, admission.Ahead(ticket.Number, s.Front)
	if byTicket {
		me, err := l.Me(ctx, ticket)
		if err != nil || me.Version != s.Version { // a new document came just then
			return err == nil
		}
		if me.View != admission.ViewWaiting {
			return false
		}
		number, ahead = me.Number, me.Ahead
	}
	var eta time.Duration
	if s.State == admission.Open {
		eta, _, _ = s.Figures.ETA(ahead, s.At)
	}
	k.see(s, number, ahead, eta)
	return ahead > 0
}

// Over 100,000 polls at three replicas, of which two lose their way to the store
// again and again and answer with what they saw last: the number stays what it
// is, nobody has more people ahead than before, and the wait shown grows only
// when the rate fell, the store lets in fewer, or more of those called come.
func TestPlaceShownNeverGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, polls = 1200, 100_000
		w := newWorld(t, 3, 1_000_000)
		truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		ctx, done := context.WithCancel(t.Context())
		defer done()
		var all sync.WaitGroup
		for i := range 3 {
			store, cut := stalling(truth)
			ls, _ := w.replica(t, store)
			lines = append(lines, line(t, ls))
			for i > 0 && !cut.Load() {
				all.Go(func() {
					for wait(ctx, rand.N(8*time.Second)) == nil {
						cut.Store(!cut.Load())
					}
				})
				break
			}
		}
		var mu sync.Mutex
		var shown, stale int
		for i := range people {
			k := ticket(t, lines[0], join(t, lines[0], i))
			if i%3 > 0 {
				all.Go(func() { wanders(ctx, lines, k) })
			}
			all.Go(func() {
				seen := looks{t: t, number: int64(i)}
				asked := 0
				for ; wait(ctx, 500*time.Millisecond+rand.N(time.Second)) == nil; asked++ {
					if !seen.poll(ctx, lines[rand.IntN(3)], k, asked%2 == 0) {
						break
					}
				}
				mu.Lock()
				defer mu.Unlock()
				shown, stale = shown+seen.shown, stale+asked-seen.shown
			})
		}
		eventually(t, "all are called", 20*time.Minute, func() bool { return lines[0].Standing().Front >= people })
		done()
		all.Wait()
		t.Logf("%d answers shown, %d earlier ones were not", shown, stale)
		if shown+stale < polls || stale < polls/100 {
			t.Errorf("%d polls, of which %d stale: too few to say anything", shown+stale, stale)
		}
		w.checkPace(t)
	})
}

// wanders comes at any replica, whatever it says, until let in.
func wanders(ctx context.Context, lines []*admission.Line, k admission.Ticket) {
	for ctx.Err() == nil {
		a, err := lines[rand.IntN(len(lines))].Pass(ctx, k)
		if a.View == admission.ViewPassed {
			return
		}
		if err != nil {
			a.RetryAfter = time.Second
		}
		wait(ctx, a.RetryAfter) //nolint:errcheck // the loop looks
	}
}

// Stock that returns, or goes, is in the published document within 2 s, without
// any hint; and everybody's verdict, there and back, follows at the next poll.
func TestVerdictFollowsTheStock(t *testing.T) {
	for name, control := range map[string]admission.Control{"before the opening": admission.Run, "paused": admission.Pause} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const people = 300
				w := newWorld(t, 10, 5)
				if control == admission.Run {
					w.sale.OpensAt = time.Now().Add(time.Hour)
				}
				w.sale.Control = control
				store := newMemory(2*time.Millisecond, 8*time.Millisecond)
				var lines []*admission.Line
				var tickets []admission.Ticket
				for range 2 {
					ls, _ := w.replica(t, store)
					lines = append(lines, line(t, ls))
				}
				for i := range people {
					tickets = append(tickets, ticket(t, lines[0], join(t, lines[0], i)))
				}
				for round, free := range []int64{5, 2000, 0, 40, 5000, 3} {
					w.set(func(w *world) { w.sold, w.free = w.sold+w.free-free, free })
					wait(t.Context(), 2*time.Second) //nolint:errcheck // virtual
					for i, l := range lines {
						if s := l.Standing(); s.Stock.Free != free {
							t.Errorf("round %d: %d free for 2 s, replica %d says %d", round, free, i, s.Stock.Free)
						}
						f := l.Standing().Figures
						for n, k := range tickets {
							me, err := l.Me(t.Context(), k)
							if want := f.Verdict(int64(n), admission.Stock{Free: free}); err != nil || me.Verdict != want {
								t.Fatalf("round %d, %d free: place %d is told %s (%v), want %s", round, free, n, me.Verdict, err, want)
							}
						}
					}
					last, _ := lines[0].Me(t.Context(), tickets[people-1])
					if want := map[bool]admission.Verdict{true: admission.Likely, false: admission.Unlikely}[free >= 2000]; last.Verdict != want {
						t.Errorf("round %d, %d free: the last of %d is told %s, want %s", round, free, people, last.Verdict, want)
					}
				}
			})
		})
	}
}

// A stale copy of the status gets nobody a pass: not who takes from it that they
// are called, not at a replica that still thinks so, not with a ticket that is
// over. And a holder who shows an older ticket of theirs is where they are, not
// sent back.
func TestStaleCopiesGetNoPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 100)
		w.sale.PassLife = 10 * time.Second
		truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
		store, cut := stalling(truth)
		first, _ := w.replica(t, truth)
		second, _ := w.replica(t, store)
		fresh, lags := line(t, first), line(t, second)
		k := ticket(t, fresh, join(t, fresh, 0))
		if _, err := comes(t.Context(), fresh, k); err != nil {
			t.Fatal(err)
		}

		// The organiser pauses; one replica does not hear of it and is cut from the
		// store. Its document still says that the line is open.
		next := join(t, fresh, 1)
		eventually(t, "the next is called", 10*time.Second, func() bool { return lags.Standing().Front == 2 })
		paused := fresh.Sale()
		paused.Control = admission.Pause
		cut.Store(true)
		w.set(func(w *world) { w.sale.Control = admission.Pause })
		fresh.Set(paused)
		wait(t.Context(), 100*time.Millisecond) //nolint:errcheck // virtual
		if s := lags.Standing(); s.State != admission.Open {
			t.Fatalf("the replica that lags says %s", s.State)
		}
		for _, l := range []*admission.Line{lags, fresh} {
			if a, err := l.Pass(t.Context(), ticket(t, l, next)); err == nil && a.View == admission.ViewPassed {
				t.Errorf("a pass while the line is paused: %+v", a)
			}
		}
		// Whoever is not called asks as if they were.
		early := join(t, fresh, 2)
		if a, err := fresh.Pass(t.Context(), ticket(t, fresh, early)); err != nil || a.View != admission.ViewWaiting || a.Pass != "" {
			t.Errorf("who was not called got %+v, %v; want to wait", a, err)
		}
		if n := len(w.after(0)); n != 1 {
			t.Errorf("%d passes, want 1", n)
		}

		// The first's pass is over; they join again, and show the older ticket.
		cut.Store(false)
		w.set(func(w *world) { w.sale.Control = admission.Run })
		wait(t.Context(), 11*time.Second) //nolint:errcheck // virtual
		again := join(t, fresh, 0)
		for _, l := range []*admission.Line{fresh, lags} {
			j, err := l.Join(t.Context(), holder(0), k)
			if err != nil || j.New || j.Place.Number != again.Place.Number || j.Ticket != again.Ticket {
				t.Errorf("with the older ticket: %+v, %v; want the place %d", j.Place, err, again.Place.Number)
			}
			if a, err := l.Pass(t.Context(), k); err != nil || a.Pass != "" {
				t.Errorf("the older ticket's pass: %+v, %v", a, err)
			}
		}
		if a, err := comes(t.Context(), fresh, ticket(t, fresh, again)); err != nil || a.Number != again.Place.Number {
			t.Errorf("after the older ticket was shown: %+v, %v; want in", a, err)
		}
		w.checkPace(t)
	})
}
