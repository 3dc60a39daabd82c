package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/outlet"
	"waitroom/internal/pg"
)

// Ledger is the operations and calls as Postgres has them.
type Ledger struct {
	Pool *pgxpool.Pool
	// Chance spreads retries: 0 to 1, another each time.
	Chance func() float64
	// OnItsWayFor is how long the provider may have a refund before a person hears
	// of it; 0: OnItsWayFor.
	OnItsWayFor time.Duration
	// LookLateAfter is how long after its confirmation a refund is looked at once
	// more; 0: LookLateAfter.
	LookLateAfter time.Duration
}

// Sent is a call that is over: what was asked, how it started, what it came to.
type Sent struct {
	ID        int64 // of its row
	Operation string
	Verb      Verb
	Start     outlet.Start
	Answer    Answer
}

// Settle writes down what a call came to and what follows from it, in one
// transaction. It changes an operation only for the call that is under way; a
// notice, a person or a new outlet may have been faster, and then only what is
// certain counts. Called again for the same call it changes nothing.
func (l Ledger) Settle(ctx context.Context, sent Sent) (s Step, err error) {
	err = pg.InTx(ctx, l.Pool, func(tx pgx.Tx) error {
		if sent.Answer.Outcome.confirms() {
			if err := inventory.LockToGiveBack(ctx, tx, sent.Operation); err != nil {
				return err
			}
		}
		e, err := lockEntry(ctx, tx, sent.Operation)
		if err != nil {
			return err
		}
		if err := finish(ctx, tx, sent); err != nil {
			return err
		}
		told := e.told(sent.Answer)
		if told.Status != "" {
			if err := told.keep(ctx, tx, e.payment); err != nil {
				return err
			}
		}
		if err := e.seen(ctx, tx, sent.Answer.Others); err != nil {
			return err
		}
		mine := e.call != nil && *e.call == sent.ID
		switch {
		case mine:
			if told.Operation != "" && e.rulesOut(told) { // it has come to another refund: there are two
				if err := e.differ(ctx, tx, told); err != nil {
					return err
				}
			}
			s, err = e.notTwice(ctx, tx, e.After(sent.Verb, sent.Answer, e.now, l.Chance()))
			if err != nil {
				return err
			}
		case told.Operation != "" && e.rulesOut(told): // a person or a notice said otherwise meanwhile
			s = Step{Status: e.Status}
			return e.differ(ctx, tx, told)
		case e.hears(sent.Answer.Outcome):
			s = e.hearing(sent.Answer)
		default:
			s = Step{Status: e.Status}
			return nil
		}
		if s.Stop {
			if err := list(ctx, tx, item{keyRefused, e.provider, "", s.why()}); err != nil {
				return err
			}
		}
		if s, err = e.named(ctx, tx, s); err != nil {
			return err
		}
		if err := e.record(ctx, tx, s, mine); err != nil || told.Status == "" {
			return err
		}
		return sumIsNamed(ctx, tx, e.payment)
	})
	if err != nil {
		return Step{}, fmt.Errorf("settle call %d of %s: %w", sent.ID, sent.Operation, err)
	}
	return s, nil
}

// seen hears of the refunds that a look saw beside the operation's own, and that none
// of ours stands for, as if they had been told by notice: which may be lost.
func (e entry) seen(ctx context.Context, tx pgx.Tx, others []Told) error {
	for _, t := range others {
		var ours bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM refund_operations WHERE id = $1 AND payment_id = $2)`, t.Operation, e.payment).Scan(&ours)
		if err != nil {
			return fmt.Errorf("whose refund %s is: %w", t.ProviderRefund, err)
		}
		if ours { // its own look finds it
			continue
		}
		t.Provider, t.Operation = e.provider, ""
		if _, err := Heard(ctx, tx, t); err != nil {
			return err
		}
	}
	return nil
}

// finish completes the call's row, once.
func finish(ctx context.Context, tx pgx.Tx, sent Sent) error {
	var ns, inFlight, wrote, status any
	started := !sent.Start.At.IsZero()
	if started {
		ns, inFlight, wrote = sent.Start.Since.Nanoseconds(), sent.Start.InFlight, sent.Start.Wrote
	}
	if sent.Answer.HTTP != 0 {
		status = sent.Answer.HTTP
	}
	_, err := tx.Exec(ctx, `
		UPDATE refund_calls SET finished_at = clock_timestamp(), outcome = $2, http_status = $3, request_id = nullif($4, ''),
		  started_ns = $5, in_flight = $6, wrote = $7,
		  started_at = CASE WHEN $8 THEN clock_timestamp() - $9::interval END
		WHERE id = $1 AND finished_at IS NULL`,
		sent.ID, sent.Answer.Outcome, status, sent.Answer.RequestID, ns, inFlight, wrote, started, sent.Start.Ago())
	if err != nil {
		return fmt.Errorf("finish call %d: %w", sent.ID, err)
	}
	return nil
}

// told is the refund that an answer told of; without a status, none.
func (e entry) told(a Answer) Told {
	t := Told{Provider: e.provider, ProviderRefund: a.Refund, AmountMinor: e.amount, Currency: e.currency, Operation: e.id, SaidAt: e.now}
	switch a.Outcome {
	case Succeeded:
		t.Status = "succeeded"
	case OnItsWay:
		t.Status = "pending"
	case Failed:
		t.Status = "failed"
	case ByHand:
		t.Status, t.Operation = "succeeded", ""
	default:
		return Told{}
	}
	if e.LateLooks > 0 && e.byOthers() { // it has no operation's name, and what it is of was told before
		t.Operation = ""
		if a.Outcome != Failed {
			return Told{}
		}
	}
	return t
}
