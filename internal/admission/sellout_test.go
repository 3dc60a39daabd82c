package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/stack"
)

// sellOut has fans come to the lines that alive returns until the hall is sold.
func sellOut(t *testing.T, w *world, fans int, within time.Duration, alive func() []*admission.Line) {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range fans {
		all.Go(func() {
			if wait(ctx, rand.N(5*time.Second)) == nil {
				visitAny(ctx, w, alive, i)
			}
		})
	}
	began := time.Now()
	eventually(t, "the hall is sold", within, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.free == 0
	})
	took := time.Since(began)
	done()
	all.Wait()
	w.checkPace(t)
	t.Logf("%d seats sold to %d fans in %s, %d let in", w.sold, fans, took.Round(10*time.Millisecond), len(w.takes))
}

// Two replicas, of which one is killed every few seconds and another begins:
// the hall is sold, nobody gets two passes, the pace holds in every window.
func TestSellsOutThroughCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 600)
		store := newMemory(2*time.Millisecond, 10*time.Millisecond)
		var mu sync.Mutex
		var lines []*admission.Line
		var stops []func()
		begin := func() {
			ls, stop := w.replica(t, store)
			l := line(t, ls)
			mu.Lock()
			defer mu.Unlock()
			lines, stops = append(lines, l), append(stops, stop)
		}
		begin()
		begin()
		ctx, done := context.WithCancel(t.Context())
		var crashes sync.WaitGroup
		kills := 0
		crashes.Go(func() {
			for wait(ctx, 5*time.Second) == nil {
				mu.Lock()
				i := rand.IntN(2)
				stop := stops[i]
				lines, stops = append(lines[:i:i], lines[i+1:]...), append(stops[:i:i], stops[i+1:]...)
				mu.Unlock()
				stop()
				begin()
				kills++
			}
		})
		sellOut(t, w, 4000, 5*time.Minute, func() []*admission.Line {
			mu.Lock()
			defer mu.Unlock()
			return lines
		})
		done()
		crashes.Wait()
		t.Logf("%d replicas were killed meanwhile", kills)
	})
}

// The same code over real stores and real time: two replicas over one file, and
// two over DynamoDB's stand-in.
func TestSellsOutOverRealStores(t *testing.T) {
	if testing.Short() {
		t.Skip("real time: half a minute")
	}
	t.Run("local", func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the store was closed
		s := localStore(t)
		sellOutOver(t, s, s)
	})
	t.Run("dynamo", func(t *testing.T) {
		a, b := dynamoStores(t)
		sellOutOver(t, a, b)
	})
}

func sellOutOver(t *testing.T, a, b admission.Store) {
	w := newWorld(t, 50, 100)
	w.think = time.Second
	first, stopFirst := w.replica(t, a)
	second, stopSecond := w.replica(t, b)
	both := []*admission.Line{line(t, first), line(t, second)}
	sellOut(t, w, 400, 2*time.Minute, func() []*admission.Line { return both })
	stopFirst()
	stopSecond()
}

// dynamoStores are two handles on one table of the stand-in.
func dynamoStores(t testing.TB) (a, b admission.Store) {
	t.Helper()
	cfg := dynamo.Config{Table: os.Getenv("WAITROOM_TEST_DYNAMODB"), Timeout: time.Second, Conns: 128}
	if cfg.Table == "" {
		s, err := stack.Dynalite(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		cfg.Table, cfg.Endpoint = "waitroom", s.URL
	}
	var handles [2]*dynamo.Store
	for i := range handles {
		var err error
		if handles[i], err = dynamo.New(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if err := handles[i].EnsureTable(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return handles[0], handles[1]
}

// joinPatiently comes again as long as the line is not certain, or busy.
func joinPatiently(t testing.TB, l *admission.Line, i int) {
	for {
		_, err := l.Join(t.Context(), holder(i), admission.Ticket{})
		switch {
		case err == nil:
			return
		case errors.Is(err, admission.ErrBusy), errors.Is(err, admission.ErrDoubt):
			wait(t.Context(), 50*time.Millisecond) //nolint:errcheck // the next join sees
		default:
			t.Error(err)
			return
		}
	}
}

// Joins a second, by as many people as are waiting for an answer at once.
func BenchmarkJoin(b *testing.B) {
	stores := map[string]func() admission.Store{
		"local":  func() admission.Store { return localStore(b) },
		"dynamo": func() admission.Store { s, _ := dynamoStores(b); return s },
	}
	for _, name := range []string{"local", "dynamo"} {
		for _, clients := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("%s/%d", name, clients), func(b *testing.B) {
				w := newWorld(b, 50, 1000)
				w.sale.OpensAt = time.Now().Add(time.Hour)
				lines, stop := w.replica(b, stores[name]())
				defer stop()
				l := line(b, lines)
				next := make(chan int)
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for i := range next {
							joinPatiently(b, l, i)
						}
					})
				}
				b.ResetTimer()
				for i := range b.N {
					next <- i
				}
				close(next)
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "joins/s")
			})
		}
	}
}
