package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"waitroom/internal/pgtest"
	"waitroom/internal/webhooks/ledgertest"
)

// ofItsOwn runs waitctl webhooks as a process of its own.
func ofItsOwn(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"webhooks"}, args...)...)
	cmd.Env = append(os.Environ(), "RUN_WAITCTL=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// answers runs it and wants an exit code, and words from either of its two outputs.
func answers(t *testing.T, code int, says string, args ...string) (out string) {
	t.Helper()
	got, out, complaints := ofItsOwn(t, args...)
	if got != code || !strings.Contains(out+complaints, says) {
		t.Errorf("waitctl webhooks %s: exit %d, want %d saying %q\nout: %s\ncomplaints: %s", strings.Join(args, " "), got, code, says, out, complaints)
	}
	return out
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func change(t *testing.T, dir, name, old, with string) {
	t.Helper()
	ledgertest.Write(t, dir, name, strings.Replace(read(t, dir, name), old, with, 1))
}

// The three programs agree on a plan, and each says what is wrong in its own way.
func TestAPlanIsMadeJudgedAndProbed(t *testing.T) {
	dir, want := ledgertest.Example(t)
	report := filepath.Join(dir, "report.json")
	answers(t, 2, `"report_unavailable: `, "health", "--dir", dir)
	answers(t, 1, "RESULT: BAD (1 differences)", "probe", "--dir", dir)
	if out := answers(t, 0, "", "plan", "--dir", dir, "--json"); out != string(want) {
		t.Errorf("the plan is %s, want %s", out, want)
	}
	if kept, err := os.ReadFile(report); err != nil || string(kept) != string(want) {
		t.Errorf("the report is %s, want %s (%v)", kept, want, err)
	}
	answers(t, 0, "9 attempts of 3 endpoints, 2 of them too early; ok: false", "plan", "--dir", dir)
	answers(t, 0, `{"degraded":false,"issues":[],"checks":["ledger",`, "health", "--dir", dir, "--json")
	answers(t, 0, "RESULT: OK", "probe", "--dir", dir)

	elsewhere := filepath.Join(t.TempDir(), "other.json")
	answers(t, 0, "9 attempts", "plan", "--dir", dir, "--out", elsewhere)
	change(t, dir, "report.json", `"backoff_s": 171`, `"backoff_s": 143`)
	answers(t, 2, "backoff_s: the report has 143, want 171", "health", "--dir", dir)
	answers(t, 1, "totals.backoff_s: want 171, got 143", "probe", "--dir", dir)
	answers(t, 0, `"degraded":false`, "health", "--dir", dir, "--report", elsewhere)
	answers(t, 0, "RESULT: OK", "probe", "--dir", dir, "--report", elsewhere)
	ledgertest.Write(t, dir, "report.json", ledgertest.Broken(t))
	answers(t, 2, `"degraded":true`, "health", "--dir", dir)
	answers(t, 1, "RESULT: BAD (28 differences)", "probe", "--dir", dir)
}

// A plan that cannot be computed leaves no old report that somebody could take
// for one of today.
func TestNoPlanLeavesNoReport(t *testing.T) {
	for _, c := range []struct {
		name, file, old, with string
		code                  int
		says                  string
	}{
		{"an unusable contract", "retry.env", "WEBHOOK_SUCCESS_MIN=200", "", 3, "WEBHOOK_SUCCESS_MIN is missing"},
		{"an unknown state", "endpoints.tsv", "draining", "paused", 3, `"paused", want one of [active draining disabled]`},
		{"a torn ledger", "attempts.tsv", "\t1121\t502\t-", "", 2, "attempts.tsv:10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, out := range []string{"", filepath.Join(t.TempDir(), "report.json")} {
				dir, old := ledgertest.Example(t)
				args, path := []string{"plan", "--dir", dir, "--json"}, filepath.Join(dir, "report.json")
				if out != "" {
					args, path = append(args, "--out", out), out
				}
				if err := os.WriteFile(path, old, 0o600); err != nil {
					t.Fatal(err)
				}
				change(t, dir, c.file, c.old, c.with)
				if out := answers(t, c.code, c.says, args...); out != "" {
					t.Errorf("it printed %s", out)
				}
				if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the old report is still there (%v)", err)
				}
				answers(t, c.code, `"degraded":true`, "health", "--dir", dir)
				answers(t, map[int]int{2: 1, 3: 3}[c.code], "RESULT: BAD (1 differences)", "probe", "--dir", dir)
			}
		})
	}
}

// What is in the report's place and is no file stays, plan or no plan; so does a
// link, and the report is where it leads.
func TestOnlyAFileMakesPlaceForAReport(t *testing.T) {
	dir, want := ledgertest.Example(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link to a pipe")), os.Symlink("/dev/null", at("report.json")),
		os.WriteFile(at("kept"), nil, 0o600), os.Symlink("kept", at("link")),
	); err != nil {
		t.Fatal(err)
	}
	stays := func(name string, kind os.FileMode) {
		t.Helper()
		if info, err := os.Lstat(at(name)); err != nil || info.Mode().Type() != kind {
			t.Errorf("%s is lost: %v (%v)", name, info, err)
		}
	}
	answers(t, 0, "9 attempts", "plan", "--dir", dir, "--out", at("link"))
	stays("link", os.ModeSymlink)
	if kept, err := os.ReadFile(at("kept")); err != nil || string(kept) != string(want) {
		t.Errorf("the report is %s, want %s (%v)", kept, want, err)
	}
	for _, torn := range []bool{false, true} {
		if torn {
			ledgertest.Write(t, dir, "attempts.tsv", "torn")
		}
		answers(t, 2, "is not a file", "plan", "--dir", dir)
		answers(t, 2, "is not a file", "plan", "--dir", dir, "--out", at("pipe"))
		answers(t, 2, "is not a file", "plan", "--dir", dir, "--out", at("link to a pipe"))
		stays("report.json", os.ModeSymlink)
		stays("pipe", os.ModeNamedPipe)
		stays("link to a pipe", os.ModeSymlink)
	}
}

// A file that --out names and that is no report stays, plan or no plan, with every
// byte of it; a report makes place, be it wrong, cut short or of nothing yet.
func TestWhatIsNoReportStays(t *testing.T) {
	dir, want := ledgertest.Example(t)
	out := filepath.Join(t.TempDir(), "out")
	const no = "is no report: it stays as it is"
	sound := read(t, dir, "attempts.tsv")
	for _, kept := range []string{"somebody's notes\n", `{"name": "waitroom", "private": true}`, "#!/bin/sh\n# \"admissible_endpoints\"\n", "\x7fELF\x00"} {
		ledgertest.Write(t, filepath.Dir(out), "out", kept)
		answers(t, 2, no, "plan", "--dir", dir, "--out", out)
		ledgertest.Write(t, dir, "attempts.tsv", "torn")
		answers(t, 2, no, "plan", "--dir", dir, "--out", out)
		change(t, dir, "retry.env", "WEBHOOK_SUCCESS_MIN", "SUCCESS_MIN")
		answers(t, 3, no, "plan", "--dir", dir, "--out", out)
		change(t, dir, "retry.env", "SUCCESS_MIN", "WEBHOOK_SUCCESS_MIN")
		ledgertest.Write(t, dir, "attempts.tsv", sound)
		if is := read(t, filepath.Dir(out), "out"); is != kept {
			t.Errorf("%q became %q", kept, is)
		}
	}
	for _, old := range []string{"", "\n", string(want), string(want[:100]), ledgertest.Broken(t)} {
		ledgertest.Write(t, filepath.Dir(out), "out", old)
		answers(t, 0, "9 attempts", "plan", "--dir", dir, "--out", out)
		if is := read(t, filepath.Dir(out), "out"); is != string(want) {
			t.Errorf("in the place of %q there is %q", old, is)
		}
		ledgertest.Write(t, filepath.Dir(out), "out", old)
		ledgertest.Write(t, dir, "attempts.tsv", "torn")
		answers(t, 2, "attempts.tsv:1", "plan", "--dir", dir, "--out", out)
		ledgertest.Write(t, dir, "attempts.tsv", sound)
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is still there (%v)", old, err)
		}
	}
}

// Attempts of an endpoint that nobody knows are counted, in no plan, and no clean
// ledger.
func TestAnUnknownEndpointIsInNoPlan(t *testing.T) {
	dir, _ := ledgertest.Example(t)
	change(t, dir, "attempts.tsv", "a-05\tep-bravo", "a-05\tep-zulu")
	out := answers(t, 0, "1 attempts are of endpoints that nobody knows, and in no plan; the first is a-05", "plan", "--dir", dir, "--json")
	if !strings.Contains(out, `"attempts": 10,`) || strings.Contains(out, "a-05") || strings.Contains(out, "ep-zulu") {
		t.Errorf("the plan is %s", out)
	}
	answers(t, 2, "attempt a-05 is of endpoint ep-zulu, which nobody knows", "health", "--dir", dir)
	answers(t, 0, "RESULT: OK", "probe", "--dir", dir)
}

// What is asked wrongly is refused before anything is read, written or removed.
func TestAnAuditIsAskedForWell(t *testing.T) {
	dir, report := ledgertest.Example(t)
	ledgertest.Write(t, dir, "report.json", string(report))
	answers(t, 2, "want --dir DIR, or --database URL with --contract FILE", "plan")
	answers(t, 2, "want --dir DIR, or --database URL with --contract FILE", "health", "--report", "x")
	answers(t, 2, "--dir and --database can't be used together", "plan", "--dir", dir, "--database", "postgres://127.0.0.1:1/x", "--contract", "x")
	answers(t, 2, "--database and --contract go together", "health", "--database", "postgres://127.0.0.1:1/x")
	answers(t, 2, "--database needs the --report to judge", "health", "--database", "postgres://127.0.0.1:1/x", "--contract", filepath.Join(dir, "retry.env"))
	answers(t, 2, "--dir", "probe")
	answers(t, 2, "is what the plan is made of", "plan", "--dir", dir, "--out", filepath.Join(dir, "attempts.tsv"))
	answers(t, 2, "no such file", "plan", "--dir", dir, "--out", filepath.Join(dir, "none", "report.json"))
	answers(t, 2, "is not a file", "plan", "--dir", dir, "--out", t.TempDir())
	answers(t, 2, "connect", "plan", "--database", "postgres://127.0.0.1:1/x", "--contract", filepath.Join(dir, "retry.env"))
	answers(t, 2, `"degraded":true`, "health", "--database", "postgres://127.0.0.1:1/x", "--contract", filepath.Join(dir, "retry.env"), "--report", "x")
	answers(t, 3, "unusable", "plan", "--database", "postgres://127.0.0.1:1/x", "--contract", filepath.Join(dir, "none"))
	answers(t, 3, `"degraded":true`, "health", "--database", "postgres://127.0.0.1:1/x", "--contract", filepath.Join(dir, "none"), "--report", "x")
	answers(t, 2, "--database: ", "plan", "--database", "postgres://127.0.0.1:port/x", "--contract", filepath.Join(dir, "retry.env"))
	answers(t, 0, `"degraded":false`, "health", "--dir", dir)
}

// The courier's own tables are planned and judged too; without --out the report is
// printed.
func TestTheTablesArePlannedAndJudged(t *testing.T) {
	url := pgtest.URL(t)
	dir := t.TempDir()
	ledgertest.Write(t, dir, "retry.env", "WEBHOOK_BACKOFF_FACTOR=2\nWEBHOOK_ADMIT_SLACK_S=1\nWEBHOOK_DEAD_LETTER_AFTER=3\nWEBHOOK_SUCCESS_MIN=200\nWEBHOOK_SUCCESS_MAX=299\n")
	from := []string{"--database", url, "--contract", filepath.Join(dir, "retry.env")}
	report := filepath.Join(dir, "report.json")
	db := pgtest.Open(t, url)
	fill := func(query string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	fill(`INSERT INTO endpoints (id, organiser, url, secret) VALUES ('shop', 'acme', 'https://shop.example/', sha256('a'))`)
	fill(`WITH n AS (INSERT INTO notices (kind, organiser, subject, version, body, addressed) VALUES ('order.paid', 'acme', 'order-1', 1, '{}', 1) RETURNING id)
		INSERT INTO deliveries (notice_id, endpoint_id) SELECT id, 'shop' FROM n`)
	fill(`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status) VALUES
		(1, 'shop', 1, 1, 'c', '2026-10-22 16:01:00Z', '2026-10-22 16:01:00.25Z', 500),
		(1, 'shop', 1, 2, 'c', '2026-10-22 16:01:11.25Z', '2026-10-22 16:01:11.5Z', 200)`)
	if out := answers(t, 0, `"unit": "us"`, append([]string{"plan"}, from...)...); !strings.Contains(out, `"backoff_s": 11000000`) || !strings.Contains(out, `"scheduled_delta_s": 0,`) {
		t.Errorf("the plan is %s", out)
	}
	answers(t, 0, "2 attempts of 1 endpoints, 0 of them too early; ok: true", append([]string{"plan", "--out", report}, from...)...)
	answers(t, 0, `"degraded":false`, append([]string{"health", "--report", report}, from...)...)
	fill(`UPDATE delivery_attempts SET attempt_no = 3 WHERE attempt_no = 2`)
	answers(t, 2, "attempt 2 is number 3 of delivery 1.1, want 2", append([]string{"health", "--report", report}, from...)...)
	answers(t, 2, "by what came before it number 2", append([]string{"plan", "--out", report}, from...)...)
	answers(t, 2, "report_unavailable", append([]string{"health", "--report", report}, from...)...)
}
