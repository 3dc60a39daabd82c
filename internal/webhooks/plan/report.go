package plan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Report is the plan with its sums. Its JSON has all of these keys, always.
type Report struct {
	Admissible     []string          // ids, sorted
	Counts         map[string]int64  // attempts in the ledger; endpoints by how they ended
	Final          map[string]string // how each known endpoint ended
	OK             bool              // nothing came too early, and no endpoint too often
	OverDeadLetter bool
	Plan           []Line
	Totals         Totals
	Unit           string // "us" of the tables; of a ledger there is none, it is in seconds

	Unknown      int    // attempts of endpoints that nobody knows: no part of the JSON
	FirstUnknown string // the first of them
}

// Line is one attempt as it should have been.
type Line struct {
	Attempt, Endpoint string
	Earliest          int64 // 0 for the first of a delivery
	Delta             int64 // from then to when it did
	Verdict           string
}

// Totals are of the plan's lines.
type Totals struct {
	Attempts  int   `json:"attempts"`
	Backoff   int64 `json:"backoff_s"`
	Endpoints int   `json:"endpoints"`
	OK        int64 `json:"ok"`
	TooEarly  int64 `json:"too_early"`
}

func (r *Report) unknown(a Attempt) {
	if r.Unknown++; r.Unknown == 1 {
		r.FirstUnknown = a.ID
	}
}

// Write writes the report as JSON, its keys sorted, a line of the plan at a time.
func (r Report) Write(to io.Writer) error {
	w := &writer{Writer: bufio.NewWriterSize(to, 1<<16)}
	w.key("{\n", "admissible_endpoints", r.Admissible)
	w.key(",\n", "counts", r.Counts)
	w.key(",\n", "final_state", r.Final)
	w.key(",\n", "ok", r.OK)
	w.key(",\n", "over_dead_letter", r.OverDeadLetter)
	w.lines(r.Plan)
	w.key(",\n", "totals", r.Totals)
	if r.Unit != "" {
		w.key(",\n", "unit", r.Unit)
	}
	w.print("\n}\n")
	return errors.Join(w.err, w.Flush())
}

type writer struct {
	*bufio.Writer
	err error
}

func (w *writer) print(text string) {
	_, err := w.WriteString(text)
	w.err = errors.Join(w.err, err)
}

func (w *writer) key(before, name string, v any) {
	text, err := json.MarshalIndent(v, " ", " ")
	w.err = errors.Join(w.err, err)
	w.print(before + ` "` + name + `": ` + string(text))
}

// lines are written as key would, without asking of each how it is to be written.
func (w *writer) lines(all []Line) {
	w.print(",\n \"plan\": [")
	for i, l := range all {
		if i > 0 {
			w.print(",")
		}
		_, err := fmt.Fprintf(w, "\n  {\n   \"attempt_id\": %s,\n   \"earliest_ts\": %d,\n   \"endpoint_id\": %s,\n   \"scheduled_delta_s\": %d,\n   \"verdict\": %q\n  }",
			quoted(l.Attempt), l.Earliest, quoted(l.Endpoint), l.Delta, l.Verdict)
		w.err = errors.Join(w.err, err)
	}
	if len(all) > 0 {
		w.print("\n ")
	}
	w.print("]")
}

func quoted(text string) []byte {
	q, _ := json.Marshal(text) // a string always has its JSON
	return q
}

// Keep writes the report where path says, whole or not at all.
func (r Report) Keep(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(r.Write(file), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Replaceable says whether a report may take the place of what is there, or be
// removed from it: nothing, an empty file, or what begins as a report does, be it
// wrong or cut short. Anybody's other file is not ours to lose.
func Replaceable(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close() //nolint:errcheck // read only
	begin, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return false
	}
	begin = bytes.TrimSpace(begin)
	if len(begin) == 0 {
		return true
	}
	for _, key := range []string{"admissible_endpoints", "final_state", "over_dead_letter", "scheduled_delta_s"} {
		if begin[0] == '{' && bytes.Contains(begin, []byte(`"`+key+`"`)) {
			return true
		}
	}
	return false
}

// Drop removes an old report, of which nobody could tell that it is one.
func Drop(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	return errors.Join(err, os.Remove(path))
}
