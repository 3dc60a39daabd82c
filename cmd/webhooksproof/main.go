// Command webhooksproof shows that the plan audit of organisers' webhooks has
// teeth: each of its judgements, put back to what it was when it was wrong, is
// caught. It ends with NEGATIVE n applied, n caught, 0 vacuous and 0, or with 1.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/process"
	"waitroom/internal/webhooks/negative"
)

func main() {
	ok, err := negative.Run(process.Signals(context.Background()), "./cmd/waitctl", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhooksproof:", err)
	}
	if !ok {
		os.Exit(1)
	}
}
