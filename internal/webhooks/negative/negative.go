// Package negative shows that the plan audit has teeth. It puts each judgement
// back to what it was when it was wrong, one by one, by a build tag; proves that
// the wrong one was built in place of the right one, and that it makes a
// difference; and wants each to be caught.
package negative

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// Run tries every mutant on a program: ./cmd/waitctl, or what has its three words.
// It is true if each differs and was caught.
func Run(ctx context.Context, program string, out io.Writer) (bool, error) {
	return run(ctx, program, mutants(), judges(), out)
}

// result is what came of one mutant.
type result struct {
	applied string // the files that were built in place of others
	differs bool
	caught  string // by whom; empty, if by nobody
}

// run tries these. One that could not be applied is an error: what was not tried
// proves nothing.
func run(ctx context.Context, program string, plans, judges []mutant, out io.Writer) (bool, error) {
	b, err := open(ctx, program)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(b.dir) //nolint:errcheck // temporary
	if err := b.complete(); err != nil {
		return false, err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MUTANT\tWHAT IS WRONG\tBUILT INSTEAD\tDIFFERS\tCAUGHT BY")
	var applied, caught, vacuous int
	try := func(m mutant, on func(context.Context, mutant) (result, error)) error {
		r, err := on(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		applied++
		if r.caught != "" {
			caught++
		}
		if !r.differs {
			vacuous++
		}
		_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\n", m.name, m.says, r.applied, r.differs, r.caught)
		return err
	}
	for _, m := range plans {
		if err := try(m, b.plan); err != nil {
			return false, err
		}
	}
	for _, m := range judges {
		if err := try(m, b.judge); err != nil {
			return false, err
		}
	}
	if err := w.Flush(); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "NEGATIVE %d applied, %d caught, %d vacuous\n", applied, caught, vacuous)
	return applied > 0 && caught == applied && vacuous == 0, nil
}
