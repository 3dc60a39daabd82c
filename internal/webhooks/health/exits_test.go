package health_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/ledgertest"
)

// put writes a file of the example anew, by what it was.
func put(name, old, with string) func(testing.TB, string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), old, with, 1)
		if changed == string(text) {
			t.Fatalf("%s has no %q", name, old)
		}
		ledgertest.Write(t, dir, name, changed)
	}
}

func remove(name string) func(testing.TB, string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// instead puts something else where a file was.
func instead(name string, of func(path string) error) func(testing.TB, string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		remove(name)(t, dir)
		if err := of(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func folder(path string) error { return os.Mkdir(path, 0o700) }
func pipe(path string) error   { return syscall.Mkfifo(path, 0o600) }
func device(path string) error { return os.Symlink("/dev/zero", path) }
func dangling(path string) error {
	return os.Symlink(filepath.Join(filepath.Dir(path), "nowhere"), path)
}

// elsewhere keeps the file behind a link, as a mounted ConfigMap does.
func elsewhere(name string) func(testing.TB, string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("data", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// What is wrong with the terms is 3, whatever else is; what is wrong with the
// facts, or cannot be had, or differs, is 2. docs/PLAN-AUDIT.md has this table.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(testing.TB, string)
		exit   int
		says   string
	}{
		{"nothing", func(testing.TB, string) {}, 0, ""},
		{"a link to the contract", elsewhere("retry.env"), 0, ""},
		{"a key more in the contract", put("retry.env", "WEBHOOK_BACKOFF", "OTHER=x\nWEBHOOK_BACKOFF"), 0, ""},
		{"a contract with spaces and a Windows end of line", put("retry.env", "FACTOR=2\n", "FACTOR = 2\r\n\r\n"), 0, ""},
		{"no column for the error", put("attempts.tsv", "502\t-", "502"), 0, ""},
		{"no line end at the end", put("attempts.tsv", "1121\t502\t-\n", "1121\t502\t-"), 0, ""},

		{"contract missing", remove("retry.env"), 3, "retry.env"},
		{"contract a folder", instead("retry.env", folder), 3, "not a regular file"},
		{"contract without end", instead("retry.env", device), 3, "not a regular file"},
		{"key missing", put("retry.env", "WEBHOOK_ADMIT_SLACK_S=5\n", ""), 3, "WEBHOOK_ADMIT_SLACK_S"},
		{"key in other letters", put("retry.env", "WEBHOOK_ADMIT", "webhook_admit"), 3, "WEBHOOK_ADMIT_SLACK_S"},
		{"key twice", put("retry.env", "WEBHOOK_ADMIT_SLACK_S=5", "WEBHOOK_ADMIT_SLACK_S=5\nWEBHOOK_ADMIT_SLACK_S=5"), 3, "twice"},
		{"no number", put("retry.env", "SLACK_S=5", "SLACK_S=five"), 3, "five"},
		{"a fraction", put("retry.env", "SLACK_S=5", "SLACK_S=5.0"), 3, "5.0"},
		{"nothing for a number", put("retry.env", "SLACK_S=5", "SLACK_S="), 3, "SLACK_S"},
		{"below 0", put("retry.env", "SLACK_S=5", "SLACK_S=-5"), 3, "-5"},
		{"more than 64 bits", put("retry.env", "SLACK_S=5", "SLACK_S=9223372036854775808"), 3, "9223372036854775808"},
		{"no KEY=VALUE", put("retry.env", "WEBHOOK_ADMIT", "what\nWEBHOOK_ADMIT"), 3, "KEY=VALUE"},
		{"MIN above MAX", put("retry.env", "SUCCESS_MIN=200", "SUCCESS_MIN=300"), 3, "above"},
		{"unknown state", put("endpoints.tsv", "draining", "paused"), 3, "paused"},
		{"state in other letters", put("endpoints.tsv", "draining", "Draining"), 3, "Draining"},
		{"no number of an endpoint", put("endpoints.tsv", "\t70", "\tx"), 3, "whole"},
		{"endpoint twice", put("endpoints.tsv", "ep-bravo", "ep-alpha"), 3, "twice"},
		{"endpoint without a column", put("endpoints.tsv", "\t70", ""), 3, "columns"},
		{"endpoint with a column more", put("endpoints.tsv", "\t70", "\t70\t70"), 3, "columns"},
		{"endpoints not UTF-8", put("endpoints.tsv", "ep-alpha", "ep-\xff"), 3, "UTF-8"},
		{"unusable, and no report", func(t testing.TB, dir string) {
			remove("report.json")(t, dir)
			put("retry.env", "SLACK_S=5", "SLACK_S=x")(t, dir)
		}, 3, "SLACK_S"},

		{"endpoints missing", remove("endpoints.tsv"), 2, "endpoints.tsv"},
		{"ledger missing", remove("attempts.tsv"), 2, "attempts.tsv"},
		{"ledger a folder", instead("attempts.tsv", folder), 2, "not a regular file"},
		{"ledger a pipe", instead("attempts.tsv", pipe), 2, "not a regular file"},
		{"ledger a link to nothing", instead("attempts.tsv", dangling), 2, "attempts.tsv"},
		{"ledger torn", put("attempts.tsv", "1121\t502\t-\n", "11"), 2, "columns"},
		{"ledger with no number", put("attempts.tsv", "1050", "soon"), 2, "soon"},
		{"ledger with no status", put("attempts.tsv", "1031\t503", "1031\t"), 2, "whole number"},
		{"ledger with an attempt 0", put("attempts.tsv", "ep-alpha\t1\t1000", "ep-alpha\t0\t1000"), 2, "from 1"},
		{"ledger not UTF-8", put("attempts.tsv", "connect_timeout", "\xff\xfe"), 2, "UTF-8"},
		{"ledger with a line without end", put("attempts.tsv", "connect_timeout", strings.Repeat("x", 2<<20)), 2, "attempts.tsv"},
		{"attempt twice", put("attempts.tsv", "a-02", "a-01"), 2, "twice"},
		{"starts that fall", put("attempts.tsv", "1030\t1031", "999\t1031"), 2, "the one above it"},
		{"an end before its start", put("attempts.tsv", "1030\t1031", "1030\t1029"), 2, "before it started"},
		{"an endpoint nobody knows", put("attempts.tsv", "a-09\tep-delta", "a-09\tep-echo"), 2, "which nobody knows"},
		{"a time beyond 64 bits", func(t testing.TB, dir string) {
			put("attempts.tsv", "1000\t1002", "1000\t9223372036854775807")(t, dir)
		}, 2, "64 bits"},

		{"report missing", remove("report.json"), 2, "report_unavailable"},
		{"report a folder", instead("report.json", folder), 2, "report_unavailable"},
		{"report a pipe", instead("report.json", pipe), 2, "report_unavailable"},
		{"report without end", instead("report.json", device), 2, "report_unavailable"},
		{"report empty", func(t testing.TB, dir string) { ledgertest.Write(t, dir, "report.json", "") }, 2, "report_unavailable"},
		{"report cut short", put("report.json", "\"totals\"", ""), 2, "report_unavailable"},
		{"report no JSON", put("report.json", "{", "<"), 2, "report_unavailable"},
		{"report not UTF-8", put("report.json", "a-01", "a-\xff"), 2, "UTF-8"},
		{"report with something behind it", put("report.json", "\n}\n", "\n}\n{}"), 2, "follows"},
		{"report with a key twice", put("report.json", `"ok": false,`, `"ok": false, "ok": false,`), 2, "twice"},
		{"report with a key below twice", put("report.json", `"skipped": 1,`, `"skipped": 1, "skipped": 1,`), 2, "twice"},
		{"report with no number", put("report.json", `"backoff_s": 171`, `"backoff_s": NaN`), 2, "report_unavailable"},
		{"report with a fraction", put("report.json", `"backoff_s": 171`, `"backoff_s": 171.0`), 2, "171.0"},
		{"report with a number as text", put("report.json", `"backoff_s": 171`, `"backoff_s": "171"`), 2, "whole number"},
		{"report with a key missing", put("report.json", `"skipped": 1,`, ``), 2, "skipped is missing"},
		{"report of another unit", put("report.json", `"totals"`, `"unit": "us", "totals"`), 2, "unit"},
		{"report tampered with", put("report.json", `"backoff_s": 171`, `"backoff_s": 143`), 2, "143"},
		{"report made green", put("report.json", `"ok": false`, `"ok": true`), 2, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, report := ledgertest.Example(t)
			ledgertest.Write(t, dir, "report.json", string(report))
			c.change(t, dir)
			a := health.Dir(dir, "")
			if a.Exit != c.exit || a.Degraded != (c.exit != 0) || !strings.Contains(strings.Join(a.Issues, "\n"), c.says) {
				t.Errorf("exit %d, want %d saying %q: %q", a.Exit, c.exit, c.says, a.Issues)
			}
		})
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	ledgertest.Write(t, filepath.Dir(path), filepath.Base(path), text)
}
