package rehearsal

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"waitroom/internal/course"
)

// Apart is how far a rehearsed time may be from the real one, of it.
const Apart = 0.15

// Watched is a sale that took place.
type Watched struct {
	Sold, LetIn, FoundNothing int
	Waves                     int64
	Seconds                   float64 // from the opening until the last seat was paid for
	WaitP50, WaitP95          float64
	Samples                   []course.Sample
}

// Beside writes the sale and its rehearsal side by side. False: a time of the
// sale (half and nine tenths taken, the last paid for, the waits) is further
// from the rehearsed one than Apart.
func (r Report) Beside(w io.Writer, real Watched) (ok bool, err error) {
	of := func(samples []course.Sample, share float64) float64 {
		x, _, _ := Report{Setting: r.Setting, Samples: samples}.when(share)
		return x.T
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tsale\trehearsed\tapart\t")
	ok = true
	for _, row := range []struct {
		what            string
		real, rehearsed float64
		held            bool
	}{
		{"half of the seats taken, s", of(real.Samples, 0.5), of(r.Samples, 0.5), true},
		{"nine tenths taken, s", of(real.Samples, 0.9), of(r.Samples, 0.9), true},
		{"last seat paid for, s", real.Seconds, r.Seconds, true},
		{"wait, median, s", real.WaitP50, r.WaitP50, true},
		{"wait, 95 of 100, s", real.WaitP95, r.WaitP95, true},
		{"seats sold", float64(real.Sold), float64(r.Sold), false},
		{"people let in", float64(real.LetIn), float64(r.LetIn), false},
		{"found nothing", float64(real.FoundNothing), float64(r.FoundNothing), false},
		{"waves", float64(real.Waves), float64(r.Waves), false},
	} {
		apart := (row.rehearsed - row.real) / max(row.real, 1e-9)
		if row.held {
			ok = ok && math.Abs(apart) <= Apart
			fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%+.0f %%\t\n", row.what, row.real, row.rehearsed, 100*apart)
		} else {
			fmt.Fprintf(t, "%s\t%.0f\t%.0f\t\t\n", row.what, row.real, row.rehearsed)
		}
	}
	return ok, t.Flush()
}
