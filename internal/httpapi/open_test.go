package httpapi_test

import (
	"testing"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
	"waitroom/internal/stack"
)

// openHouse sells an event without a line.
func openHouse(t *testing.T, gate inventory.Gate, redis string) *house {
	event := demotest.Event()
	event.Rate, event.Admission, event.Gate = nil, inventory.OpenAll, gate
	return open(t, demo.Build{Event: event, Hall: demotest.Hall(t, 1, 5), Services: demo.Services{RedisURL: redis}})
}

// comes is a guest of an event without a line, whose ticket is all that they need.
func (h *house) comes() guest {
	h.t.Helper()
	secret := admission.NewSecret()
	var j joined
	h.want(h.do(call{method: "POST", path: places, token: secret}), 201, "").into(h.t, &j)
	return guest{secret: secret, ticket: j.Ticket, pass: j.Ticket}
}

// Where there is no line, a ticket buys: no more than an account may have, and by its
// own keys; and nothing is a pass or a place.
func TestWithoutALineATicketBuys(t *testing.T) {
	s, err := stack.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() }) //nolint:errcheck // it ends with the test
	h := openHouse(t, inventory.GateOn, s.URL)
	ann, bob := h.comes(), h.comes()
	h.want(h.do(call{method: "POST", path: places + "/me/pass", token: ann.ticket}), 409, "no_line")
	h.want(h.do(call{method: "GET", path: places + "/me", token: ann.ticket}), 409, "no_line")

	first := h.order(h.want(h.claim(ann, "k", named("A-1", "A-2")), 201, ""))
	if again := h.order(h.want(h.claim(ann, "k", named("A-1", "A-2")), 200, "")); again.Order.ID != first.Order.ID {
		t.Errorf("asked again: order %s, was %s", again.Order.ID, first.Order.ID)
	}
	h.want(h.claim(bob, "k", named("A-2", "A-3")), 409, "seats_taken")
	h.overLimit(ann, 1, "pending_order", first.Order.ID)
	h.pay(ann, first)
	h.overLimit(ann, 3, "account", "")
	o := h.order(h.want(h.claim(bob, "units", standing(4)), 201, ""))
	h.want(h.claim(h.comes(), "k", standing(3)), 409, "sold_out")
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + o.Order.ID + "/cancel", token: bob.ticket, key: "c"}), 200, "")
	h.until("what came back is sold again", func() bool { return h.claim(bob, "rest", standing(4)).status == 201 })
	h.want(h.claim(ann, "last", standing(1)), 201, "")
	if n := h.one(`SELECT count(*) FROM passes`); n != 0 {
		t.Errorf("%d passes were written down for an event without a line", n)
	}
	for _, c := range h.audit().Checks { // of the line there is nothing to judge
		if c.Violations != 0 {
			t.Errorf("%s, %s: %d violations: %s", c.Promise, c.Name, c.Violations, c.Examples)
		}
	}
}

// An event that asks for a gate is closed where there is none: nobody stands between
// the crowd and Postgres.
func TestWithoutItsGateAnEventIsClosed(t *testing.T) {
	h := openHouse(t, inventory.GateOn, "")
	h.want(h.claim(h.comes(), "k", standing(1)), 503, "unavailable")
	if n := h.one(`SELECT count(*) FROM orders`); n != 0 {
		t.Errorf("%d orders, want none", n)
	}
}

// Without a gate the claims' own queue is the bound; a pause stops everybody, for
// nobody has a pass.
func TestWithoutAGateTheClaimsAreTheBound(t *testing.T) {
	h := openHouse(t, inventory.GateOff, "")
	g := h.comes()
	h.want(h.claim(g, "k", standing(1)), 201, "")
	if _, err := inventory.Pause(t.Context(), h.pool, demotest.EventID); err != nil {
		t.Fatal(err)
	}
	other := h.comes()
	h.until("a pause stops claims", func() bool { return h.claim(other, "k", standing(1)).code() == "unavailable" })
}

// What is sold to presale codes alone stays free for who has one, however many ask for it
// without.
func TestWhoHasNoCodeKeepsNoSeatFromWhoHas(t *testing.T) {
	s, err := stack.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() }) //nolint:errcheck // it ends with the test
	h := openHouse(t, inventory.GateOn, s.URL)
	hash, _ := admission.CodeHash(demotest.EventID, "FAN-2026")
	codes := inventory.PresaleCodes{Presale: "fans", Hashes: [][]byte{hash[:]}, Uses: 10, Seats: 20}
	if c, err := inventory.ImportPresaleCodes(t.Context(), h.pool, demotest.EventID, codes); err != nil || c != inventory.Changed {
		t.Fatal(c, err)
	}
	if _, err := h.pool.Exec(t.Context(), `UPDATE events SET presales = '[{"name":"fans","tiers":[],"sections":["Stalls"],"until":null}]', version = version + 1`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and one who has none keeps it from no other
		h.want(h.claim(h.comes(), "k", named("A-1")), 403, "code_needed")
	}
	wish := named("A-1")
	wish["code"] = "FAN-2026"
	h.want(h.claim(h.comes(), "k", wish), 201, "")
}
