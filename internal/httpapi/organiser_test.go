package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
)

const own = "/v1/organiser/events/" + demotest.EventID

// desk is an organiser with a key.
type desk struct {
	*house
	token string
}

// desk makes a key and waits until it is known.
func (h *house) desk(who, name string, scopes ...organiser.Scope) desk {
	h.t.Helper()
	token, made, err := organiser.Create(h.t.Context(), h.pool, organiser.Key{Organiser: who, Name: name, Scopes: scopes})
	if err != nil || made != organiser.Done {
		h.t.Fatalf("key %s: %s, %v", name, made, err)
	}
	d := desk{h, token}
	h.until("the key is known", func() bool { return d.ask("GET", "/v1/organiser/events", "", nil).status != 401 })
	return d
}

func (d desk) ask(method, path, key string, body any, header ...string) answer {
	h := map[string]string{}
	for i := 0; i+1 < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return d.do(call{method: method, path: path, token: d.token, key: key, body: body, header: h, base: d.Admin})
}

// settings are as they are now, with their tag.
func (d desk) settings() (all map[string]any, tag string) {
	d.t.Helper()
	a := d.want(d.ask("GET", own+"/settings", "", nil), 200, "")
	a.into(d.t, &all)
	return all, a.header.Get("ETag")
}

// with is settings with some of them changed.
func with(all map[string]any, changed map[string]any) map[string]any {
	all = maps.Clone(all)
	maps.Copy(all, changed)
	return all
}

// evidence is how often the event was changed, and what it is now.
func (h *house) evidence() (s string) {
	h.t.Helper()
	err := h.pool.QueryRow(h.t.Context(), `
		SELECT (SELECT count(*) FROM event_changes) || ' ' || (to_jsonb(e) - 'seatmap')::text FROM events e WHERE id = $1`, demotest.EventID).Scan(&s)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// Settings that were read and are put back change nothing: no row, no version,
// no tag. A pause meanwhile undoes nobody's editing.
func TestSettingsPutBackChangeNothing(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	a := d.want(d.ask("GET", own+"/settings", "", nil), 200, "")
	tag, before := a.header.Get("ETag"), h.evidence()
	put := d.want(d.ask("PUT", own+"/settings", "", string(a.body), "If-Match", tag), 200, "")
	if got := put.header.Get("ETag"); got != tag || string(put.body) != string(a.body) || h.evidence() != before {
		t.Errorf("put back: ETag %s, was %s; %s, was %s\nevidence %s\nwas %s", got, tag, put.body, a.body, h.evidence(), before)
	}
	d.want(d.ask("POST", own+"/pause", "p", nil), 200, "")
	d.want(d.ask("POST", own+"/resume", "r", nil), 200, "")
	d.want(d.ask("PUT", own+"/settings", "", string(a.body), "If-Match", `"other", `+tag), 200, "")
	d.want(d.ask("PUT", own+"/settings", "", string(a.body), "If-Match", "*"), 200, "")
}

// A PUT names the settings that it was made from: without it is refused, and
// one made from settings that somebody changed since too. Of two at once, one
// is made.
func TestRevisionsNameWhatTheySaw(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	all, tag := d.settings()
	slower := with(all, map[string]any{"rate": 7, "call_window_s": 45.5, "max_inside": 300, "payment_quota": 12.5})
	before := h.evidence()
	d.want(d.ask("PUT", own+"/settings", "", slower), 428, "precondition_missing")
	for _, match := range []string{`"other"`, "W/" + tag, strings.Trim(tag, `"`)} {
		if stale := d.want(d.ask("PUT", own+"/settings", "", slower, "If-Match", match), 412, "settings_changed"); !strings.Contains(stale.String(), strings.Trim(tag, `"`)) {
			t.Errorf("If-Match %s: it does not say which tag there is: %s", match, stale)
		}
	}
	if h.evidence() != before {
		t.Error("a refused PUT has changed something")
	}
	made := d.want(d.ask("PUT", own+"/settings", "", slower, "If-Match", tag), 200, "")
	var now map[string]any
	made.into(t, &now)
	want := with(all, map[string]any{"rate": 7.0, "call_window_s": 45.5, "max_inside": 300.0, "payment_quota": 12.5})
	if diff := cmp.Diff(want, now); diff != "" || made.header.Get("ETag") == tag {
		t.Errorf("made, under ETag %s (-want +got):\n%s", made.header.Get("ETag"), diff)
	}
	evidence := h.evidence()
	again := d.want(d.ask("PUT", own+"/settings", "", slower, "If-Match", tag), 200, "")
	if got, want := again.header.Get("ETag"), made.header.Get("ETag"); got != want || string(again.body) != string(made.body) || h.evidence() != evidence {
		t.Errorf("asked again, as after a lost answer: ETag %s and %s, want %s and %s, and nothing changed", got, again.body, want, made.body)
	}
	d.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"rate": 6}), "If-Match", tag), 412, "settings_changed")
	h.until("the rate is in force", func() bool {
		var doc struct{ Rate float64 }
		h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status"}).into(t, &doc)
		return doc.Rate == 7
	})
	_, tag = d.settings()
	var statuses sync.Map
	var both sync.WaitGroup
	for cap := range 8 {
		both.Go(func() {
			statuses.Store(cap, d.ask("PUT", own+"/settings", "", with(now, map[string]any{"line_cap": 1000 + cap}), "If-Match", tag).status)
		})
	}
	both.Wait()
	count := map[any]int{}
	statuses.Range(func(_, status any) bool { count[status]++; return true })
	if count[200] != 1 || count[412] != 7 {
		t.Errorf("of eight at once: %v, want one 200 and seven 412", count)
	}
}

// A step that more than doubles the rate is made when it is confirmed by name,
// and not before. Down, up to twice, and from never are just made.
func TestABigStepIsConfirmed(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	set := func(rate any, confirm string) answer {
		all, tag := d.settings()
		return d.ask("PUT", own+"/settings", "", with(all, map[string]any{"rate": rate}), "If-Match", tag, "Confirm", confirm)
	}
	d.want(set(1000, ""), 200, "")
	var ask struct{ Confirm, Setting, Detail string }
	d.want(set(2000.5, ""), 409, "confirm_needed").into(t, &ask)
	if ask.Confirm != "rate=2000.5" || ask.Setting != "rate" || !strings.Contains(ask.Detail, "Confirm: rate=2000.5") {
		t.Errorf("how to confirm: %+v", ask)
	}
	for _, other := range []string{"rate=3000", "yes", "2000.5", "rate=2000"} {
		d.want(set(2000.5, other), 409, "confirm_needed")
	}
	if all, _ := d.settings(); all["rate"] != 1000.0 {
		t.Errorf("unconfirmed, the rate is %v", all["rate"])
	}
	d.want(set(2000.5, ask.Confirm), 200, "")
	d.want(set(0.4, ""), 200, "")
	d.want(set(nil, ""), 200, "")
	d.want(set(9000, ""), 200, "")
}

// What no sale could have, what is misspelt and what is left out is refused,
// with a code and the setting's name, and nothing is changed.
func TestSenselessSettingsAreRefused(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	all, tag := d.settings()
	before := h.evidence()
	past, opened := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	refused := func(what string, body any, status int, code, setting string) {
		t.Helper()
		a := d.ask("PUT", own+"/settings", "", body, "If-Match", tag)
		var p struct{ Setting string }
		json.Unmarshal(a.body, &p) //nolint:errcheck // "" then
		if a.status != status || a.code() != code || p.Setting != setting {
			t.Errorf("%s: %s; want %d %s of %q", what, a, status, code, setting)
		}
	}
	for _, c := range []struct {
		setting string
		values  []any
	}{
		{"rate", []any{0, -1, 10001}},
		{"line_cap", []any{0, -5}},
		{"order_limit", []any{0, 101}},
		{"account_limit", []any{3, 10001}},
		{"pass_quota", []any{0, 101}},
		{"pass_life_s", []any{9.9, 3601}},
		{"call_window_s", []any{0, 4, 1e300}},
		{"pay_within_s", []any{0, -1e300}},
		{"pay_extension_s", []any{-1, 86401}},
		{"share_prior", []any{0, 1.01}},
		{"tickets_prior", []any{0.5, 101}},
		{"stock_slack", []any{-0.1, 2}},
		{"max_inside", []any{0, -3}},
		{"payment_quota", []any{0, 10001}},
		{"refund_limit_minor", []any{-1, 1e12 + 1}},
		{"closes_at", []any{past, "2020-01-01T00:00:00Z"}},
		{"opens_at", []any{opened}},
	} {
		for _, v := range c.values {
			refused(fmt.Sprint(c.setting, " ", v), with(all, map[string]any{c.setting: v}), 422, "senseless_setting", c.setting)
		}
	}
	for name := range all {
		short := maps.Clone(all)
		delete(short, name)
		refused("without "+name, short, 400, "bad_request", name)
		refused(name+" a list", with(all, map[string]any{name: []int{1}}), 400, "bad_request", "")
	}
	refused("line_cap null", with(all, map[string]any{"line_cap": nil}), 400, "bad_request", "line_cap")
	refused("a setting more", with(all, map[string]any{"rates": 5}), 400, "bad_request", "")
	refused("in another case", with(all, map[string]any{"Rate": 5}), 400, "bad_request", "")
	text, _ := json.Marshal(with(all, map[string]any{"rate": "much"}))
	refused("beyond numbers", strings.Replace(string(text), `"much"`, "1e999", 1), 400, "bad_request", "")
	refused("nothing", "", 400, "bad_request", "")
	refused("half", `{"rate": 5`, 400, "bad_request", "")
	refused("not an object", `[]`, 400, "bad_request", "")
	if got := h.evidence(); got != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", got, before)
	}
}

// A sale that is over by its closing time stays over: no other time opens it
// again, and none does. What else is set of it may be.
func TestPastItsClosingASaleIsOver(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	if _, err := h.pool.Exec(t.Context(), `
		UPDATE events SET opens_at = now() - interval '1 hour', closes_at = now() - interval '1 second', version = version + 1`); err != nil {
		t.Fatal(err)
	}
	for _, closes := range []any{nil, time.Now().Add(time.Hour)} {
		all, tag := d.settings()
		d.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"closes_at": closes}), "If-Match", tag), 409, "sale_closed")
	}
	all, tag := d.settings()
	d.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"pay_extension_s": 60}), "If-Match", tag), 200, "")
}

// An opening is set to come, or to now: one that is long past, as a program's time
// of nothing is, could never be set again.
func TestAnOpeningIsNotSetLongPast(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	before := h.evidence()
	for _, opens := range []any{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", time.Now().Add(-2 * time.Minute)} {
		all, tag := d.settings()
		a := d.ask("PUT", own+"/settings", "", with(all, map[string]any{"opens_at": opens, "closes_at": nil}), "If-Match", tag)
		if a.status != 422 || a.code() != "senseless_setting" || !strings.Contains(a.String(), "opens_at") {
			t.Errorf("opening at %v: %s, want 422 senseless_setting", opens, a)
		}
	}
	if got := h.evidence(); got != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", got, before)
	}
	for _, opens := range []time.Time{time.Now().Add(2 * time.Hour), time.Now()} {
		all, tag := d.settings()
		d.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"opens_at": opens}), "If-Match", tag), 200, "")
	}
}

// The opening is not moved to before the lobby's order can be drawn: nobody would
// be let in, on doubt. Later, it is.
func TestAnOpeningLeavesTimeForTheDraw(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	lobby := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	for _, sql := range []string{
		`UPDATE events SET opens_at = $1::timestamptz + interval '1 hour', version = version + 1`,
		`INSERT INTO draws (event_id, epoch, seed, lobby_opens_at, lobby_closes_at) SELECT id, epoch, sha256('seed'), now(), $1 FROM events`,
	} {
		if _, err := h.pool.Exec(t.Context(), sql, lobby); err != nil {
			t.Fatal(err)
		}
	}
	for after, status := range map[time.Duration]int{-time.Minute: 422, 0: 422, 14 * time.Second: 422, 15 * time.Second: 200, 2 * time.Hour: 200} {
		all, tag := d.settings()
		opens := lobby.Add(after).Format(time.RFC3339)
		a := d.ask("PUT", own+"/settings", "", with(all, map[string]any{"opens_at": opens}), "If-Match", tag)
		if a.status != status || status == 422 && (a.code() != "senseless_setting" || !strings.Contains(a.String(), lobby.Format(time.RFC3339))) {
			t.Errorf("opening %s after the lobby closes: %s, want %d", after, a, status)
		}
	}
}

// Every route opens to the right key alone. Another organiser's event is
// answered like none, to the letter, and no key but an organiser's opens
// anything; nothing of this is on the public's listener.
func TestKeysOpenTheirOwn(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	if _, err := h.pool.Exec(t.Context(), `INSERT INTO events (id, title, currency, opens_at, organiser) VALUES ('theirs', 'x', 'EUR', now() + interval '1 day', 'acme')`); err != nil {
		t.Fatal(err)
	}
	both := h.desk(organiser.House, "both", organiser.LineRead, organiser.LineWrite)
	reads, writes := h.desk(organiser.House, "reads", organiser.LineRead), h.desk(organiser.House, "writes", organiser.LineWrite)
	theirs := h.desk("acme", "acme-desk", organiser.LineRead, organiser.LineWrite)
	h.until("their event is known", func() bool {
		return theirs.ask("GET", "/v1/organiser/events/theirs/settings", "", nil).status == 200
	})
	before := h.evidence()
	settings, tag := both.settings()
	for _, c := range []struct {
		method, route string
		reads         bool
	}{
		{"GET", "/settings", true},
		{"GET", "/live", true},
		{"GET", "/changes", true},
		{"PUT", "/settings", false},
		{"POST", "/pause", false},
		{"POST", "/resume", false},
		{"POST", "/stop", false},
		{"POST", "/close", false},
	} {
		ask := func(d desk, event string) answer {
			var body any
			if c.method == "PUT" {
				body = settings
			}
			key := ""
			if c.method == "POST" {
				key = "k" + c.route
			}
			return d.ask(c.method, "/v1/organiser/events/"+event+c.route, key, body, "If-Match", tag)
		}
		foreign, none := h.want(ask(both, "theirs"), 404, "no_such_event"), ask(both, "nowhere")
		if foreign.String() != none.String() {
			t.Errorf("%s: foreign %s, absent %s", c.route, foreign, none)
		}
		h.want(ask(theirs, demotest.EventID), 404, "no_such_event")
		short, other := reads, writes
		if c.reads {
			short, other = writes, reads
		}
		lacks := h.want(ask(short, demotest.EventID), 403, "scope_missing")
		if again := ask(short, "nowhere"); again.String() != lacks.String() {
			t.Errorf("%s: without the scope, ours is %s and none is %s", c.route, lacks, again)
		}
		for _, token := range []string{h.AdminToken, g.ticket, g.pass, g.secret, other.token + "x", strings.ToUpper(other.token)} {
			h.want(ask(desk{h, token}, demotest.EventID), 401, "token_invalid")
		}
		h.want(ask(desk{h, ""}, demotest.EventID), 401, "token_missing")
		h.want(h.do(call{method: c.method, path: own + c.route, token: both.token, page: true}), 404, "no_such_route")
	}
	if got := h.evidence(); got != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", got, before)
	}
	var list struct {
		Organiser string
		Events    []struct{ ID string }
	}
	theirs.want(theirs.ask("GET", "/v1/organiser/events", "", nil), 200, "").into(t, &list)
	if list.Organiser != "acme" || len(list.Events) != 1 || list.Events[0].ID != "theirs" {
		t.Errorf("acme's events are %+v", list)
	}
	if made, err := organiser.Revoke(t.Context(), h.pool, organiser.House, "reads"); err != nil || made != organiser.Done {
		t.Fatal(made, err)
	}
	revoked := time.Now()
	h.until("the revoked key opens nothing", func() bool { return reads.ask("GET", own+"/live", "", nil).code() == "token_invalid" })
	t.Logf("revoked: refused after %d ms", time.Since(revoked).Milliseconds())
}

type steered struct {
	Change, Control string
	Version         *int64
}

// A pause acts, says who made it, and is one however often it comes; a name is
// one wish's alone.
func TestWishesActOnceAndSayWho(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "night-shift", organiser.LineRead, organiser.LineWrite)
	h.want(d.ask("POST", own+"/pause", "", nil), 400, "key_missing")
	first := d.want(d.ask("POST", own+"/pause", "one", nil), 200, "")
	var paused steered
	first.into(t, &paused)
	h.until("the sale is paused", func() bool { return h.status().State == "paused" })
	j := h.join("")
	if a := h.do(call{method: "POST", path: places + "/me/pass", token: j.Ticket}); a.status != 202 {
		t.Errorf("somebody was let in while paused: %s", a)
	}
	d.want(d.ask("POST", own+"/resume", "two", nil), 200, "")
	h.until("the sale goes on", func() bool { return h.status().State == "open" })
	if again := d.ask("POST", own+"/pause", "one", nil); again.String() != first.String() {
		t.Errorf("the same wish again: %s, was %s", again, first)
	}
	h.want(d.ask("POST", own+"/close", "one", nil), 422, "key_reused")
	h.want(d.ask("POST", own+"/pause", "one", "{}"), 422, "key_reused")
	var s steered
	d.want(d.ask("POST", own+"/resume", "three", nil), 200, "").into(t, &s)
	if s.Change != "unchanged" || s.Control != "run" || *s.Version != *paused.Version+1 {
		t.Errorf("resumed twice: %+v", s)
	}
	d.want(d.ask("POST", own+"/close", "four", nil), 200, "")
	h.until("the sale is closed", func() bool { return h.status().State == "closed" })
	h.want(d.ask("POST", own+"/resume", "five", nil), 409, "sale_closed")
	d.want(d.ask("POST", own+"/stop", "", nil), 200, "").into(t, &s)
	if s.Change != "unchanged" || s.Control != "closed" {
		t.Errorf("a closed sale, stopped: %+v", s)
	}
	all, tag := d.settings()
	h.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"rate": 5}), "If-Match", tag), 409, "sale_closed")
	h.want(d.ask("PUT", own+"/settings", "", all, "If-Match", tag), 200, "")
	if diff := cmp.Diff([]string{
		`night-shift: control "run" to "closed"`, `night-shift: control "paused" to "run"`, `night-shift: control "run" to "paused"`, "(demo): created",
	}, d.record(2)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// record is the changes as a text each, read in pages.
func (d desk) record(page int) (said []string) {
	d.t.Helper()
	path := fmt.Sprintf("%s/changes?limit=%d", own, page)
	for next := ""; ; {
		var body struct {
			Changes []struct {
				By      string
				Changed map[string][2]json.RawMessage
			}
			Next *int64
		}
		d.want(d.ask("GET", path+next, "", nil), 200, "").into(d.t, &body)
		for _, c := range body.Changes {
			if c.Changed["plan_hash"][1] != nil {
				continue // the hall's import
			}
			line := c.By + ": created"
			for k, v := range c.Changed {
				line = fmt.Sprintf("%s: %s %s to %s", c.By, k, v[0], v[1])
			}
			said = append(said, line)
		}
		if body.Next == nil {
			return said
		}
		next = fmt.Sprint("&before=", *body.Next)
	}
}

func TestChangesAreAskedForSensibly(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	all, tag := d.settings()
	d.want(d.ask("PUT", own+"/settings", "", with(all, map[string]any{"call_window_s": 30}), "If-Match", tag), 200, "")
	if diff := cmp.Diff([]string{`desk: call_window_s 120.000000 to 30.000000`, "(demo): created"}, d.record(50)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	for _, query := range []string{"limit=0", "limit=501", "limit=x", "before=0", "before=-1", "before=x"} {
		h.want(d.ask("GET", own+"/changes?"+query, "", nil), 400, "bad_request")
	}
}

// An organiser sees what the line is doing now, with the age of what they see.
func TestLiveNumbersSayTheirAge(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead)
	h.letIn()
	type live struct {
		State, Control string
		Age            *float64 `json:"age_s"`
		RateSet        *float64 `json:"rate_set"`
		Numbers        *struct {
			Tail, Inside int64
			LetIn        int64 `json:"let_in"`
			Rate         float64
			Seats        struct{ Free int64 }
		}
	}
	var seen live
	h.until("the one who was let in is counted", func() bool {
		seen = live{}
		d.want(d.ask("GET", own+"/live", "", nil), 200, "").into(t, &seen)
		if seen.Age == nil || (seen.Numbers == nil) != (*seen.Age > 2) {
			t.Fatalf("numbers %+v of age %v: none is shown that is older than 2 s, and the others are", seen.Numbers, seen.Age)
		}
		return seen.Numbers != nil && seen.Numbers.LetIn == 1 && seen.Numbers.Inside == 1
	})
	if seen.State != "open" || seen.Control != "run" || *seen.RateSet != 500 || seen.Numbers.Rate != 500 || seen.Numbers.Tail < 1 || seen.Numbers.Seats.Free != 150 {
		t.Errorf("live: %+v, numbers %+v", seen, *seen.Numbers)
	}
	t.Logf("%.3f s old", *seen.Age)
}

// An emergency stop acts even when it cannot be written down, is answered as
// such, and is written down as soon as that can be done. Then it is a pause
// like any other, and its record says who made it.
func TestAStopActsWithoutTheDatabase(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	h.letIn()
	mend := h.cut()
	stopped := d.want(d.ask("POST", own+"/stop", "", nil), 202, "")
	var s steered
	stopped.into(t, &s)
	if s.Change != "pending" || s.Control != "paused" || s.Version != nil {
		t.Errorf("stopped without a database: %s", stopped)
	}
	h.until("the line says so", func() bool { now := h.status(); return now.State == "paused" && now.Reason == "organiser" })
	h.until("nothing else is opened by keys that cannot be read", func() bool {
		return d.ask("GET", own+"/live", "", nil).code() == "unavailable"
	})
	d.want(d.ask("POST", own+"/stop", "again", nil), 202, "") // and it is still taken
	mend()
	h.until("it is written down", func() bool {
		var control string
		err := h.pool.QueryRow(t.Context(), `SELECT control FROM events WHERE id = $1`, demotest.EventID).Scan(&control)
		return err == nil && control == "paused"
	})
	if now := h.status(); now.State != "paused" {
		t.Errorf("once written down it is %s %s", now.State, now.Reason)
	}
	h.until("it is resumed", func() bool { return d.ask("POST", own+"/resume", "r", nil).status == 200 })
	h.until("the sale goes on", func() bool { return h.status().State == "open" })
	h.letIn()
	if diff := cmp.Diff([]string{`desk: control "paused" to "run"`, `desk: control "run" to "paused"`, "(demo): created"}, d.record(50)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// While the database is away an older stop is sent again by its name, and then a
// new one is made. Once it is back both are written down, and the sale, which was
// resumed after the older, stays stopped by the newer; sent again it is one stop.
func TestANewStopIsNoOldersRepeat(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	h.letIn()
	d.want(d.ask("POST", own+"/stop", "older", nil), 200, "")
	d.want(d.ask("POST", own+"/resume", "r", nil), 200, "")
	h.until("the sale goes on", func() bool { return h.status().State == "open" })
	mend := h.cut()
	d.want(d.ask("POST", own+"/stop", "older", nil), 202, "") // its answer was lost
	d.want(d.ask("POST", own+"/stop", "newer", nil), 202, "")
	h.until("the line says so", func() bool { return h.status().State == "paused" })
	mend()
	h.until("the newer is written down", func() bool {
		if now := h.status(); now.State == "open" {
			t.Fatal("the sale is open again: the newer stop is nowhere")
		}
		var control string
		err := h.pool.QueryRow(t.Context(), `SELECT control FROM events WHERE id = $1`, demotest.EventID).Scan(&control)
		return err == nil && control == "paused"
	})
	h.until("it is resumed", func() bool { return d.ask("POST", own+"/resume", "r2", nil).status == 200 })
	h.until("the sale goes on", func() bool { return h.status().State == "open" })
	var again steered
	d.want(d.ask("POST", own+"/stop", "newer", nil), 200, "").into(t, &again)
	if again.Control != "run" {
		t.Errorf("a stop that was undone since is answered: the sale is %s", again.Control)
	}
	h.letIn()
	if diff := cmp.Diff([]string{
		`desk: control "paused" to "run"`, `desk: control "run" to "paused"`,
		`desk: control "paused" to "run"`, `desk: control "run" to "paused"`, "(demo): created",
	}, d.record(50)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// A stop needs nothing that a change needs: its name may be another wish's,
// and stopping twice is stopping.
func TestAStopAsksNothing(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	var first steered
	d.want(d.ask("POST", own+"/resume", "k", nil), 200, "").into(t, &first)
	for i, change := range []string{"changed", "unchanged", "unchanged"} {
		var s steered
		d.want(d.ask("POST", own+"/stop", []string{"k", "", "k"}[i], nil), 200, "").into(t, &s)
		if s.Change != change || s.Control != "paused" || *s.Version != *first.Version+1 {
			t.Errorf("stop %d: %s %s, version %d; want %s", i, s.Change, s.Control, *s.Version, change)
		}
	}
	h.until("the sale is paused", func() bool { return h.status().State == "paused" })
	d.want(d.ask("POST", own+"/resume", "r", nil), 200, "")
	h.until("the sale goes on", func() bool { return h.status().State == "open" })
}

// cut takes the database away from everybody, until mend.
func (h *house) cut() (mend func()) {
	h.t.Helper()
	at, err := url.Parse(h.DatabaseURL)
	if err != nil {
		h.t.Fatal(err)
	}
	name := pgx.Identifier{strings.TrimPrefix(at.Path, "/")}.Sanitize()
	at.Path = "/postgres"
	exec := func(sql string) {
		h.t.Helper()
		db, err := pgx.Connect(h.t.Context(), at.String())
		if err != nil {
			h.t.Fatal(err)
		}
		defer db.Close(h.t.Context()) //nolint:errcheck // the statement is what counts
		if _, err := db.Exec(h.t.Context(), sql); err != nil {
			h.t.Fatal(err)
		}
	}
	exec("ALTER DATABASE " + name + " ALLOW_CONNECTIONS false")
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + strings.Trim(name, `"`) + "'")
	return func() { exec("ALTER DATABASE " + name + " ALLOW_CONNECTIONS true") }
}
