package admissiontest

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
)

// testFaults lets a share of all calls fail in every way, and judges what is
// left by the promises that a caller may rely on after an error.
func testFaults(t *testing.T, open Open) {
	t.Run("a lost reply to Open, Join, Pass or Leave is mended by asking again", func(t *testing.T) { testAskAgain(t, open) })
	t.Run("numbers are never given twice", func(t *testing.T) { testBurned(t, open) })
	t.Run("takes never exceed the credit that flowed in", func(t *testing.T) { testCreditUnderFaults(t, open) })
}

var faults = []Fault{Throttled, Broken, LostCall, LostReply}

func testAskAgain(t *testing.T, open Open) {
	for _, fault := range faults {
		l := newLine(t, open)
		f := NewFaulty(l.Store)
		p := l.place("ada", 4)
		for _, call := range []string{"Open", "Join", "Pass", "Leave", "PutReport"} {
			f.Next(call, fault)
		}
		ctx := t.Context()
		for _, ask := range []func() error{
			func() error {
				_, err := f.Open(ctx, admission.Door{Event: l.event, Epoch: 1}, admission.Tail{})
				return err
			},
			func() error { return f.PutReport(ctx, l.event, "r1", []byte("x")) },
			func() error { q, err := f.Join(ctx, p, noon); return differs(err, q.Index == 4) },
			func() error {
				q, err := f.Pass(ctx, passed(p, 1, noon, time.Minute))
				return differs(err, q.Take == 1 && q.State == admission.Passed)
			},
			func() error { q, err := f.Leave(ctx, p); return differs(err, q.State == admission.Passed) },
		} {
			if err := ask(); err == nil || err == errDiffers {
				t.Fatalf("%s: the fault was not applied: %v", fault, err)
			}
			if err := ask(); err != nil {
				t.Errorf("%s: asked again: %v", fault, err)
			}
		}
	}
}

const errDiffers = differing("not what was asked for")

type differing string

func (d differing) Error() string { return string(d) }

func differs(err error, right bool) error {
	if err == nil && !right {
		return errDiffers
	}
	return err
}

// sometimes has a third of the calls fail.
func sometimes(of ...Fault) func(string) Fault {
	r := rand.New(rand.NewPCG(1, 2))
	return func(string) Fault {
		if r.IntN(3) > 0 {
			return None
		}
		return of[r.IntN(len(of))]
	}
}

func testBurned(t *testing.T, open Open) {
	l := newLine(t, open)
	f := NewFaulty(l.Store)
	f.Always(sometimes(Throttled, LostReply, Late))
	seen := numbers{}
	together(16, func(int) {
		for range 6 {
			if first, err := f.Allot(t.Context(), l.event, 1, 3, 10_000); err == nil {
				seen.take(t, first+2, 3)
			}
		}
	})
	if f.Land() == 0 {
		t.Fatal("no call was late: the fault was not applied")
	}
	if first, err := l.Allot(t.Context(), l.event, 1, 1, 10_000); err != nil {
		t.Errorf("after the faults: %v", err)
	} else {
		seen.take(t, first, 1)
	}
}

// testCreditUnderFaults is the holder and its takers with a bad line: after an
// error the holder counts its credit as flowed in and reads the door anew, as
// it is told to.
func testCreditUnderFaults(t *testing.T, open Open) {
	const add, most = int64(900), int64(1900)
	l := newLine(t, open)
	d := l.fill(t, 0, 1000)
	f := NewFaulty(l.Store)
	f.Always(sometimes(Throttled, LostCall, LostReply, Late))
	seen := numbers{}
	var mu sync.Mutex
	var flowed, let, unknown int64
	over := make(chan struct{})
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				d, ok, err := f.Take(t.Context(), l.event, 1, 1)
				mu.Lock()
				switch {
				case err != nil:
					unknown++
				case ok:
					let++
					seen.take(t, d.Taken, 1)
				}
				mu.Unlock()
			}
		})
	}
	for range 60 {
		next, ok, err := f.Refill(t.Context(), refill(d, add, most, 0))
		flowed += add
		if err != nil || !ok {
			if next, err = l.Door(t.Context(), l.event); err != nil {
				t.Errorf("door: %v", err)
				break
			}
		}
		if next.Credit > most {
			t.Errorf("the credit is %d, want at most %d", next.Credit, most)
		}
		d = next
	}
	close(over)
	takers.Wait()
	f.Land()
	d, err := l.Door(t.Context(), l.event)
	if err != nil {
		t.Fatal(err)
	}
	if d.Taken < let || d.Taken > let+unknown {
		t.Errorf("the door counts %d takes; %d were acknowledged and %d are unknown", d.Taken, let, unknown)
	}
	if used := d.Taken*admission.Milli + d.Credit; used > flowed {
		t.Errorf("%d thousandths were used of %d that flowed in", used, flowed)
	}
	if let == 0 || d.Budget != 1000-d.Taken {
		t.Errorf("%d were let in, the budget is %d; want some, and %d", let, d.Budget, 1000-d.Taken)
	}
}
