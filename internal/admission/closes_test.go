package admission_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// stale is a store that shows what was a while ago, and of the door's steps
// takes none, while it is old: a copy that is cut off from the others.
type stale struct {
	admission.Store
	old atomic.Pointer[admission.Door]
}

func (s *stale) Door(ctx context.Context, event string) (admission.Door, error) {
	door, err := s.Store.Door(ctx, event)
	if old := s.old.Load(); old != nil {
		return *old, err
	}
	return door, err
}

func (s *stale) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	if old := s.old.Load(); old != nil {
		return *old, false, nil
	}
	return s.Store.Acquire(ctx, seen, owner)
}

func (s *stale) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	if old := s.old.Load(); old != nil {
		return *old, false, nil
	}
	return s.Store.Refill(ctx, r)
}

func (s *stale) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	if old := s.old.Load(); old != nil {
		return *old, false, nil
	}
	return s.Store.Take(ctx, event, epoch, k)
}

// doubting is a sale with two replicas in which something becomes unknown.
type doubting struct {
	*world
	t     *testing.T
	truth *memory // what the line's store is, faults aside
	lines []*admission.Line

	kept []admission.Ticket // of people who only wait
	late sync.WaitGroup     // calls that take effect while all goes on
}

// doubt is what becomes unknown. From then on, or from so long after it as what
// was known stays known, nobody is let in; within 2 s more every replica's
// document says so, for one of the reasons.
type doubt struct {
	begin, heal func(*doubting)
	known       time.Duration
	told        time.Duration // of what is seen at once, but is told by its age
	reasons     []admission.Reason
}

const sayItWithin = 2 * time.Second

// closes opens a sale over the store, has people come, and holds the doubt
// against P10.
func closes(t *testing.T, truth *memory, store admission.Store, d doubt) {
	c := &doubting{world: newWorld(t, 20, 100_000), t: t, truth: truth}
	for range 2 {
		lines, _ := c.replica(t, store)
		c.lines = append(c.lines, line(t, lines))
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var fans sync.WaitGroup
	for i := range 1500 {
		fans.Go(func() { visit(ctx, c.world, c.lines, i) })
	}
	eventually(t, "people are let in", 30*time.Second, func() bool { return len(c.after(0)) > 40 })
	for i := range 20 {
		c.kept = append(c.kept, ticket(t, c.lines[0], join(t, c.lines[0], 10_000+i)))
	}

	begun := time.Now()
	d.begin(c)
	saidBy := max(d.known, d.told) + sayItWithin
	for i, l := range c.lines {
		eventually(t, "the document says that it is closed on doubt, and why", saidBy-time.Since(begun)+50*time.Millisecond, func() bool {
			state, reason := said(t, l)
			return state == admission.OnDoubt && slices.Contains(d.reasons, reason)
		})
		state, reason := said(t, l)
		t.Logf("replica %d says %s, %s after %s", i+1, state, reason, time.Since(begun))
	}
	front := c.door().Front
	for end := begun.Add(20 * time.Second); time.Now().Before(end); wait(ctx, 100*time.Millisecond) { //nolint:errcheck // virtual
		for i, l := range c.lines {
			if state, reason := said(t, l); state != admission.OnDoubt || !slices.Contains(d.reasons, reason) {
				t.Fatalf("%s into it, replica %d says %s, %q", time.Since(begun), i+1, state, reason)
			}
		}
	}
	c.nobodySince(begun.Add(d.known))
	if now := c.door().Front; now != front {
		t.Errorf("the front went from %d to %d while the line was closed", front, now)
	}

	taken := len(c.after(0))
	d.heal(c)
	healed := time.Now()
	eventually(t, "it goes on", 10*time.Second, func() bool {
		state, _ := said(t, c.lines[1])
		return state == admission.Open && len(c.after(0)) > taken+20
	})
	t.Logf("nobody in for %s; it went on %s after it healed", healed.Sub(begun), time.Since(healed))
	c.samePlaces(front)
	c.late.Wait()
	done()
	fans.Wait()
	c.checkPace(t)
}

// said is what the line's published document says.
func said(t *testing.T, l *admission.Line) (admission.SaleState, admission.Reason) {
	t.Helper()
	var d struct {
		State  admission.SaleState
		Reason admission.Reason
	}
	if err := json.Unmarshal(l.Status().Body, &d); err != nil {
		t.Fatal(err)
	}
	return d.State, d.Reason
}

func (c *doubting) door() admission.Door {
	c.truth.mu.Lock()
	defer c.truth.mu.Unlock()
	return c.truth.lines[event].door
}

// nobodySince: whose credit was taken before then may still have got the pass,
// and whose take was on its way.
func (c *doubting) nobodySince(closed time.Time) {
	c.t.Helper()
	for _, e := range c.after(0) {
		if late := e.TakenAt.Sub(closed); late > 100*time.Millisecond {
			c.t.Errorf("place %d was let in %s after nobody may be", e.Place, late)
		}
	}
}

// samePlaces: whoever waits has the number that they had, at either replica,
// and the front is not behind where it was.
func (c *doubting) samePlaces(front int64) {
	c.t.Helper()
	for i, k := range c.kept {
		again := join(c.t, c.lines[1], 10_000+i)
		me, err := c.lines[i%2].Me(c.t.Context(), k)
		if again.New || again.Place.Number != k.Number || err != nil || me.Number != k.Number {
			c.t.Errorf("place %d is %d (new: %v) and %d (%v) after it healed", k.Number, again.Place.Number, again.New, me.Number, err)
		}
	}
	if now := c.door().Front; now < front {
		c.t.Errorf("the front went back from %d to %d", front, now)
	}
}

// The line's store is off, refuses, answers too slowly, too late, or with what
// was a while ago: nobody is let in, the document says so, and with the store
// the line is back where it was.
func TestDoubtAboutTheStoreCloses(t *testing.T) {
	const fresh = 3 * time.Second // as long as a door that was seen says something
	reasons := []admission.Reason{admission.StoreUnknown, admission.LeaseUnknown}
	for _, fault := range []admissiontest.Fault{
		admissiontest.Broken, admissiontest.LostCall, admissiontest.LostReply, admissiontest.Throttled, admissiontest.Late,
	} {
		t.Run(fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
				var off atomic.Bool
				store := admissiontest.NewFaulty(truth)
				store.Always(func(string) admissiontest.Fault {
					if off.Load() {
						return fault
					}
					return admissiontest.None
				})
				closes(t, truth, store, doubt{
					told: fresh, reasons: reasons,
					begin: func(*doubting) { off.Store(true) },
					heal: func(c *doubting) {
						off.Store(false)
						c.late.Go(func() {
							if n := store.Land(); fault == admissiontest.Late && n == 0 {
								c.t.Error("no call was late")
							}
						})
					},
				})
			})
		})
	}
	for name, latency := range map[string]time.Duration{"slow beyond use": 3 * time.Second, "slow, and takes effect": 1600 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
				var slow atomic.Bool
				usual := truth.latency
				truth.latency = func() time.Duration {
					if slow.Load() {
						return latency
					}
					return usual()
				}
				closes(t, truth, truth, doubt{
					told: fresh, reasons: reasons,
					begin: func(*doubting) { slow.Store(true) }, heal: func(*doubting) { slow.Store(false) },
				})
			})
		})
	}
	t.Run("stale", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
			store := &stale{Store: truth}
			closes(t, truth, store, doubt{
				told: fresh, reasons: reasons,
				begin: func(c *doubting) { old := c.door(); store.old.Store(&old) },
				heal:  func(*doubting) { store.old.Store(nil) },
			})
		})
	})
}

// Postgres is off, or a part of what it knows; NATS is off, so that the replicas
// cannot ask the claimers; the claimers are silent.
func TestDoubtAboutTheHouseCloses(t *testing.T) {
	postgres := func(w *world, err error) {
		w.settingsDown, w.stockDown, w.ledgerDown, w.claimersDown = err, err, err, err
	}
	for name, d := range map[string]struct {
		set     func(*world, error)
		known   time.Duration
		reasons []admission.Reason
	}{
		"Postgres is off":                {postgres, 3 * time.Second, []admission.Reason{admission.NoStock, admission.NoClaimers, admission.LeaseUnknown, admission.NoSettings}},
		"the stock cannot be counted":    {func(w *world, err error) { w.stockDown = err }, 3 * time.Second, []admission.Reason{admission.NoStock}},
		"settings cannot be read":        {func(w *world, err error) { w.settingsDown = err }, 10 * time.Second, []admission.Reason{admission.NoSettings}},
		"NATS is off":                    {func(w *world, err error) { w.claimersDown = err }, 3 * time.Second, []admission.Reason{admission.NoClaimers}},
		"claimers are silent":            {func(w *world, err error) { w.silence(err != nil) }, 3 * time.Second, []admission.Reason{admission.NoClaimers}},
		"the payment provider is silent": {func(w *world, err error) { w.unpaid(err != nil) }, 10 * time.Second, []admission.Reason{admission.NoPayments}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
				closes(t, truth, truth, doubt{
					known: d.known, reasons: d.reasons,
					begin: func(c *doubting) { c.set(func(w *world) { d.set(w, errDown) }) },
					heal:  func(c *doubting) { c.set(func(w *world) { d.set(w, nil) }) },
				})
			})
		})
	}
}

// silence has the claimers' last report grow old, under the world's lock.
func (w *world) silence(silent bool) {
	w.silent = time.Time{}
	if silent {
		w.silent = time.Now()
	}
}

// unpaid has the payment provider answer nobody, under the world's lock.
func (w *world) unpaid(silent bool) {
	w.paying = admission.Paying{}
	if silent {
		w.paying = admission.Paying{At: time.Now(), Since: time.Now(), Failed: time.Now()}
	}
}

// Settings that make no sense let nobody in, whichever they are, and it is said;
// mended, the line goes on from where it was.
func TestDoubtAboutTheSettingsCloses(t *testing.T) {
	rate, settings := []admission.Reason{admission.NoRate}, []admission.Reason{admission.NoSettings}
	for name, c := range map[string]struct {
		spoil   func(*admission.Sale)
		reasons []admission.Reason
	}{
		"a rate that was never set":      {func(s *admission.Sale) { s.Rate = 0 }, rate},
		"a negative rate":                {func(s *admission.Sale) { s.Rate = -5 }, rate},
		"a rate that is no number":       {func(s *admission.Sale) { s.Rate = math.NaN() }, rate},
		"an infinite rate":               {func(s *admission.Sale) { s.Rate = math.Inf(1) }, rate},
		"a rate beyond meaning":          {func(s *admission.Sale) { s.Rate = 1e9 }, rate},
		"a negative cap":                 {func(s *admission.Sale) { s.MaxInside = -1 }, rate},
		"a quota that is no number":      {func(s *admission.Sale) { s.PaymentQuota = math.NaN() }, rate},
		"no word":                        {func(s *admission.Sale) { s.Control = "" }, settings},
		"a word that nobody knows":       {func(s *admission.Sale) { s.Control = "go" }, settings},
		"no opening":                     {func(s *admission.Sale) { s.OpensAt = time.Time{} }, settings},
		"a pass without a life":          {func(s *admission.Sale) { s.PassLife = 0 }, settings},
		"a pass that buys nothing":       {func(s *admission.Sale) { s.PassQuota = 0 }, settings},
		"orders of no tickets":           {func(s *admission.Sale) { s.OrderLimit = -1 }, settings},
		"a share that is no number":      {func(s *admission.Sale) { s.SharePrior = math.NaN() }, settings},
		"a share beyond all":             {func(s *admission.Sale) { s.SharePrior = 1.5 }, settings},
		"tickets that are no number":     {func(s *admission.Sale) { s.TicketsPrior = math.Inf(1) }, settings},
		"a slack that is no number":      {func(s *admission.Sale) { s.Slack = math.NaN() }, settings},
		"an infinite slack":              {func(s *admission.Sale) { s.Slack = math.Inf(1) }, settings},
		"a call window that is negative": {func(s *admission.Sale) { s.CallWindow = -time.Second }, settings},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
				var sense admission.Sale
				closes(t, truth, truth, doubt{
					known: 1100 * time.Millisecond, reasons: c.reasons, // read once a second
					begin: func(d *doubting) { d.set(func(w *world) { sense = w.sale; c.spoil(&w.sale) }) },
					heal:  func(d *doubting) { d.set(func(w *world) { w.sale = sense }) },
				})
			})
		})
	}
}
