// Command waitroom serves the line, the claims and the pages. When it is down
// nobody new is let in; passes that are out still buy at another replica.
package main

import (
	"context"
	"fmt"
	"os"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

func main() {
	var c daemon.WaitroomConfig
	process.Parse(&c, "waitroom", "Serves the line, the claims and the pages of all events.")
	if err := daemon.Waitroom(process.Signals(context.Background()), c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
