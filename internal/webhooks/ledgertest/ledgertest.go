// Package ledgertest has cases for whoever plans, judges or probes a ledger: the
// example, a hundred that were worked out elsewhere, and any number more.
package ledgertest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

//go:embed testdata
var testdata embed.FS

// Case is a contract with its ledgers and, where it was worked out elsewhere, the
// report that they come to.
type Case struct {
	Conf      map[string]int64 `json:"conf"`
	Endpoints []Endpoint       `json:"endpoints"`
	Attempts  []Attempt        `json:"attempts"`
	Report    json.RawMessage  `json:"report"`
}

// Endpoint is a row of endpoints.tsv.
type Endpoint struct {
	ID          string `json:"endpoint_id"`
	State       string `json:"state"`
	MaxAttempts int64  `json:"max_attempts"`
	BackoffBase int64  `json:"backoff_base"`
	Gap         int64  `json:"dispatch_gap_s"`
}

// Attempt is a row of attempts.tsv.
type Attempt struct {
	ID       string `json:"attempt_id"`
	Endpoint string `json:"endpoint_id"`
	No       int64  `json:"attempt_no"`
	Start    int64  `json:"start_ts"`
	Finish   int64  `json:"finish_ts"`
	Status   *int64 `json:"status"`
}

// Vectors are the hundred.
func Vectors(t testing.TB) []Case {
	t.Helper()
	text, err := testdata.ReadFile("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []Case
	for line := range strings.Lines(string(text)) {
		var c Case
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) != 100 {
		t.Fatalf("%d vectors, want 100", len(all))
	}
	return all
}

// Example is a folder with the example in it, but for its report; and the report.
func Example(t testing.TB) (dir string, report []byte) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"endpoints.tsv", "attempts.tsv", "retry.env"} {
		Write(t, dir, name, read(t, name))
	}
	return dir, []byte(read(t, "report.json"))
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := testdata.ReadFile("testdata/example/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Write puts a file into a folder.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Unknown says whether a row of the ledger is of an endpoint that is not listed.
func (c Case) Unknown() bool {
	return slices.ContainsFunc(c.Attempts, func(a Attempt) bool {
		return !slices.ContainsFunc(c.Endpoints, func(e Endpoint) bool { return e.ID == a.Endpoint })
	})
}

// Env is the case's retry.env.
func (c Case) Env() string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c.Conf)) {
		fmt.Fprintf(&text, "%s=%d\n", key, c.Conf[key])
	}
	return text.String()
}

// In writes the case's three files into a folder.
func (c Case) In(t testing.TB, dir string) {
	t.Helper()
	var endpoints, attempts strings.Builder
	for _, e := range c.Endpoints {
		fmt.Fprintf(&endpoints, "%s\t%s\t%d\t%d\t%d\n", e.ID, e.State, e.MaxAttempts, e.BackoffBase, e.Gap)
	}
	for _, a := range c.Attempts {
		status := "-"
		if a.Status != nil {
			status = fmt.Sprint(*a.Status)
		}
		fmt.Fprintf(&attempts, "%s\t%s\t%d\t%d\t%d\t%s\t-\n", a.ID, a.Endpoint, a.No, a.Start, a.Finish, status)
	}
	Write(t, dir, "endpoints.tsv", endpoints.String())
	Write(t, dir, "attempts.tsv", attempts.String())
	Write(t, dir, "retry.env", c.Env())
}

// Draw makes a case up: a ledger in order, of endpoints in all states, whose
// figures now and then are as large as there are any.
func Draw(t *rapid.T) Case {
	c := Case{Conf: map[string]int64{
		"WEBHOOK_BACKOFF_FACTOR":    figure(3).Draw(t, "factor"),
		"WEBHOOK_ADMIT_SLACK_S":     rapid.Int64Range(0, 30).Draw(t, "slack"),
		"WEBHOOK_DEAD_LETTER_AFTER": rapid.Int64Range(0, 3).Draw(t, "dead letter after"),
		"WEBHOOK_SUCCESS_MIN":       rapid.Int64Range(199, 202).Draw(t, "min"),
		"WEBHOOK_SUCCESS_MAX":       rapid.Int64Range(202, 300).Draw(t, "max"),
	}}
	for i := range rapid.IntRange(0, 4).Draw(t, "endpoints") {
		c.Endpoints = append(c.Endpoints, Endpoint{
			ID: fmt.Sprint("ep-", i), State: rapid.SampledFrom([]string{"active", "active", "draining", "disabled"}).Draw(t, "state"),
			MaxAttempts: rapid.Int64Range(0, 4).Draw(t, "max attempts"),
			BackoffBase: figure(60).Draw(t, "base"), Gap: rapid.Int64Range(0, 200).Draw(t, "gap"),
		})
	}
	clocks := map[string]int64{}
	for i := range rapid.IntRange(0, 20).Draw(t, "attempts") {
		a := Attempt{ID: fmt.Sprintf("a-%02d", i), Endpoint: fmt.Sprint("ep-", rapid.IntRange(0, 4).Draw(t, "endpoint")), No: max(1, figure(6).Draw(t, "no"))}
		a.Start = clocks[a.Endpoint] + rapid.Int64Range(0, 150).Draw(t, "after")
		a.Finish = a.Start + rapid.Int64Range(0, 20).Draw(t, "took")
		clocks[a.Endpoint] = a.Start
		if status := rapid.SampledFrom([]int64{0, 199, 200, 201, 202, 204, 299, 300, 301, 410, 429, 500, 503}).Draw(t, "status"); status > 0 {
			a.Status = &status
		}
		c.Attempts = append(c.Attempts, a)
	}
	return c
}

// figure is small, and seldom as great as it can be.
func figure(small int64) *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		if rapid.IntRange(0, 9).Draw(t, "great") == 0 {
			return rapid.SampledFrom([]int64{40, 63, 64, 1 << 32, 1 << 62, 1<<63 - 2, 1<<63 - 1}).Draw(t, "figure")
		}
		return rapid.Int64Range(0, small).Draw(t, "figure")
	})
}

// Broken is what a scheduler makes of the example that gets every judgement wrong
// at once: it lets draining endpoints through, takes the cap for a floor, counts
// on after successes, and sets what it should compute.
func Broken(t testing.TB) string { return read(t, "broken.json") }
