// Command paycallback opens payments and receives the payment provider's
// notices. When it is down, the provider sends its notices again, for days.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.PayCallbackConfig
	process.Parse(&c, "paycallback", "Opens payments and receives the payment provider's notices.")
	if err := daemon.PayCallback(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
