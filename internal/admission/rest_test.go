package admission_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// A sale that has long been over costs its store nothing, in any replica, and
// still tells whoever asks that it is closed and where they stood.
func TestALineOfLongAgoRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 100)
		truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var calls atomic.Int64
		var lines []*admission.Line
		for range 2 {
			store := admissiontest.NewFaulty(truth)
			store.Always(func(string) admissiontest.Fault { calls.Add(1); return admissiontest.None })
			ls, _ := w.replica(t, store)
			lines = append(lines, line(t, ls))
		}
		k := ticket(t, lines[0], join(t, lines[0], 1))
		during := func(d time.Duration) int64 {
			before := calls.Load()
			wait(t.Context(), d) //nolint:errcheck // virtual
			return calls.Load() - before
		}
		if n := during(10 * time.Second); n < 100 {
			t.Errorf("%d calls of the store in 10 s of a sale: nothing is measured", n)
		}
		w.set(func(w *world) { w.sale.Control = admission.Close })
		after := during(9 * time.Minute)
		during(2 * time.Minute)
		if n := during(time.Hour); n != 0 || after == 0 {
			t.Errorf("%d calls of the store in the first 9 minutes, and %d in an hour of long after", after, n)
		}
		documents := map[*admission.Document]bool{}
		for range 3600 {
			during(time.Second)
			documents[lines[0].Status()] = true
		}
		if n := len(documents); n > 361 {
			t.Errorf("%d documents in an hour of long after, want one in 10 s", n)
		}
		for i, l := range lines {
			if s := l.Standing(); s.State != admission.Closed || s.Reason != admission.ByOrganiser {
				t.Errorf("replica %d says %s (%s)", i, s.State, s.Reason)
			}
			if me, err := l.Me(t.Context(), k); err != nil || me.Number != k.Number || me.State != admission.Closed {
				t.Errorf("replica %d says of the place %+v, %v", i, me, err)
			}
		}
	})
}

// What an event leaves in each replica is little, for nothing deletes one: a
// thousand of them are not a gigabyte.
func TestALineIsSmall(t *testing.T) {
	const events = 200
	cfg := &admission.Config{Log: slog.New(slog.DiscardHandler), Metrics: admission.NewMetrics(prometheus.NewRegistry())}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	lines := make([]*admission.Line, events)
	for i := range lines {
		lines[i] = admission.NewLine(cfg, admission.Sale{Event: fmt.Sprint("past-", i), Epoch: 1, Control: admission.Close, Rate: 10})
	}
	each := (heap() - before) / events
	runtime.KeepAlive(lines)
	if t.Logf("%d kB of heap a line", each>>10); each > 100<<10 {
		t.Errorf("a line that does nothing has %d kB, want 100 at most", each>>10)
	}
}

// One that ended by its time, and is given more of it, goes on.
func TestALineAtRestGoesOnWhenItIsGivenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 100)
		w.sale.ClosesAt = time.Now().Add(5 * time.Second)
		ls, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, ls)
		wait(t.Context(), time.Hour) //nolint:errcheck // virtual
		w.set(func(w *world) { w.sale.ClosesAt = time.Time{} })
		eventually(t, "it is open again", 20*time.Second, func() bool { return l.Standing().State == admission.Open })
		k := ticket(t, l, join(t, l, 1))
		if a, err := comes(t.Context(), l, k); err != nil || a.View != admission.ViewPassed {
			t.Errorf("somebody who comes then is answered %+v, %v", a, err)
		}
	})
}

// The report of a replica that died is not kept for good.
func TestReportsOfTheDeadAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 10_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var stops []func()
		for i := range 3 {
			ls, stop := w.replica(t, store)
			l := line(t, ls)
			stops = append(stops, stop)
			if a, err := comes(t.Context(), l, ticket(t, l, join(t, l, i))); err != nil || a.View != admission.ViewPassed {
				t.Fatal(a, err)
			}
		}
		reports := func() int {
			all, err := store.Reports(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual
		before := reports()
		stops[0]()
		stops[1]()
		wait(t.Context(), 11*time.Minute) //nolint:errcheck // virtual
		if after := reports(); before != 3 || after > 1 {
			t.Errorf("%d reports of three replicas, and %d once two have long been dead", before, after)
		}
	})
}
