// Package health judges a report of the webhook plan: it works every figure out
// again, from the contract and the ledger, and compares. It imports nothing of
// ours, so that it cannot share a mistake with what made the report.
//
// It judges the report, not what the report tells: one that rightly says that
// too much came too early is clean. Where it cannot judge it says so; that is
// never taken for nothing found.
package health

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
)

// Answer is what was found.
type Answer struct {
	Degraded bool     `json:"degraded"`
	Issues   []string `json:"issues"`
	Checks   []string `json:"checks"` // what the report was held against

	// Exit is 0 for a clean report, 2 when something differs or a fact cannot be
	// had, 3 when the contract itself is unusable.
	Exit int `json:"-"`
}

// Dir judges a report by the retry.env, endpoints.tsv and attempts.tsv of a
// folder. Without a report's path, it is the folder's report.json.
func Dir(dir, report string) Answer {
	if report == "" {
		report = filepath.Join(dir, "report.json")
	}
	t, err := termsIn(filepath.Join(dir, "retry.env"), filepath.Join(dir, "endpoints.tsv"))
	if err != nil {
		return cannot(err)
	}
	rows, err := ledgerIn(filepath.Join(dir, "attempts.tsv"))
	if err != nil {
		return cannot(err)
	}
	return judge(t, rows, report, "")
}

// Tables judges a report by the courier's own tables, and a contract.
func Tables(ctx context.Context, db *sql.DB, contract, report string) Answer {
	t, err := contractIn(contract)
	if err != nil {
		return cannot(err)
	}
	rows, err := fromTables(ctx, db, &t)
	if err != nil {
		return cannot(err)
	}
	return judge(t, rows, report, "us")
}

func judge(t terms, rows []row, report, unit string) Answer {
	truth, err := workOut(t, rows)
	if err != nil {
		return cannot(err)
	}
	told, err := reportIn(report, unit)
	if err != nil {
		return cannot(err)
	}
	a := Answer{Issues: []string{}, Checks: []string{}}
	for _, c := range checks() {
		a.Checks = append(a.Checks, c.name)
		for _, issue := range c.find(truth, told) {
			a.Issues = append(a.Issues, c.name+": "+issue)
		}
	}
	if len(a.Checks) == 0 {
		a.Issues = append(a.Issues, "no_checks: nothing was checked, which is not to say that nothing is wrong")
	}
	return a.verdict(false)
}

// cannot is the answer when there is nothing to compare, or nothing to compare
// it with.
func cannot(err error) Answer {
	a := Answer{Issues: []string{err.Error()}, Checks: []string{}}
	return a.verdict(isUnusable(err))
}

func (a Answer) verdict(unusable bool) Answer {
	a.Degraded = len(a.Issues) > 0
	a.Exit = exit(len(a.Issues), unusable)
	return a
}

// Fprint writes the answer as one line of JSON.
func (a Answer) Fprint(w io.Writer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
