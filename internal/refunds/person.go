package refunds

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
	"waitroom/internal/notice"
)

// Verdict is what became of a person's word on an operation.
type Verdict string

// The verdicts.
const (
	Done        Verdict = "done"
	NoSuch      Verdict = "no_such_operation"
	NotTheirs   Verdict = "not_a_persons"   // it is not in a state in which a person decides
	AlreadyNext Verdict = "already_renewed" // another operation follows it already
	NotThis     Verdict = "refund_differs"  // the ledger knows that refund, and it did not give this back
	BackAlready Verdict = "money_is_back"   // the provider has a refund of the same, and it did not fail: a send would be the second
	ByHandToo   Verdict = "by_hand_too"     // somebody refunded of the payment by hand, and that may be this
)

// Push has an operation that a person holds tried again, through the same
// outlet: one look more, and if it finds nothing and the key still stands, one
// send more of the same bytes under the same key. What the provider has refunded
// under another operation's name, or somebody by hand and for a line that nobody
// knows, is not sent.
func Push(ctx context.Context, tx pgx.Tx, id, by, why string) (Verdict, error) {
	e, v, err := held(ctx, tx, id, by)
	if v != Done || err != nil {
		return v, err
	}
	if v, err := e.again(ctx, tx, id, e.amount, false); v != Done || err != nil {
		return v, err
	}
	if !e.Doubt { // no look comes before its send
		if beside, err := byHandBeside(ctx, tx, id); beside > 0 || err != nil {
			return ByHandToo, err
		}
	}
	if err := note(ctx, tx, id, by, "pushed", why); err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `
		UPDATE refund_operations SET status = CASE WHEN doubt THEN 'unknown' ELSE 'queued' END, pushed = true,
		  pushes = pushes + 1, next_at = clock_timestamp(), give_up_at = clock_timestamp() + $3::interval
		WHERE id = $1 AND status = $2`, id, e.Status, Promise)
	if err != nil {
		return "", fmt.Errorf("push %s: %w", id, err)
	}
	return Done, nil
}

// Refunded ends an operation by a person's word that the money is back, as the
// provider's refund that they found. A refund that the ledger knows has to be
// this one: of its payment, amount and currency, succeeded, and no other line's.
// So is an operation put right that a person had ended as not refunded, where the provider
// has told of that refund under its name since, and nothing follows it.
func Refunded(ctx context.Context, tx pgx.Tx, id, providerRefund, by, why string) (Verdict, error) {
	if providerRefund = strings.TrimSpace(providerRefund); providerRefund == "" {
		return "", errors.New("refunds: a refund that a person found has a name at the provider")
	}
	e, v, err := held(ctx, tx, id, by)
	if (e.Status == RejectedFor || e.Status == FailedLater) && err == nil {
		v, err = e.wronglyNot(ctx, tx, providerRefund)
	}
	if v != Done || err != nil {
		return v, err
	}
	var other bool
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM provider_refunds WHERE provider = $1 AND id = $2 AND NOT (
		  payment_id = $3 AND amount_minor = $4 AND currency = $5 AND status = 'succeeded'
		  AND split_part(coalesce(operation, $6), '#', 1) = split_part($6, '#', 1)))`,
		e.provider, providerRefund, e.payment, e.amount, e.currency, id).Scan(&other)
	if err != nil {
		return "", fmt.Errorf("refund %s: %w", providerRefund, err)
	}
	if other {
		return NotThis, nil
	}
	return Done, e.decide(ctx, tx, by, why, Step{Status: Confirmed, Refund: providerRefund, Outcome: PersonFound})
}

// wronglyNot is Done where the provider has told of that refund as the
// operation's, which was ended as not refunded, or as failed where the provider had
// denied it: no other that failed is told of as anything else after that.
func (e entry) wronglyNot(ctx context.Context, tx pgx.Tx, providerRefund string) (Verdict, error) {
	var told, this, followed bool
	err := tx.QueryRow(ctx, `
		SELECT count(*) > 0, count(*) FILTER (WHERE id = $3) > 0, EXISTS (SELECT FROM refund_operations WHERE parent = $2)
		FROM provider_refunds WHERE payment_id = $1 AND status <> 'failed' AND CASE WHEN $4 THEN id = $5 ELSE operation = $2 END`,
		e.payment, e.id, providerRefund, e.Status == FailedLater, e.refund).Scan(&told, &this, &followed)
	switch {
	case err != nil:
		return "", fmt.Errorf("what is told of %s: %w", e.id, err)
	case followed:
		return AlreadyNext, nil
	case !told:
		return NotTheirs, nil
	case !this:
		return NotThis, nil
	}
	return Done, nil
}

// NotRefunded ends an operation by a person's word that its money is not back
// and will not come by it. It is not tried again: what follows is another
// operation, by Renew. A confirmed one is ended so only where the provider, asked late,
// has denied it, and has told of it nowhere since: it failed then, as far as anybody knows.
func NotRefunded(ctx context.Context, tx pgx.Tx, id, by, why string) (Verdict, error) {
	e, v, err := held(ctx, tx, id, by)
	if e.Status == Confirmed && e.denied && err == nil {
		return Done, e.disown(ctx, tx, by, why)
	}
	if v != Done || err != nil {
		return v, err
	}
	return Done, e.decide(ctx, tx, by, why, Step{Status: RejectedFor, Outcome: "person_decided"})
}

// disown ends a confirmed operation whose refund the provider does not know. Its seat
// stays given back, as after any failure; its money is owed again.
func (e entry) disown(ctx context.Context, tx pgx.Tx, by, why string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO provider_refunds AS r (provider, id, payment_id, operation, amount_minor, currency, status, disowned)
		SELECT $1, $2, $3, CASE WHEN $4 THEN NULL ELSE $5 END, $6, $7, 'failed', true
		ON CONFLICT (provider, id) DO UPDATE SET status = 'failed', disowned = true, changed_at = now() WHERE r.status <> 'failed'`,
		e.provider, e.refund, e.payment, e.byOthers(), e.id, e.amount, e.currency)
	if err != nil {
		return fmt.Errorf("refund %s, which was denied: %w", e.refund, err)
	}
	return e.decide(ctx, tx, by, why, Step{Status: FailedLater, Outcome: "person_decided", Refund: e.refund})
}

func (e entry) decide(ctx context.Context, tx pgx.Tx, by, why string, s Step) error {
	if err := note(ctx, tx, e.id, by, "decided", string(s.Status)+": "+why); err != nil {
		return err
	}
	if err := settleItems(ctx, tx, e.id); err != nil { // what follows is listed anew
		return err
	}
	if err := settleItem(ctx, tx, differs, s.Refund); err != nil { // whose it is, they have said
		return err
	}
	s.Doubt, s.Detail = e.Doubt, why
	return e.record(ctx, tx, s, true)
}

// held locks an operation that a person holds, its line before it, and has the evidence name them.
func held(ctx context.Context, tx pgx.Tx, id, by string) (entry, Verdict, error) {
	if err := as(ctx, tx, by); err != nil {
		return entry{}, "", err
	}
	if err := inventory.LockToGiveBack(ctx, tx, id); err != nil {
		return entry{}, "", err
	}
	e, err := lockEntry(ctx, tx, id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return e, NoSuch, nil
	case err != nil:
		return e, "", err
	case e.Status != Manual:
		return e, NotTheirs, nil
	}
	return e, Done, nil
}

// Hold locks an operation and its payment, as whoever moves it does: until tx is
// over, what a person is shown of it stays so.
func Hold(ctx context.Context, tx pgx.Tx, id string) error {
	_, err := lockEntry(ctx, tx, id)
	return err
}

// Renew begins another operation for one that definitely did not refund, by a
// person's word: the same money, another key, and its parent's name. An
// operation is renewed once; what fails again is renewed in its turn. Nothing is
// renewed that the provider has refunded after all; where somebody refunded of its
// payment by hand, that may be this, and it is renewed only beside that, by the word
// of a person who knows of it.
func Renew(ctx context.Context, tx pgx.Tx, parent, by, why string, beside bool) (id string, v Verdict, err error) {
	if err := as(ctx, tx, by); err != nil {
		return "", "", err
	}
	e, err := lockEntry(ctx, tx, parent)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", NoSuch, nil
	case err != nil:
		return "", "", err
	case e.Status != RejectedFor && e.Status != FailedLater:
		return "", NotTheirs, nil
	}
	id = nextID(parent)
	if _, err := Newest(ctx, tx, id); err == nil {
		return id, AlreadyNext, nil
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return "", "", err
	}
	if v, err := e.again(ctx, tx, id, 0, beside); v != Done || err != nil {
		return "", v, err
	}
	tag, err := tx.Exec(ctx, `
		WITH renewed AS (
		  INSERT INTO refund_operations (id, order_id, payment_id, seat_id, parent, reason, amount_minor, currency, request, beside_minor)
		  SELECT $2, order_id, payment_id, seat_id, id, reason, amount_minor, currency,
		    convert_to(replace(convert_from(request, 'UTF8'), $3, $4), 'UTF8'), (SELECT by_hand_minor FROM money_left(payment_id))
		  FROM refund_operations WHERE id = $1
		  ON CONFLICT DO NOTHING RETURNING payment_id, amount_minor)
		UPDATE payments p SET refund_pending_minor = p.refund_pending_minor + renewed.amount_minor
		FROM renewed WHERE p.id = renewed.payment_id`, parent, id, inForm(parent), inForm(id))
	if err != nil {
		return "", "", fmt.Errorf("renew %s: %w", parent, err)
	}
	if tag.RowsAffected() == 0 {
		return id, AlreadyNext, nil
	}
	if err := note(ctx, tx, parent, by, "decided", "renewed as "+id+": "+why); err != nil {
		return "", "", err
	}
	if err := settleItems(ctx, tx, parent); err != nil {
		return "", "", err
	}
	return id, Done, notice.Write(ctx, tx, notice.Notice{
		Kind: "refund.queued", Event: e.event, Subject: id, Version: 1,
		Body: toldBody{id, e.order, e.payment, e.reason, e.amount, e.currency, Queued, ""},
	})
}

// nextID is the name of the operation after this one: …, …#2, …#3.
func nextID(id string) string {
	stem, nth, ok := strings.Cut(id, "#")
	n, err := strconv.Atoi(nth)
	if !ok || err != nil {
		n = 1
	}
	return stem + "#" + strconv.Itoa(n+1)
}
