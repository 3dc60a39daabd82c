package plan_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"waitroom/internal/webhooks/ledgertest"
)

// made is the report of a folder, as bytes.
func made(t testing.TB, dir string) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := ledgertest.Made(t, dir).Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// meant is what a report means: its tree, with numbers as they are written.
func meant(t testing.TB, text []byte) (v any) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// The example's report is its report to the byte, whether or not its columns
// have names, a byte order mark, or a Windows editor's ends of lines.
func TestTheExample(t *testing.T) {
	dir, want := ledgertest.Example(t)
	if got := made(t, dir); !bytes.Equal(got, want) {
		t.Errorf("the plan differs: %s", cmp.Diff(string(want), string(got)))
	}
	for name, header := range map[string]string{
		"endpoints.tsv": "endpoint_id\tstate\tmax_attempts\tbackoff_base\tdispatch_gap_s\r\n",
		"attempts.tsv":  "attempt_id\tendpoint_id\tattempt_no\tstart_ts\tfinish_ts\tstatus\terror\r\n",
		"retry.env":     "# terms\r\n",
	} {
		text := bytes.ReplaceAll(read(t, dir, name), []byte("\n"), []byte("\r\n\r\n"))
		ledgertest.Write(t, dir, name, "\ufeff"+header+string(bytes.TrimSpace(text)))
	}
	if got := made(t, dir); !bytes.Equal(got, want) {
		t.Errorf("with other ends of lines the plan differs: %s", cmp.Diff(string(want), string(got)))
	}
}

// A hundred ledgers come to what was worked out elsewhere.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	for i, c := range ledgertest.Vectors(t) {
		c.In(t, dir)
		if diff := cmp.Diff(meant(t, c.Report), meant(t, made(t, dir))); diff != "" {
			t.Errorf("vector %d: %s", i+1, diff)
		}
	}
}

// Any ledger comes to what a model says that looks back, for each row, over all
// the rows above it, in numbers without end.
func TestAsTheModelSays(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		c := ledgertest.Draw(r)
		c.In(t, dir)
		want, err := json.Marshal(model(c))
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(meant(t, want), meant(t, made(t, dir))); diff != "" {
			r.Fatalf("%v: %s", c, diff)
		}
	})
}

// model is the plan, read off the rules, slowly.
func model(c ledgertest.Case) map[string]any {
	lines, early, perEndpoint, backoff := []any{}, 0, map[string]int64{}, int64(0)
	for i, a := range c.Attempts {
		e := endpoint(c, a.Endpoint)
		if e == nil || e.State != "active" {
			continue
		}
		earliest, verdict := new(big.Int), "ok"
		if seq(c, i) > 1 {
			before := c.Attempts[above(c, i)]
			backoff += a.Start - before.Finish
			wait := new(big.Int).Mul(big.NewInt(e.BackoffBase), power(c.Conf["WEBHOOK_BACKOFF_FACTOR"], a.No-1))
			if gap := big.NewInt(e.Gap); wait.Cmp(gap) > 0 {
				wait = gap
			}
			earliest.Add(wait, big.NewInt(before.Finish+c.Conf["WEBHOOK_ADMIT_SLACK_S"]))
		}
		delta := new(big.Int).Sub(big.NewInt(a.Start), earliest)
		if delta.Sign() < 0 {
			verdict = "too_early"
			early++
			perEndpoint[a.Endpoint]++
		}
		lines = append(lines, map[string]any{
			"attempt_id": a.ID, "endpoint_id": a.Endpoint, "earliest_ts": earliest, "scheduled_delta_s": delta, "verdict": verdict,
		})
	}
	ids, ends, ended := []string{}, map[string]string{}, map[string]int{}
	for _, e := range c.Endpoints {
		end := "skipped"
		if e.State == "active" {
			ids, end = append(ids, e.ID), "exhausted"
			if last := above(c, len(c.Attempts), e.ID); last >= 0 && success(c, last) {
				end = "succeeded"
			}
		}
		ends[e.ID] = end
		ended[end]++
	}
	over := slices.ContainsFunc(ids, func(id string) bool { return perEndpoint[id] > c.Conf["WEBHOOK_DEAD_LETTER_AFTER"] })
	return map[string]any{
		"admissible_endpoints": ids, "final_state": ends, "plan": lines, "over_dead_letter": over, "ok": early == 0 && !over,
		"counts": map[string]int{"attempts": len(c.Attempts), "succeeded": ended["succeeded"], "exhausted": ended["exhausted"], "skipped": ended["skipped"]},
		"totals": map[string]any{"attempts": len(lines), "endpoints": len(ids), "too_early": early, "ok": len(lines) - early, "backoff_s": backoff},
	}
}

func endpoint(c ledgertest.Case, id string) *ledgertest.Endpoint {
	for i := range c.Endpoints {
		if c.Endpoints[i].ID == id {
			return &c.Endpoints[i]
		}
	}
	return nil
}

// above is the row above i of the same endpoint, or of the one that is named.
func above(c ledgertest.Case, i int, id ...string) int {
	if id == nil {
		id = []string{c.Attempts[i].Endpoint}
	}
	for i--; i >= 0 && c.Attempts[i].Endpoint != id[0]; i-- {
	}
	return i
}

func success(c ledgertest.Case, i int) bool {
	s := c.Attempts[i].Status
	return s != nil && *s >= c.Conf["WEBHOOK_SUCCESS_MIN"] && *s <= c.Conf["WEBHOOK_SUCCESS_MAX"]
}

func seq(c ledgertest.Case, i int) int64 {
	before := above(c, i)
	if before < 0 || success(c, before) || seq(c, before) >= endpoint(c, c.Attempts[i].Endpoint).MaxAttempts {
		return 1
	}
	return seq(c, before) + 1
}

// power is exact up to where nothing is capped by it any more.
func power(factor, exponent int64) *big.Int {
	if factor < 2 {
		exponent = min(exponent, 1)
	}
	return new(big.Int).Exp(big.NewInt(factor), big.NewInt(min(exponent, 70)), nil)
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
