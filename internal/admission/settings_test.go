package admission_test

import (
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// What an organiser sets is known to every replica within a second, though no
// word of it reaches any; a pause stops all of them by then. Settings that
// cannot be read are known a second after they can.
func TestSettingsAreKnownWithinASecondWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 10_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var both []*admission.Line
		for range 2 {
			lines, _ := w.replica(t, store)
			both = append(both, line(t, lines))
			wait(t.Context(), 300*time.Millisecond) //nolint:errcheck // virtual: they read at different times
		}
		for i := range 20 {
			change, within := func(w *world) { w.sale.Rate++ }, time.Second
			switch i % 4 {
			case 1:
				change = func(w *world) { w.sale.Control, w.sale.Rate = admission.Pause, w.sale.Rate+1 }
			case 2:
				change = func(w *world) { w.sale.Control, w.sale.Rate = admission.Run, w.sale.Rate+1 }
			case 3:
				w.set(func(w *world) { w.settingsDown = errDown })
				wait(t.Context(), 3*time.Second) //nolint:errcheck // virtual
				change = func(w *world) { w.settingsDown, w.sale.Rate = nil, w.sale.Rate+1 }
			}
			w.set(change)
			wait(t.Context(), within+time.Millisecond) //nolint:errcheck // virtual
			want, _ := w.sales(t.Context())
			for n, l := range both {
				if got := l.Sale(); got.Rate != want[0].Rate || got.Control != want[0].Control {
					t.Errorf("change %d: %s later replica %d has %v/s %s, set is %v/s %s", i, within, n, got.Rate, got.Control, want[0].Rate, want[0].Control)
				}
			}
			wait(t.Context(), 170*time.Millisecond) //nolint:errcheck // virtual: the next change comes at another moment
		}
	})
}
