package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

const orders = "/v1/events/" + demotest.EventID + "/orders"

// refusal is a request that is refused, and how.
type refusal struct {
	name   string
	call   call
	status int
	code   string
	// spec: the contract lets a client ask this; only the sale's state, or what
	// it cannot say, stands against it.
	spec bool
}

// What makes no sense, is not signed or is another's is refused with a stable
// code, and nothing at all is changed by it.
func TestRefusalsChangeNothing(t *testing.T) {
	h := open(t, demo.Build{})
	mine, other := h.letIn(), h.letIn()
	o := h.order(h.want(h.claim(other, "theirs", named("A-1")), 201, ""))
	h.until("their order in the document", func() bool { return h.status().Seats.Pending == 1 })
	facts, before := h.facts(), h.status()
	all := append(badClaims(mine), badRequests(h, mine, other, o)...)
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			on := *h
			on.t = t
			x, a := on.send(t.Context(), r.call)
			on.want(a, r.status, r.code)
			on.judge(x)
			if got := h.contract.allows(t.Context(), x); got != r.spec {
				t.Errorf("the contract allows it: %t, want %t", got, r.spec)
			}
		})
	}
	h.same(facts)
	if s := h.status(); s.Tail != before.Tail || s.Taken != before.Taken || s.Seats != before.Seats {
		t.Errorf("after %d refusals %+v, was %+v", len(all), s, before)
	}
	t.Logf("%d refusals; %d tables as they were", len(all), len(facts))
}

func badClaims(g guest) []refusal {
	claim := func(name string, body any, status int, code string, spec bool) refusal {
		return refusal{"claim " + name, call{method: "POST", path: orders, token: g.pass, key: "k", body: body}, status, code, spec}
	}
	bad := func(name string, body any) refusal { return claim(name, body, 400, "bad_request", false) }
	many := make([]string, 101)
	for i := range many {
		many[i] = uuid.NewString()
	}
	return []refusal{
		bad("quantity -3", standing(-3)), bad("quantity 0", standing(0)), bad("quantity 2^31", standing(1<<31)),
		bad("quantity 2.5", standing(2.5)), bad("quantity 2^63", `{"tier":"Standing","quantity":9223372036854775808}`),
		bad("quantity as text", standing("2")), bad("quantity null", standing(nil)), bad("quantity without tier", seats{"quantity": 2}),
		bad("tier without quantity", seats{"tier": "Standing"}), bad("quantity 101", standing(101)),
		bad("same seat twice", named("A-2", "A-2")), bad("no seats", named()), bad("seat without name", named("")),
		bad("101 seats", named(many...)), bad("seat as number", seats{"seats": []int{1}}), bad("seats and quantity", seats{"seats": []string{"A-2"}, "tier": "Standing", "quantity": 1}),
		bad("seats and tier", seats{"seats": []string{"A-2"}, "tier": "Standing"}),
		bad("unknown member", seats{"seats": []string{"A-2"}, "discount": 100}), bad("member of an order", seats{"seats": []string{"A-2"}, "amount_minor": 1}),
		bad("nothing", nil), bad("empty object", seats{}), bad("a list", `[]`), bad("a text", `"A-2"`), bad("null", `null`), bad("not JSON", `{"seats":`),
		claim("two values", `{"seats":["A-2"]} {"seats":["A-3"]}`, 400, "bad_request", true), bad("deep JSON", strings.Repeat("[", 60_000)),
		bad("deep in a member", `{"seats":`+strings.Repeat("[", 30_000)+strings.Repeat("]", 30_000)+`}`),
		claim("70 KiB", `{"seats":["`+strings.Repeat("A", 70<<10)+`"]}`, 413, "too_large", false),
		claim("unknown seat", named("A-2", "Z-99"), 422, "unknown_seat", true), claim("seat of no text", named("A-2\x00"), 400, "bad_request", true),
		claim("unknown tier", seats{"tier": "Balcony", "quantity": 1}, 422, "unknown_tier", true),
		claim("tier of numbered seats", seats{"tier": "Seats", "quantity": 1}, 422, "unknown_tier", true),
		bad("best without a count", seats{"best": seats{}}), bad("best 0", seats{"best": seats{"count": 0}}), bad("best 101", seats{"best": seats{"count": 101}}),
		bad("best 2.5", seats{"best": seats{"count": 2.5}}), bad("best and seats", seats{"best": seats{"count": 2}, "seats": []string{"A-2"}}),
		bad("best and a quantity", seats{"best": seats{"count": 2}, "tier": "Standing", "quantity": 1}), bad("best of something else", seats{"best": seats{"count": 2, "row": "A"}}),
		claim("more wheelchairs than people", seats{"best": seats{"count": 1, "accessible": 2}}, 400, "bad_request", true),
		claim("best of an unknown tier", seats{"best": seats{"count": 2, "tier": "Standing"}}, 422, "unknown_tier", true),
		claim("best of an unknown section", seats{"best": seats{"count": 2, "section": "Roof"}}, 422, "unknown_section", true),
		claim("best that there is not", seats{"best": seats{"count": 3, "accessible": 1}}, 409, "sold_out", true),
		claim("seat in a cart", named("A-1"), 409, "seats_taken", true),
		claim("more than an order may have", named("A-2", "A-3", "A-4", "A-5", "A-6"), 409, "over_limit", true),
	}
}

func badRequests(h *house, g, other guest, o order) []refusal {
	claim := func(change func(*call)) call {
		c := call{method: "POST", path: orders, token: g.pass, key: "k", body: named("A-2")}
		change(&c)
		return c
	}
	header := func(k, v string) func(*call) { return func(c *call) { c.header = map[string]string{k: v} } }
	key := func(k string) func(*call) { return func(c *call) { c.key = k } }
	token := func(s string) func(*call) { return func(c *call) { c.token = s } }
	pay := func(method, path, token, key string) call {
		return call{method: method, path: path, token: token, key: key, base: h.Pay}
	}
	absent := "/v1/orders/" + uuid.NewString()
	theirs := "/v1/orders/" + o.Order.ID
	inside := "/v1/events/" + demotest.EventID + "/passes/me"
	elsewhere := strings.Replace(orders, demotest.EventID, "nowhere", 1)
	return []refusal{
		{"text for JSON", claim(header("Content-Type", "text/plain")), 400, "bad_request", false},
		{"form for JSON", claim(header("Content-Type", "application/x-www-form-urlencoded")), 400, "bad_request", false},
		{"almost JSON", claim(header("Content-Type", "application/jsonp")), 400, "bad_request", false},
		{"compressed", claim(header("Content-Encoding", "gzip")), 415, "encoding_refused", true},
		{"wait that is no number", claim(header("Prefer", "wait=soon")), 400, "bad_request", true},
		{"headers of 9 KiB", claim(header("X-Long", strings.Repeat("x", 9<<10))), 431, "headers_too_large", true},
		{"no key", claim(key("")), 400, "key_missing", false},
		{"key of 201", claim(key(strings.Repeat("k", 201))), 400, "bad_request", false},
		{"key with a space", claim(key("a b")), 400, "bad_request", false},
		{"key with an accent", claim(key("clé")), 400, "bad_request", false},
		{"no bearer", claim(token("")), 401, "token_missing", true},
		{"no bearer but a name", claim(func(c *call) { c.token = ""; header("Authorization", "Basic YTpi")(c) }), 401, "token_missing", true},
		{"a bearer of nothing", claim(token("nothing")), 401, "pass_invalid", true},
		{"a ticket for a pass", claim(token(g.ticket)), 401, "pass_invalid", true},
		{"a secret for a pass", claim(token(g.secret)), 401, "pass_invalid", true},
		{"a pass with a letter changed", claim(token(g.pass[:len(g.pass)-2] + "AA")), 401, "pass_invalid", true},
		{"claim at no event", claim(func(c *call) { c.path = elsewhere }), 404, "no_such_event", true},

		{"join with a short secret", call{method: "POST", path: places, token: strings.Repeat("a", 21)}, 400, "bad_request", true},
		{"join with a long secret", call{method: "POST", path: places, token: strings.Repeat("a", 129)}, 400, "bad_request", true},
		{"join with a strange secret", call{method: "POST", path: places, token: strings.Repeat("a", 30) + "%"}, 400, "bad_request", true},
		{"place without ticket", call{method: "GET", path: places + "/me"}, 401, "token_missing", true},
		{"place by a pass", call{method: "GET", path: places + "/me", token: g.pass}, 401, "ticket_invalid", true},
		{"leave without ticket", call{method: "DELETE", path: places + "/me"}, 401, "token_missing", true},
		{"pass without ticket", call{method: "POST", path: places + "/me/pass"}, 401, "token_missing", true},
		{"pass for a ticket of nothing", call{method: "POST", path: places + "/me/pass", token: "AAAA"}, 401, "ticket_invalid", true},
		{"alive by a ticket", call{method: "POST", path: inside + "/alive", token: g.ticket}, 401, "pass_invalid", true},
		{"alive without pass", call{method: "POST", path: inside + "/alive"}, 401, "token_missing", true},
		{"gone with -1 wanted", call{method: "DELETE", path: inside, token: g.pass, body: `{"wanted":-1}`}, 400, "bad_request", false},
		{"gone with 1001 wanted", call{method: "DELETE", path: inside, token: g.pass, body: `{"wanted":1001}`}, 400, "bad_request", false},
		{"gone with half a seat wanted", call{method: "DELETE", path: inside, token: g.pass, body: `{"wanted":0.5}`}, 400, "bad_request", false},
		{"gone with more to say", call{method: "DELETE", path: inside, token: g.pass, body: `{"want":1}`}, 400, "bad_request", false},

		{"their order", call{method: "GET", path: theirs, token: g.ticket}, 404, "no_such_order", true},
		{"no order", call{method: "GET", path: absent, token: g.ticket}, 404, "no_such_order", true},
		{"an order of no id", call{method: "GET", path: "/v1/orders/1", token: g.ticket}, 404, "no_such_order", true},
		{"order without ticket", call{method: "GET", path: theirs}, 401, "token_missing", true},
		{"order by a ticket of nothing", call{method: "GET", path: theirs, token: "AAAA"}, 401, "ticket_invalid", true},
		{"cancel their order", call{method: "POST", path: theirs + "/cancel", token: g.ticket, key: "c"}, 404, "no_such_order", true},
		{"cancel no order", call{method: "POST", path: absent + "/cancel", token: g.ticket, key: "c"}, 404, "no_such_order", true},
		{"cancel without key", call{method: "POST", path: theirs + "/cancel", token: other.ticket}, 400, "key_missing", false},
		{"their attempt", call{method: "GET", path: "/v1/events/" + demotest.EventID + "/attempts/theirs", token: g.pass}, 404, "attempt_unknown", true},
		{"attempt with a bad escape", call{method: "GET", path: "/v1/events/" + demotest.EventID + "/attempts/a%20b", token: g.pass}, 400, "bad_request", true},
		{"pay their order", pay("POST", theirs+"/payments", g.ticket, "p"), 404, "no_such_order", true},
		{"pay no order", pay("POST", absent+"/payments", g.ticket, "p"), 404, "no_such_order", true},
		{"pay without key", pay("POST", theirs+"/payments", other.ticket, ""), 400, "key_missing", false},
		{"pay without ticket", pay("POST", theirs+"/payments", "", "p"), 401, "token_missing", true},
		{"notice that nobody signed", call{method: "POST", path: "/v1/provider/notices", body: `{"id":"evt_1"}`, base: h.Pay, header: map[string]string{"Stripe-Signature": "t=1,v1=00"}}, 400, "bad_signature", true},
		{"notice without signature", call{method: "POST", path: "/v1/provider/notices", body: `{"id":"evt_1"}`, base: h.Pay}, 400, "bad_signature", false},
		{"compressed notice", call{method: "POST", path: "/v1/provider/notices", body: `x`, base: h.Pay, header: map[string]string{"Content-Encoding": "gzip", "Stripe-Signature": "t=1,v1=00"}}, 415, "encoding_refused", false},

		{"verify nothing", call{method: "GET", path: "/v1/verify"}, 401, "token_missing", true},
		{"status of no event", call{method: "GET", path: "/v1/public/events/nowhere/status"}, 404, "no_such_event", true},
		{"seats of no event", call{method: "GET", path: "/v1/public/events/nowhere/availability"}, 404, "no_such_event", true},
		{"seats, as nothing that there is", call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/availability", header: map[string]string{"Accept-Encoding": "br, identity;q=0"}}, 406, "not_acceptable", true},
		{"status, as nothing that there is", call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status", header: map[string]string{"Accept-Encoding": "*;q=0"}}, 406, "not_acceptable", true},
		{"another seat map", call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/seatmap." + strings.Repeat("0", 64) + ".json"}, 404, "no_such_route", true},
		{"no route", call{method: "GET", path: "/v1/secrets"}, 404, "no_such_route", false},
		{"no method", call{method: "PUT", path: places}, 405, "method_not_allowed", false},
		{"the operators' route", call{method: "GET", path: "/v1/admin/events/" + demotest.EventID + "/line", token: h.AdminToken}, 404, "no_such_route", false},
	}
}

// Another's is answered as if there were none, to the letter.
func TestForeignIsAbsent(t *testing.T) {
	h := open(t, demo.Build{})
	mine, other := h.letIn(), h.letIn()
	o := h.order(h.want(h.claim(other, "theirs", named("A-1")), 201, ""))
	theirs, absent := "/v1/orders/"+o.Order.ID, "/v1/orders/"+uuid.NewString()
	attempt := "/v1/events/" + demotest.EventID + "/attempts/"
	for _, c := range []struct{ foreign, none call }{
		{call{method: "GET", path: theirs}, call{method: "GET", path: absent}},
		{call{method: "POST", path: theirs + "/cancel", key: "k"}, call{method: "POST", path: absent + "/cancel", key: "k"}},
		{call{method: "POST", path: theirs + "/payments", key: "k", base: h.Pay}, call{method: "POST", path: absent + "/payments", key: "k", base: h.Pay}},
		{call{method: "GET", path: attempt + "theirs"}, call{method: "GET", path: attempt + "none"}},
	} {
		c.foreign.token, c.none.token = mine.ticket, mine.ticket
		foreign, none := h.do(c.foreign), h.do(c.none)
		if foreign.status != 404 || foreign.String() != none.String() {
			t.Errorf("%s: foreign %s, absent %s", c.foreign.path, foreign, none)
		}
	}
	if got := h.order(h.do(call{method: "GET", path: theirs, token: other.pass})); got.Order.Status != "pending" {
		t.Errorf("their order is %q", got.Order.Status)
	}
}
