// Command bare is waitctl webhooks and nothing else of waitctl, so that it is
// built in no time: negative's own test runs on it, make webhooks-negative on the
// real one.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/plan"
	"waitroom/internal/webhooks/probe"
)

func main() { os.Exit(run(os.Args[2], os.Args[4])) } // webhooks WHAT --dir DIR

func run(what, dir string) int {
	switch what {
	case "plan":
		err := write(dir)
		if err == nil {
			return 0
		}
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, plan.ErrContract) {
			return 3
		}
		return 2
	case "health":
		answer := health.Dir(dir, "")
		if err := answer.Fprint(os.Stdout); err != nil {
			return 1
		}
		return answer.Exit
	case "probe":
		found, _ := probe.Dir(dir, "")
		probe.Fprint(os.Stdout, found)
		return min(len(found), 1)
	}
	return 1
}

func write(dir string) error {
	facts, err := plan.FromDir(dir)
	if err != nil {
		return err
	}
	report, err := plan.Make(facts)
	if err != nil {
		return err
	}
	return report.Keep(filepath.Join(dir, "report.json"))
}
