package main

import (
	"context"
	"fmt"
	"io/fs"

	schema "waitroom/sql"
)

// audit holds the ledger against P12, as every audit does.
func (c *course) audit(ctx context.Context) (whole bool, err error) {
	queries, err := schema.Audits()
	if err != nil {
		return false, err
	}
	files, err := fs.Glob(queries, "p12_*.sql")
	if err != nil || len(files) == 0 {
		return false, fmt.Errorf("no audit of P12 (%v)", err)
	}
	whole = true
	fmt.Fprintln(c.out)
	for _, file := range files {
		text, err := fs.ReadFile(queries, file)
		if err != nil {
			return false, err
		}
		for _, event := range []string{"steady", "burst"} {
			var counted, violations int64
			var examples []string
			if err := c.pool.QueryRow(ctx, string(text), event).Scan(&counted, &violations, &examples); err != nil {
				return false, err
			}
			fmt.Fprintf(c.out, "P12 %-52s %-7s %7d facts, %d violations %v\n", file, event, counted, violations, examples)
			whole = whole && counted > 0 && violations == 0
		}
	}
	return whole, nil
}
