package admission_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// One replica's clock is ahead: it closes the lobby that much sooner. Whoever joins
// at the other before the closing time has a receipt, and is drawn all the same.
func TestWhoHasAReceiptIsDrawnThoughClocksDiffer(t *testing.T) {
	for _, skew := range []time.Duration{0, 100 * time.Millisecond, 1500 * time.Millisecond} {
		lobbies, wrong := 0, 0
		for phase := range 8 {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20, 500)
				lobby := w.lobbied("")
				store := newMemory(time.Millisecond, 8*time.Millisecond)
				advance(t, time.Duration(phase)*125*time.Millisecond)
				a, _ := w.replica(t, store)
				advance(t, 500*time.Millisecond)
				b, _ := w.replicaOf(t, store, w.books(), func(ctx context.Context) ([]admission.Sale, error) {
					all, err := w.sales(ctx)
					for i := range all {
						early := *all[i].Lobby
						early.ClosesAt = early.ClosesAt.Add(-skew)
						all[i].Lobby = &early
					}
					return all, err
				})
				line(t, b)
				l := line(t, a)
				advance(t, time.Until(lobby.ClosesAt.Add(-time.Second)))
				var all []admission.Joined
				for i := 0; time.Now().Before(lobby.ClosesAt.Add(time.Second)); i++ {
					advance(t, 5*time.Millisecond)
					j, err := l.Join(t.Context(), holder(i), admission.Ticket{})
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, j)
				}
				advance(t, 8*time.Second)
				count, these := *told(t, l).Draw.Count, 0
				for _, j := range all {
					if j.Receipt != "" && j.Place.Index >= count {
						these++
					}
				}
				if these > 0 {
					lobbies, wrong = lobbies+1, wrong+these
				}
			})
		}
		if wrong > 0 {
			t.Errorf("clocks differ by %s: in %d of 8 lobbies %d people have a signed receipt of a lobby that they are not drawn in", skew, lobbies, wrong)
		}
	}
}
