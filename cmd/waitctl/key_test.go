package main

import (
	"strings"
	"testing"
)

// A key is printed once and alone, so that a script can keep it; its name is
// nobody else's ever, and its end is told.
func TestKeysAreMadeListedAndRevoked(t *testing.T) {
	w := newWaitctl(t)
	create := []string{"key", "create", "acme", "desk", "--scopes", "line:read,line:write"}
	var out, complaints strings.Builder
	if code := run(t.Context(), create, &out, &complaints); code != 0 {
		t.Fatalf("exit %d: %s", code, complaints.String())
	}
	token := strings.TrimSuffix(out.String(), "\n")
	if !strings.HasPrefix(token, "wrk_") || strings.ContainsAny(token, " \n") {
		t.Errorf("printed %q, want the key and nothing else", out.String())
	}
	if n := w.count(`SELECT count(*) FROM organiser_keys WHERE hash = sha256('` + token + `'::bytea)`); n != 1 {
		t.Errorf("%d keys have its SHA-256, want 1", n)
	}
	w.want(2, "has, or had, a key desk", create...)
	w.want(2, `scope "line:all": there are line:read`, "key", "create", "acme", "x", "--scopes", "line:all")
	w.want(2, "missing: --scopes", "key", "create", "acme", "x")
	w.want(2, `organiser "Acme"`, "key", "create", "Acme", "x", "--scopes", "line:read")
	w.want(2, "have expired", "key", "create", "acme", "x", "--scopes", "line:read", "--life=-1h")
	w.want(0, "wrk_", "key", "create", "other", "desk", "--scopes", "line:read", "--life", "1h")
	w.want(0, "line:read,line:write", "key", "list", "acme")
	w.want(0, "until 20", "key", "list")
	w.want(0, "key desk of acme: revoked\n", "key", "revoke", "acme", "desk")
	w.want(0, "revoked, as it was", "key", "revoke", "acme", "desk")
	w.want(2, "has no key none", "key", "revoke", "acme", "none")
	w.want(0, "revoked 20", "key", "list", "acme")
	w.want(2, "has, or had, a key desk", create...)
}

// An event is given to its organiser when it is created; given to nobody, it is
// the house's.
func TestAnEventIsItsOrganisers(t *testing.T) {
	w := newWaitctl(t)
	file := w.file("e.yaml", "id: gala\ntitle: Gala\ncurrency: EUR\nopens_at: now\n")
	w.want(2, `organiser "A B"`, "event", "create", "-f", file, "--organiser", "A B")
	w.want(0, "event gala created", "event", "create", "-f", file, "--organiser", "acme")
	w.want(0, "acme", "event", "show", "gala")
	w.want(0, "event ball created", "event", "create", "-f", w.file("b.yaml", "id: ball\ntitle: Ball\ncurrency: EUR\nopens_at: now\n"))
	w.want(0, "house", "event", "show", "ball")
	if n := w.count(`SELECT count(*) FROM event_changes WHERE by = '(waitctl)'`); n != 2 {
		t.Errorf("%d of 2 events say that they were created at the command line", n)
	}
}
