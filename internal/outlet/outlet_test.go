package outlet_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/outlet"
)

// far is a provider on the test's clock: each call takes so long, body
// included.
type far struct {
	takes  time.Duration
	mu     sync.Mutex
	starts []time.Time
	most   int // under way at once
	now    int
}

func (f *far) RoundTrip(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).GetConn("far:443")
	f.mu.Lock()
	f.starts = append(f.starts, time.Now())
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.now--; f.mu.Unlock() }()
	select {
	case <-time.After(f.takes):
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// closest is the least distance between two starts.
func (f *far) closest() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	least := time.Hour
	for i := 1; i < len(f.starts); i++ {
		least = min(least, f.starts[i].Sub(f.starts[i-1]))
	}
	return least
}

func always(context.Context) error { return nil }

func open(t *testing.T, next http.RoundTripper, ours func(context.Context) error) *outlet.Outlet {
	t.Helper()
	o, err := outlet.New(next, outlet.Account(), ours)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func call(ctx context.Context, o *outlet.Outlet) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://far/v1/refunds", strings.NewReader("amount=1"))
	if err != nil {
		return err
	}
	resp, err := o.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Eight want to send, and the outlet stands still for a minute: afterwards the
// starts are 200 ms apart, and the minute is not made up for.
func TestAMinuteThatIsLostIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{takes: 50 * time.Millisecond}
		stands := make(chan struct{})
		o := open(t, f, func(ctx context.Context) error {
			select {
			case <-stands:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 10 {
					if err := call(t.Context(), o); err != nil {
						t.Error(err)
					}
				}
			})
		}
		began := time.Now()
		<-time.After(time.Minute)
		close(stands)
		all.Wait()
		took := time.Since(began)
		if d := f.closest(); d < 200*time.Millisecond {
			t.Errorf("two of 80 starts are %s apart, want at least 200 ms", d)
		}
		if want := time.Minute + 79*200*time.Millisecond; took < want || took > want+time.Second {
			t.Errorf("80 calls took %s with a minute's standstill, want %s: nothing made up for, nothing wasted", took, want)
		}
		if o.Starts() != 80 || o.InFlight() != 0 {
			t.Errorf("%d starts, %d in flight; want 80 and none", o.Starts(), o.InFlight())
		}
	})
}

// A slot is held until the answer's body is closed: a provider that hangs has
// ten calls of ours, and ten in three seconds is all that can start.
func TestTenAreUnderWayAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{takes: time.Hour}
		o := open(t, f, always)
		ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
		defer end()
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for ctx.Err() == nil {
					_ = call(ctx, o) // each ends by its limit
				}
			})
		}
		all.Wait()
		if f.most != 10 {
			t.Errorf("%d calls under way at once, want 10", f.most)
		}
		rate := float64(len(f.starts)) / 300
		if rate < 3.33*0.95 || rate > 3.34*1.05 {
			t.Errorf("%.2f starts a second when every call takes its 3 s, want 10 / 3 s = 3.33", rate)
		}
		if d := f.closest(); d < 200*time.Millisecond {
			t.Errorf("two starts are %s apart, want at least 200 ms", d)
		}
	})
}

// What is held back after it got its turn asks again before it starts, and does
// not start when the outlet has become somebody else's.
func TestAnOldTurnAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{takes: time.Millisecond}
		var asked int
		lost := errors.New("the lock is another's")
		var says error
		o := open(t, f, func(context.Context) error { asked++; return says })
		turn := func() *outlet.Turn {
			tr, err := o.Turn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tr.Sure()
			return tr
		}
		if err := call(turn().With(t.Context()), o); err != nil || asked != 0 {
			t.Errorf("a fresh turn: %v, asked %d times; want a start and no question", err, asked)
		}
		held := turn()
		<-time.After(time.Minute) // its process was stopped
		began := time.Now()
		if err := call(held.With(t.Context()), o); err != nil || asked != 1 {
			t.Errorf("an old turn of an outlet that is still ours: %v, asked %d times; want a start after one question", err, asked)
		}
		if w := f.starts[1].Sub(began); w < 200*time.Millisecond {
			t.Errorf("it started %s after the standstill, want 200 ms: what was on its way before may leave only then", w)
		}
		held, says = turn(), lost
		<-time.After(time.Minute)
		if err := call(held.With(t.Context()), o); !errors.Is(err, outlet.ErrClosed) || !errors.Is(err, lost) {
			t.Errorf("an old turn of an outlet that is lost: %v, want ErrClosed and why", err)
		}
		if len(f.starts) != 2 || o.InFlight() != 0 {
			t.Errorf("%d starts, %d in flight; want 2 and none", len(f.starts), o.InFlight())
		}
		if err := call(held.With(t.Context()), o); !errors.Is(err, outlet.ErrClosed) {
			t.Errorf("one turn used twice: %v, want ErrClosed", err)
		}
		for range 10 { // and none of this kept a slot
			turn()
		}
	})
}

// A caller that gives up while it waits costs no slot and no start.
func TestWhoGivesUpLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{takes: time.Second}
		o := open(t, f, always)
		var gone []error
		for range 30 {
			ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
			gone = append(gone, call(ctx, o))
			end()
		}
		<-time.After(5 * time.Second)
		starts := o.Starts()
		if n := len(slices.DeleteFunc(gone, func(err error) bool { return err != nil })); n != 0 || o.InFlight() != 0 || starts == 0 || starts > 16 {
			t.Errorf("%d of 30 succeeded, %d starts in 3 s, %d in flight; want none, at most 16, none", n, starts, o.InFlight())
		}
		if err := call(t.Context(), o); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestLimitsThatAreNoneAreRefused(t *testing.T) {
	for _, spoil := range []func(*outlet.Limits){
		func(l *outlet.Limits) { l.Apart = 0 },
		func(l *outlet.Limits) { l.InFlight = 0 },
		func(l *outlet.Limits) { l.Call = 0 },
		func(l *outlet.Limits) { l.Fresh = l.Apart },
	} {
		l := outlet.Account()
		spoil(&l)
		if _, err := outlet.New(&far{}, l, always); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

// Go's transport sends a POST again on its own, on a connection that turns out to
// be dead, if it names an Idempotency-Key and its body can be had anew: what
// leaves the outlet has none to be had.
func TestNoTransportCanSendAgain(t *testing.T) {
	var rewinds, sends int
	once := transport(func(req *http.Request) (*http.Response, error) {
		sends++
		if req.GetBody != nil {
			rewinds++
		}
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	if err := call(t.Context(), open(t, once, always)); err != nil || sends != 1 || rewinds > 0 {
		t.Errorf("%d sends, of which the transport could repeat %d, %v; want 1 and none", sends, rewinds, err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
