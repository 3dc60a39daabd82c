package admissiontest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

func testCancelled(t *testing.T, open Open) {
	t.Run("a caller that is gone changes nothing", func(t *testing.T) { testGone(t, open) })
	t.Run("a caller that leaves midway spoils nothing", func(t *testing.T) { testMidway(t, open) })
}

func testGone(t *testing.T, open Open) {
	l := newLine(t, open)
	want := l.fill(t, 9000, 9)
	ctx, p := cancelled(t), l.place("ada", 3)
	_, errOpen := l.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{})
	_, errAllot := l.Allot(ctx, l.event, 1, 1, 100)
	_, errTail := l.Tail(ctx, l.event)
	_, errClose := l.CloseLobby(ctx, l.event, 1)
	_, errDraw := l.Draw(ctx, l.event, 1, draw.Seed{1}, "")
	_, errJoin := l.Join(ctx, p, noon)
	_, errPlace := l.Place(ctx, l.event, 1, p.Holder)
	errCode := l.UseCode(ctx, l.use("ada", 1))
	_, errPass := l.Pass(ctx, passed(p, 1, noon, time.Minute))
	_, errLeave := l.Leave(ctx, p)
	_, errDoor := l.Door(ctx, l.event)
	_, _, errAcquire := l.Acquire(ctx, want, "me")
	_, _, errRefill := l.Refill(ctx, refill(want, 1, 10_000, 1))
	_, _, errTake := l.Take(ctx, l.event, 1, 1)
	errPut := l.PutReport(ctx, l.event, "r1", []byte("x"))
	_, errReports := l.Reports(ctx, l.event)
	errExport := l.Export(ctx, l.event, 1, func(admission.Place) error { return nil })
	for call, err := range map[string]error{
		"Open": errOpen, "Allot": errAllot, "Tail": errTail, "CloseLobby": errClose, "Draw": errDraw, "Join": errJoin, "Place": errPlace, "UseCode": errCode,
		"Pass": errPass, "Leave": errLeave, "Door": errDoor, "Acquire": errAcquire, "Refill": errRefill,
		"Take": errTake, "PutReport": errPut, "Reports": errReports, "Export": errExport,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s by a caller that is gone: %v, want context.Canceled", call, err)
		}
	}
	l.wantDoor(t, want)
	l.wantExport(t, 1, nil)
	if at, err := l.Tail(t.Context(), l.event); err != nil || at.Next != 0 {
		t.Errorf("the tail is %d (%v), want 0", at.Next, err)
	}
	if got, err := l.Reports(t.Context(), l.event); err != nil || len(got) != 0 {
		t.Errorf("the reports are %q (%v), want none", got, err)
	}
}

func testMidway(t *testing.T, open Open) {
	l := newLine(t, open)
	before := l.fill(t, 400_000, 400)
	var mu sync.Mutex
	var let, unknown int64
	together(8, func(i int) {
		for k := range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*k)*50*time.Microsecond)
			_, ok, err := l.Take(ctx, l.event, 1, 1)
			cancel()
			mu.Lock()
			if err != nil {
				unknown++
			} else if ok {
				let++
			}
			mu.Unlock()
		}
	})
	d, ok, err := l.Take(t.Context(), l.event, 1, 1)
	if err != nil || !ok {
		t.Fatalf("a take afterwards: %v, %v", ok, err)
	}
	let++
	if d.Taken < let || d.Taken > let+unknown {
		t.Errorf("the door counts %d takes; %d were acknowledged and %d are unknown", d.Taken, let, unknown)
	}
	if d.Credit != before.Credit-d.Taken*admission.Milli || d.Budget != before.Budget-d.Taken {
		t.Errorf("after %d takes the door has credit %d and budget %d", d.Taken, d.Credit, d.Budget)
	}
}
