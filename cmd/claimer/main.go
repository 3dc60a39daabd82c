// Command claimer claims seats. When it is down, claims are answered busy and
// nobody is let in; nothing is lost.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.ClaimerConfig
	process.Parse(&c, "claimer", "Claims seats for the attempts that come over NATS.")
	if err := daemon.Claimer(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
