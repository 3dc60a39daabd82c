// Command courierproof holds what organisers are promised against one courier and
// receivers of every kind, prints the figures, and exits with 1 if anything is not
// as promised.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"waitroom/internal/process"
	"waitroom/internal/stack"
)

func main() {
	log.SetFlags(0)
	c := course{out: os.Stdout}
	flag.IntVar(&c.steady, "notices", 1000, "notices of the steady phase, ten a second")
	flag.IntVar(&c.burst, "burst", 10_000, "notices at once")
	flag.DurationVar(&c.promise, "p99", 2*time.Second, "from commit to arrival at most, for 99 of 100")
	flag.Parse()
	kept, err := run(process.Signals(context.Background()), &c)
	if err != nil {
		log.Fatal(err)
	}
	if !kept {
		log.Fatal("organisers are not told as promised")
	}
	fmt.Println("\norganisers are told as promised")
}

// run gives the course a Postgres of its own, and no NATS: nobody needs it here.
func run(ctx context.Context, c *course) (kept bool, err error) {
	starting, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	db, err := stack.Postgres(starting, "")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Stop()) }()
	c.database = db.URL
	return c.run(ctx)
}
