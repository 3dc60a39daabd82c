package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pgtest"
)

// waitctl runs a command line against a database of the test's own.
type waitctl struct {
	*testing.T
	pool *pgxpool.Pool
}

func newWaitctl(t *testing.T) waitctl {
	url := pgtest.URL(t)
	t.Setenv("DATABASE_URL", url)
	return waitctl{t, pgtest.Open(t, url)}
}

// want runs args and wants its exit code, and says in what it prints.
func (w waitctl) want(code int, says string, args ...string) {
	w.Helper()
	var out, complaints strings.Builder
	got := run(w.Context(), args, &out, &complaints)
	if got != code || !strings.Contains(out.String()+complaints.String(), says) {
		w.Fatalf("waitctl %s: exit %d, want %d saying %q\nout: %s\ncomplaints: %s",
			strings.Join(args, " "), got, code, says, out.String(), complaints.String())
	}
	if code != 0 && out.Len() > 0 {
		w.Errorf("waitctl %s failed and told stdout %q", strings.Join(args, " "), out.String())
	}
}

func (w waitctl) count(query string) (n int) {
	w.Helper()
	if err := w.pool.QueryRow(w.Context(), query).Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

func (w waitctl) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

func TestTheExampleIsCreatedWhole(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "1800 seats, 2 of them held back", "event", "create", "-f", "../../examples/event.yaml")
	if n := w.count(`SELECT count(*) FROM seats WHERE event_id = 'spring-gala' AND kind = 'general' AND pos >= 1756`); n != 44 {
		t.Errorf("%d standing places behind the plan's seats, want 44", n)
	}
	if n := w.count(`SELECT amount_minor FROM price_tiers WHERE id = 'Balcony'`); n != 2950 {
		t.Errorf("a balcony seat is %d, want 2950", n)
	}
	var seatmap []byte
	var hash string
	if err := w.pool.QueryRow(t.Context(), `SELECT seatmap, plan_hash FROM events`).Scan(&seatmap, &hash); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(seatmap); hex.EncodeToString(sum[:]) != hash {
		t.Errorf("the seat map's hash is %x, its name %s", sum, hash)
	}
	w.want(2, "event spring-gala exists already", "event", "create", "-f", "../../examples/event.yaml")
	w.want(0, "50/s", "event", "show", "spring-gala")
	w.want(0, "1798 free, 0 pending, 0 sold, 2 held back", "event", "show", "spring-gala")
	w.want(0, "spring-gala", "event", "list")
}

// A new plan takes the place of all that was sold, and nothing of that goes
// unsaid: what stays held back, how many seats there were, what is gone.
func TestReplacingAPlanSaysWhatItTakes(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "1800 seats, 2 of them held back", "event", "create", "-f", "../../examples/event.yaml")
	replace := []string{"plan", "import", "--event", "spring-gala", "--file", "../../examples/plans/concert-hall.json", "--replace"}
	w.want(0, "1756 seats, 2 of them held back", replace...)
	w.want(0, "before there were 1756 seats", replace...)
	if n := w.count(`SELECT count(*) FROM seats WHERE held_back`); n != 2 {
		t.Errorf("%d seats are held back, want the 2 that were", n)
	}
	w.want(0, "created", "event", "create", "-f", w.file("again.yaml", "id: again\ntitle: A\ncurrency: EUR\nopens_at: now\ngeneral_admission: [{section: F, category: Standing, count: 5}]\nprices: {Standing: 19}\n"))
	w.want(0, "Standing: not sold any more", "plan", "import", "--event", "again", "--file", w.file("h.csv", "guid,section,x,y,category\ng1,S,0,0,A\n"), "--prices", "A=1", "--replace")
}

// How an event has its best seats chosen outlives its plan; a stage that the new
// plan has is looked at, and that is said.
func TestANewPlanKeepsHowTheBestSeatsAreChosen(t *testing.T) {
	w := newWaitctl(t)
	plan := w.file("h.csv", "guid,section,row,number,x,y,category\ng1,S,A,1,0,0,A\ng2,S,A,2,20,0,A\n")
	w.want(0, "created", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: A\ncurrency: EUR\nrate: 20\nopens_at: now\nplan: "+plan+"\nprices: {A: 19}\nbest_seats: {focus_x: 500, focus_y: 500, orphans: strict}\n"))
	w.want(0, "plan imported", "plan", "import", "--event", "gala", "--file", plan, "--replace")
	if n := w.count(`SELECT count(*) FROM events WHERE orphans = 'strict' AND focus_x = 500 AND focus_y = 500`); n != 1 {
		t.Error("single seats may be left now, or the focus is another")
	}
	w.want(0, "the best seats are near (", "plan", "import", "--event", "gala", "--file", "../../examples/plans/concert-hall.json", "--replace", "--prices", "Stalls front=89", "--prices", "Stalls=69", "--prices", "Circle=49", "--prices", "Balcony=29", "--prices", "Wheelchair=29")
	if n := w.count(`SELECT count(*) FROM events WHERE orphans = 'strict' AND focus_x <> 500`); n != 1 {
		t.Error("the plan's own stage is not what is looked at")
	}
}

// The new plan lacks a tier that has a limit: that is what is said, and which tier.
func TestAPlanThatLacksALimitedTierIsRefusedForThat(t *testing.T) {
	w := newWaitctl(t)
	plan := w.file("h.csv", "guid,section,row,number,x,y,category\ng1,S,A,1,0,0,Balcony\n")
	w.want(0, "created", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: A\ncurrency: EUR\nrate: 20\nopens_at: now\nplan: "+plan+"\nprices: {Balcony: 19}\ntier_limits: {Balcony: 1}\n"))
	other := w.file("i.csv", "guid,section,row,number,x,y,category\ng1,S,A,1,0,0,Floor\n")
	w.want(2, "lacks what the event's limits or presales name: ", "plan", "import", "--event", "gala", "--file", other, "--prices", "Floor=5", "--replace")
	w.want(2, "Balcony", "plan", "import", "--event", "gala", "--file", other, "--prices", "Floor=5", "--replace")
}

// A plan that never ends is not read, wherever it is named.
func TestOnlyFilesAreRead(t *testing.T) {
	w := newWaitctl(t)
	w.want(2, "/dev/zero is not a regular file", "plan", "check", "/dev/zero")
	w.want(2, "/dev/zero is not a regular file", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: G\ncurrency: EUR\nopens_at: now\nplan: /dev/zero\nprices: {A: 1}\n"))
	w.want(2, "is not a regular file", "event", "create", "-f", t.TempDir())
	w.want(2, "is not a regular file", "demo", "--plan", "/dev/zero")
}

// The demo says what is wrong before it starts anything, and never takes another
// demo's event for its own.
func TestTheDemoRefusesWhatCouldBeNoSale(t *testing.T) {
	w := newWaitctl(t)
	for flag, says := range map[string]string{
		"--fans=0": "--fans 0: want somebody to come", "--fans=-5": "--fans -5", "--rate=-1": "a rate is more than 0 and at most 10000",
		"--rate=0": "a rate is more than 0", "--rate=NaN": "a rate is more than 0", "--rate=100000": "a rate is more than 0",
		"--limit=-1s": "--limit -1s", "--share=2": "--share 2", "--conns=0": "--conns 0", "--pay-within=0s": "--pay-within 0s",
	} {
		w.want(2, says, "demo", flag)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // a test's own
	var out, complaints strings.Builder
	if code := run(w.Context(), []string{"demo", "--addr", taken.Addr().String()}, &out, &complaints); code != 2 ||
		strings.Count(complaints.String(), "address already in use") != 1 || !strings.Contains(complaints.String(), "--addr") {
		t.Errorf("exit %d with %q, want 2, what is in use once, and --addr", code, complaints.String())
	}
	w.want(0, "created", "event", "create", "-f", w.file("e.yaml", "id: demo\ntitle: G\ncurrency: EUR\nopens_at: now\n"))
	out.Reset()
	complaints.Reset()
	if code := run(w.Context(), []string{"demo", "--addr", "127.0.0.1:0"}, &out, &complaints); code != 2 ||
		strings.Count(complaints.String(), "event demo already") != 1 || !strings.Contains(out.String(), "as DATABASE_URL says") {
		t.Errorf("exit %d with %q and %q, want 2, the refusal once, and the database named", code, out.String(), complaints.String())
	}
}

// Told to end, the demo says so and nothing of what broke by it.
func TestADemoThatIsEndedSaysSo(t *testing.T) {
	newWaitctl(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints strings.Builder
	if code := run(ctx, []string{"demo", "--addr", "127.0.0.1:0"}, &out, &complaints); code != 130 || complaints.String() != "waitctl: ended before the sale was over\n" {
		t.Errorf("exit %d with %q, want 130 and that it was ended", code, complaints.String())
	}
}

// A sale that nobody came to cannot be judged, and an export is not given to who
// does not name the token.
func TestAnAuditThatCannotTellExitsWithThree(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "created", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: G\ncurrency: EUR\nopens_at: now\n"))
	room := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }))
	defer room.Close()
	for says, args := range map[string][]string{
		"never oversold: there is nothing to judge it by yet": {"audit", "gala"},
		"--admin-token / ADMIN_TOKEN":                         {"audit", "gala", "--line", room.URL},
	} {
		var out, complaints strings.Builder
		if code := run(w.Context(), args, &out, &complaints); code != 3 || !strings.Contains(out.String(), says) {
			t.Errorf("exit %d with %q, want 3 saying %q", code, out.String(), says)
		}
	}
}

// A flaw anywhere, in the event's file or in its plan's, and there is neither
// an event nor a seat.
func TestAFlawCreatesNothing(t *testing.T) {
	w := newWaitctl(t)
	plan := w.file("hall.csv", "guid,section,x,y,category\ng1,S,0,0,A\ng1,S,1,0,A\n")
	const event = "id: gala\ntitle: Gala\ncurrency: JPY\nopens_at: now\n"
	w.want(2, "hall.csv:3: guid: \"g1\" stands on line 2 too",
		"event", "create", "-f", w.file("a.yaml", event+"plan: "+plan+"\nprices: {A: 4900}\n"))
	w.want(2, "b.yaml:5: plan_file: unknown key", "event", "create", "-f", w.file("b.yaml", event+"plan_file: x\n"))
	w.want(2, "c.yaml: prices: category \"A\" has 5 seats and no price",
		"event", "create", "-f", w.file("c.yaml", event+"general_admission: [{section: F, category: A, count: 5}]\n"))
	w.want(2, "no such file", "event", "create", "-f", w.file("d.yaml", event+"plan: other.json\nprices: {A: 1}\n"))
	w.want(2, "no such file", "event", "create", "-f", "none.yaml")
	if n := w.count(`SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM seats)`); n != 0 {
		t.Errorf("%d rows were left behind", n)
	}
}

func TestAPlanIsImportedForAnEvent(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "no rate is set", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: Gala\ncurrency: KWD\nopens_at: now\n"))
	one := w.file("one.csv", "guid,section,x,y,category,count\ng1,S,0,0,A,\n,Floor,,,\"B=,\",2\n")
	two := w.file("two.csv", "guid,section,x,y,category\ng1,S,0,0,A\ng2,S,0,0,C\n")
	imports := []string{"plan", "import", "--event", "gala", "--file"}
	w.want(2, `category "A" has 1 seats and no price`, append(imports, one)...)
	w.want(2, "has more decimals than KWD has", append(imports, one, "--prices", "A=18.6001", "--prices", "B=,=2")...)
	w.want(2, "want CATEGORY=49.00", append(imports, one, "--prices", "18")...)
	w.want(2, "the category is priced twice", append(imports, one, "--prices", "A=1", "--prices", "A=2")...)
	w.want(2, "prices.D: the hall has no such category", append(imports, one, "--prices", "A=1", "--prices", "B=,=2", "--prices", "D=2")...)
	w.want(2, "there is no event other", "plan", "import", "--event", "other", "--file", one)
	w.want(0, "3 seats", append(imports, one, "--prices", "A=18.6", "--prices", "B=,=2")...)
	w.want(2, "--replace takes its place", append(imports, two, "--prices", "C=3")...)
	w.want(0, "A: 1 at 18.600 KWD", append(imports, two, "--prices", "C=3", "--replace")...)
	if n := w.count(`SELECT count(*) FROM seats`); n != 2 {
		t.Errorf("%d seats, want the 2 of the new plan", n)
	}
}

func TestControlsSayWhatHappened(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "event gala created", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: Gala\ncurrency: EUR\nopens_at: now\n"))
	w.want(0, "event gala: rate 0.4/s", "rate", "set", "gala", "0.4")
	w.want(0, "as it was", "rate", "set", "gala", "0.4")
	w.want(2, "more than 0 and at most 10000", "rate", "set", "gala", "0")
	w.want(2, "more than 0 and at most 10000", "rate", "set", "gala", "NaN")
	w.want(2, "there is no event other", "rate", "set", "other", "5")
	w.want(0, "paused", "pause", "gala")
	w.want(0, "running", "resume", "gala")
	w.want(0, "closed", "close", "gala")
	w.want(0, "closed, as it was", "close", "gala")
	w.want(2, "closed for good", "resume", "gala")
	w.want(2, "there is no event other", "event", "show", "other")
}

func TestExitCodesTellRefusalFromFault(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "the schema is up to date", "migrate")
	w.want(0, "1756 seats in 3 sections: 1752 numbered, 4 accessible", "plan", "check", "../../examples/plans/concert-hall.json")
	w.want(0, "Usage: waitctl", "--help")
	w.want(2, "unexpected argument sell", "sell")
	w.want(2, "unknown flag --fast", "pause", "gala", "--fast")
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/none")
	w.want(1, "connection refused", "event", "list")
	t.Setenv("DATABASE_URL", "")
	w.want(2, "missing: --database-url / DATABASE_URL", "event", "list")
	w.want(2, "missing: --event, --file", "plan", "import", "--database-url", "postgres://x")
}
