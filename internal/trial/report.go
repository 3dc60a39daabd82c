package trial

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Report is what was seen, and whether it is as promised.
type Report struct {
	Judged []Judged
	Phases []Phase
}

// Judged is one thing that has to be so.
type Judged struct {
	What, Figure, Want string
	So                 bool
}

// Phase is what one way of the provider's came to: starts and closures on one
// axis, for the one does not follow from the other.
type Phase struct {
	Name                      string
	Seconds                   float64
	Starts, Closures          int
	InFlight                  int           // at most
	OldestBefore, OldestAfter time.Duration // age of the oldest operation without an end
}

func (r *Report) judge(what, figure, want string, so bool) {
	r.Judged = append(r.Judged, Judged{what, figure, want, so})
}

// Kept is whether all of it is so.
func (r Report) Kept() bool {
	return len(r.Judged) > 0 && !slices.ContainsFunc(r.Judged, func(j Judged) bool { return !j.So })
}

// Fprint writes both tables.
func (r Report) Fprint(w io.Writer) {
	fmt.Fprintf(w, "%-22s %8s %9s %11s %10s  %s\n", "the provider", "seconds", "starts/s", "closures/s", "in flight", "the oldest without an end")
	for _, p := range r.Phases {
		fmt.Fprintf(w, "%-22s %8.1f %9.2f %11.2f %10d  %.1f s, then %.1f s\n", p.Name, p.Seconds, float64(p.Starts)/p.Seconds,
			float64(p.Closures)/p.Seconds, p.InFlight, p.OldestBefore.Seconds(), p.OldestAfter.Seconds())
	}
	fmt.Fprintln(w)
	for _, j := range r.Judged {
		verdict := "ok"
		if !j.So {
			verdict = "NOT SO, want " + j.Want
		}
		fmt.Fprintf(w, "%-60s %-50s %s\n", j.What, j.Figure, verdict)
	}
}
