package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"waitroom/internal/webhooks"
)

// told is what a command prints, which does what it is asked.
func (w waitctl) told(args ...string) string {
	w.Helper()
	var out, complaints strings.Builder
	if code := run(w.Context(), args, &out, &complaints); code != 0 {
		w.Fatalf("waitctl %s: exit %d: %s", strings.Join(args, " "), code, complaints.String())
	}
	return out.String()
}

// An operator keeps endpoints at the command line; each secret is printed once, to
// be piped on, and stands nowhere else.
func TestAnOperatorKeepsEndpoints(t *testing.T) {
	w := newWaitctl(t)
	const url = "https://hooks.example.com/w"
	added := w.told("endpoints", "add", "acme", "--url", url, "--id", "main", "--kinds", "order.paid,event.paused", "--by", "mia")
	secret, rest, _ := strings.Cut(added, "\n")
	if !strings.HasPrefix(secret, "whsec_") || strings.Contains(secret, " ") || !strings.Contains(rest, "endpoint main of acme: changed, active") {
		t.Fatalf("added: %s", added)
	}
	w.want(2, "was, an endpoint's", "endpoints", "add", "acme", "--url", url, "--id", "main")
	w.want(2, "url: want an https address", "endpoints", "add", "acme", "--url", "http://hooks.example.com")
	w.want(2, "organiser", "endpoints", "add", "No Name", "--url", url)
	w.want(2, "as many endpoints", "endpoints", "add", "acme", "--url", url, "--endpoints-most", "1")
	w.want(0, "changed, active", "endpoints", "edit", "main", "--per-minute", "60", "--dispatch-gap", "30m")
	w.want(0, "as it was", "endpoints", "edit", "main", "--per-minute", "60")
	w.want(2, "is at version 2", "endpoints", "edit", "main", "--per-minute", "61", "--at-version", "1")
	w.want(2, "kinds: want of", "endpoints", "edit", "main", "--kinds", "order.lost")
	w.want(2, "there is no endpoint none", "endpoints", "edit", "none", "--per-minute", "60")
	var file map[string]any
	if err := json.Unmarshal([]byte(w.told("endpoints", "edit", "main", "--kinds", "", "--json")), &file); err != nil ||
		file["per_minute"] != 60.0 || file["dispatch_gap_s"] != 1800.0 || len(file["kinds"].([]any)) != 0 || file["secret"] != nil {
		t.Errorf("%v, %v", file, err)
	}
	rotated, _, _ := strings.Cut(w.told("endpoints", "rotate", "main"), "\n")
	if !strings.HasPrefix(rotated, "whsec_") || rotated == secret {
		t.Errorf("rotated: %s", rotated)
	}
	w.want(2, "--overlap 0s has only the new one sign", "endpoints", "rotate", "main")
	w.want(0, "whsec_", "endpoints", "rotate", "main", "--replace")
	w.want(0, "whsec_", "endpoints", "rotate", "main", "--overlap", "0s")
	w.want(2, "overlap_s: want", "endpoints", "rotate", "main", "--overlap", "900h")
	w.want(0, "draining (asked)", "endpoints", "state", "main", "draining")
	w.want(2, "state: want", "endpoints", "state", "main", "asleep")
	w.want(0, "delivery 1 is scheduled for main, which is draining", "endpoints", "test", "main")
	w.want(2, "delivery 1 has not ended", "endpoints", "replay", "1")
	w.want(0, `"type":"endpoint.test"`, "endpoints", "show", "1")
	w.want(2, "there is no delivery 9", "endpoints", "show", "9")
	w.want(2, "there is no delivery 9", "endpoints", "replay", "9")
	w.want(2, "since: want", "endpoints", "replay", "--endpoint", "main", "--since", "9999-12-31T23:59:59-23:59")
	w.want(0, "draining (asked)", "endpoints", "health")
	w.want(0, "main", "endpoints", "list", "acme")
	w.want(2, "there is no endpoint none", "endpoints", "health", "none")
	for _, args := range [][]string{{"list"}, {"health", "main"}, {"history", "main"}, {"deliveries"}, {"show", "1"}} {
		for _, as := range [][]string{nil, {"--json"}} {
			said := w.told(append(append([]string{"endpoints"}, args...), as...)...)
			if strings.Contains(said, "whsec_") {
				t.Errorf("waitctl endpoints %v tells a secret", args)
			}
			if as != nil && !json.Valid([]byte(said)) {
				t.Errorf("waitctl endpoints %v --json: %s", args, said)
			}
		}
	}
	w.want(0, "mia (waitctl)", "endpoints", "history", "main")
	w.want(0, "deleted; 1 deliveries that waited are dead", "endpoints", "delete", "main")
	w.want(2, "there is no endpoint main", "endpoints", "delete", "main")
	w.want(0, "deleted", "endpoints", "history", "main")
	w.want(0, "dead endpoint_deleted", "endpoints", "deliveries", "--status", "dead")
	w.want(2, "the endpoint of delivery 1 was deleted", "endpoints", "replay", "1")
}

// A replay of many that broke off goes on under its name, and says how many.
func TestAnOperatorReplays(t *testing.T) {
	w := newWaitctl(t)
	w.told("endpoints", "add", "acme", "--url", "https://hooks.example.com/w", "--id", "main")
	if _, err := w.pool.Exec(t.Context(), `
		WITH told AS (
		  INSERT INTO notices (kind, organiser, subject, version, body, addressed) SELECT 'order.paid', 'acme', 'o' || k, 1, '{}', 1 FROM generate_series(1, 9) k RETURNING id
		)
		INSERT INTO deliveries (notice_id, endpoint_id, status, attempts, reason, ended_at) SELECT id, 'main', 'dead', 12, 'max_attempts', now() FROM told`); err != nil {
		t.Fatal(err)
	}
	w.want(0, "delivery 3 is scheduled", "endpoints", "replay", "3")
	w.want(2, "name a delivery, or --endpoint and --since", "endpoints", "replay")
	w.want(2, "name a delivery, or --endpoint and --since", "endpoints", "replay", "3", "--endpoint", "main")
	w.want(2, "name a delivery, or --endpoint and --since", "endpoints", "replay", "--endpoint", "main")
	all := []string{"endpoints", "replay", "--endpoint", "main", "--since", "2026-01-01T00:00:00Z", "--only", "dead", "--attempt", "mended"}
	for range 2 {
		w.want(0, "8 deliveries of main begin anew, as attempt mended", all...)
	}
	w.want(2, string(webhooks.KeyReused), append(all, "--only", "delivered")...)
	w.want(2, "there is no endpoint none", "endpoints", "replay", "--endpoint", "none", "--since", "2026-01-01T00:00:00Z")
	if n := w.count(`SELECT count(*) FROM deliveries WHERE status = 'waiting' AND go = 2`); n != 9 {
		t.Errorf("%d began anew, want 9", n)
	}
	w.want(0, fmt.Sprint("o", 4), "endpoints", "deliveries", "--about", "o4", "--endpoint", "main", "--status", "waiting", "--since", "2026-01-01T00:00:00Z")
}

// What a receiver or an organiser chose is shown, and steers no terminal: neither by
// control characters nor by a line that looks like another endpoint's. Rows are of
// before such an address was refused.
func TestNobodySteersTheTerminalOfWhoLooks(t *testing.T) {
	w := newWaitctl(t)
	w.told("endpoints", "add", "acme", "--url", "https://hooks.example.com/", "--id", "main")
	w.told("endpoints", "test", "main")
	const steers = "a\x1b[2J\nshop  house  active\u009b2J\u202e\U000E0001"
	for _, sql := range []string{
		`UPDATE endpoints SET url = $1`,
		`UPDATE endpoint_changes SET new = jsonb_build_object('url', $1::text)`,
		`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, error, answer)
		 SELECT id, endpoint_id, 1, 1, 'c', now(), now(), $1::text, convert_to($1, 'UTF8') FROM deliveries`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql, steers); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"list"}, {"health"}, {"history", "main"}, {"show", "1"}} {
		args = append([]string{"endpoints"}, args...)
		said := w.told(args...)
		if strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || strings.Contains(said, "\nshop") {
			t.Errorf("waitctl %v prints %q", args, said)
		}
		if !strings.Contains(said, `\x1b[2J`) && !strings.Contains(said, `\u001b[2J`) {
			t.Errorf("waitctl %v does not show what there is: %q", args, said)
		}
		said = w.told(append(args, "--json")...)
		if strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("waitctl %v --json prints %q", args, said)
		}
		if !json.Valid([]byte(said)) || !strings.Contains(said, `\u009b2J\u202e\udb40\udc01`) {
			t.Errorf("waitctl %v --json: %q, want the same value", args, said)
		}
	}
}
