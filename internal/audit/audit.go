// Package audit recomputes the promises from raw rows, from an export of the
// line and from what witnesses were told. It imports nothing of the house, so
// that it cannot share a mistake with what it checks.
//
// A promise for which nothing was counted is not proved: the audit then says that
// it cannot tell, as when it could not be done.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Exit codes of an audit.
const (
	Clean    = 0
	Broken   = 2 // a promise is broken
	Unusable = 3 // it cannot be told: the audit could not be done, or there was nothing to judge
)

// Sources are what an audit reads. Readers may be nil: the checks that need them
// are then left out, and the report says so. The provider's two go together, and
// are read while no money moves.
type Sources struct {
	DB      *pgx.Conn
	Queries fs.FS // promise_what.sql, one check each
	Event   string
	Line    io.Reader // NDJSON of places, as the admin listener exports them
	Witness io.Reader // NDJSON of answers, as the fans got them

	Ledger   io.Reader // JSON of the provider's payments and refunds, as it has them
	Requests io.Reader // NDJSON of every request to it, as they arrived
}

// Check is one promise held against the facts.
type Check struct {
	Promise    string   `json:"promise"`
	Name       string   `json:"name"`
	Counted    int64    `json:"counted"`
	Violations int64    `json:"violations"`
	Examples   []string `json:"examples,omitempty"`
}

// Report is the audit of one event.
type Report struct {
	Event   string           `json:"event"`
	Exit    int              `json:"exit"`
	Checked map[string]int64 `json:"checked"` // facts judged, by promise
	Missing []string         `json:"missing"` // sources that were not given
	Untold  []string         `json:"untold"`  // promises for which nothing was counted
	NoLine  bool             `json:"no_line"` // the event has no waiting room: P7 and P8 promise nothing of it
	Checks  []Check          `json:"checks"`
	Order   Order            `json:"order"`
	Money   []*Money         `json:"money,omitempty"` // by currency, by the provider's ledger
	Fault   string           `json:"fault,omitempty"`
}

// Promises that every audit must have counted something for.
var required = [...]string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P12", "P13"}

// Run audits one event in one snapshot of the database.
func Run(ctx context.Context, s Sources) Report {
	r := Report{Event: s.Event, Checked: map[string]int64{}, Missing: []string{}, Untold: []string{}}
	if err := r.run(ctx, s); err != nil {
		r.Exit, r.Fault = Unusable, err.Error()
		return r
	}
	r.judge()
	return r
}

func (r *Report) run(ctx context.Context, s Sources) error {
	tx, err := s.DB.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // read only
	err = tx.QueryRow(ctx, `SELECT admission = 'open' FROM events WHERE id = $1`, s.Event).Scan(&r.NoLine)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("audit: there is no event %q", s.Event)
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := r.rows(ctx, tx, s); err != nil {
		return err
	}
	passes, err := readPasses(ctx, tx, s.Event)
	if err != nil {
		return err
	}
	rates, err := readRates(ctx, tx, s.Event)
	if err != nil {
		return err
	}
	r.Order = orderOf(passes)
	drawn, err := readLobby(ctx, tx, s.Event)
	if err != nil {
		return err
	}
	letIn, err := r.line(s.Line, s.Event, passes, &drawn)
	if err != nil {
		return err
	}
	r.add(pace(letIn, rates)...)
	if err := r.ledger(ctx, tx, s); err != nil {
		return err
	}
	return r.witness(ctx, tx, s, passes, drawn)
}

// rows runs the checks that are queries.
func (r *Report) rows(ctx context.Context, tx pgx.Tx, s Sources) error {
	files, err := fs.Glob(s.Queries, "*.sql")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("audit: no queries to run (%v)", err)
	}
	slices.Sort(files)
	for _, file := range files {
		query, err := fs.ReadFile(s.Queries, file)
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		promise, name, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "_")
		if !ok {
			return fmt.Errorf("audit: %s is not named promise_what.sql", file)
		}
		c := Check{Promise: strings.ToUpper(promise), Name: strings.ReplaceAll(name, "_", " ")}
		if err := tx.QueryRow(ctx, string(query), s.Event).Scan(&c.Counted, &c.Violations, &c.Examples); err != nil {
			return fmt.Errorf("audit: %s: %w", file, err)
		}
		r.add(c)
	}
	return nil
}

func (r *Report) add(checks ...Check) {
	for _, c := range checks {
		if c.Violations == 0 {
			c.Examples = nil
		}
		r.Checks = append(r.Checks, c)
		r.Checked[c.Promise] += c.Counted
	}
}

func (r *Report) judge() {
	r.Exit = Clean
	for _, p := range required {
		if _, ok := r.Checked[p]; !ok && len(r.Missing) > 0 {
			continue // its source was not given, which Missing says
		}
		if r.NoLine && (p == "P7" || p == "P8") {
			continue // should there be passes all the same, they are judged
		}
		if r.Checked[p] == 0 {
			r.Untold = append(r.Untold, p)
		}
	}
	if len(r.Untold) > 0 {
		r.Exit = Unusable
	}
	for _, c := range r.Checks {
		if c.Violations > 0 {
			r.Exit = Broken
		}
	}
}

// Fprint writes the report for people, a line a check, by promise.
func (r Report) Fprint(w io.Writer) {
	fmt.Fprintf(w, "audit of %s: promise, what was checked, how many facts\n", r.Event)
	for _, c := range slices.SortedStableFunc(slices.Values(r.Checks), func(a, b Check) int { return byNumber(a.Promise, b.Promise) }) {
		verdict := "ok"
		if c.Violations > 0 {
			verdict = fmt.Sprintf("BROKEN %d", c.Violations)
		}
		fmt.Fprintf(w, "  %-4s %-47s %7d  %s\n", c.Promise, c.Name, c.Counted, verdict)
		for _, e := range c.Examples {
			fmt.Fprintf(w, "         %s\n", e)
		}
	}
	if o := r.Order; o.People > 0 {
		fmt.Fprintf(w, "  the line's order: %d people, %d pairs inverted (Kendall distance %.4f), nobody behind more than %d of higher numbers\n",
			o.People, o.Inverted, o.Kendall, o.Greatest)
	}
	for _, m := range r.Money {
		fmt.Fprintf(w, "  the money, in minor units by the provider's ledger: %s\n", m)
	}
	if r.NoLine {
		fmt.Fprintln(w, "  P7 and P8 are the line's: this event has none")
	}
	for _, p := range r.Untold {
		fmt.Fprintf(w, "  %-4s %s: there is nothing to judge it by yet\n", p, Says(p))
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "  not judged: %s\n", m)
	}
	if r.Fault != "" {
		fmt.Fprintf(w, "  fault: %s\n", r.Fault)
	}
	fmt.Fprintf(w, "audit: %s\n", Verdict(r.Exit))
}

// Verdict is an exit code in words.
func Verdict(exit int) string {
	switch exit {
	case Clean:
		return "clean"
	case Broken:
		return "a promise is BROKEN (exit 2)"
	}
	return "it cannot be told whether the promises are kept (exit 3)"
}
