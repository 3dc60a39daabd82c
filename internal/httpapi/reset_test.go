package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
)

// After an event was begun anew nothing of before shows a place: not the ticket,
// not the pass, not a page with the old cookies, not a cached document's tag. What
// is refused says so by its code, and whoever joins again starts a new line.
func TestResetLeavesNoPlace(t *testing.T) {
	h := open(t, demo.Build{})
	inside, waiting := h.letIn(), h.join("")
	event := "/v1/public/events/" + demotest.EventID + "/status"
	h.until("both in the document", func() bool { s := h.status(); return s.Tail == 2 && s.Taken == 1 })
	old := h.do(call{method: "GET", path: event})
	cookies := map[string]string{"Cookie": "ticket." + demotest.EventID + "=" + inside.ticket + "; pass." + demotest.EventID + "=" + inside.pass}
	place := call{method: "GET", path: "/e/" + demotest.EventID + "/place", page: true, header: cookies}
	seats := call{method: "GET", path: "/e/" + demotest.EventID + "/seats", page: true, header: cookies}
	if a, b := h.do(place), h.do(seats); !strings.Contains(string(a.body), `id="place"`) || b.status != 200 {
		t.Fatalf("before the reset the page shows no place (%d), or no seats (%d)", a.status, b.status)
	}

	if _, err := h.pool.Exec(t.Context(), `UPDATE events SET epoch = epoch + 1 WHERE id = $1`, demotest.EventID); err != nil {
		t.Fatal(err)
	}
	h.until("the new line", func() bool { s := h.status(); return s.Epoch == 2 && s.State == "open" })
	if s := h.status(); s.Front != 0 || s.Tail != 0 || s.Waiting != 0 || s.Taken != 0 || s.AtDoor != 0 {
		t.Errorf("the new line begins with %+v", s)
	}
	if again := h.do(call{method: "GET", path: event, header: map[string]string{"If-None-Match": old.header.Get("ETag")}}); again.status != 200 {
		t.Errorf("a document of before is still good: %s", again)
	}
	for _, ticket := range []string{inside.ticket, waiting.Ticket} {
		for path, method := range map[string]string{places + "/me": "GET", places + "/me/pass": "POST"} {
			h.want(h.do(call{method: method, path: path, token: ticket}), 410, "epoch_changed")
		}
		h.want(h.do(call{method: "DELETE", path: places + "/me", token: ticket}), 410, "epoch_changed")
	}
	h.want(h.claim(inside, "k", named("A-1")), 410, "epoch_changed")
	page := h.do(place)
	if text := string(page.body); page.status != 200 || strings.Contains(text, `id="place"`) || strings.Contains(text, "data-number") {
		t.Errorf("the page of a place of before: %d %s", page.status, text)
	}
	if h.do(seats).status == 200 {
		t.Error("the seats open to a pass of before")
	}

	back := h.placed(h.do(call{method: "POST", path: places, token: inside.secret, header: map[string]string{"Waitroom-Ticket": inside.ticket}}), 201)
	if back.Place.Number != 0 || back.Ticket == inside.ticket {
		t.Errorf("joined again with the ticket of before: %+v, want the first place of the new line", back)
	}
	if g := h.enter(inside.secret, back); g.take != 1 || g.pass == inside.pass {
		t.Errorf("let in by take %d of the new line", g.take)
	}
}

// A lottery that is begun anew is one still, by a seed that nobody has seen. One
// whose draw nobody wrote down lets nobody in, and nobody join: it never becomes
// first come, first served by the way.
func TestAResetLotteryIsStillOne(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour, Lobby: true})
	type status struct {
		Epoch         int64
		State, Reason string
		Draw          *struct{ Commit string }
	}
	read := func() (s status) {
		h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status"}).into(t, &s)
		return s
	}
	before := read()
	if before.Draw == nil {
		t.Fatalf("the demo's lobby is not drawn: %+v", before)
	}
	if _, err := h.pool.Exec(t.Context(), `UPDATE events SET epoch = epoch + 1 WHERE id = $1`, demotest.EventID); err != nil {
		t.Fatal(err)
	}
	h.until("the line without a draw is closed on doubt", func() bool {
		s := read()
		return s.Epoch == 2 && s.State == "closed_on_doubt" && s.Reason == "draw"
	})
	h.want(h.do(call{method: "POST", path: places, token: admission.NewSecret()}), 503, "unavailable")
	begun, err := inventory.Reset(t.Context(), h.pool, demotest.EventID, inventory.Asker{}, inventory.Anew{OpensAt: time.Now().Add(2 * time.Hour)})
	if err != nil || begun.Change != inventory.Changed || begun.Commit == before.Draw.Commit {
		t.Fatalf("begun anew: %+v, %v", begun, err)
	}
	h.until("the new lobby", func() bool {
		s := read()
		return s.Epoch == 3 && s.State == before.State && s.Draw != nil && s.Draw.Commit == begun.Commit
	})
}
