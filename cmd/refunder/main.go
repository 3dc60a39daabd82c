// Command refunder is the only process that refunds, or looks refunds up. Of
// any number, one is at work; when none is, operations wait in Postgres.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.RefunderConfig
	process.Parse(&c, "refunder", "Carries refunds out: the one outlet to the payment provider for them.")
	if err := daemon.Refunder(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
