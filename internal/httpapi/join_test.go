package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
)

// exported is a place as the admin listener exports it.
type exported struct {
	Holder, State string
	Number, Take  int64
}

func (h *house) export() (all []exported) {
	h.t.Helper()
	r, err := h.Export(h.t.Context(), demotest.EventID)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()     //nolint:errcheck // read only
	places := int64(-1) // as the last line counts them
	for lines := bufio.NewScanner(r); lines.Scan(); {
		p := struct {
			exported
			Places *int64
		}{}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			h.t.Fatalf("%q: %v", lines.Text(), err)
		}
		if p.Places != nil {
			places = *p.Places
			continue
		}
		all = append(all, p.exported)
	}
	if places != int64(len(all)) {
		h.t.Fatalf("an export of %d places says that it has %d", len(all), places)
	}
	return all
}

// The same join again is the same place, however it came about: twenty others
// came between, two tabs asked at once, the answer was lost, the page was
// loaded again.
func TestSameHolderSamePlace(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour})
	secret := admission.NewSecret()
	first := h.join(secret)
	for range 20 {
		h.join("")
	}
	again := h.join(secret)
	if first.status != 201 || again.status != 200 || again.Place != first.Place || again.Ticket != first.Ticket {
		t.Errorf("after 20 others: %+v, was %+v", again, first)
	}
	t.Run("eight tabs", h.manyTabs)
	t.Run("lost answer", h.lostAnswer)
	t.Run("page", h.pageAgain)
	holders, numbers := map[string]bool{}, map[int64]bool{}
	for _, p := range h.export() {
		if holders[p.Holder] || numbers[p.Number] {
			t.Errorf("place %+v is there twice", p)
		}
		holders[p.Holder], numbers[p.Number] = true, true
	}
	if len(holders) != 24 {
		t.Errorf("%d places of 24 people", len(holders))
	}
}

func (h *house) manyTabs(t *testing.T) {
	secret := admission.NewSecret()
	var tabs [8]joined
	var wg sync.WaitGroup
	for i := range tabs {
		wg.Go(func() {
			a := h.do(call{method: "POST", path: places, token: secret})
			json.Unmarshal(a.body, &tabs[i]) //nolint:errcheck // compared below
			tabs[i].status = a.status
		})
	}
	wg.Wait()
	fresh := 0
	for _, tab := range tabs {
		if tab.Ticket != tabs[0].Ticket || tab.Ticket == "" {
			t.Errorf("one tab has %+v, another %+v", tabs[0].Place, tab.Place)
		}
		if tab.status == 201 {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d tabs were told that the place is new, want 1", fresh)
	}
}

// lostAnswer hangs up as soon as the join is sent.
func (h *house) lostAnswer(t *testing.T) {
	secret := admission.NewSecret()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.Public, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", places, secret)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	before := len(h.export())
	got, again := h.join(secret), h.join(secret)
	if got.Ticket != again.Ticket || again.status != 200 {
		t.Errorf("asked again: %+v, then %+v", got, again)
	}
	t.Logf("%d places when the line was cut; asked again: %d", before, got.status)
}

// pageAgain presses the page's button three times in one browser.
func (h *house) pageAgain(t *testing.T) {
	jar, _ := cookiejar.New(nil) // it never fails
	at, _ := url.Parse(h.Public + "/e/" + demotest.EventID)
	browser := &http.Client{Jar: jar, CheckRedirect: h.client.CheckRedirect}
	var tickets []string
	for range 3 {
		res, err := browser.PostForm(at.String()+"/join", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() //nolint:errcheck // nothing is read
		if res.StatusCode != 303 {
			t.Fatalf("join by page: %s", res.Status)
		}
		for _, c := range jar.Cookies(at) {
			if strings.HasPrefix(c.Name, "ticket.") {
				tickets = append(tickets, c.Value)
			}
		}
	}
	if len(tickets) != 3 || tickets[0] != tickets[1] || tickets[1] != tickets[2] {
		t.Errorf("tickets of one browser: %q", tickets)
	}
}

// A join that is refused leaves nothing behind: no number is used, no size
// grows.
func TestRefusedJoinUsesNoNumber(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour})
	h.join("")
	h.until("the join in the document", func() bool { return h.status().Tail == 1 })
	facts := h.facts()
	for range 5 {
		h.want(h.do(call{method: "POST", path: "/v1/events/nowhere/places"}), 404, "no_such_event")
		h.want(h.do(call{method: "POST", path: places, token: "short"}), 400, "bad_request")
	}
	h.same(facts)
	if got, err := inventory.CloseSale(t.Context(), h.pool, demotest.EventID); err != nil || got != inventory.Changed {
		t.Fatal(got, err)
	}
	h.until("closed", func() bool { return h.status().State == "closed" })
	facts = h.facts()
	for range 5 {
		h.want(h.do(call{method: "POST", path: places}), 409, "sale_closed")
	}
	h.same(facts)
	h.pause(1100 * time.Millisecond) // the document is made anew
	if s, all := h.status(), h.export(); s.Tail != 1 || len(all) != 1 {
		t.Errorf("tail %d and %d places after 15 refused joins, want 1 and 1", s.Tail, len(all))
	}
}

// same fails if the database is not as it was.
func (h *house) same(before map[string]string) {
	h.t.Helper()
	for table, now := range h.facts() {
		if was := before[table]; was != now {
			h.t.Errorf("table %s changed: had %s, has %s", table, was, now)
		}
	}
}

// A place that is given up is free at once: it counts no more, buys nothing
// more, and its holder may join again, at the tail.
func TestGivenUpPlaceIsFreeAtOnce(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour})
	secret := admission.NewSecret()
	mine := h.join(secret)
	others := []joined{h.join(""), h.join("")}
	h.until("three wait", func() bool { return h.status().Waiting == 3 })
	for range 2 { // the second time changes nothing
		a := h.want(h.do(call{method: "DELETE", path: places + "/me", token: mine.Ticket}), 200, "")
		var left struct{ State string }
		if a.into(t, &left); left.State != "left" {
			t.Errorf("left: %s", a)
		}
	}
	left := time.Now()
	h.until("two wait", func() bool { return h.status().Waiting == 2 })
	if took := time.Since(left); took > 3*time.Second {
		t.Errorf("the document counted the place for %s more, want 2 s, and a document more, at most", took)
	}
	back := h.join(secret)
	if back.status != 201 || back.Place.Number <= others[1].Place.Number {
		t.Errorf("back in the line at %d (%d), want a new place behind %d", back.Place.Number, back.status, others[1].Place.Number)
	}
}

// Of those called, who gives up is not waited for and never counts as let in.
func TestCalledPlaceGivenUpDoesNotLeak(t *testing.T) {
	h := open(t, demo.Build{})
	mine := h.join("")
	h.until("called", func() bool { return h.status().Front > mine.Place.Number })
	h.want(h.do(call{method: "DELETE", path: places + "/me", token: mine.Ticket}), 200, "")
	h.want(h.do(call{method: "POST", path: places + "/me/pass", token: mine.Ticket}), 410, "place_left")
	a := h.want(h.do(call{method: "GET", path: places + "/me", token: mine.Ticket}), 200, "")
	var at struct{ State string }
	if a.into(t, &at); at.State != "left" {
		t.Errorf("the place is %q, want left", at.State)
	}
	next := h.letIn()
	if next.take != 1 || h.one(`SELECT count(*) FROM passes`) != 1 {
		t.Errorf("the next is let in by take %d, %d passes: the place given up used a credit", next.take, h.one(`SELECT count(*) FROM passes`))
	}
	h.until("nobody at the door", func() bool { s := h.status(); return s.AtDoor == 0 && s.Waiting == 0 && s.Taken == 1 })
}
