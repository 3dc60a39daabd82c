package demo

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"waitroom/internal/course"
)

// html is the sale, told by its own rows.
func (r Report) html(w io.Writer) error {
	audit := course.Section{Title: "Audit"}
	for _, promise := range slices.Sorted(maps.Keys(r.Audit.Checked)) {
		audit.Facts = append(audit.Facts, course.Factf(promise, "%d facts judged", r.Audit.Checked[promise]))
	}
	return course.Page{
		Title: fmt.Sprintf("%d of %d seats sold in %.0f s, %d oversold", r.Sold, r.Seats, r.Seconds, r.Oversold),
		Facts: []course.Fact{
			course.Factf("Fans", "%d", r.Fans), course.Factf("Rate set", "%g a second", r.Rate),
			course.Factf("Let in", "%d", r.LetIn), course.Factf("Most in any second", "%d", r.LetInMax1s),
			course.Factf("Orders paid", "%d", r.PaidOrders), course.Factf("Expired", "%d", r.ExpiredOrders),
			course.Factf("Waves", "%d", r.Waves), course.Factf("Refunds owed", "%d", r.Refunds),
			course.Factf("Waited, median", "%.0f s", r.WaitP50), course.Factf("95 of 100 within", "%.0f s", r.WaitP95),
			course.Factf("Audit", "exit %d", r.Audit.Exit), course.Factf("Found nothing", "%d", r.FoundNothing),
		},
		Plots: course.Plots(r.Samples),
		Below: []course.Section{audit},
	}.Write(w)
}
