package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waitroom/internal/pgtest"
)

// An event's rules come with its file, and name what its hall has; codes come
// after it, and what they are good for is told. Seats are withdrawn and restored by
// name.
func TestPresalesAndSeatsAtTheCommandLine(t *testing.T) {
	url, dir := pgtest.URL(t), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	event := "title: Gala\ncurrency: EUR\nopens_at: now\nprices: {Standing: 10}\ngeneral_admission: [{section: Floor, category: Standing, count: 9}]\n"
	for what, rules := range map[string]string{
		"a limit":   "tier_limits: {Sitting: 2}\n",
		"a presale": "presales: [{name: fans, tiers: [Sitting]}]\n",
		"a section": "presales: [{name: fans, sections: [Floor]}]\n",
	} {
		if said := done(t, url, 2, "event", "create", "-f", write("bad.yaml", "id: bad\n"+event+rules)); !strings.Contains(said, "the hall has no") {
			t.Errorf("%s of nothing: %s", what, said)
		}
	}
	done(t, url, 0, "event", "create", "-f", write("gala.yaml", "id: gala\n"+event+"tier_limits: {Standing: 2}\npresales: [{name: fans, tiers: [Standing]}]\nlapse_limit: 2\ncool_down: 5m\n"))
	if said := done(t, url, 0, "event", "show", "gala"); !strings.Contains(said, "Standing 2") || !strings.Contains(said, "fans") || !strings.Contains(said, "5m0s") {
		t.Errorf("shown: %s", said)
	}
	codes := write("codes.txt", "FAN-0001\nFAN-0002\n")
	if said := done(t, url, 0, "presale", "import", "gala", "fans", "-f", codes, "--uses", "3"); !strings.Contains(said, "2 codes read for fans: each for 3 orders and 12 seats") || strings.Contains(said, "warning") {
		t.Errorf("imported: %s", said)
	}
	if said := done(t, url, 0, "presale", "import", "gala", "fns", "-f", write("more.txt", "FAN-0003\n")); !strings.Contains(said, "warning") {
		t.Errorf("imported for no presale: %s", said)
	}
	if said := done(t, url, 0, "presale", "show", "gala"); !strings.Contains(said, "fans: 2 codes; 0 of 6 orders and 0 of 24 seats used") {
		t.Errorf("shown: %s", said)
	}
	done(t, url, 2, "presale", "import", "nobody", "fans", "-f", codes)
	if said := done(t, url, 0, "seats", "withdraw", "gala", "ga-1-1", "ga-1-99"); !strings.Contains(said, "ga-1-1\toff sale") || !strings.Contains(said, "ga-1-99\tthe hall has no such seat") {
		t.Errorf("withdrawn: %s", said)
	}
	if said := done(t, url, 0, "seats", "withdrawn", "gala"); said != "ga-1-1\toff sale\n" {
		t.Errorf("listed: %s", said)
	}
	done(t, url, 2, "seats", "withdraw", "gala", "ga-1-99")
	done(t, url, 0, "seats", "restore", "gala", "ga-1-1")
	done(t, url, 2, "seats", "restore", "gala", "ga-1-1")
	done(t, url, 2, "seats", "move", "gala", "00000000-0000-0000-0000-000000000001", "ga-1-1", "ga-1-2")
}
