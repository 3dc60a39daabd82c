package admissiontest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"waitroom/internal/admission"
)

func testReports(t *testing.T, open Open) {
	l, other := newLine(t, open), newLine(t, open)
	ctx := t.Context()
	if got, err := l.Reports(ctx, l.event); err != nil || len(got) != 0 {
		t.Errorf("a new line has the reports %q (%v), want none", got, err)
	}
	large := make([]byte, 8000)
	for _, r := range []struct {
		event, replica string
		body           []byte
	}{
		{l.event, "r1", []byte("old")},
		{l.event, "r1", []byte("new")},
		{l.event, "r1", []byte("new")},
		{l.event, "r2", large},
		{other.event, "r1", []byte("another's")},
	} {
		if err := l.PutReport(ctx, r.event, r.replica, r.body); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open(t).Reports(ctx, l.event)
	if err != nil || len(got) != 2 || string(got["r1"]) != "new" || len(got["r2"]) != len(large) {
		t.Errorf("the reports are %.60q (%v), want the last of r1 and r2", got, err)
	}
	for range 2 {
		if err := l.PutReport(ctx, l.event, "r2", nil); err != nil {
			t.Errorf("a report is forgotten: %v", err)
		}
	}
	if got, err = open(t).Reports(ctx, l.event); err != nil || len(got) != 1 || string(got["r1"]) != "new" {
		t.Errorf("with r2's forgotten the reports are %.60q (%v), want r1's alone", got, err)
	}
	if _, err := l.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	if err := l.PutReport(ctx, l.event, "r3", []byte("after the reset")); err != nil {
		t.Errorf("a report after the reset: %v", err)
	}
	if got, err = open(t).Reports(ctx, l.event); err != nil || len(got) != 2 || string(got["r1"]) != "new" {
		t.Errorf("after the reset the reports are %.60q (%v), want r1's from before and r3's", got, err)
	}
}

func testExport(t *testing.T, open Open) {
	l, other := newLine(t, open), newLine(t, open)
	ctx := t.Context()
	if _, err := other.Join(ctx, other.place("another's", 1), noon); err != nil {
		t.Fatal(err)
	}
	want := map[string]admission.Place{}
	for i := range int64(30) {
		p := l.place(fmt.Sprint("fan ", i), i)
		if i%10 != 9 { // of the rest only the ticket is known
			if _, err := l.Join(ctx, p, noon); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		switch i % 3 {
		case 0:
			p, err = l.Pass(ctx, passed(p, i+1, noon, time.Minute))
		case 1:
			p, err = l.Leave(ctx, p)
		default:
			p, err = l.Join(ctx, p, noon)
		}
		if err != nil {
			t.Fatal(err)
		}
		want[p.Holder] = p
	}
	l.wantExport(t, 1, want)
	stop := errors.New("enough")
	calls := 0
	if err := l.Export(ctx, l.event, 1, func(admission.Place) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("each said stop: %v after %d places, want that after 1", err, calls)
	}

	if _, err := l.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	l.wantExport(t, 2, nil)
	p := l.place("fan 3", 0)
	p.Epoch = 2
	if _, err := l.Join(ctx, p, noon); err != nil {
		t.Fatal(err)
	}
	l.wantExport(t, 2, map[string]admission.Place{p.Holder: p})
}

func (l opened) wantExport(t *testing.T, epoch int64, want map[string]admission.Place) {
	t.Helper()
	got := map[string]admission.Place{}
	err := l.Export(t.Context(), l.event, epoch, func(p admission.Place) error {
		if _, twice := got[p.Holder]; twice {
			t.Errorf("exported twice: %+v", p)
		}
		got[p.Holder] = p
		return nil
	})
	if err != nil || len(got) != len(want) {
		t.Errorf("exported %d places of epoch %d (%v), want %d", len(got), epoch, err, len(want))
	}
	for holder, p := range want {
		if got[holder] != p {
			t.Errorf("exported %+v, want %+v", got[holder], p)
		}
	}
}
