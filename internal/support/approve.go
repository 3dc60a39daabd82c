package support

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// Approval is a refund that a person has to approve before it is one.
type Approval struct {
	ID          int64
	Event       string
	Order       uuid.UUID
	Line        string
	AmountMinor int64
	Currency    string
	Cause       Reason
	LimitMinor  int64
	AskedBy     string
	AskedAt     time.Time
	Decision    string // "" while it waits
	DecidedBy   string
	DecidedAt   *time.Time
	Note        string
}

// approval is what a person said, or has still to say, of just this line, this
// payment and this amount. What was asked and is not the same any more is
// closed: asked is false then, and it is asked anew. So is what was refused, by
// whoever may approve; the no stands in the record.
func (d Desk) approval(ctx context.Context, tx pgx.Tx, l line, w Wanted) (a Answer, asked bool, err error) {
	var decision *string
	var same bool
	err = tx.QueryRow(ctx, `
		SELECT id, decision, cause, amount_minor = $3 AND currency = $4 AND payment_id = $5
		FROM refund_approvals WHERE order_id = $1 AND seat_id = $2 ORDER BY id DESC LIMIT 1 FOR UPDATE`,
		l.order, l.seat, l.amountMinor, l.currency, l.payment).Scan(&a.Approval, &decision, &a.Reason, &same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Answer{}, false, nil
	case err != nil:
		return Answer{}, false, fmt.Errorf("approval of %s of order %s: %w", l.guid, l.order, err)
	case !same && decision == nil:
		return Answer{}, false, decide(ctx, tx, a.Approval, "changed", w.By, "")
	case same && decision == nil:
		return l.waits(a), true, nil
	case same && *decision == "refused" && w.MayApprove:
		a, err = l.askAPerson(ctx, tx, d.Install, a.Reason, w.By)
		return a, true, err
	case same && *decision == "refused":
		a.Word, a.Reason = Refused, ApprovalRefused
		return a, true, nil
	}
	return Answer{}, false, nil
}

func (l line) waits(a Answer) Answer {
	a.Word, a.Line, a.AmountMinor, a.Currency = NeedsApproval, l.guid, l.amountMinor, l.currency
	return a
}

// askAPerson writes down what is asked, and nothing else: there is no operation
// that anybody could send.
func (l line) askAPerson(ctx context.Context, tx pgx.Tx, install string, cause Reason, by string) (Answer, error) {
	a := Answer{Reason: cause}
	err := tx.QueryRow(ctx, `
		INSERT INTO refund_approvals (operation, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by)
		VALUES ('refund:' || $1::uuid || ':' || $2::bigint, $1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		l.order, l.seat, l.payment, install, l.amountMinor, l.currency, cause, l.limitMinor, by).Scan(&a.Approval)
	if err != nil {
		return Answer{}, fmt.Errorf("ask a person: %w", err)
	}
	return l.waits(a), nil
}

func decide(ctx context.Context, tx pgx.Tx, id int64, decision, by, note string) error {
	_, err := tx.Exec(ctx, `
		UPDATE refund_approvals SET decision = $2, decided_by = $3, decided_at = clock_timestamp(), note = left($4, 2000)
		WHERE id = $1 AND decision IS NULL`, id, decision, by, note)
	if err != nil {
		return fmt.Errorf("decide approval %d: %w", id, err)
	}
	return nil
}

// Deciding is a person's word on a refund that was asked for.
type Deciding struct {
	Approval  int64
	Organiser string // "": whoever's
	By        string
	Yes       bool
	Note      string
}

// Decision is what became of it.
type Decision string

// The decisions.
const (
	Approved       Decision = "approved"
	Declined       Decision = "refused"
	ChangedSince   Decision = "changed" // it is not what was asked any more: to be asked anew
	NoSuchApproval Decision = "no_such_approval"
	WasDecided     Decision = "was_decided" // otherwise, by somebody else, or in other words
	OwnRequest     Decision = "own_request" // nobody approves what they asked for, first or again
)

// Decide gives a person's word. A yes makes the operation in the same
// transaction, if all is still what was asked. The same word of the same person once
// more, a button pressed twice or an answer that was lost, is answered as the first was.
func (d Desk) Decide(ctx context.Context, pool *pgxpool.Pool, w Deciding) (is Decision, a Answer, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		is, a, err = d.decide(ctx, tx, w)
		return err
	})
	if err != nil {
		return "", Answer{}, fmt.Errorf("approval %d: %w", w.Approval, err)
	}
	return is, a, nil
}

func (d Desk) decide(ctx context.Context, tx pgx.Tx, w Deciding) (Decision, Answer, error) {
	var ask Wanted
	err := tx.QueryRow(ctx, `
		SELECT a.order_id, s.guid, e.organiser FROM refund_approvals a JOIN seats s ON s.id = a.seat_id
		JOIN events e ON e.id = s.event_id WHERE a.id = $1 AND ($2 = '' OR e.organiser = $2)`, w.Approval, w.Organiser).
		Scan(&ask.Order, &ask.Line, &ask.Organiser)
	if errors.Is(err, pgx.ErrNoRows) {
		return NoSuchApproval, Answer{}, nil
	}
	if err != nil {
		return "", Answer{}, err
	}
	l, err := d.lockLine(ctx, tx, ask) // first the order, as whoever asks does
	if err != nil {
		return "", Answer{}, err
	}
	var install string
	var cause Reason
	var own, same, waits, again bool
	var operation, was string
	var besideMinor int64
	err = tx.QueryRow(ctx, `
		SELECT install, cause, coalesce(amount_minor = $2 AND currency = $3 AND payment_id = $4, false), decision IS NULL,
		  operation, coalesce(decision, ''), coalesce(decided_by = $5 AND note = left($6, 2000), false),
		  EXISTS (SELECT FROM refund_approvals b -- the same, before it was brought up again
		    WHERE b.operation = a.operation AND b.amount_minor = a.amount_minor AND b.currency = a.currency AND b.payment_id = a.payment_id
		      AND (b.asked_by = $5 OR starts_with($5, b.asked_by || '/'))) -- a person who came with the key that asked
		FROM refund_approvals a WHERE id = $1 FOR UPDATE`, w.Approval, l.amountMinor, l.currency, l.payment, w.By, w.Note).
		Scan(&install, &cause, &same, &waits, &operation, &was, &again, &own)
	switch {
	case err != nil:
		return "", Answer{}, err
	case !waits && again:
		return decidedBefore(ctx, tx, ask.Line, operation, Decision(was), w.Yes)
	case !waits:
		return WasDecided, Answer{}, nil
	case !w.Yes:
		return Declined, refused(ApprovalRefused), decide(ctx, tx, w.Approval, "refused", w.By, w.Note)
	case own:
		return OwnRequest, Answer{}, nil
	}
	if same {
		same, besideMinor, err = l.stillDue(ctx, tx, cause)
	}
	if err != nil {
		return "", Answer{}, err
	}
	if !same {
		return ChangedSince, Answer{}, decide(ctx, tx, w.Approval, "changed", w.By, w.Note)
	}
	if err := decide(ctx, tx, w.Approval, "approved", w.By, w.Note); err != nil {
		return "", Answer{}, err
	}
	a, err := d.request(ctx, tx, l, install, w.By, besideMinor)
	return Approved, a, err
}

// decidedBefore answers the same word as it was answered then; of a yes, how its
// refund stands by now.
func decidedBefore(ctx context.Context, tx pgx.Tx, line, operation string, was Decision, yes bool) (Decision, Answer, error) {
	switch {
	case was == Declined && !yes:
		return Declined, refused(ApprovalRefused), nil
	case was == ChangedSince && yes:
		return ChangedSince, Answer{}, nil
	case was != Approved || !yes:
		return WasDecided, Answer{}, nil
	}
	s, err := refunds.Newest(ctx, tx, operation)
	if err != nil {
		return "", Answer{}, fmt.Errorf("what became of %s, which was approved: %w", operation, err)
	}
	return Approved, standingAnswer(line, s), nil
}

// stillDue: there is no operation of it, and its money is there. Money that
// others sent back meanwhile is for another approval; what they had before is told too.
func (l line) stillDue(ctx context.Context, tx pgx.Tx, cause Reason) (due bool, byHandMinor int64, err error) {
	m, err := refunds.LeftOf(ctx, tx, *l.payment)
	if err != nil {
		return false, 0, err
	}
	known, err := l.operation(ctx, tx)
	return known == nil && m.Minor >= l.amountMinor && (m.ByHandMinor == 0 || cause == RefundedByHand), m.ByHandMinor, err
}

// WhichApprovals are an organiser's, or everybody's; those that wait, or were decided.
type WhichApprovals struct {
	Organiser string // "": everybody's
	Decided   bool
	After     int64 // the id of the last of the page before; 0: the first page
	Most      int
}

// Approvals are those that wait, the oldest first: none is out of sight behind what
// was asked since; or those that were decided, the newest first.
func Approvals(ctx context.Context, pool *pgxpool.Pool, w WhichApprovals) ([]Approval, error) {
	rows, err := pool.Query(ctx, `
		SELECT a.id, s.event_id, a.order_id, s.guid, a.amount_minor, a.currency, a.cause, a.limit_minor, a.asked_by, a.asked_at,
		  coalesce(a.decision, ''), coalesce(a.decided_by, ''), a.decided_at, a.note
		FROM refund_approvals a JOIN seats s ON s.id = a.seat_id JOIN events e ON e.id = s.event_id
		WHERE ($1 = '' OR e.organiser = $1) AND (a.decision IS NOT NULL) = $2
		  AND ($3::bigint = 0 OR CASE WHEN $2 THEN a.id < $3 ELSE a.id > $3 END)
		ORDER BY CASE WHEN $2 THEN -a.id ELSE a.id END LIMIT $4`, w.Organiser, w.Decided, w.After, w.Most)
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Approval])
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	return list, nil
}

// Waiting is how many wait for a person's word.
func Waiting(ctx context.Context, pool *pgxpool.Pool) (n int, err error) {
	if err = pool.QueryRow(ctx, `SELECT count(*) FROM refund_approvals WHERE decision IS NULL`).Scan(&n); err != nil {
		return 0, fmt.Errorf("approvals: %w", err)
	}
	return n, nil
}
