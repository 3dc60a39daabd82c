package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Money is where all that the provider captured is, in minor units.
type Money struct {
	Currency   string `json:"currency"`
	Captured   int64  `json:"captured"`
	OnOrders   int64  `json:"on_orders"`
	Refunded   int64  `json:"refunded"`
	OnItsWay   int64  `json:"on_its_way_back"`
	WithPeople int64  `json:"with_people"`
	Nowhere    int64  `json:"nowhere"`
}

// ourPayment is a payment as our rows have it.
type ourPayment struct {
	id, order          string
	currency           string
	captured, refunded int64
	told               int64 // the sum that the provider said it refunded of it, where a person has that, or its minutes are not over
	onOrder            bool  // it pays a paid order
	person             bool  // a person has it, or had it and decided or resolved it by name
	unknown            bool  // a person has it, for nobody could say what became of it
}

// operation is a refund as our rows have it, with the calls that were made.
type operation struct {
	id, event, payment, status, refund string
	amount                             int64
	young                              bool // its promise is not over
	sent, looked                       int  // calls that left
	maySent, mayLooked                 int  // of which nobody knows whether they did
}

// open is an operation that may still send its money on its way.
func (o operation) open() bool {
	return o.status == "queued" || o.status == "submitted" || o.status == "unknown"
}

// books is what the provider knows beside what we believe.
type books struct {
	theirs   map[string]theirPayment // of the event, by the provider's name
	ours     map[string]ourPayment
	ops      map[string]operation     // of all events, by name
	opsOf    map[string][]operation   // by payment
	refunds  map[string][]theirRefund // by payment
	elsewise map[string]bool          // payments that have no row, and that a person or a waiting notice has
	told     map[string]bool          // refunds that a person was told of, and has, or resolved by name

	stands, back, one Check
	money             map[string]*Money
}

// ledger holds our rows against the provider's ledger and log.
func (r *Report) ledger(ctx context.Context, tx pgx.Tx, s Sources) error {
	if s.Ledger == nil || s.Requests == nil {
		r.Missing = append(r.Missing, "the provider's ledger and requests (what it knows of the money, P5 and P11)")
		return nil
	}
	l, err := readLedger(s.Ledger)
	if err != nil {
		return err
	}
	a, err := readRequests(s.Requests, l)
	if err != nil {
		return err
	}
	b, err := readBooks(ctx, tx, s.Event, l)
	if err != nil {
		return err
	}
	b.judge(l, s.Event)
	r.Money = slices.SortedFunc(maps.Values(b.money), func(a, b *Money) int { return cmp.Compare(a.Currency, b.Currency) })
	r.add(b.stands, b.back, b.one)
	r.add(a.judge(b.ops, s.Event)...)
	return nil
}

func readBooks(ctx context.Context, tx pgx.Tx, event string, l ledger) (*books, error) {
	b := &books{
		theirs: map[string]theirPayment{}, opsOf: map[string][]operation{}, refunds: map[string][]theirRefund{}, money: map[string]*Money{},
		stands: Check{Promise: "P5", Name: "every captured cent, by the provider's ledger"},
		back:   Check{Promise: "P5", Name: "what went back, by the provider's ledger"},
		one:    Check{Promise: "P11", Name: "one refund, by the provider's ledger"},
	}
	var err error
	if b.ours, err = readPayments(ctx, tx, event); err != nil {
		return nil, err
	}
	if b.elsewise, err = readElsewise(ctx, tx); err != nil {
		return nil, err
	}
	if b.told, err = readTold(ctx, tx); err != nil {
		return nil, err
	}
	if b.ops, err = readOperations(ctx, tx); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(b.ops)) {
		b.opsOf[b.ops[name].payment] = append(b.opsOf[b.ops[name].payment], b.ops[name])
	}
	for _, p := range l.Payments {
		if _, ours := b.ours[p.ID]; ours || p.Metadata.Event == event {
			b.theirs[p.ID] = p
		}
	}
	for _, re := range l.Refunds {
		b.refunds[re.Payment] = append(b.refunds[re.Payment], re)
	}
	return b, nil
}

func readPayments(ctx context.Context, tx pgx.Tx, event string) (map[string]ourPayment, error) {
	rows, err := tx.Query(ctx, `
		SELECT p.provider_payment_id, p.id, p.order_id, p.currency, p.captured_minor, p.refunded_minor,
		  CASE WHEN p.told_at > now() - interval '6 minutes' OR EXISTS (SELECT FROM human_list h
		    WHERE h.kind = 'refund_by_hand' AND h.subject = p.provider_payment_id AND (h.resolved_at IS NULL
		      OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did = 'resolved' AND n.by NOT LIKE '(%'))) THEN p.told_refunded_minor ELSE 0 END,
		  coalesce(p.stands = 'on_order' AND o.status = 'paid' AND o.payment_id = p.id, false),
		  EXISTS (SELECT FROM human_list h LEFT JOIN refund_operations f ON f.id = h.operation
		    WHERE (h.payment_id = p.id OR f.payment_id = p.id) AND (h.resolved_at IS NULL OR p.stands = 'human'
		      OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did = 'resolved' AND n.by NOT LIKE '(%'))),
		  p.status <> 'captured' AND EXISTS (SELECT FROM human_list h WHERE h.kind = 'payment_unknown' AND h.payment_id = p.id AND h.resolved_at IS NULL)
		FROM payments p JOIN orders o ON o.id = p.order_id
		WHERE o.event_id = $1 AND p.provider_payment_id IS NOT NULL`, event)
	if err != nil {
		return nil, fmt.Errorf("audit: payments: %w", err)
	}
	out := map[string]ourPayment{}
	var id string
	var p ourPayment
	_, err = pgx.ForEachRow(rows, []any{&id, &p.id, &p.order, &p.currency, &p.captured, &p.refunded, &p.told, &p.onOrder, &p.person, &p.unknown}, func() error { out[id] = p; return nil })
	return out, err
}

// readElsewise finds the money whose order we do not know: a person has it, or
// its notice is tried again.
func readElsewise(ctx context.Context, tx pgx.Tx) (map[string]bool, error) {
	rows, err := tx.Query(ctx, `
		SELECT subject FROM human_list WHERE kind IN ('unknown_order', 'wrong_order', 'unreadable')
		UNION SELECT object_id FROM provider_notices WHERE status = 'waiting'`)
	if err != nil {
		return nil, fmt.Errorf("audit: human list: %w", err)
	}
	out := map[string]bool{}
	var id string
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { out[id] = true; return nil })
	return out, err
}

// readTold finds the refunds of no operation of ours that a person was told of.
func readTold(ctx context.Context, tx pgx.Tx) (map[string]bool, error) {
	rows, err := tx.Query(ctx, `
		SELECT h.subject FROM human_list h WHERE h.kind IN ('refund_by_hand', 'refund_differs') AND (h.resolved_at IS NULL
		  OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did = 'resolved' AND n.by NOT LIKE '(%'))`)
	if err != nil {
		return nil, fmt.Errorf("audit: refunds that persons were told of: %w", err)
	}
	out := map[string]bool{}
	var id string
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { out[id] = true; return nil })
	return out, err
}

func readOperations(ctx context.Context, tx pgx.Tx) (map[string]operation, error) {
	rows, err := tx.Query(ctx, `
		SELECT f.id, o.event_id, coalesce(p.provider_payment_id, ''), f.status, coalesce(f.provider_refund_id, ''), f.amount_minor,
		  f.give_up_at > now() - interval '5 seconds' - (SELECT call_limit FROM outlet_quota), c.sent, c.looked, c.may_sent, c.may_looked
		FROM refund_operations f JOIN orders o ON o.id = f.order_id JOIN payments p ON p.id = f.payment_id CROSS JOIN LATERAL (
		  SELECT count(*) FILTER (WHERE verb = 'create' AND wrote > 0) AS sent, count(*) FILTER (WHERE verb <> 'create' AND wrote > 0) AS looked,
		    count(*) FILTER (WHERE verb = 'create' AND lost) AS may_sent, count(*) FILTER (WHERE verb <> 'create' AND lost) AS may_looked
		  FROM (SELECT verb, wrote, finished_at IS NULL OR outcome = 'lost' AS lost FROM refund_calls WHERE operation = f.id) calls) c`)
	if err != nil {
		return nil, fmt.Errorf("audit: refund operations: %w", err)
	}
	out := map[string]operation{}
	var o operation
	_, err = pgx.ForEachRow(rows, []any{
		&o.id, &o.event, &o.payment, &o.status, &o.refund, &o.amount, &o.young, &o.sent, &o.looked, &o.maySent, &o.mayLooked,
	}, func() error { out[o.id] = o; return nil })
	return out, err
}

// judge goes through all money that either side knows of.
func (b *books) judge(l ledger, event string) {
	for _, id := range slices.Sorted(maps.Keys(b.ours)) {
		if _, known := b.theirs[id]; !known && b.ours[id].captured > 0 {
			b.stands.Counted++
			b.stands.fail("payment %s: we count %d, the provider knows nothing of it", id, b.ours[id].captured)
		}
	}
	for _, p := range l.Payments {
		if _, of := b.theirs[p.ID]; of {
			b.payment(p, event)
		}
	}
}

// same fails where the provider has a payment of ours in another currency than we
// count, or as another's: of another event, order or payment. What a person has for
// that is with them. A payment that names nothing but its event names no other.
func (b *books) same(p theirPayment, us ourPayment, event string) {
	if us.captured > 0 && !strings.EqualFold(p.Currency, us.currency) {
		b.stands.fail("payment %s: the provider captured %s, we count %s", p.ID, strings.ToUpper(p.Currency), us.currency)
	}
	of := p.Metadata
	if !us.person && (of.Event != event || of.Order != "" && of.Order != us.order || of.Payment != "" && of.Payment != us.id) {
		b.stands.fail("payment %s: it is of event %q, order %q, payment %q at the provider, and of %q, %q, %q by our rows",
			p.ID, of.Event, of.Order, of.Payment, event, us.order, us.id)
	}
}

// payment finds each cent that was captured in one place, and holds what went
// back against our count of it.
func (b *books) payment(p theirPayment, event string) {
	us, known := b.ours[p.ID]
	captured := minor(p.Captured, p.Currency)
	if captured == 0 && us.captured == 0 {
		return
	}
	b.stands.Counted++
	m := b.of(p.Currency)
	m.Captured += captured
	if !known {
		m.place(captured, false, b.elsewise[p.ID])
		if !b.elsewise[p.ID] {
			b.stands.fail("payment %s: the provider captured %d, and nobody knows of it", p.ID, captured)
		}
		return
	}
	b.same(p, us, event)
	if us.captured != captured && !us.unknown {
		b.stands.fail("payment %s: the provider captured %d, we count %d", p.ID, captured, us.captured)
	}
	back, way, late, untold := b.flow(p.ID)
	left := captured - back - way
	m.Refunded, m.OnItsWay = m.Refunded+back, m.OnItsWay+way
	m.place(left, us.onOrder, us.person)
	if left < 0 || left > 0 && !us.onOrder && !us.person {
		b.stands.fail("payment %s: of %d captured %d went back, %d is on its way, and %d is nowhere", p.ID, captured, back, way, left)
	}
	if us.unknown { // what went back of it is for who finds out
		return
	}
	if untold > 0 {
		b.back.Counted++
		b.back.fail("payment %s: %d go back of it, which is no operation's, and nobody was told", p.ID, untold)
	}
	if back > 0 || us.refunded > 0 {
		b.back.Counted++
		if us.refunded+late != back {
			b.back.fail("payment %s: the provider refunded %d, we count %d, and %d is still to be found out", p.ID, back, us.refunded, late)
		}
	}
}

// flow is what went back of a payment, what is on its way, how much of what
// went back our rows may not know yet, and how much of what is on its way is no
// operation's, and was told to nobody.
func (b *books) flow(payment string) (back, way, late, untold int64) {
	found := map[string]bool{} // refunds that an operation of ours is
	for _, o := range b.opsOf[payment] {
		theirs := b.made(o)
		for _, re := range theirs {
			found[re.ID] = true
			if re.came() && (o.open() || o.status == "pending" || o.status == "manual") {
				late += minor(re.Amount, re.Currency)
			}
		}
		b.fits(o, theirs)
		if len(theirs) == 0 && o.open() && o.young {
			way += o.amount
		}
	}
	var unnamed, named int64 // by hand: told as a part of a sum at most, and what that sum has beside them
	for _, re := range b.refunds[payment] {
		amount := minor(re.Amount, re.Currency)
		switch {
		case re.came() && !found[re.ID] && !b.told[re.ID]:
			back, unnamed = back+amount, unnamed+amount
		case re.came():
			back, named = back+amount, named+amount
			if !found[re.ID] { // by hand, and a person was told
				late += amount
			}
		case re.goes():
			way += amount
			if !found[re.ID] && !b.told[re.ID] {
				untold += amount
			}
		}
	}
	// Of what nobody named, no more was told than the sum has beside what was named.
	beyond := max(0, b.ours[payment].told-named)
	late += min(unnamed, beyond)
	return back, way, late, max(0, untold-max(0, beyond-unnamed))
}

// made are the refunds that an operation is at the provider: by its name, or by
// the name that we know it under, where somebody made it by hand. What a person
// ended the next operation as is that one's, whoever's name it has.
func (b *books) made(o operation) (out []theirRefund) {
	for _, re := range b.refunds[o.payment] {
		if re.ID == o.refund || re.Metadata.Operation == o.id && !b.anothers(o, re) {
			out = append(out, re)
		}
	}
	return out
}

// anothers holds where an operation of the same money was confirmed as the refund.
func (b *books) anothers(o operation, re theirRefund) bool {
	for _, other := range b.opsOf[o.payment] {
		if other.id != o.id && other.status == "confirmed" && other.refund == re.ID && sameMoney(other.id, o.id) {
			return true
		}
	}
	return false
}

// sameMoney holds for operations of which one follows the other: …, …#2, …#3.
func sameMoney(a, b string) bool {
	first, _, _ := strings.Cut(a, "#")
	second, _, _ := strings.Cut(b, "#")
	return first == second
}

// fits holds one operation against its refund: there is one at most, under the
// operation's own key, of its amount; and where the operation has its end, it is
// the provider's too.
func (b *books) fits(o operation, theirs []theirRefund) {
	b.one.Counted++
	if len(theirs) > 1 {
		b.one.fail("%s: the provider made %d refunds of it", o.id, len(theirs))
	}
	var came, goes bool
	for _, re := range theirs {
		came, goes = came || re.came(), goes || re.goes()
		if re.Metadata.Operation != "" && (re.Key != re.Metadata.Operation || !sameMoney(re.Key, o.id) || minor(re.Amount, re.Currency) != o.amount) {
			b.one.fail("%s of %d: the provider's %s is of %d under the key %q", o.id, o.amount, re.ID, re.Amount, re.Key)
		}
	}
	if o.status == "confirmed" && !came || o.status == "pending" && len(theirs) == 0 ||
		(o.status == "rejected" || o.status == "failed_later") && (came || goes) {
		b.one.fail("%s is %s; at the provider it came: %t, is on its way: %t", o.id, o.status, came, goes)
	}
}

func (b *books) of(currency string) *Money {
	code := strings.ToUpper(currency)
	if b.money[code] == nil {
		b.money[code] = &Money{Currency: code}
	}
	return b.money[code]
}

// place counts what is left of a payment where it stands.
func (m *Money) place(left int64, onOrder, person bool) {
	switch {
	case onOrder:
		m.OnOrders += left
	case person:
		m.WithPeople += left
	default:
		m.Nowhere += left
	}
}

func (m Money) String() string {
	s := fmt.Sprintf("%d %s captured = %d on orders + %d refunded + %d on its way back + %d with people",
		m.Captured, m.Currency, m.OnOrders, m.Refunded, m.OnItsWay, m.WithPeople)
	if m.Nowhere != 0 {
		s += fmt.Sprintf(" + %d NOWHERE", m.Nowhere)
	}
	return s
}
