package rehearsal

import (
	"fmt"
	"io"
	"text/tabwriter"

	"waitroom/internal/course"
)

// Fprint writes the report for a terminal.
func (r Report) Fprint(w io.Writer, advice []Advice) error {
	s := r.Setting
	fmt.Fprintf(w, "%s: %d seats, %d people, %g let in a second, opens %s\n\n", s.Sale.Event, s.Seats, s.Audience.Fans, s.Sale.Rate, s.Sale.OpensAt.Format("15:04:05"))
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "taken\tafter\tpaid for\tlet in\tin line\tat the door\tinside\t")
	for _, share := range []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1} {
		if x, letIn, ok := r.when(share); ok {
			fmt.Fprintf(t, "%.0f %%\t%s\t%d\t%d\t%d\t%d\t%d\t\n", 100*share, clock(x.T), x.Sold, letIn, x.Line, x.AtDoor, x.Inside)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.facts() {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Value)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, a := range advice {
		fmt.Fprintf(w, "\n* %s\n  %s\n", a.Do, a.Because)
	}
	if len(advice) == 0 {
		fmt.Fprintln(w, "\nNothing to change.")
	}
	return nil
}

// when is the first second in which so much was in carts or sold, and how many
// had been let in by then.
func (r Report) when(share float64) (at course.Sample, letIn int, ok bool) {
	for _, x := range r.Samples {
		letIn += int(x.LetIn)
		if x.T >= 0 && float64(x.Pending+x.Sold) >= share*float64(r.Setting.Seats) {
			return x, letIn, true
		}
	}
	return at, 0, false
}

func (r Report) facts() []course.Fact {
	return []course.Fact{
		course.Factf("sold", "%d of %d", r.Sold, r.Setting.Seats),
		course.Factf("all claimed", "%s", moment(r.ClaimedAll)),
		course.Factf("last paid for", "%s", moment(r.PaidLast)),
		course.Factf("waves", "%d", r.Waves),
		course.Factf("let in", "%d, at most %d in one second", r.LetIn, r.LetInMax1s),
		course.Factf("found nothing", "%d (%.1f %%)", r.FoundNothing, r.lost()),
		course.Factf("waited", "%s median, %s for 95 of 100, %s for 99, %s longest", clock(r.WaitP50), clock(r.WaitP95), clock(r.WaitP99), clock(r.WaitMost)),
		course.Factf("line", "%d at most, %d at the door", r.LineMost, r.DoorMost),
		course.Factf("never let in", "%d", r.StillInLine),
		course.Factf("busiest second", "%d joins, %d orders", r.JoinsMax1s, r.OrdersMax1s),
		course.Factf("rate used", "%.0f %%", 100*r.Used),
	}
}

func moment(s float64) string {
	if s == 0 {
		return "never"
	}
	return clock(s) + " after the opening"
}

// HTML writes the report as a page with plots.
func (r Report) HTML(w io.Writer, advice []Advice) error {
	change := course.Section{Title: "What to change"}
	for _, a := range advice {
		change.Facts = append(change.Facts, course.Fact{Name: a.Do, Value: a.Because})
	}
	s := r.Setting
	return course.Page{
		Title: fmt.Sprintf("Rehearsed: %s, %d seats, %d people, %g let in a second", s.Sale.Event, s.Seats, s.Audience.Fans, s.Sale.Rate),
		Facts: r.facts(), Plots: course.Plots(r.Samples), Below: []course.Section{change},
	}.Write(w)
}
