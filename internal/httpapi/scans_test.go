package httpapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/ticket"
)

const doorPath = "/v1/events/" + demotest.EventID

// bought is a paid order of those seats, with their codes as its buyer gets them.
func (h *house) bought(guids ...string) (g guest, order string, codes []string) {
	h.t.Helper()
	g = h.letIn()
	o := h.order(h.want(h.claim(g, "k", named(guids...)), 201, ""))
	for _, c := range h.codesOf(g, o.Order.ID) {
		if c != nil {
			h.t.Errorf("a seat that is not paid has the code %s", *c)
		}
	}
	h.pay(g, o)
	for _, c := range h.codesOf(g, o.Order.ID) {
		if c == nil {
			h.t.Fatal("a seat of a paid order has no code")
		}
		codes = append(codes, *c)
	}
	return g, o.Order.ID, codes
}

func (h *house) codesOf(g guest, order string) (codes []*string) {
	h.t.Helper()
	var a struct {
		Order struct{ Seats []struct{ Code *string } }
	}
	h.want(h.do(call{method: "GET", path: "/v1/orders/" + order, token: g.ticket}), 200, "").into(h.t, &a)
	for _, s := range a.Order.Seats {
		codes = append(codes, s.Code)
	}
	return codes
}

type scanAnswer struct {
	ID, Outcome  string
	Flaw, Ticket *string
	Seat         *struct{ GUID string }
	Gate, Device string
	First        *struct{ Gate, Device string }
	RevokedAt    *time.Time `json:"revoked_at"`
}

func (d sure) scanned(a answer) scanAnswer {
	d.t.Helper()
	var b struct{ Scan scanAnswer }
	d.want(a, 200, "").into(d.t, &b)
	return b.Scan
}

// Each seat of a paid order has a code, which who has the published keys checks
// alone. One scan of it is admitted; the same again is answered the same bytes; the
// next is told when and where the first was.
func TestASeatsCodeOpensTheDoorOnce(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper(organiser.House, "doors", organiser.ScansWrite)
	_, _, codes := h.bought("A-1", "A-2")
	keys, err := ticket.ParseJWKS(h.want(h.do(call{method: "GET", path: "/v1/public/code-keys"}), 200, "").body)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range codes {
		if _, flaw := keys.Read(demotest.EventID, code); flaw != "" {
			t.Errorf("by the published keys a code is %s", flaw)
		}
	}
	scan := func(key, gate, code string) answer {
		return d.ask("POST", doorPath+"/scans", key, map[string]any{"code": code, "gate": gate, "device": "scanner-1"})
	}
	first := scan("s1", "north", codes[0])
	if r := d.scanned(first); r.Outcome != "admitted" || r.Seat.GUID != "A-1" || r.Ticket == nil || r.First != nil {
		t.Errorf("first: %s", first)
	}
	if again := scan("s1", "north", codes[0]); again.String() != first.String() {
		t.Errorf("again: %s, first %s", again, first)
	}
	if r := d.scanned(scan("s2", "south", codes[0])); r.Outcome != "already_in" || r.First == nil || r.First.Gate != "north" || r.First.Device != "scanner-1" {
		t.Errorf("second: %+v", r)
	}
	if again := scan("s1", "north", codes[0]); again.String() != first.String() {
		t.Errorf("after the second: %s, first %s", again, first)
	}
	d.want(scan("s1", "north", codes[1]), 422, "key_reused")
	var all sync.WaitGroup
	admitted := make(chan string, 30)
	for i := range cap(admitted) {
		all.Go(func() {
			if r := d.scanned(scan(fmt.Sprint("many-", i), "north", codes[1])); r.Outcome == "admitted" {
				admitted <- r.ID
			}
		})
	}
	all.Wait()
	if len(admitted) != 1 {
		t.Errorf("of %d scans at once %d were admitted", cap(admitted), len(admitted))
	}
}

// What is not as it should be is refused with its code; another organiser's event is
// answered like none, and a key does what its scopes say.
func TestScansAreRefusedByCode(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper(organiser.House, "doors", organiser.ScansWrite)
	reads := h.helper(organiser.House, "office", organiser.ScansRead)
	other := h.helper("acme", "doors", organiser.ScansRead, organiser.ScansWrite)
	good := map[string]any{"code": "hello", "gate": "north", "device": "scanner-1"}
	if r := d.scanned(d.ask("POST", doorPath+"/scans", "a", good)); r.Outcome != "not_valid" || *r.Flaw != "unreadable" || r.Ticket != nil || r.Seat != nil {
		t.Errorf("nonsense: %+v", r)
	}
	if r := d.scanned(d.ask("POST", doorPath+"/scans", "bytes", `{"code":"\u0000\ud800","gate":"north","device":"scanner-1"}`)); *r.Flaw != "unreadable" {
		t.Errorf("what is no text: %+v", r)
	}
	d.want(d.ask("POST", doorPath+"/scans", "", good), 400, "key_missing")
	reads.want(reads.ask("POST", doorPath+"/scans", "a", good), 403, "scope_missing")
	reads.want(reads.ask("POST", doorPath+"/scans/uploads", "", map[string]any{"scans": []any{good}}), 403, "scope_missing")
	d.want(d.ask("GET", doorPath+"/revocations", "", nil), 403, "scope_missing")
	d.want(d.ask("GET", doorPath+"/scans/conflicts", "", nil), 403, "scope_missing")
	for _, path := range []string{doorPath, "/v1/events/none"} {
		other.want(other.ask("POST", path+"/scans", "a", good), 404, "no_such_event")
		other.want(other.ask("GET", path+"/revocations", "", nil), 404, "no_such_event")
		other.want(other.ask("GET", path+"/scans/conflicts", "", nil), 404, "no_such_event")
	}
	for what, body := range map[string]any{
		"no gate": with(good, map[string]any{"gate": ""}), "a long device": with(good, map[string]any{"device": strings.Repeat("x", 101)}),
		"no code": with(good, map[string]any{"code": ""}), "a member too many": with(good, map[string]any{"price": 1}),
		"a time that is none": with(good, map[string]any{"scanned_at": "yesterday"}), "no JSON": "{", "a gate that is no text": `{"code":"x","gate":"\u0000","device":"d"}`,
	} {
		if a := d.ask("POST", doorPath+"/scans", "b", body); a.status != 400 || a.code() != "bad_request" {
			t.Errorf("%s: %s", what, a)
		}
	}
	for _, after := range []string{"x", "-1", "1.5"} {
		reads.want(reads.ask("GET", doorPath+"/revocations?after="+after, "", nil), 400, "bad_request")
	}
	if n := h.count(`SELECT count(*) FROM scans`); n != 2 {
		t.Errorf("%d scans are recorded, want the two of nonsense", n)
	}
}

// Scanners that had no network tell what they did, each scan by itself: what is
// malformed keeps nothing else from being recorded, and all of it again changes
// nothing. Whoever was let in twice is on the organiser's list.
func TestAnUploadIsRecordedOneByOne(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper(organiser.House, "doors", organiser.ScansWrite, organiser.ScansRead)
	_, _, codes := h.bought("A-1", "A-2")
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	online := d.ask("POST", doorPath+"/scans", "both", map[string]any{"code": codes[0], "gate": "north", "device": "a", "scanned_at": at})
	body := map[string]any{"scans": []any{
		map[string]any{"id": "both", "code": codes[0], "gate": "north", "device": "a", "scanned_at": at}, // its answer was lost
		map[string]any{"id": "b1", "code": codes[0], "gate": "south", "device": "b", "scanned_at": at, "let_in": true},
		map[string]any{"id": "b2", "gate": "south", "device": "b", "scanned_at": at},
		map[string]any{"id": "b3", "code": codes[1], "gate": "south", "device": "b"},
		map[string]any{"code": codes[1], "gate": "south", "device": "b", "scanned_at": at},
		"nonsense",
		map[string]any{"id": "b4", "code": codes[1], "gate": "south", "device": "b", "scanned_at": at, "let_in": true},
		map[string]any{"id": "b1", "code": codes[1], "gate": "south", "device": "b", "scanned_at": at},
	}}
	var told struct {
		Scans []struct {
			ID      *string
			Scan    *scanAnswer
			Problem *struct{ Code string }
		}
	}
	first := d.want(d.ask("POST", doorPath+"/scans/uploads", "", body), 200, "")
	first.into(t, &told)
	var got []string
	for _, s := range told.Scans {
		if s.Scan != nil {
			got = append(got, *s.ID+" "+s.Scan.Outcome)
		} else {
			got = append(got, s.Problem.Code)
		}
	}
	if want := "both admitted, b1 already_in, bad_request, bad_request, key_missing, bad_request, b4 admitted, key_reused"; strings.Join(got, ", ") != want {
		t.Errorf("told %s\nwant %s", strings.Join(got, ", "), want)
	}
	if r := d.scanned(online); r.Outcome != "admitted" {
		t.Errorf("online it was %+v", r)
	}
	if again := d.ask("POST", doorPath+"/scans/uploads", "", body); again.String() != first.String() {
		t.Errorf("again: %s\nfirst %s", again, first)
	}
	var list struct{ Conflicts []scanAnswer }
	d.want(d.ask("GET", doorPath+"/scans/conflicts", "", nil), 200, "").into(t, &list)
	if len(list.Conflicts) != 1 || list.Conflicts[0].ID != "b1" || list.Conflicts[0].First.Gate != "north" {
		t.Errorf("conflicts %+v", list.Conflicts)
	}
	d.want(d.ask("POST", doorPath+"/scans/uploads", "", map[string]any{"scans": []any{}}), 400, "bad_request")
	d.want(d.ask("POST", doorPath+"/scans/uploads", "", map[string]any{"scans": make([]any, 101)}), 400, "bad_request")
}

// A refunded seat's code is in the feed from the transaction on that gives the seat
// back, its order shows it no more, and it opens nothing. Who is up to date is told
// so without a body.
func TestARefundedSeatIsInTheFeed(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper(organiser.House, "doors", organiser.ScansWrite, organiser.ScansRead)
	g, order, codes := h.bought("A-1", "A-2")
	type feed struct {
		Revocations []struct {
			No           int64
			Ticket, Seat string
		}
		Next int64
		More bool
	}
	read := func(after int64, tag string) (f feed, etag string, status int) {
		a := d.ask("GET", fmt.Sprint(doorPath+"/revocations?after=", after), "", nil, "If-None-Match", tag)
		if a.status == 200 {
			a.into(t, &f)
		}
		return f, a.header.Get("ETag"), a.status
	}
	empty, tag, status := read(0, "")
	if status != 200 || len(empty.Revocations) != 0 || empty.Next != 0 || empty.More {
		t.Fatalf("an empty feed: %d %+v", status, empty)
	}
	if _, _, status := read(0, tag); status != 304 {
		t.Errorf("nothing new: %d, want 304", status)
	}
	h.refunded(order, 1)
	left := h.codesOf(g, order)
	if left[0] != nil || left[1] == nil || *left[1] != codes[1] {
		t.Errorf("after the refund of the first its order shows %v, want the second alone", left)
	}
	f, _, status := read(0, tag)
	if status != 200 || len(f.Revocations) != 1 || f.Revocations[0].Seat != "A-1" || f.Next != 1 {
		t.Fatalf("after the refund: %d %+v", status, f)
	}
	if end, _, _ := read(f.Next, ""); len(end.Revocations) != 0 || end.Next != 1 {
		t.Errorf("behind its end: %+v", end)
	}
	scan := func(key, code string) scanAnswer {
		return d.scanned(d.ask("POST", doorPath+"/scans", key, map[string]any{"code": code, "gate": "north", "device": "scanner-1"}))
	}
	if r := scan("s1", codes[0]); r.Outcome != "revoked" || r.RevokedAt == nil || *r.Ticket != f.Revocations[0].Ticket {
		t.Errorf("the refunded one: %+v", r)
	}
	if r := scan("s2", codes[1]); r.Outcome != "admitted" {
		t.Errorf("the other: %+v", r)
	}
	page := h.page(g, order)
	if n := strings.Count(page, "<figure>"); n != 1 || !strings.Contains(page, "QR code for ") || strings.Contains(page, codes[0]) {
		t.Errorf("the page shows %d codes, want one", n)
	}
}
