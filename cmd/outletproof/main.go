// Command outletproof holds the outlet's acceptance against the built programs,
// prints the figures as tables, and exits with 1 if anything is not as promised.
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
	"waitroom/internal/trial"
)

func main() {
	log.SetFlags(0)
	s, short := trial.Usual(), false
	flag.StringVar(&s.Bin, "bin", "bin", "the folder of the built refunder and payprov")
	flag.DurationVar(&s.Phase, "phase", s.Phase, "how long the provider behaves in each way")
	flag.BoolVar(&short, "short", false, "the same course in half a minute")
	flag.Parse()
	if short {
		bin := s.Bin
		s = trial.Short()
		s.Bin = bin
	}
	s.Out = os.Stdout
	r, err := hold(process.Signals(context.Background()), s)
	if err != nil {
		log.Fatal(err)
	}
	r.Fprint(os.Stdout)
	if !r.Kept() {
		log.Fatal("the outlet does not keep what it promises")
	}
	fmt.Println("\nthe outlet keeps what it promises")
}

// hold gives the trial a Postgres of its own.
func hold(ctx context.Context, s trial.Setting) (r trial.Report, err error) {
	starting, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	db, err := stack.Postgres(starting, "")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Stop()) }()
	s.DatabaseURL = db.URL
	return trial.Run(ctx, s)
}
