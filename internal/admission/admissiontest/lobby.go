package admissiontest

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

func testLobby(t *testing.T, open Open) {
	t.Run("of 8 who close it among joins, all freeze one count", func(t *testing.T) { testClose(t, open) })
	t.Run("it is drawn once, and only when it is closed", func(t *testing.T) { testDraw(t, open) })
	t.Run("a line begins where it is said to, and only if there is none", func(t *testing.T) { testBegun(t, open) })
	t.Run("a line begun anew has a lobby of its own", func(t *testing.T) { testLobbyAnew(t, open) })
}

// join takes the next index.
func (l opened) join(t testing.TB) int64 {
	t.Helper()
	first, err := l.Allot(t.Context(), l.event, 1, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func testClose(t *testing.T, open Open) {
	l := newLine(t, open)
	handles := []admission.Store{l.Store, open(t), open(t)}
	for range 20 {
		l.join(t)
	}
	var mu sync.Mutex
	counts := map[int64]int{}
	together(16, func(i int) {
		if i%2 == 1 {
			if _, err := handles[i%3].Allot(t.Context(), l.event, 1, 1, 1000); err != nil {
				t.Errorf("allot: %v", err)
			}
			return
		}
		at, err := handles[i%3].CloseLobby(t.Context(), l.event, 1)
		if err != nil || !at.Closed || at.Drawn || at.Lobby < 20 || at.Lobby > 28 || at.Next < at.Lobby {
			t.Errorf("close: %+v (%v), want closed with 20 to 28", at, err)
		}
		mu.Lock()
		defer mu.Unlock()
		counts[at.Lobby]++
	})
	if len(counts) != 1 {
		t.Errorf("the lobby was closed with the counts %v, want one", counts)
	}
	if late := l.join(t); counts[late] != 0 || late != 28 {
		t.Errorf("who joins afterwards gets %d, want 28, behind the lobby", late)
	}
}

func testDraw(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	for range 3 {
		l.join(t)
	}
	if at, err := l.Draw(ctx, l.event, 1, draw.Seed{1}, "x"); !errors.Is(err, admission.ErrLobby) {
		t.Errorf("an open lobby was drawn: %+v (%v), want ErrLobby", at, err)
	}
	if at, err := l.Tail(ctx, l.event); err != nil || at != (admission.Tail{Next: 3}) {
		t.Errorf("the tail is %+v (%v), want 3 and nothing closed", at, err)
	}
	if _, err := l.CloseLobby(ctx, l.event, 1); err != nil {
		t.Fatal(err)
	}
	l.join(t)
	want := admission.Tail{Next: 4, Closed: true, Lobby: 3, Drawn: true}
	var mu sync.Mutex
	drawn := map[admission.Tail]int{}
	together(8, func(i int) {
		at, err := l.Draw(ctx, l.event, 1, draw.Seed{byte(i)}, "12 34 — ü")
		if err != nil {
			t.Errorf("draw: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		drawn[at]++
	})
	for at := range drawn {
		want.Seed, want.Beacon = at.Seed, "12 34 — ü"
		if at != want {
			t.Errorf("drawn %+v, want %+v", at, want)
		}
	}
	if at, err := open(t).Tail(ctx, l.event); err != nil || drawn[at] != 8 {
		t.Errorf("8 draws said %v; the store has %+v (%v)", drawn, at, err)
	}
	if at, err := l.CloseLobby(ctx, l.event, 1); err != nil || at != want {
		t.Errorf("closed again: %+v (%v), want %+v", at, err, want)
	}
}

func testBegun(t *testing.T, open Open) {
	s, event := open(t), uuid.NewString()
	from := admission.Door{Event: event, Epoch: 4, Front: 70, Taken: 55, Term: 6, Beat: 900}
	end := admission.Tail{Next: 1000, Closed: true, Lobby: 90, Drawn: true, Seed: draw.Seed{9}, Beacon: "b"}
	later := admission.Door{Event: event, Epoch: 4, Front: 99, Beat: 1}
	for _, at := range []admission.Door{from, later} {
		if d, err := s.Open(t.Context(), at, end); err != nil || !sameDoor(d, from) {
			t.Errorf("opened as %+v: %+v (%v), want %+v", at, d, err, from)
		}
		end.Next, end.Lobby = 0, 3
	}
	want := admission.Tail{Next: 1000, Closed: true, Lobby: 90, Drawn: true, Seed: draw.Seed{9}, Beacon: "b"}
	if at, err := open(t).Tail(t.Context(), event); err != nil || at != want {
		t.Errorf("the tail is %+v (%v), want %+v", at, err, want)
	}
	if first, err := s.Allot(t.Context(), event, 4, 2, 5000); err != nil || first != 1000 {
		t.Errorf("the first index allotted is %d (%v), want 1000", first, err)
	}
}

func testLobbyAnew(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	l.join(t)
	if _, err := l.CloseLobby(ctx, l.event, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Draw(ctx, l.event, 1, draw.Seed{1}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Store.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	_, errClose := l.CloseLobby(ctx, l.event, 1)
	_, errDraw := l.Draw(ctx, l.event, 1, draw.Seed{2}, "")
	if !errors.Is(errClose, admission.ErrEpoch) || !errors.Is(errDraw, admission.ErrEpoch) {
		t.Errorf("the old epoch's lobby: %v, %v; want ErrEpoch", errClose, errDraw)
	}
	if at, err := l.Tail(ctx, l.event); err != nil || at != (admission.Tail{}) {
		t.Errorf("the new line's tail is %+v (%v), want nothing", at, err)
	}
	_, errClose = l.CloseLobby(ctx, "nobody", 1)
	if _, err := l.Draw(ctx, "nobody", 1, draw.Seed{}, ""); !errors.Is(err, admission.ErrNoEvent) || !errors.Is(errClose, admission.ErrNoEvent) {
		t.Errorf("a line that there is not: %v, %v; want ErrNoEvent", errClose, err)
	}
}
