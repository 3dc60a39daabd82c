// Command mutants seeds a defect against each promise, one by one, and shows that
// the suite catches it. It ends with MUTANTS n applied, n caught and 0, or with 1.
// Arguments are promises or names: only these.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"waitroom/internal/mutant"
	"waitroom/internal/process"
)

func main() {
	seeded := mutant.Seeded()
	if only := os.Args[1:]; len(only) > 0 {
		seeded = slices.DeleteFunc(seeded, func(m mutant.Mutant) bool {
			return !slices.Contains(only, m.Promise) && !slices.Contains(only, m.Name)
		})
	}
	ok, err := mutant.Run(process.Signals(context.Background()), ".", seeded, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if !ok {
		os.Exit(1)
	}
}
