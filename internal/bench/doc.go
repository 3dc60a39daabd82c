// Package bench measures the line and the claims with the product's own code, each figure
// beside an anchor that ran in turns with it on the same machine. A machine's
// own speed says little; the ratio of the two travels.
//
// It is no test: nothing here is judged but by whoever reads it. Each package's
// own benchmarks (go test -bench) stay where they are.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"
)

// Figure is one measurement. Value and Anchor are in Unit.
type Figure struct {
	Name   string  `json:"name"`
	Ratio  float64 `json:"ratio"` // what Name says: see docs/SCALE.md
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Anchor float64 `json:"anchor"`
}

func (f Figure) String() string {
	return fmt.Sprintf("BENCH %s ratio=%s value=%s unit=%s anchor=%s", f.Name, short(f.Ratio), short(f.Value), f.Unit, short(f.Anchor))
}

// short has four digits that count.
func short(v float64) string { return fmt.Sprintf("%.4g", v) }

// faster is how many times less than its anchor a cost is.
func faster(name, unit string, value, anchor float64) Figure {
	return Figure{name, anchor / value, value, unit, anchor}
}

// times is how many times its anchor a value is.
func times(name, unit string, value, anchor float64) Figure {
	return Figure{name, value / anchor, value, unit, anchor}
}

// Effort is how much is spent on a figure.
type Effort struct {
	Rounds  int           // of which the median is taken
	Each    time.Duration // a contender's share of a round
	Batches int           // of two that hardly differ
	Joins   int           // in a round, by Callers at once
	Callers int
	Polls   int           // in a round
	Held    int           // places at a door
	Watch   time.Duration // of a releaser at work

	Claims     int // seats that are sold in a round
	Contenders int // for one seat
}

// Usual is what the published figures are made with.
func Usual() Effort {
	return Effort{Rounds: 25, Each: 40 * time.Millisecond, Batches: 4000, Joins: 4000, Callers: 512, Polls: 20_000, Held: 5000, Watch: 4 * time.Second, Claims: 6000, Contenders: 1000}
}

// Run measures everything, and says each figure as soon as it is known.
func Run(ctx context.Context, e Effort, out io.Writer) (all []Figure, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's own folder for what is left
	for _, part := range []func(context.Context, string, Effort, io.Writer) ([]Figure, error){
		standing, idling, tickets, passes, drawing, lengths, polls, releasing, joins, joinsOfATable, joinsOverDynalite, claiming, sizes, gates,
	} {
		figures, err := part(ctx, dir, e, out)
		if err != nil {
			return all, err
		}
		for _, f := range figures {
			if math.IsNaN(f.Ratio) || math.IsInf(f.Ratio, 0) {
				return all, fmt.Errorf("%s is no figure: %v of %v", f.Name, f.Value, f.Anchor)
			}
			fmt.Fprintln(out, f) //nolint:errcheck // whoever reads is there or not
		}
		all = append(all, figures...)
	}
	return all, nil
}

// Write keeps the figures as a file.
func Write(path string, all []Figure) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
