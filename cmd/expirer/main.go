// Command expirer ends orders that were not paid in time, gives their seats
// back, and relays notices to NATS. When it is down, seats come back later.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.ExpirerConfig
	process.Parse(&c, "expirer", "Ends orders that were not paid in time and relays notices.")
	if err := daemon.Expirer(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
