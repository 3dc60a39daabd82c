package ticket_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/ticket"
)

// door is an event with sold seats, and the keys of its codes.
type door struct {
	*orderstest.Hall
	t    *testing.T
	pool *pgxpool.Pool
	keys *ticket.Keys
}

func open(t *testing.T, seats int) *door {
	t.Helper()
	// What is told here is who is admitted, and not how fast.
	pool := pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 8, Lock: time.Minute, Statement: time.Minute, Idle: time.Minute}))
	return &door{orderstest.NewHall(t, pool, seats), t, pool, ring(t, newKey(t))}
}

func newKey(t testing.TB) []byte {
	t.Helper()
	key, err := ticket.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ring(t testing.TB, bundle ...[]byte) *ticket.Keys {
	t.Helper()
	keys, err := ticket.ParseKeys(slices.Concat(bundle...))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (d *door) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.pool.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

// sell has a holder buy n seats.
func (d *door) sell(holder string, n int) uuid.UUID {
	d.t.Helper()
	order := d.Order(d.t, holder, n)
	d.pay(order)
	return order
}

func (d *door) pay(order uuid.UUID) {
	d.t.Helper()
	d.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		SELECT gen_random_uuid(), id, 'stripe', 'pi_' || id, 'captured', amount_minor, currency, amount_minor, 'on_order', now() FROM orders WHERE id = $1`, order)
	d.exec(`UPDATE orders o SET status = 'paid', paid_at = now(), payment_id = p.id FROM payments p WHERE o.id = $1 AND p.order_id = o.id`, order)
}

// codes are those of the seats that an order has.
func (d *door) codes(order uuid.UUID) (codes []string) {
	d.t.Helper()
	rows, err := d.pool.Query(d.t.Context(), `SELECT pos, claimed_at FROM seats WHERE order_id = $1 ORDER BY pos`, order)
	if err != nil {
		d.t.Fatal(err)
	}
	var pos int
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&pos, &at}, func() error {
		codes = append(codes, d.sign(d.keys, ticket.Ticket{Event: d.Event, Seat: pos, Generation: ticket.Generation(order, at)}))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return codes
}

func (d *door) sign(keys *ticket.Keys, t ticket.Ticket) string {
	d.t.Helper()
	code, err := keys.Sign(t)
	if err != nil {
		d.t.Fatal(err)
	}
	return code
}

// refund confirms the refund of an order's first seat, as the outlet does: the seat
// goes back by GiveBack.
func (d *door) refund(ctx context.Context, order uuid.UUID) error {
	return pg.InTx(ctx, d.pool, func(tx pgx.Tx) error {
		var id string
		err := tx.QueryRow(ctx, `
			INSERT INTO refund_operations (id, order_id, payment_id, seat_id, reason, amount_minor, currency, request)
			SELECT 'refund:' || o.id || ':' || s.id, o.id, o.payment_id, s.id, 'requested', 2500, o.currency, ''
			FROM orders o JOIN seats s ON s.order_id = o.id WHERE o.id = $1 ORDER BY s.id LIMIT 1 RETURNING id`, order).Scan(&id)
		if err != nil {
			return err
		}
		if err := inventory.LockToGiveBack(ctx, tx, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE refund_operations SET status = 'confirmed', ended_at = now(), provider_refund_id = id WHERE id = $1`, id); err != nil {
			return err
		}
		back, err := inventory.GiveBack(ctx, tx, id)
		if err == nil && back != inventory.Returned {
			err = fmt.Errorf("the seat of %s is %s", id, back)
		}
		return err
	})
}

func (d *door) mustRefund(order uuid.UUID) {
	d.t.Helper()
	if err := d.refund(d.t.Context(), order); err != nil {
		d.t.Fatal(err)
	}
}

// scan shows a code at a gate.
func (d *door) scan(s ticket.Scan) (ticket.Recorded, ticket.Outcome) {
	d.t.Helper()
	r, out, err := d.record(s)
	if err != nil {
		d.t.Fatal(err)
	}
	return r, out
}

func (d *door) record(s ticket.Scan) (ticket.Recorded, ticket.Outcome, error) {
	if s.Gate == "" {
		s.Gate = "north"
	}
	if s.Device == "" {
		s.Device = "scanner-1"
	}
	s.By = "doors"
	return ticket.Record(d.t.Context(), d.pool, d.keys, d.Event, s)
}

func (d *door) want(s ticket.Scan, want ticket.Outcome, flaw ticket.Flaw) ticket.Recorded {
	d.t.Helper()
	r, out := d.scan(s)
	if out != want || r.Flaw != flaw {
		d.t.Errorf("scan %s: %s %s, want %s %s", s.ID, out, r.Flaw, want, flaw)
	}
	return r
}

// A code comes back as it was signed, is as small as it was designed, and its keys
// may be had from what is published.
func TestACodeComesBackAsSigned(t *testing.T) {
	private := newKey(t)
	keys := ring(t, private)
	public, err := ticket.ParseJWKS(keys.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []ticket.Ticket{
		{Event: "gala", Seat: 0, Generation: 0},
		{Event: strings.Repeat("x", 63), Seat: 1<<24 - 1, Generation: 1<<32 - 1},
		{Event: "gala-2", Seat: rand.IntN(1 << 24), Generation: rand.Uint32()},
	} {
		code, err := keys.Sign(want)
		if err != nil || len(code) != 122 {
			t.Fatalf("code of %d letters, %v", len(code), err)
		}
		if again, _ := keys.Sign(want); again != code {
			t.Error("a ticket has two codes")
		}
		for _, shown := range []string{code, strings.ToLower(code), " " + code[:60] + "-" + code[60:] + "\n"} {
			if got, flaw := public.Read(want.Event, shown); got != want || flaw != "" {
				t.Errorf("%q is %+v, %s; want %+v", shown, got, flaw, want)
			}
		}
		picture, err := ticket.Draw(code)
		if err != nil || picture.Size != 37+8 {
			t.Errorf("drawn in %d modules with its margin, %v; version 5 has 37", picture.Size, err)
		}
		if len(want.ID()) != 14 {
			t.Errorf("ID %s", want.ID())
		}
	}
	if public.CanSign() {
		t.Error("what is published signs")
	}
	if _, err := keys.Sign(ticket.Ticket{Event: "gala", Seat: 1 << 24}); err == nil {
		t.Error("a seat that no code can name has a code")
	}
}

// Whatever is not as it was signed is refused, and why is told: each letter counts.
func TestACodeIsRefusedWithAReason(t *testing.T) {
	keys, other := ring(t, newKey(t)), ring(t, newKey(t))
	of := ticket.Ticket{Event: "gala", Seat: 17, Generation: 7}
	code, err := keys.Sign(of)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Sign(of)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		event, code string
		want        ticket.Flaw
	}{
		"nothing":                  {"gala", "", ticket.Unreadable},
		"an address":               {"gala", "https://example.com/tickets/17", ticket.Unreadable},
		"too short":                {"gala", code[:121], ticket.Unreadable},
		"too long":                 {"gala", code + "AA", ticket.Unreadable},
		"another event's":          {"gala-2", code, ticket.OtherEvent},
		"signed by who knows whom": {"gala", foreign, ticket.UnknownKey},
	} {
		if _, flaw := keys.Read(c.event, c.code); flaw != c.want {
			t.Errorf("%s: %q, want %q", what, flaw, c.want)
		}
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	for i := range code {
		for _, l := range letters {
			if spoilt := code[:i] + string(l) + code[i+1:]; spoilt != code {
				if got, flaw := keys.Read("gala", spoilt); flaw == "" {
					t.Fatalf("letter %d changed to %c: it is %+v", i, l, got)
				}
			}
		}
	}
}

// Keys rotate: a code of the old one is good as long as its public half is in the
// ring, and is the same ticket as the new one's.
func TestKeysRotate(t *testing.T) {
	first, second := newKey(t), newKey(t)
	of := ticket.Ticket{Event: "gala", Seat: 3, Generation: 9}
	old, err := ring(t, first, second).Sign(of)
	if err != nil {
		t.Fatal(err)
	}
	turned := ring(t, second, first)
	renewed, err := turned.Sign(of)
	if err != nil || renewed == old {
		t.Fatalf("signed by the new key it is the same (%v)", err)
	}
	for _, code := range []string{old, renewed} {
		if got, flaw := turned.Read("gala", code); got.ID() != of.ID() || flaw != "" {
			t.Errorf("%+v, %s", got, flaw)
		}
	}
	if _, flaw := ring(t, second).Read("gala", old); flaw != ticket.UnknownKey {
		t.Errorf("without the old key: %q", flaw)
	}
	for what, bundle := range map[string][]byte{
		"nothing": nil, "a key twice": slices.Concat(first, first), "something else behind": append(slices.Clone(first), "x"...),
		"a key of another kind": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("x")}),
	} {
		if _, err := ticket.ParseKeys(bundle); err == nil {
			t.Errorf("%s is a ring", what)
		}
	}
	if mixed, err := ticket.ParseJWKS([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA"},` + strings.TrimPrefix(string(turned.JWKS()), `{"keys":[`))); err != nil {
		t.Errorf("keys of another kind beside ours: %v", err)
	} else if _, flaw := mixed.Read("gala", old); flaw != "" {
		t.Errorf("by a mixed set: %s", flaw)
	}
}

// Of a thousand scans of one code at once one is admitted; all others are told of
// that one.
func TestOneOfAThousandScansIsAdmitted(t *testing.T) {
	d := open(t, 1)
	code := d.codes(d.sell("ann", 1))[0]
	const n = 1000
	var mu sync.Mutex
	outcomes, firsts := map[ticket.Outcome]int{}, map[string]int{}
	var all sync.WaitGroup
	turns := make(chan struct{}, 32)
	for i := range n {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			r, out, err := d.record(ticket.Scan{ID: fmt.Sprint(i), Device: fmt.Sprint("scanner-", i%7), Code: code, Gate: fmt.Sprint("gate ", i%3)})
			if err != nil {
				t.Errorf("scan %d: %v", i, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[out]++
			if r.First != nil {
				firsts[r.First.Device+"/"+r.First.ID+"/"+r.First.Gate]++
			}
		})
	}
	all.Wait()
	if outcomes[ticket.Admitted] != 1 || outcomes[ticket.AlreadyIn] != n-1 || len(firsts) != 1 {
		t.Errorf("%v, told of %v; want 1 admitted and %d told of it", outcomes, firsts, n-1)
	}
}

// The same scan again is recorded once and answered the same, also when it comes
// many times at once; its name with something else is refused.
func TestTheSameScanAgainIsAnsweredTheSame(t *testing.T) {
	d := open(t, 2)
	codes := d.codes(d.sell("ann", 2))
	at := time.Now().Add(-time.Minute)
	s := ticket.Scan{ID: "one", Code: codes[0], ScannedAt: &at}
	first := d.want(s, ticket.Admitted, "")
	if !first.ScannedAt.Equal(at.Truncate(time.Microsecond)) || first.RecordedAt.Before(at) {
		t.Errorf("scanned %s, recorded %s", first.ScannedAt, first.RecordedAt)
	}
	d.want(ticket.Scan{ID: "two", Code: codes[0]}, ticket.AlreadyIn, "")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, out, err := d.record(s); err != nil || out != ticket.Admitted || !cmp.Equal(r, first) {
				t.Errorf("again: %s, %v (-first +again):\n%s", out, err, cmp.Diff(first, r))
			}
		})
	}
	all.Wait()
	for what, other := range map[string]ticket.Scan{
		"another code": {ID: "one", Code: codes[1], ScannedAt: &at}, "no code": {ID: "one", Code: "x", ScannedAt: &at},
		"another gate": {ID: "one", Code: codes[0], Gate: "south", ScannedAt: &at}, "let in": {ID: "one", Code: codes[0], ScannedAt: &at, LetIn: true},
	} {
		if _, out := d.scan(other); out != ticket.IDReused {
			t.Errorf("%s by the same name: %s", what, out)
		}
	}
	d.want(ticket.Scan{ID: "one", Device: "scanner-2", Code: codes[1]}, ticket.Admitted, "")
	if n := d.Count(t, `SELECT count(*) FROM scans`); n != 3 {
		t.Errorf("%d scans are recorded, want 3", n)
	}
}

// A refunded seat's code opens nothing from then on, in the transaction that gives
// it back; who buys the seat then has another code, which does.
func TestARefundedSeatsCodeOpensNothing(t *testing.T) {
	d := open(t, 1)
	ann := d.sell("ann", 1)
	former := d.codes(ann)[0]
	in := d.want(ticket.Scan{ID: "1", Code: former}, ticket.Admitted, "")
	d.mustRefund(ann)
	out := d.want(ticket.Scan{ID: "2", Code: former}, ticket.Revoked, "")
	if out.RevokedAt == nil || out.First == nil || out.First.ID != "1" || !out.First.ScannedAt.Equal(in.ScannedAt) {
		t.Errorf("revoked at %v, admitted before by %+v", out.RevokedAt, out.First)
	}
	ben := d.codes(d.sell("ben", 1))[0]
	if ben == former {
		t.Fatal("a seat that was sold anew has the former code")
	}
	d.want(ticket.Scan{ID: "3", Code: ben}, ticket.Admitted, "")
	d.want(ticket.Scan{ID: "4", Code: former}, ticket.Revoked, "")
	if n := d.Count(t, `SELECT count(*) FROM code_revocations`); n != 1 {
		t.Errorf("%d revocations, want 1", n)
	}
}

// What was never paid never had a code: its end revokes nothing. A code that is well
// signed and of no sale opens nothing either.
func TestAnUnpaidSeatOpensNothing(t *testing.T) {
	d := open(t, 2)
	order := d.Order(t, "ann", 1)
	code := d.codes(order)[0]
	d.want(ticket.Scan{ID: "1", Code: code}, ticket.NotPaid, "")
	d.Lapse(t, order)
	err := pg.InTx(t.Context(), d.pool, func(tx pgx.Tx) error {
		_, err := inventory.End(t.Context(), tx, []uuid.UUID{order}, inventory.Expired)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.want(ticket.Scan{ID: "2", Code: code}, ticket.NotValid, ticket.Unknown)
	d.want(ticket.Scan{ID: "3", Code: d.sign(d.keys, ticket.Ticket{Event: d.Event, Seat: 99})}, ticket.NotValid, ticket.Unknown)
	d.want(ticket.Scan{ID: "4", Code: "hello"}, ticket.NotValid, ticket.Unreadable)
	d.want(ticket.Scan{ID: "5", Code: d.sign(d.keys, ticket.Ticket{Event: "elsewhere"})}, ticket.NotValid, ticket.OtherEvent)
	if list, err := ticket.Revocations(t.Context(), d.pool, d.Event, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("revoked: %+v, %v", list, err)
	}
}

// A seat that is moved to another, and back again, has a new code each time.
func TestAMovedSeatHasANewCode(t *testing.T) {
	d := open(t, 2)
	order := d.sell("ann", 1)
	move := func(from, to string) string {
		t.Helper()
		m, err := inventory.MoveSeat(t.Context(), d.pool, inventory.Asker{By: "desk", Organiser: "house"}, d.Event, order, from, to)
		if err != nil || m.Moving != inventory.SeatMoved {
			t.Fatalf("from %s to %s: %s, %v", from, to, m.Moving, err)
		}
		return d.codes(order)[0]
	}
	was := d.codes(order)[0]
	there := move("seat-0", "seat-1")
	back := move("seat-1", "seat-0")
	d.want(ticket.Scan{ID: "1", Code: was}, ticket.Revoked, "")
	d.want(ticket.Scan{ID: "2", Code: there}, ticket.Revoked, "")
	d.want(ticket.Scan{ID: "3", Code: back}, ticket.Admitted, "")
}

// Two doors without a network let one code in. Whichever tells later is told when
// and where the first was, and the organiser sees it; so do they who was let in by a
// revoked code.
func TestTwoDoorsOfflineConflict(t *testing.T) {
	d := open(t, 2)
	order := d.sell("ann", 2)
	codes := d.codes(order)
	early, late := time.Now().Add(-time.Hour), time.Now().Add(-30*time.Minute)
	d.want(ticket.Scan{ID: "a1", Device: "a", Gate: "north", Code: codes[1], ScannedAt: &late, LetIn: true}, ticket.Admitted, "")
	r := d.want(ticket.Scan{ID: "b1", Device: "b", Gate: "south", Code: codes[1], ScannedAt: &early, LetIn: true}, ticket.AlreadyIn, "")
	if r.First == nil || r.First.Gate != "north" || r.First.Device != "a" || !r.First.ScannedAt.Equal(late.Truncate(time.Microsecond)) || !r.Conflict() {
		t.Errorf("told of %+v", r.First)
	}
	d.want(ticket.Scan{ID: "b2", Device: "b", Code: codes[1]}, ticket.AlreadyIn, "") // who was turned away is no conflict
	d.mustRefund(order)
	d.want(ticket.Scan{ID: "b3", Device: "b", Code: codes[0], ScannedAt: &early, LetIn: true}, ticket.Revoked, "")
	list, err := ticket.Conflicts(t.Context(), d.pool, d.Event, 0, 10)
	if err != nil || len(list) != 2 || list[0].ID != "b3" || list[1].ID != "b1" || list[1].First.ID != "a1" {
		t.Fatalf("conflicts %+v, %v", list, err)
	}
	if more, err := ticket.Conflicts(t.Context(), d.pool, d.Event, list[0].No, 10); err != nil || len(more) != 1 || more[0].ID != "b1" {
		t.Errorf("before the first: %+v, %v", more, err)
	}
}
