// Command killdemo holds a sale under the knife: every process as it is built, real
// servers, and each of them killed, crashed, wiped or held up in turn while people
// buy. It prints what was done and how soon sales went on, and exits with 1 if
// anything is not as promised.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"waitroom/internal/ordeal"
	"waitroom/internal/process"
)

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "bin", "the folder of the built programs")
	short := flag.Bool("short", false, "a small sale, and some of the harms")
	only := flag.String("only", "", "harms whose names have this in them, and no others")
	logs := flag.String("logs", "", "a file for what the programs log")
	witness := flag.String("witness", "", "a file for all that people were told")
	seed := flag.Uint64("seed", 1, "of the crowd, and of the moments of chance")
	flag.Parse()
	s := ordeal.Usual()
	if *short {
		s = ordeal.Short()
	}
	s.Bin, s.Seed, s.Out, s.Witness = *bin, *seed, os.Stdout, *witness
	if *only != "" {
		s.Harms = nil
		for _, x := range ordeal.All() {
			if strings.Contains(x.Name, *only) {
				s.Harms = append(s.Harms, x.Name)
			}
		}
	}
	if err := hold(process.Signals(context.Background()), s, *logs); err != nil {
		log.Fatal(err)
	}
}

// hold holds it, and says whether all is as promised.
func hold(ctx context.Context, s ordeal.Setting, logs string) error {
	s.Logs = io.Discard
	if logs != "" {
		f, err := os.Create(logs)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // the programs have ended
		s.Logs = f
	}
	r, err := ordeal.Run(ctx, s)
	if len(r.Rows) > 0 {
		fmt.Println()
		r.Fprint(os.Stdout)
	}
	if err != nil {
		return err
	}
	if broken := r.Broken(); len(broken) > 0 {
		return fmt.Errorf("\nnot as promised:\n  %s", strings.Join(broken, "\n  "))
	}
	fmt.Printf("\n%d harms, and every promise is kept\n", len(r.Rows))
	return nil
}
