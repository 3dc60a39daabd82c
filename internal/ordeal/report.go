package ordeal

import (
	"fmt"
	"io"
	"time"

	"github.com/anishathalye/porcupine"

	"waitroom/internal/audit"
	"waitroom/internal/demo"
)

// Row is one harm, and what was seen of it.
type Row struct {
	Name                  string
	At, Took              time.Duration // since the opening; how long the fault lasted
	Seen                  string        // what shows that it was done where it was to be
	SoldBefore, SoldAfter int64         // seats that are paid for
	Back                  Back
}

// Report is what the ordeal ends with.
type Report struct {
	Rows   []Row
	Wanted int // harms that there were to be
	Sale   demo.Report
	// Sold are all orders, History what was asked of the seats and told of them, and
	// Claims whether one thing after another could have been told so.
	Sold    []Sold
	History History
	Claims  porcupine.CheckResult
}

// audited are the promises that an audit of this sale has to have judged.
var audited = [...]string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P11", "P12", "P13"}

// Broken are the promises that were not kept, in words.
func (r Report) Broken() (all []string) {
	say := func(so bool, text string, args ...any) {
		if !so {
			all = append(all, fmt.Sprintf(text, args...))
		}
	}
	say(len(r.Rows) == r.Wanted, "%d of %d harms were done: the sale was over before the others", len(r.Rows), r.Wanted)
	for _, row := range r.Rows {
		say(row.Back.Longest() <= healed, "%s: sales went on after %s, want %s", row.Name, row.Back.Longest(), healed)
	}
	s := r.Sale
	say(s.Audit.Exit == audit.Clean, "the audit ends with %d, want 0", s.Audit.Exit)
	for _, p := range audited {
		say(s.Audit.Checked[p] > 0, "%s was held against nothing", p)
	}
	say(!s.Limited, "the sale does not end: the fans had to be sent home")
	say(s.Oversold == 0 && s.Pending == 0, "%d seats oversold, %d pending", s.Oversold, s.Pending)
	say(r.History.Claims > 0 && len(r.History.Parts) > 0, "there is no history of the claims")
	say(r.Claims != porcupine.Illegal, "no order of the claims, one at a time, explains what people were told")
	say(s.Seats > 0 && s.Sold*100 >= s.Seats*97, "%d of %d seats sold, want 97 %%", s.Sold, s.Seats)
	return all
}

// Fprint writes the table.
func (r Report) Fprint(w io.Writer) {
	fmt.Fprintf(w, "%-52s %7s %6s %11s %7s %8s %6s  %s\n", "harm", "at s", "for s", "seats sold", "let in", "claimed", "paid", "seen")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%-52s %7.1f %6.1f %4d → %4d %7.1f %8.1f %6.1f  %s\n", row.Name, row.At.Seconds(), row.Took.Seconds(), row.SoldBefore, row.SoldAfter,
			row.Back.LetIn.Seconds(), row.Back.Claimed.Seconds(), row.Back.Paid.Seconds(), row.Seen)
	}
	fmt.Fprintln(w, "(let in, claimed, paid: seconds from the fault's end until somebody was again)")
	if s := r.Sale; s.Seats > 0 {
		fmt.Fprintf(w, "\n%d of %d seats sold in %.0f s, %d oversold; %d orders paid, %d expired, %d cancelled; audit: %s\n",
			s.Sold, s.Seats, s.Seconds, s.Oversold, s.PaidOrders, s.ExpiredOrders, s.Cancelled, audit.Verdict(s.Audit.Exit))
	}
	if h := r.History; h.Claims > 0 {
		fmt.Fprintf(w, "%d claims, %d of them without an answer, and %d ends, in %d histories: as if one at a time: %s\n",
			h.Claims, h.Unanswered, h.Ends, len(h.Parts), r.Claims)
	}
}
