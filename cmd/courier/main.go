// Command courier tells organisers, by signed webhooks to their endpoints, what
// became true. When none runs, deliveries wait in Postgres.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.CourierConfig
	process.Parse(&c, "courier", "Sends organisers' webhooks.")
	if err := daemon.Courier(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
