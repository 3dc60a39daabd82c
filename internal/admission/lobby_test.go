package admission_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// lobbied gives the sale a lobby of 20 s, which opens 5 s from now, and an
// opening 20 s after that.
func (w *world) lobbied(beacon string) admission.Lobby {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.sale.Lobby = &admission.Lobby{
		OpensAt: now.Add(5 * time.Second), ClosesAt: now.Add(25 * time.Second), Seed: draw.Seed{1, 2, 3}, Beacon: beacon,
	}
	w.sale.OpensAt = now.Add(45 * time.Second)
	return *w.sale.Lobby
}

// publish tells the beacon's value.
func (w *world) publish(value string) {
	w.set(func(w *world) {
		lobby := *w.sale.Lobby
		lobby.Value = value
		w.sale.Lobby = &lobby
	})
}

type toldDraw struct {
	State  admission.SaleState
	Reason admission.Reason
	Front  int64
	Draw   struct {
		Commit, Beacon string
		Count          *int64
		Seed, Value    *string
	}
}

func told(t testing.TB, l *admission.Line) (d toldDraw) {
	t.Helper()
	if err := json.Unmarshal(l.Status().Body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Whoever comes before the opening stands where the draw says, and everybody
// can check it; whoever comes later stands behind.
func TestLobbyIsDrawnOnceForAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 500)
		lobby := w.lobbied("drand, round 7")
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		a, stop := w.replica(t, store)
		b, _ := w.replica(t, store)
		lines := []*admission.Line{line(t, a), line(t, b)}
		if _, err := lines[0].Join(t.Context(), holder(0), admission.Ticket{}); !errors.Is(err, admission.ErrEarly) {
			t.Errorf("before the lobby opened: %v, want ErrEarly", err)
		}
		for _, l := range lines {
			if d := told(t, l); d.State != admission.Scheduled {
				t.Errorf("before the lobby opened the sale is %s", d.State)
			}
		}
		advance(t, 10*time.Second)
		for _, l := range lines {
			if d := told(t, l); d.State != admission.InLobby {
				t.Errorf("while the lobby is open the sale is %s", d.State)
			}
		}

		const came, late = 40, 5
		var places []admission.Joined
		for i := range came {
			places = append(places, join(t, lines[i%2], i))
		}
		for i, j := range places {
			r, err := w.passKeys.ReadReceipt(j.Receipt)
			commit := lobby.Seed.Commit()
			if err != nil || r.Index != int64(i) || r.Holder != j.Place.Holder || r.Commit != hex.EncodeToString(commit[:]) {
				t.Fatalf("the receipt of index %d says %+v (%v)", i, r, err)
			}
			if k := ticket(t, lines[1-i%2], j); k.Number != admission.Undrawn || j.Place.View(1000, time.Now()) != admission.ViewLobby {
				t.Fatalf("in the lobby index %d has number %d", i, k.Number)
			}
		}
		if at, err := lines[0].Me(t.Context(), ticket(t, lines[0], places[3])); err != nil || at.State != admission.InLobby || at.View != admission.ViewLobby || at.Index != 3 {
			t.Errorf("in the lobby one is told %+v (%v)", at, err)
		}
		left := ticket(t, lines[0], places[7])
		if view, err := lines[0].Leave(t.Context(), left); err != nil || view != admission.ViewLeft {
			t.Errorf("leaving the lobby: %s (%v)", view, err)
		}
		advance(t, 19*time.Second) // it has closed
		for i := range late {
			j := join(t, lines[i%2], came+i)
			if j.Place.Number != int64(came+i) || j.Receipt != "" {
				t.Errorf("who came after the closing has number %d, receipt %q; want %d, none", j.Place.Number, j.Receipt, came+i)
			}
			places = append(places, j)
		}
		if d := told(t, lines[1]); d.State != admission.Drawing || d.Draw.Count == nil || *d.Draw.Count != came || d.Draw.Seed != nil || d.Front != 0 {
			t.Errorf("closed, not drawn: %+v", d)
		}

		advance(t, 25*time.Second) // past the opening
		for _, l := range lines {
			if d := told(t, l); d.State != admission.OnDoubt || d.Reason != admission.NotDrawn || d.Front != 0 {
				t.Errorf("without the beacon: %+v, want closed for want of the draw, nobody called", d)
			}
		}
		w.publish("0011ff")
		advance(t, 5*time.Second)
		drawn := draw.New(lobby.Seed.Mix("0011ff"), came)
		for _, l := range lines {
			if d := told(t, l); d.Draw.Seed == nil || *d.Draw.Seed != hex.EncodeToString(lobby.Seed[:]) || *d.Draw.Value != "0011ff" || d.State != admission.Open {
				t.Errorf("drawn: %+v", d)
			}
		}
		stop() // the other replica goes on alone
		for i, j := range places {
			k, anew, err := lines[1].Ticket(j.Ticket)
			if want := drawn.Number(int64(i)); err != nil || k.Number != want || anew != (i < came) {
				t.Fatalf("index %d has number %d (%v, anew %v), want %d", i, k.Number, err, anew, want)
			}
			again, still, err := lines[1].Ticket(lines[1].Reissue(k))
			if err != nil || still || again != k {
				t.Fatalf("the new ticket says %+v (%v), want %+v", again, err, k)
			}
		}
		again := join(t, lines[1], 3)
		if again.New || again.Place.Number != drawn.Number(3) || again.Receipt != "" {
			t.Errorf("who joins again after the draw has %+v, want number %d", again, drawn.Number(3))
		}
		w.letAllIn(t, lines[1], places, 7)
	})
}

// letAllIn has everybody ask for their pass, but who left, and holds the order
// of the takes against that of the numbers.
func (w *world) letAllIn(t *testing.T, l *admission.Line, places []admission.Joined, left int) {
	t.Helper()
	type in struct{ take, number int64 }
	var mu sync.Mutex
	var order []in
	var group sync.WaitGroup
	for i, j := range places {
		k := ticket(t, l, j)
		group.Go(func() {
			a, err := comes(t.Context(), l, k)
			want := admission.ViewPassed
			if i == left {
				want = admission.ViewLeft
			}
			if err != nil || a.View != want {
				t.Errorf("index %d: %s (%v), want %s", i, a.View, err, want)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if want == admission.ViewPassed {
				order = append(order, in{a.Admitted.Take, a.Admitted.Place})
			}
		})
	}
	group.Wait()
	slices.SortFunc(order, func(a, b in) int { return int(a.take - b.take) })
	var inverted int
	for i := range order[1:] {
		if order[i].number > order[i+1].number {
			inverted++
		}
	}
	t.Logf("%d let in, %d of them right before a lower number", len(order), inverted)
	if len(order) != len(places)-1 || inverted > 3 {
		t.Errorf("%d of %d were let in, %d right before a lower number", len(order), len(places)-1, inverted)
	}
	w.checkPace(t)
}

// An event without a beacon is drawn as soon as the lobby has closed.
func TestLobbyWithoutBeacon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 500)
		w.lobbied("")
		lines, _ := w.replica(t, newMemory(time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		advance(t, 10*time.Second)
		join(t, l, 1)
		advance(t, 20*time.Second)
		if d := told(t, l); d.Draw.Seed == nil || *d.Draw.Count != 1 || d.State != admission.Scheduled {
			t.Errorf("5 s after the closing time: %+v, want drawn", d)
		}
	})
}

// Who leaves the lobby keeps the lot that they had, and is no waiter once that is
// drawn, also when the replica that they told has died meanwhile.
func TestLobbyLeaversOutliveTheirReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, leave = 100, 60
		w := newWorld(t, 10, 5000)
		w.lobbied("")
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		first, _ := w.replica(t, store)
		l := line(t, first)
		second, die := w.replica(t, store)
		told := line(t, second)
		advance(t, 6*time.Second)
		for i := range people {
			k := ticket(t, l, join(t, l, i))
			if i >= leave {
				continue
			}
			if v, err := told.Leave(t.Context(), k); err != nil || v != admission.ViewLeft {
				t.Fatal(v, err)
			}
		}
		advance(t, 3*time.Second) // it is heard of
		die()
		advance(t, 20*time.Second)
		if e := l.Ends(); !e.Drawn || e.Lobby != people {
			t.Fatalf("drawn %t, over %d, want all %d", e.Drawn, e.Lobby, people)
		}
		if n := waiters(l); n != people-leave {
			t.Errorf("%d wait, it says; %d do", n, people-leave)
		}
	})
}

func advance(t testing.TB, d time.Duration) {
	t.Helper()
	if err := wait(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// Who has a receipt of the lobby is drawn: who joins in the second in which it
// closes, and stands behind all who are, has none.
func TestAReceiptOfTheLobbyIsOfSomebodyWhoIsDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 500)
		lobby := w.lobbied("")
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		advance(t, 300*time.Millisecond)
		a, _ := w.replica(t, store)
		advance(t, 500*time.Millisecond)
		b, _ := w.replica(t, store)
		advance(t, 6*time.Second)
		lines := []*admission.Line{line(t, a), line(t, b)}
		n, wrong, inTime, proven := 0, 0, 0, int64(0)
		var receipts []admission.Joined
		for i := 0; time.Now().Before(lobby.ClosesAt.Add(5 * time.Second)); i++ {
			advance(t, 50*time.Millisecond)
			j, err := lines[i%2].Join(t.Context(), holder(i), admission.Ticket{})
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, j)
			n++
		}
		advance(t, 5*time.Second)
		count := *told(t, lines[0]).Draw.Count
		for _, j := range receipts {
			if j.Receipt != "" {
				proven++
			}
			if j.Receipt != "" && j.Place.Index >= count {
				wrong++
				if j.Place.JoinedAt.Before(lobby.ClosesAt) {
					inTime++
				}
			}
		}
		if proven == 0 || proven < count-80 { // four seconds of joins
			t.Errorf("%d are drawn, and %d have a receipt", count, proven)
		}
		if wrong > 0 {
			t.Errorf("%d joined, %d are drawn; %d who are not (%d of these before the lobby's closing time) have a receipt of the lobby", n, count, wrong, inTime)
		}
	})
}
