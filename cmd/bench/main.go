// Command bench measures the line against its anchors, prints each figure and
// keeps all of them as bench/results.json.
package main

import (
	"context"
	"flag"
	"log"
	"os"

	"waitroom/internal/bench"
	"waitroom/internal/process"
)

func main() {
	log.SetFlags(0)
	for _, other := range []func([]string) (bool, error){bench.Poll, bench.Idle} {
		if asked, err := other(os.Args); asked {
			if err != nil {
				log.Fatal(err)
			}
			return
		}
	}
	path := flag.String("json", "bench/results.json", "where the figures are kept")
	flag.Parse()
	all, err := bench.Run(process.Signals(context.Background()), bench.Usual(), os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	if err := bench.Write(*path, all); err != nil {
		log.Fatal(err)
	}
}
