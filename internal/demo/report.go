package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/course"
	"waitroom/internal/rehearsal"
)

// Report is what a demo ends with. It is read from the database once the sale
// is over, not from what the processes say of themselves.
type Report struct {
	Fans          int              `json:"fans"`
	Seats         int64            `json:"seats"`
	Sold          int64            `json:"sold"`
	Free          int64            `json:"free"`
	Pending       int64            `json:"pending"`
	HeldBack      int64            `json:"held_back"`
	PaidOrders    int64            `json:"paid_orders"`
	ExpiredOrders int64            `json:"expired_orders"`
	Cancelled     int64            `json:"cancelled_orders"`
	RefundsOwed   int64            `json:"refund_operations"`
	Refunds       int64            `json:"refunds"` // of these, those that have arrived
	RefundsBy     map[string]int64 `json:"refunds_by_status"`
	Waves         int64            `json:"waves"`
	Oversold      int64            `json:"oversold"`
	LetIn         int64            `json:"let_in"`
	LetInMax1s    int64            `json:"let_in_max_1s"`
	Rate          float64          `json:"rate"`
	Seconds       float64          `json:"seconds"` // from the opening to the end
	Seed          uint64           `json:"seed"`
	Line          string           `json:"line"`
	Limited       bool             `json:"limited"` // the fans were sent home before the sale was over
	WaitP50       float64          `json:"wait_p50_s"`
	WaitP95       float64          `json:"wait_p95_s"`
	FoundNothing  int64            `json:"found_nothing"`
	Odd           map[string]int   `json:"unexpected_answers"`
	Harmed        int              `json:"harmed"` // how often a replica was killed or stopped meanwhile
	Told          Told             `json:"told"`
	Audit         AuditResult      `json:"audit"`

	Samples []course.Sample   `json:"samples"`
	Setting rehearsal.Setting `json:"setting"` // what a rehearsal of this sale needs
}

// AuditResult is the part of the audit that a report keeps.
type AuditResult struct {
	Exit    int              `json:"exit"`
	Checked map[string]int64 `json:"checked"`
	Order   audit.Order      `json:"order"` // how far from the line's order people were let in
	Money   []*audit.Money   `json:"money"` // where all that was captured is

	Promises []audit.Promise `json:"promises"`
}

// Summary is the sale in a line, or two.
func (r Report) Summary() string {
	s := fmt.Sprintf("%d of %d seats sold in %.0f s, %d oversold; %d waves; at most %d let in in any second at %g/s; audit: %s",
		r.Sold, r.Seats, r.Seconds, r.Oversold, r.Waves, r.LetInMax1s, r.Rate, audit.Verdict(r.Audit.Exit))
	if r.RefundsOwed > 0 {
		s += fmt.Sprintf("\n%d refunds owed:", r.RefundsOwed)
		for _, status := range slices.Sorted(maps.Keys(r.RefundsBy)) {
			s += fmt.Sprintf(" %d %s", r.RefundsBy[status], status)
		}
	}
	s += "\n" + r.Told.String()
	if r.Limited {
		s += "\nthe limit ended it: the fans were sent home before the sale was over"
	}
	return s
}

// count reads the end of the sale from raw rows.
func (r *Report) count(ctx context.Context, db *pgx.Conn, event string) error {
	err := db.QueryRow(ctx, `
		SELECT count(*), count(*) FILTER (WHERE o.status = 'paid'), count(*) FILTER (WHERE o.status = 'pending'),
		  count(*) FILTER (WHERE s.order_id IS NULL AND NOT s.held_back), count(*) FILTER (WHERE s.held_back)
		FROM seats s LEFT JOIN orders o ON o.id = s.order_id WHERE s.event_id = $1`, event).
		Scan(&r.Seats, &r.Sold, &r.Pending, &r.Free, &r.HeldBack)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	err = db.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE status = 'paid'), count(*) FILTER (WHERE status = 'expired'), count(*) FILTER (WHERE status = 'cancelled')
		FROM orders WHERE event_id = $1`, event).
		Scan(&r.PaidOrders, &r.ExpiredOrders, &r.Cancelled)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.refunds(ctx, db, event); err != nil {
		return err
	}
	// Seats sold more often than there are: live lines beyond one a seat.
	err = db.QueryRow(ctx, `
		SELECT coalesce(sum(n - 1), 0) FROM (
		  SELECT count(*) AS n FROM order_lines l JOIN orders o ON o.id = l.order_id
		  WHERE o.event_id = $1 AND o.status IN ('pending', 'paid') AND l.given_back_by IS NULL GROUP BY l.seat_id) live`, event).
		Scan(&r.Oversold)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	// Of every window of one second that ends with a take, the fullest.
	err = db.QueryRow(ctx, `
		SELECT count(*), coalesce(max(n), 0) FROM (
		  SELECT count(*) OVER (ORDER BY taken_at RANGE BETWEEN interval '999999 microseconds' PRECEDING AND CURRENT ROW) AS n
		  FROM passes WHERE event_id = $1) w`, event).
		Scan(&r.LetIn, &r.LetInMax1s)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (r *Report) judge(a audit.Report) {
	r.Audit = AuditResult{Exit: a.Exit, Checked: a.Checked, Order: a.Order, Money: a.Money, Promises: a.Promises()}
}

// Write leaves the report as JSON and, beside it, as a page with plots.
func (r Report) Write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	page, err := os.Create(htmlBeside(file))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.html(page); err != nil {
		page.Close() //nolint:errcheck // the first error counts
		return fmt.Errorf("report: %w", err)
	}
	return page.Close()
}

func htmlBeside(file string) string {
	return file[:len(file)-len(filepath.Ext(file))] + ".html"
}
