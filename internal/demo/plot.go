package demo

import (
	"fmt"
	"io"

	"waitroom/internal/audit"
	"waitroom/internal/course"
)

// html is the sale, told by its own rows.
func (r Report) html(w io.Writer) error {
	judged := course.Section{Title: "Audit"}
	for _, p := range r.Audit.Promises {
		verdict := "kept"
		if p.Violations > 0 {
			verdict = fmt.Sprintf("BROKEN %d times", p.Violations)
		}
		judged.Facts = append(judged.Facts, course.Factf(p.ID+" "+p.Says, "%d facts judged: %s", p.Counted, verdict))
	}
	ended := "everything was sold, or everybody had gone"
	if r.Limited {
		ended = "the limit: the fans were sent home before"
	}
	return course.Page{
		Title: fmt.Sprintf("%d of %d seats sold in %.0f s, %d oversold", r.Sold, r.Seats, r.Seconds, r.Oversold),
		Facts: []course.Fact{
			course.Factf("Fans", "%d", r.Fans), course.Factf("Rate set", "%g a second", r.Rate),
			course.Factf("Let in", "%d", r.LetIn), course.Factf("Most in any second", "%d", r.LetInMax1s),
			course.Factf("Orders paid", "%d", r.PaidOrders), course.Factf("Expired", "%d", r.ExpiredOrders),
			course.Factf("Waves", "%d", r.Waves), course.Factf("Refunds", "%d of %d", r.Refunds, r.RefundsOwed),
			course.Factf("Waited, median", "%.0f s", r.WaitP50), course.Factf("95 of 100 within", "%.0f s", r.WaitP95),
			course.Factf("Audit", "%s", audit.Verdict(r.Audit.Exit)), course.Factf("Found nothing", "%d", r.FoundNothing),
			course.Factf("Ended by", "%s", ended),
		},
		Plots: course.Plots(r.Samples),
		Below: []course.Section{judged},
	}.Write(w)
}
