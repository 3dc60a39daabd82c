package support

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// Do is what a person does about an item.
type Do string

// The deeds.
const (
	Take        Do = "take"
	Note        Do = "note"
	Resolve     Do = "resolve"
	Push        Do = "push"               // tried again, through the same outlet
	Refunded    Do = "refunded"           // the money is back, as the provider's refund that they found
	NotRefunded Do = "not_refunded"       // it is not, and will not come by this operation
	Renew       Do = "renew"              // another operation, for one that did not refund
	RenewBeside Do = "renew_all_the_same" // the same, by who knows that a part of the payment was refunded by hand, and that it was not this
	Reopen      Do = "reopen"             // it was resolved, and there is more to do
	LookAgain   Do = "look_again"         // the provider is asked anew what became of a payment
	GiveBack    Do = "give_back"          // the seats of an order whose whole payment went back by hand
)

// Deeds are all that there are.
func Deeds() []Do {
	return []Do{Take, Note, Resolve, Push, Refunded, NotRefunded, Renew, RenewBeside, Reopen, LookAgain, GiveBack}
}

// Deed is a person's.
type Deed struct {
	Item      int64
	Organiser string // "": whoever's
	By        string
	Do        Do
	Why       string
	Refund    string // of Refunded: the provider's name of it
	// Attempt names the deed: the same again is done already, and does nothing.
	// "": it is not remembered, and a note said twice is two notes.
	Attempt string
}

// Verdict is what became of a deed.
type Verdict string

// The verdicts.
const (
	Done         Verdict = "done"
	NoSuchItem   Verdict = "no_such_item"
	NotNow       Verdict = "not_now" // the item's state does not allow it; Can says what it allows
	WhyMissing   Verdict = "why_missing"
	NameMissing  Verdict = "refund_missing" // Refunded without the provider's name of it, or with what is none
	NoSuchDeed   Verdict = "no_such_deed"
	NameTaken    Verdict = "refund_taken"   // that refund is another operation's
	NotThis      Verdict = "refund_differs" // the ledger knows that refund, and it did not give this back
	ByHandToo    Verdict = "by_hand_too"    // somebody refunded of the payment by hand, and that may be this
	AlreadyAgain Verdict = "already_renewed"
	KeyReused    Verdict = "key_reused" // the attempt was another deed
)

// mostName is how long a provider's name of a refund is at most.
const mostName = 255

// Check says what a deed lacks, before anybody looks at the item.
func (d Deed) Check() Verdict {
	switch {
	case !slices.Contains(Deeds(), d.Do):
		return NoSuchDeed
	case d.Do != Take && strings.TrimSpace(d.Why) == "":
		return WhyMissing
	case d.Do == Refunded && (strings.TrimSpace(d.Refund) == "" || len(d.Refund) > mostName):
		return NameMissing
	}
	return Done
}

// Act does it. What an operation becomes by it is internal/refunds' alone to
// move; who did it, when and why stands in the history.
func Act(ctx context.Context, pool *pgxpool.Pool, d Deed) (v Verdict, err error) {
	if v = d.Check(); v != Done {
		return v, nil
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if v, err = d.first(ctx, tx); v == Done && err == nil {
			v, err = d.act(ctx, tx)
		}
		if v != Done && err == nil {
			err = errNotDone
		}
		return err
	})
	if errors.Is(err, errNotDone) {
		err = nil
	}
	if v == wasDone {
		v = Done
	}
	if err != nil {
		return "", fmt.Errorf("human list: %s %d: %w", d.Do, d.Item, err)
	}
	return v, nil
}

// errNotDone undoes whatever a deed began with, its attempt included: asked again
// under the same name it may be done.
var errNotDone = errors.New("not done")

// wasDone is Done, and nothing is left to do.
const wasDone Verdict = "was_done"

// first remembers the deed's attempt, or finds it: two at once take turns here.
func (d Deed) first(ctx context.Context, tx pgx.Tx) (Verdict, error) {
	request := sha256.Sum256(fmt.Appendf(nil, "human list %d %q %q %q %q", d.Item, d.By, d.Do, d.Why, d.Refund))
	attempt := organiser.Attempt{Organiser: d.Organiser, Key: d.Attempt, Request: request}
	before, err := attempt.Begin(ctx, tx)
	switch {
	case err != nil:
		return "", err
	case before.Reused:
		return KeyReused, nil
	case before.Known:
		return wasDone, nil
	}
	return Done, attempt.End(ctx, tx, Done)
}

func (d Deed) act(ctx context.Context, tx pgx.Tx) (Verdict, error) {
	if err := as(ctx, tx, d.By); err != nil {
		return "", err
	}
	i, found, err := d.item(ctx, tx)
	switch {
	case err != nil:
		return "", err
	case !found:
		return NoSuchItem, nil
	case i.besideByHand(d.Do):
		return ByHandToo, nil
	case !slices.Contains(i.Can(), d.Do):
		return NotNow, nil
	}
	var v refunds.Verdict
	switch d.Do {
	case Take:
		return d.moved(ctx, tx, `UPDATE human_list SET owner = $2 WHERE id = $1 AND resolved_at IS NULL`, d.By)
	case Note:
		return Done, d.note(ctx, tx)
	case Resolve:
		if err := d.note(ctx, tx); err != nil {
			return "", err
		}
		if err := d.leaveUnheard(ctx, tx, i); err != nil {
			return "", err
		}
		// An operation that a person holds is not resolved by a word on its item.
		return d.moved(ctx, tx, `UPDATE human_list h SET resolved_at = now() WHERE id = $1 AND resolved_at IS NULL
			AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.id = h.operation AND f.status = $2)`, refunds.Manual)
	case Reopen:
		if err := d.note(ctx, tx); err != nil {
			return "", err
		}
		return d.moved(ctx, tx, `UPDATE human_list SET resolved_at = NULL, opened_at = now(), owner = $2 WHERE id = $1 AND resolved_at IS NOT NULL`, d.By)
	case LookAgain:
		return d.lookAgain(ctx, tx)
	case Push:
		v, err = refunds.Push(ctx, tx, i.Operation, d.By, d.Why)
	case Refunded:
		return d.refunded(ctx, tx, i.Operation)
	case NotRefunded:
		v, err = refunds.NotRefunded(ctx, tx, i.Operation, d.By, d.Why)
	case GiveBack:
		v, err = refunds.GiveSeatsBack(ctx, tx, i.ID, *i.Order, *i.Payment, d.By, d.Why)
	case Renew, RenewBeside:
		_, v, err = refunds.Renew(ctx, tx, i.Operation, d.By, d.Why, d.Do == RenewBeside)
	}
	return verdictOf(v), err
}

// item reads what the deed is about. To resolve it, its operation is held first:
// what becomes that of a person meanwhile is listed before, and seen, or after, and
// opens the item again.
func (d Deed) item(ctx context.Context, tx pgx.Tx) (i Item, found bool, err error) {
	i, _, found, err = FindItem(ctx, tx, d.Organiser, d.Item)
	if d.Do != Resolve || i.Operation == "" || err != nil {
		return i, found, err
	}
	if err := refunds.Hold(ctx, tx, i.Operation); err != nil {
		return i, found, err
	}
	i, _, found, err = FindItem(ctx, tx, d.Organiser, d.Item)
	return i, found, err
}

func verdictOf(v refunds.Verdict) Verdict {
	switch v {
	case refunds.Done:
		return Done
	case refunds.AlreadyNext:
		return AlreadyAgain
	case refunds.ByHandToo:
		return ByHandToo
	case refunds.NotThis:
		return NotThis
	}
	return NotNow // another was faster
}

// refunded takes a person's word. A refund is one operation's; the column's
// UNIQUE is the backstop.
func (d Deed) refunded(ctx context.Context, tx pgx.Tx, operation string) (Verdict, error) {
	name, taken := strings.TrimSpace(d.Refund), false
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM refund_operations WHERE provider_refund_id = $1 AND id <> $2)`, name, operation).Scan(&taken)
	if err != nil || taken {
		return NameTaken, err
	}
	v, err := refunds.Refunded(ctx, tx, operation, name, d.By, d.Why)
	return verdictOf(v), err
}

// moved is one guarded move of the item's row.
func (d Deed) moved(ctx context.Context, tx pgx.Tx, move string, with any) (Verdict, error) {
	tag, err := tx.Exec(ctx, move, d.Item, with)
	if err != nil {
		return "", err
	}
	if tag.RowsAffected() == 0 {
		return NotNow, nil
	}
	return Done, nil
}

func (d Deed) note(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `INSERT INTO human_notes (item, by, did, note) VALUES ($1, $2, 'noted', left($3, 2000))`, d.Item, d.By, d.Why)
	return err
}

// lookAgain has the sweep ask anew, by the same looks as after an order's end: what it
// finds out takes the item off the list, and what it cannot leaves it there. An opening
// whose answer was never had cannot be had again by now: it is searched for.
func (d Deed) lookAgain(ctx context.Context, tx pgx.Tx) (Verdict, error) {
	v, err := d.moved(ctx, tx, `
		UPDATE payments p SET look_at = now(), unknowns = 0,
		  lost_at = CASE WHEN p.provider_payment_id IS NULL THEN coalesce(p.lost_at, now()) ELSE p.lost_at END
		FROM human_list h WHERE h.id = $1 AND h.kind = $2 AND h.resolved_at IS NULL AND p.id = h.payment_id
		  AND p.status IN ('opening', 'open', 'failed') AND p.look_at IS NULL`, "payment_unknown")
	if v != Done || err != nil {
		return v, err
	}
	return Done, d.note(ctx, tx)
}

// leaveUnheard ends the waiting of what was told of the refunds of a payment, with the
// person who takes it off the list as one of which nobody can say: it waits for money
// that nobody looks for any more. Should the money be counted after all, it is heard
// then. The payment is locked first, as by whoever counts its money.
func (d Deed) leaveUnheard(ctx context.Context, tx pgx.Tx, i Item) error {
	if i.Kind != "payment_unknown" || i.Payment == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, `SELECT FROM payments WHERE id = $1 FOR NO KEY UPDATE`, i.Payment); err != nil {
		return fmt.Errorf("lock payment %s: %w", i.Payment, err)
	}
	_, err := tx.Exec(ctx, `
		WITH unheard AS (
		  UPDATE provider_notices n SET status = 'human', next_try_at = NULL, done_at = now() FROM payments p
		  WHERE p.id = $1 AND p.status IN ('opening', 'open', 'failed') AND p.look_at IS NULL
		    AND n.provider = p.provider AND n.about = p.provider_payment_id AND n.about <> '' AND n.status = 'waiting'
		  RETURNING n.notice_id, n.kind)
		INSERT INTO human_notes (item, by, did, note)
		SELECT $2, $3, 'decided', left('not waited for any more: ' || string_agg(kind || ' ' || notice_id, ', ' ORDER BY notice_id) || ': ' || $4, 2000)
		FROM unheard HAVING count(*) > 0`, i.Payment, d.Item, d.By, d.Why)
	if err != nil {
		return fmt.Errorf("notices about payment %s: %w", i.Payment, err)
	}
	return nil
}
