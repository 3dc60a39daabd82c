package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/ticket"
)

// A code is checked by a file of keys and a file of the feed, with no server at hand.
func TestACodeIsCheckedOffline(t *testing.T) {
	w := waitctl{T: t}
	keys, _ := codeKeys(t)
	order, taken := uuid.New(), time.Now()
	of := ticket.Ticket{Event: "gala", Seat: 12, Generation: ticket.Generation(order, taken)}
	code, err := keys.Sign(of)
	if err != nil {
		t.Fatal(err)
	}
	set := w.file("keys.json", string(keys.JWKS()))
	verify := func(code int, says string, args ...string) {
		t.Helper()
		w.want(code, says, append([]string{"tickets", "verify", "--event", "gala", "--keys", set}, args...)...)
	}
	verify(0, "ticket "+of.ID()+" of gala, seat 12", code)
	verify(0, "signed by these keys\n", strings.ToLower(code))
	empty := w.file("empty.json", `{"revocations":[],"next":0,"more":false}`)
	feed := w.file("feed.json", `{"revocations":[{"no":1,"ticket":"00000000000000","seat":"x","at":"2026-01-01T00:00:00Z"}],"next":1,"more":true}
		{"revocations":[{"no":2,"ticket":"`+of.ID()+`","seat":"y","at":"2026-02-03T04:05:06Z"}],"next":2,"more":false}`)
	verify(0, "not revoked as far as this feed goes", code, "--revoked", empty)
	verify(2, "revoked 2026-02-03T04:05:06Z", code, "--revoked", feed)
	verify(2, "its signature is wrong", code[:100]+"AAAA"+code[104:])
	verify(2, "no code of a seat", "hello")
	w.want(2, "another event's", "tickets", "verify", code, "--event", "gala-2", "--keys", set)
	other, _ := codeKeys(t)
	w.want(2, "none of these keys", "tickets", "verify", code, "--event", "gala", "--keys", w.file("other.json", string(other.JWKS())))
}

// A feed that is none (a file that stayed empty, a refusal that was saved as one), or
// whose end is missing, tells of no code that it was not revoked.
func TestWhatIsNoFeedTellsOfNothing(t *testing.T) {
	w := waitctl{T: t}
	keys, _ := codeKeys(t)
	code, err := keys.Sign(ticket.Ticket{Event: "gala", Seat: 12, Generation: ticket.Generation(uuid.New(), time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	set := w.file("keys.json", string(keys.JWKS()))
	page := `{"revocations":[{"no":1,"ticket":"00000000000000","seat":"x","at":"2026-01-01T00:00:00Z"}],"next":1,"more":true}`
	for feed, says := range map[string]string{
		``:   "has no last page",
		`{}`: "is no feed of revocations",
		`{"revocations":null,"next":0,"more":false}`:                                              "is no feed of revocations",
		`{"code":"token_missing","status":401,"title":"No key","type":"/problems/token_missing"}`: "is no feed of revocations",
		page:        "has no last page",
		page + `{}`: "is no feed of revocations",
	} {
		w.want(2, says, "tickets", "verify", "--event", "gala", "--keys", set, code, "--revoked", w.file("feed.json", feed))
	}
}

func codeKeys(t *testing.T) (*ticket.Keys, string) {
	t.Helper()
	pem, err := ticket.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ticket.ParseKeys(pem)
	if err != nil {
		t.Fatal(err)
	}
	return keys, string(pem)
}

// A scan at the operator's own desk is one like any other: admitted once, the same
// name again the same, then told of the first.
func TestAScanIsRecordedByHand(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "1800 seats", "event", "create", "-f", "../../examples/event.yaml")
	keys, pem := codeKeys(t)
	w.want(2, "SEAT_CODE_KEYS", "scan", "spring-gala", "x")
	t.Setenv("SEAT_CODE_KEYS", pem)
	w.want(2, "not_valid: it is no code of a seat", "scan", "spring-gala", "x")
	order := uuid.New()
	for _, sql := range []string{
		`INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ('spring-gala', 'ann', 1, 4)`,
		`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
			SELECT '` + order.String() + `', id, 'ann', 'ann', 1, 0, 1, 'a', sha256('x'), 1, 100, currency, now() FROM events`,
		`UPDATE seats SET order_id = '` + order.String() + `', claimed_at = now() WHERE id = (SELECT min(id) FROM seats WHERE NOT held_back)`,
		`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
			SELECT gen_random_uuid(), id, 'p', 'pi', 'captured', 100, currency, 100, 'on_order', now() FROM orders`,
		`UPDATE orders SET status = 'paid', paid_at = now(), payment_id = (SELECT id FROM payments)`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	of, taken := ticket.Ticket{Event: "spring-gala"}, time.Time{}
	if err := w.pool.QueryRow(t.Context(), `SELECT pos, claimed_at FROM seats WHERE order_id IS NOT NULL`).Scan(&of.Seat, &taken); err != nil {
		t.Fatal(err)
	}
	of.Generation = ticket.Generation(order, taken)
	code, err := keys.Sign(of)
	if err != nil {
		t.Fatal(err)
	}
	w.want(0, "admitted: ", "scan", "spring-gala", code, "--id", "one", "--gate", "north")
	w.want(0, "admitted: ", "scan", "spring-gala", code, "--id", "one", "--gate", "north")
	w.want(2, "already_in", "scan", "spring-gala", code, "--id", "two", "--gate", "south")
	w.want(2, "at north, by waitctl", "scan", "spring-gala", code)
	w.want(2, "used the name one for another scan", "scan", "spring-gala", code, "--id", "one", "--gate", "south")
	if _, err := w.pool.Exec(t.Context(), `UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE order_id IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	w.want(2, "revoked 20", "scan", "spring-gala", code)
	w.want(0, "1\t"+of.ID()+"\t", "tickets", "revocations", "spring-gala")
	w.want(0, "", "tickets", "revocations", "spring-gala", "--after", "1")
	w.want(0, "", "tickets", "conflicts", "spring-gala")
}
