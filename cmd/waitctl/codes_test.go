package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"waitroom/internal/inventory"
	"waitroom/internal/pgtest"
)

// done runs one command on a database and returns what it said.
func done(t *testing.T, url string, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	t.Setenv("DATABASE_URL", url)
	if got := run(t.Context(), args, &out, &out); got != code {
		t.Fatalf("waitctl %s ended with %d, want %d: %s", strings.Join(args, " "), got, code, &out)
	}
	return out.String()
}

// Codes come with the event's file or later; what is kept of them opens nothing,
// and the organiser hears what the event asks and what it does not.
func TestCodesAreImported(t *testing.T) {
	url, dir := pgtest.URL(t), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("codes.txt", "# of the fan club\nFAN-0001\nfan 0002\n\nFAN0001\n")
	event := "title: Gala\ncurrency: EUR\nopens_at: now\n"
	with := write("with.yaml", "id: with\n"+event+"codes:\n  file: codes.txt\n  uses: 3\n")
	said := done(t, url, 0, "event", "create", "-f", with)
	if !strings.Contains(said, "3 access codes, for 3 people each") {
		t.Errorf("created: %s", said)
	}
	done(t, url, 0, "event", "create", "-f", write("none.yaml", "id: none\n"+event))
	more := write("more.txt", "VIP-9999\n")
	if said := done(t, url, 0, "codes", "import", "with", "-f", more, "--uses", "5"); !strings.Contains(said, "has 3, for 11 people") {
		t.Errorf("imported: %s", said)
	}
	if said := done(t, url, 0, "codes", "import", "none", "-f", more); !strings.Contains(said, "warning") {
		t.Errorf("imported for an event that does not ask: %s", said)
	}
	done(t, url, 2, "codes", "import", "nobody", "-f", more)
	done(t, url, 2, "codes", "import", "with", "-f", more, "--uses", "0")
	if said := done(t, url, 2, "codes", "import", "with", "-f", write("bad.txt", "FAN-0001\nsecret€word\n")); !strings.Contains(said, "bad.txt:2") || strings.Contains(said, "secret") {
		t.Errorf("a line that is none: %s", said)
	}
	pool := pgtest.Open(t, url)
	var kept string
	if err := pool.QueryRow(t.Context(), `SELECT string_agg(encode(hash, 'escape'), '') FROM access_codes`).Scan(&kept); err != nil || strings.Contains(kept, "FAN") {
		t.Errorf("the codes are kept as they are: %q %v", kept, err)
	}
	events, err := inventory.Events(t.Context(), pool, "with")
	if err != nil || len(events) != 1 || events[0].Codes != inventory.Required || events[0].Accounts != inventory.NotAsked {
		t.Errorf("the event: %+v, %v", events, err)
	}
}

func TestADrawWithoutAnythingAskedIsWarnedOf(t *testing.T) {
	drawn := inventory.Event{ID: "gala", Draw: &inventory.Draw{LobbyOpensAt: time.Now()}}
	codes, accounts := drawn, drawn
	codes.Codes, accounts.Accounts = inventory.Required, inventory.Required
	if lots(drawn) == "" || lots(codes) != "" || lots(accounts) != "" || lots(inventory.Event{}) != "" {
		t.Errorf("warned of: %q, %q, %q, %q", lots(drawn), lots(codes), lots(accounts), lots(inventory.Event{}))
	}
}
