// Package admissiontest judges every implementation of admission.Store by the
// promises of the interface, and has the faults that stores and networks are
// known for.
package admissiontest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/admission"
)

// Open returns a handle on the store under test. All handles of a test are of
// one store; where that allows only one, they may be the same.
type Open func(t testing.TB) admission.Store

// Run judges a store. Each promise is a test.
func Run(t *testing.T, open Open) {
	t.Run("Open", func(t *testing.T) { testOpen(t, open) })
	t.Run("Allot", func(t *testing.T) { testAllot(t, open) })
	t.Run("Lobby", func(t *testing.T) { testLobby(t, open) })
	t.Run("Join", func(t *testing.T) { testJoin(t, open) })
	t.Run("Codes", func(t *testing.T) { testCodes(t, open) })
	t.Run("Pass", func(t *testing.T) { testPass(t, open) })
	t.Run("Leave", func(t *testing.T) { testLeave(t, open) })
	t.Run("Door", func(t *testing.T) { testDoor(t, open) })
	t.Run("Model", func(t *testing.T) { testModel(t, open) })
	t.Run("Reports", func(t *testing.T) { testReports(t, open) })
	t.Run("Export", func(t *testing.T) { testExport(t, open) })
	t.Run("Cancelled", func(t *testing.T) { testCancelled(t, open) })
	t.Run("Faults", func(t *testing.T) { testFaults(t, open) })
}

// opened is a store with a fresh line in epoch 1.
type opened struct {
	admission.Store
	event string
}

func newLine(t testing.TB, open Open) opened {
	t.Helper()
	l := opened{open(t), uuid.NewString()}
	if _, err := l.Open(t.Context(), admission.Door{Event: l.event, Epoch: 1}, admission.Tail{}); err != nil {
		t.Fatalf("open %s: %v", l.event, err)
	}
	return l
}

// fill makes owner the holder and puts credit and budget at the door.
func (l opened) fill(t testing.TB, credit, budget int64) admission.Door {
	t.Helper()
	seen, err := l.Door(t.Context(), l.event)
	if err != nil {
		t.Fatal(err)
	}
	d, ok, err := l.Acquire(t.Context(), seen, "filler")
	if err != nil || !ok {
		t.Fatalf("acquire: %v, %v", ok, err)
	}
	d, ok, err = l.Refill(t.Context(), refill(d, credit, credit, budget))
	if err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	return d
}

// refill is a step by whoever holds d.
func refill(d admission.Door, add, most, budget int64) admission.Refill {
	return admission.Refill{
		Event: d.Event, Epoch: d.Epoch, Term: d.Term, Beat: d.Beat,
		Add: add, Cap: most, Budget: budget, Front: d.Front,
	}
}

func (l opened) place(holder string, number int64) admission.Place {
	return admission.Place{
		Event: l.event, Epoch: 1, Holder: hash(holder), Index: number,
		State: admission.Waiting, JoinedAt: noon,
	}
}

// passed is p as it asks for its pass by credit take.
func passed(p admission.Place, take int64, at time.Time, life time.Duration) admission.Place {
	p.Take, p.TakenAt, p.PassUntil = take, at, at.Add(life)
	return p
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// sameDoor compares what the door says; an empty document is none.
func sameDoor(a, b admission.Door) bool {
	return bytes.Equal(a.Doc, b.Doc) && a.Event == b.Event && a.Epoch == b.Epoch &&
		a.Owner == b.Owner && a.Term == b.Term && a.Beat == b.Beat && a.Front == b.Front &&
		a.Credit == b.Credit && a.Budget == b.Budget && a.Taken == b.Taken && a.Stopped == b.Stopped && a.At.Equal(b.At)
}

// together starts n calls at the same moment and waits for all.
func together(n int, call func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-start
			call(i)
		}()
	}
	ready.Wait()
	close(start)
	done.Wait()
}

func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
