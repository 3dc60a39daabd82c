package ledgertest_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/ledgertest"
	"waitroom/internal/webhooks/plan"
	"waitroom/internal/webhooks/probe"
)

const (
	env       = "WEBHOOK_BACKOFF_FACTOR=2\nWEBHOOK_ADMIT_SLACK_S=5\nWEBHOOK_DEAD_LETTER_AFTER=3\nWEBHOOK_SUCCESS_MIN=200\nWEBHOOK_SUCCESS_MAX=299\n"
	endpoints = "endpoint_id\tstate\tmax_attempts\tbackoff_base\tdispatch_gap_s\n"
	attempts  = "attempt_id\tendpoint_id\tattempt_no\tstart_ts\tfinish_ts\tstatus\terror\n"

	// An endpoint and its attempts may be called what the columns are called.
	endpoint = "endpoint_id\tactive\t3\t10\t60\n"
	attempt  = "attempt_id\tendpoint_id\t1\t100\t101\t500\n"
	before   = "b\tendpoint_id\t1\t50\t51\t500\n"
	another  = "a\tendpoint_id\t2\t200\t201\t200\n"
)

// What is no UTF-8, and a line that is longer than 64 KiB, is read by none of the
// three, wherever it stands: of a contract it is one that cannot be used.
func TestNoneReadsWhatIsNoTextOrTooLong(t *testing.T) {
	const longest = 64<<10 - 1 // and then its end
	fill := func(line string, n int) string { return line + strings.Repeat("x", n-len(line)) + "\n" }
	for _, c := range []struct {
		name, env, endpoints, attempts string
		exit                           int
	}{
		{"lines as long as may be", fill("# ", longest) + env, endpoint, fill(strings.TrimSpace(attempt)+"\t", longest), 0},
		{"a longest line at the contract's end", env + strings.TrimSpace(fill("# ", longest)), endpoint, attempt, 0},
		{"a remark of the contract is too long", fill("# ", longest+1) + env, endpoint, attempt, 3},
		{"the contract's end is too long", env + strings.TrimSpace(fill("# ", longest+1)), endpoint, attempt, 3},
		{"another's term is too long", fill("OTHER=", longest+1) + env, endpoint, attempt, 3},
		{"a remark of the contract is no text", "# \xff\n" + env, endpoint, attempt, 3},
		{"another's term is no text", env + "OTHER=\xc3\x28\n", endpoint, attempt, 3},
		{"an endpoint is no text", env, "e\xff\tactive\t3\t10\t60\n" + endpoint, attempt, 3},
		{"an endpoint is too long", env, fill("e", longest+1) + endpoint, attempt, 3},
		{"an error is no text", env, endpoint, strings.TrimSpace(attempt) + "\t\xff\n", 2},
		{"an error is too long", env, endpoint, fill(strings.TrimSpace(attempt)+"\t", longest+1), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			ledgertest.Write(t, dir, "retry.env", c.env)
			ledgertest.Write(t, dir, "endpoints.tsv", c.endpoints)
			ledgertest.Write(t, dir, "attempts.tsv", c.attempts)
			exit, _ := planned(t, dir)
			judged := health.Dir(dir, "")
			differences, usable := probe.Dir(dir, "")
			if exit != c.exit || judged.Exit != c.exit || (len(differences) > 0) != (c.exit > 0) || usable != (c.exit != 3) {
				t.Errorf("the plan ends with %d, health with %d %q, the probe takes the contract for usable: %t, %q; want %d",
					exit, judged.Exit, judged.Issues, usable, differences, c.exit)
			}
		})
	}
}

// The three that read a folder, by code of their own each, take the same first
// line for the columns' names, and every other line for a row.
func TestTheColumnsAreNamedOnceAboveAllRows(t *testing.T) {
	for _, c := range []struct {
		name, endpoints, attempts string
		exit, rows                int
	}{
		{"no names", endpoint, attempt + another, 0, 2},
		{"a row with the names' ids further down", endpoint, before + attempt, 0, 2},
		{"names", endpoints + endpoint, attempts + attempt + another, 0, 2},
		{"names with a Windows end of line", strings.ReplaceAll(endpoints, "\n", "\r\n") + endpoint, strings.ReplaceAll(attempts, "\n", "\r\n") + attempt, 0, 1},
		{"names without the error", endpoint, strings.Replace(attempts, "\terror", "", 1) + attempt, 0, 1},
		{"blank lines above the names", "\ufeff\r\n \t\n" + endpoints + "\n" + endpoint, "\n\u3000\n" + attempts + attempt, 0, 1},
		{"nothing but names", endpoints, attempts, 0, 0},
		{"nothing", "", "", 0, 0},
		{"endpoints' names twice", endpoints + endpoints + endpoint, attempt, 3, 0},
		{"endpoints' names below a row", endpoint + endpoints, attempt, 3, 0},
		{"an endpoints' name too many", strings.Replace(endpoints, "\n", "\terror\n", 1) + endpoint, attempt, 3, 0},
		{"an endpoints' name too few", strings.Replace(endpoints, "\tdispatch_gap_s", "", 1) + endpoint, attempt, 3, 0},
		{"another endpoints' name", strings.Replace(endpoints, "gap_s", "gap", 1) + endpoint, attempt, 3, 0},
		{"attempts' names twice", endpoint, attempts + attempts + attempt, 2, 0},
		{"attempts' names below a row", endpoint, attempt + attempts, 2, 0},
		{"an attempts' name too many", endpoint, strings.Replace(attempts, "\n", "\tx\n", 1) + attempt, 2, 0},
		{"two attempts' names too many", endpoint, strings.Replace(attempts, "\n", "\tx\ty\n", 1) + attempt, 2, 0},
		{"another attempts' name", endpoint, strings.Replace(attempts, "status", "status_code", 1) + attempt, 2, 0},
		{"another name for the error", endpoint, strings.Replace(attempts, "error", "why", 1) + attempt, 2, 0},
		{"the error twice", endpoint, strings.Replace(attempts, "error", "error\terror", 1) + attempt, 2, 0},
		{"a space between names", endpoint, strings.Replace(attempts, "\t", " ", 1) + attempt, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			ledgertest.Write(t, dir, "retry.env", env)
			ledgertest.Write(t, dir, "endpoints.tsv", c.endpoints)
			ledgertest.Write(t, dir, "attempts.tsv", c.attempts)
			exit, report := planned(t, dir)
			judged := health.Dir(dir, "")
			differences, usable := probe.Dir(dir, "")
			if exit != c.exit || len(report.Plan) != c.rows {
				t.Errorf("the plan: exit %d and %d rows, want %d and %d", exit, len(report.Plan), c.exit, c.rows)
			}
			if judged.Exit != c.exit || (c.exit > 0) != strings.Contains(strings.Join(judged.Issues, "\n"), "s.tsv, line ") {
				t.Errorf("health: exit %d, want %d: %q", judged.Exit, c.exit, judged.Issues)
			}
			if (len(differences) > 0) != (c.exit > 0) || (c.exit > 0) != strings.Contains(strings.Join(differences, "\n"), "s.tsv:") {
				t.Errorf("the probe: %q, want exit %d of the others", differences, c.exit)
			}
			if usable != (c.exit != 3) {
				t.Errorf("the probe takes the contract for usable: %t, others end with %d", usable, c.exit)
			}
		})
	}
}

// planned is the plan of a folder and what waitctl would exit with. A report is
// always written, so that whoever refuses does it for the ledgers.
func planned(t *testing.T, dir string) (exit int, r plan.Report) {
	t.Helper()
	facts, err := plan.FromDir(dir)
	if err == nil {
		r, err = plan.Make(facts)
	}
	if err := r.Keep(filepath.Join(dir, "report.json")); err != nil {
		t.Fatal(err)
	}
	switch {
	case errors.Is(err, plan.ErrContract):
		return 3, r
	case err != nil:
		return 2, r
	}
	return 0, r
}
