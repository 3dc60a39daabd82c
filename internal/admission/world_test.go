package admission_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
)

// world is what stands around the line in a test: the organiser's settings, the
// seats, the ledger, all in memory. Its fields are changed under its lock.
type world struct {
	mu sync.Mutex

	sale     admission.Sale
	free     int64
	pending  int64
	sold     int64
	passes   map[int64]admission.Entry // by place
	takes    map[int64]admission.Entry
	bought   []admission.Bought
	evidence []admission.Evidence
	kept     map[int64]admission.Checkpoint // by epoch

	payBy   []time.Time // of pending orders of a seat each, that nobody will pay
	expired int64

	load   admission.Load
	paying admission.Paying
	ended  map[int64]time.Time // when a take's order ended; zero: it is pending
	back   map[int64]time.Time // when a take's pass was given back

	think time.Duration // the mean, from pass to claim

	settingsDown, stockDown, ledgerDown, claimersDown error
	silent                                            time.Time // the claimers are since then; zero: they are not

	ticketKeys *admission.TicketKeys
	passKeys   *admission.PassKeys
	replicas   int
	held       int // how many may stand at a door; 0: as in production
}

var errDown = errors.New("connection refused")

const event = "hall"

// newWorld has a sale that opens now, in people a second and seats.
func newWorld(t testing.TB, rate float64, seats int64) *world {
	t.Helper()
	pem, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{free: seats, think: 20 * time.Second, passes: map[int64]admission.Entry{}, takes: map[int64]admission.Entry{}, kept: map[int64]admission.Checkpoint{}, back: map[int64]time.Time{}}
	if w.passKeys, err = admission.ParsePassKeys("waitroom", pem); err != nil {
		t.Fatal(err)
	}
	if w.ticketKeys, err = admission.ParseTicketKeys("k:" + base64.StdEncoding.EncodeToString([]byte("a ticket key that tests alone use"))); err != nil {
		t.Fatal(err)
	}
	w.sale = admission.Sale{
		Event: event, Epoch: 1, Title: "A hall", Control: admission.Run, OpensAt: time.Now(),
		Rate: rate, OrderLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		LineCap: 1_000_000, SharePrior: 0.5, TicketsPrior: 2, Slack: 0.5,
	}
	return w
}

// set changes the world.
func (w *world) set(f func(*world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w)
}

func (w *world) sales(context.Context) ([]admission.Sale, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sale
	s.ReadAt = time.Now()
	return []admission.Sale{s}, w.settingsDown
}

func (w *world) recount(_ context.Context, _ string, theta time.Duration) (admission.Stock, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	s := admission.Stock{At: now}
	w.payBy = slices.DeleteFunc(w.payBy, func(by time.Time) bool {
		lapsed := !by.After(now)
		if lapsed {
			w.free, w.pending, w.expired = w.free+1, w.pending-1, w.expired+1
		} else if !by.After(now.Add(theta)) {
			s.Due++
		}
		return lapsed
	})
	s.Free, s.Pending, s.Sold, s.Expired = w.free, w.pending, w.sold, w.expired
	return s, w.stockDown
}

func (w *world) letIn(_ context.Context, e admission.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ledgerDown != nil {
		return w.ledgerDown
	}
	if old, there := w.passes[e.Place]; there && old.Take == e.Take && old.Holder == e.Holder &&
		(old.Quota != e.Quota || !old.ExpiresAt.Equal(e.ExpiresAt)) {
		return admission.ErrWritten
	}
	if old, there := w.passes[e.Place]; there && old != e {
		return fmt.Errorf("place %d has the pass of take %d, now comes take %d", e.Place, old.Take, e.Take)
	}
	if old, there := w.takes[e.Take]; there && old != e {
		return fmt.Errorf("take %d let in place %d, now place %d", e.Take, old.Place, e.Place)
	}
	for _, old := range w.passes {
		if old.Holder == e.Holder && old.Place != e.Place && time.Now().Before(old.ExpiresAt) {
			return fmt.Errorf("the holder of place %d has the pass of place %d", e.Place, old.Place)
		}
	}
	w.passes[e.Place], w.takes[e.Take] = e, e
	return nil
}

func (w *world) after(take int64) []admission.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []admission.Entry
	for _, e := range w.takes {
		if e.Take > take {
			list = append(list, e)
		}
	}
	return list
}

// buy takes as many of the tickets for a pass as there are.
func (w *world) buy(p admission.Pass, tickets int64) (got int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	got = min(w.free, tickets)
	w.free -= got
	w.sold += got
	if got > 0 {
		w.bought = append(w.bought, admission.Bought{Take: p.Take, Tickets: got, At: time.Now()})
	}
	return got
}

func (w *world) books() admission.Books {
	return admission.Books{
		LetIn: w.letIn,
		GiveBack: func(_ context.Context, p admission.Pass) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.back[p.Take].IsZero() && w.ledgerDown == nil {
				w.back[p.Take] = time.Now()
			}
			return w.ledgerDown
		},
		Inside: func(context.Context, string, int64) ([]admission.Entry, error) {
			list := w.after(0)
			w.mu.Lock()
			defer w.mu.Unlock()
			for i := range list {
				list[i].Back = w.back[list[i].Take]
			}
			return list, w.ledgerDown
		},
		After: func(_ context.Context, _ string, _, take int64) ([]admission.Entry, error) {
			return w.after(take), w.down()
		},
		Bought: func(_ context.Context, _ string, _ int64, since time.Time) ([]admission.Bought, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.DeleteFunc(slices.Clone(w.bought), func(b admission.Bought) bool { return b.At.Before(since) }), w.ledgerDown
		},
		PassOf: func(_ context.Context, _ string, _, place int64) (admission.Entry, bool, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			e, found := w.passes[place]
			return e, found, w.ledgerDown
		},
		Keep:   w.keep,
		Recall: w.recall,
		Load: func(context.Context) (admission.Load, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			load := w.load
			load.At = time.Now()
			if !w.silent.IsZero() {
				load.At = w.silent
			}
			load.Mark = load.At.UnixMicro()
			return load, w.claimersDown
		},
		Paying: func(context.Context, string) (admission.Paying, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.paying, nil
		},
		Within: w.within,
		Evidence: func(e admission.Evidence) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.evidence = append(w.evidence, e)
		},
	}
}

func (w *world) keep(_ context.Context, c admission.Checkpoint) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ledgerDown != nil {
		return w.ledgerDown
	}
	old := w.kept[c.Epoch]
	c.Ceiling, c.Front, c.Taken = max(c.Ceiling, old.Ceiling), max(c.Front, old.Front), max(c.Taken, old.Taken)
	c.Term, c.Beat, c.Drawn = max(c.Term, old.Term), max(c.Beat, old.Beat), c.Drawn || old.Drawn
	if old.Closed {
		c.Closed, c.Lobby = true, old.Lobby
	}
	w.kept[c.Epoch] = c
	return nil
}

func (w *world) recall(_ context.Context, _ string, epoch int64) (admission.Checkpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.kept[epoch]
	for _, e := range w.passes {
		c.Front, c.Taken = max(c.Front, e.Place+1), max(c.Taken, e.Take)
	}
	return c, w.ledgerDown
}

// within counts who is inside as the ledger does.
func (w *world) within(_ context.Context, _ string, _, since, take int64) (admission.Within, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := admission.Within{Take: take, People: take - since}
	for _, e := range w.takes {
		if e.Take > take {
			continue
		}
		if e.Take > since {
			count.People--
		}
		if w.isWithin(e, admission.BackAfter) {
			count.People++
		}
	}
	return count, w.ledgerDown
}

// isWithin says whether a pass is inside, if one that was given back is not any
// more after so long.
func (w *world) isWithin(e admission.Entry, after time.Duration) bool {
	ended, ordered := w.ended[e.Take]
	back, given := w.back[e.Take]
	return ordered && ended.IsZero() ||
		!ordered && time.Now().Before(e.ExpiresAt) && !(given && time.Since(back) >= after)
}

// inside is how many people are: whoever gave the pass back is not.
func (w *world) inside() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.takes {
		if w.isWithin(e, 0) {
			n++
		}
	}
	return n
}

func (w *world) down() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledgerDown
}

// replica runs one more replica over the store until the test ends, or until
// stop is called.
func (w *world) replica(t testing.TB, store admission.Store) (lines *admission.Lines, stop func()) {
	t.Helper()
	return w.replicaOf(t, store, w.books(), w.sales)
}

// replicaOf is a replica with books and settings of its own.
func (w *world) replicaOf(t testing.TB, store admission.Store, books admission.Books, sales func(context.Context) ([]admission.Sale, error)) (lines *admission.Lines, stop func()) {
	t.Helper()
	w.replicas++
	lines = admission.NewLines(admission.Config{
		Replica: fmt.Sprintf("replica-%d", w.replicas), Store: store, Books: books,
		Tickets: w.ticketKeys, Passes: w.passKeys, Recount: w.recount,
		Hold: admission.HoldFor, Held: w.held, Lease: admission.LeaseFor,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Metrics: admission.NewMetrics(prometheus.NewRegistry()),
	}, sales)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines.Run(ctx)
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return lines, stop
}

// line waits for the event's line to be there and open.
func line(t testing.TB, lines *admission.Lines) *admission.Line {
	t.Helper()
	var l *admission.Line
	eventually(t, "the line opens", 10*time.Second, func() bool {
		var there bool
		l, there = lines.Line(event)
		return there && lines.Ready(t.Context()) == nil
	})
	return l
}

// eventually looks again and again until it is so.
func eventually(t testing.TB, what string, within time.Duration, so func() bool) {
	t.Helper()
	until := time.Now().Add(within)
	for !so() {
		if time.Now().After(until) {
			t.Fatalf("not within %s: %s", within, what)
		}
		if wait(t.Context(), 5*time.Millisecond) != nil {
			t.Fatal("the test ended first")
		}
	}
}

// join gives the i-th person a place.
func join(t testing.TB, l *admission.Line, i int) admission.Joined {
	t.Helper()
	j, err := l.Join(t.Context(), holder(i), admission.Ticket{})
	if err != nil {
		t.Fatalf("person %d: %v", i, err)
	}
	return j
}

func holder(i int) string { return admission.HolderOf(fmt.Sprintf("the secret of person %d", i)) }

func ticket(t testing.TB, l *admission.Line, j admission.Joined) admission.Ticket {
	t.Helper()
	k, _, err := l.Ticket(j.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// giveBack gives a pass back.
func giveBack(ctx context.Context, t testing.TB, l *admission.Line, p admission.Pass) {
	t.Helper()
	if err := l.Gone(ctx, p); err != nil {
		t.Errorf("take %d was not given back: %v", p.Take, err)
	}
}

// checkPace holds the ledger's takes, and all takes of the release log, against
// P8, in every window there is.
func (w *world) checkPace(t testing.TB) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var times []time.Time
	for _, e := range w.evidence {
		if e.Kind == "take" {
			times = append(times, e.At)
		}
	}
	at, worst := overPace(times, w.sale.Rate)
	if worst > 1e-6 {
		t.Errorf("P8: in a window of %.3f s, %.2f people more than %v/s allows", at, worst, w.sale.Rate)
	}
	if len(w.takes) > len(times) {
		t.Errorf("the ledger has %d passes, the release log %d takes", len(w.takes), len(times))
	}
	t.Logf("P8: %d takes, no window over", len(times))
}

// overPace is by how many people P8 is broken in the worst window, and its length.
func overPace(times []time.Time, rate float64) (at, worst float64) {
	slices.SortFunc(times, time.Time.Compare)
	for i := range times {
		for j := i; j < len(times); j++ {
			window := times[j].Sub(times[i]).Seconds()
			over := float64(j-i+1) - (rate*(window+0.1) + 1)
			if over > worst {
				worst, at = over, window
			}
		}
	}
	return at, worst
}

// comes is somebody who asks for their pass until they have it or ctx ends.
func comes(ctx context.Context, l *admission.Line, k admission.Ticket) (admission.Answer, error) {
	for {
		a, err := l.Pass(ctx, k)
		if err != nil || a.View != admission.ViewWaiting && a.View != admission.ViewCalled {
			return a, err
		}
		if err := wait(ctx, a.RetryAfter); err != nil {
			return a, err
		}
	}
}
