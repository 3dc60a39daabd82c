package support

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// Ask asks for the refund of a line. Asked again, at once or after anything was
// lost, it is the same refund, and the answer is how that stands now. After an
// error it may have been accepted: asking again tells.
func (d Desk) Ask(ctx context.Context, pool *pgxpool.Pool, w Wanted) (a Answer, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		reused, err := w.first(ctx, tx)
		if a = refused(AttemptReused); reused || err != nil {
			return err
		}
		a, err = d.ask(ctx, tx, w)
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("ask for the refund of %s of order %s: %w", w.Line, w.Order, err)
	}
	return a, nil
}

// first remembers the asking's attempt. A copy of it is answered how things stand
// now, and may bring nothing up again: what it asked for was decided since.
func (w *Wanted) first(ctx context.Context, tx pgx.Tx) (reused bool, err error) {
	request := sha256.Sum256(fmt.Appendf(nil, "refund %s %q %q %q", w.Order, w.Line, w.Customer, w.By))
	attempt := organiser.Attempt{Organiser: w.Organiser, Key: w.Attempt, Request: request}
	before, err := attempt.Begin(ctx, tx)
	if err != nil {
		return false, err
	}
	w.MayApprove = w.MayApprove && w.Attempt != "" && !before.Known
	return before.Reused, nil
}

func (d Desk) ask(ctx context.Context, tx pgx.Tx, w Wanted) (Answer, error) {
	l, err := d.lockLine(ctx, tx, w)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && !l.customer:
		return refused(NoSuchOrder), nil
	case err != nil:
		return Answer{}, err
	case l.seat == nil:
		return refused(NoSuchLine), nil
	}
	if known, err := l.operation(ctx, tx); known != nil || err != nil {
		if err != nil {
			return Answer{}, err
		}
		return standingAnswer(l.guid, *known), nil
	}
	return d.askNew(ctx, tx, w, l)
}

// askNew asks for what there is no operation of.
func (d Desk) askNew(ctx context.Context, tx pgx.Tx, w Wanted, l line) (Answer, error) {
	switch {
	case l.payment == nil:
		return refused(OrderNotPaid), nil
	case l.amountMinor == 0:
		return refused(NothingToRefund), nil
	}
	m, err := refunds.LeftOf(ctx, tx, *l.payment)
	if err != nil {
		return Answer{}, err
	}
	if m.Minor < l.amountMinor {
		if m.Minor+m.OnItsWayMinor >= l.amountMinor { // by hand, and it may fail: a person has it
			return Answer{Word: Unknown, Reason: WithAPerson}, nil
		}
		return refused(AlreadyRefunded), nil
	}
	if a, asked, err := d.approval(ctx, tx, l, w); asked || err != nil {
		return a, err
	}
	backlog, err := refunds.ReadBacklog(ctx, tx, d.StartsPerS)
	if err != nil {
		return Answer{}, err
	}
	if f := backlog.Forecast(); f.Behind {
		return Answer{Word: Refused, Reason: RefundsBehind, RetryAfter: f.RetryAfter()}, nil
	}
	already, err := l.asked(ctx, tx)
	switch {
	case err != nil:
		return Answer{}, err
	case m.ByHandMinor > 0:
		return l.askAPerson(ctx, tx, d.Install, RefundedByHand, w.By)
	case already+l.amountMinor > l.limitMinor:
		return l.askAPerson(ctx, tx, d.Install, OverLimit, w.By)
	}
	return d.request(ctx, tx, l, d.Install, w.By, 0)
}

// request makes the line's operation, beside what a person knows to have gone back by hand.
func (d Desk) request(ctx context.Context, tx pgx.Tx, l line, install, by string, besideMinor int64) (Answer, error) {
	s, asking, err := refunds.Request(ctx, tx, refunds.Requesting{
		Install: install, Order: l.order, Seat: *l.seat, By: by, ProviderAmount: d.ProviderAmount, BesideMinor: besideMinor,
	})
	if err != nil {
		return Answer{}, err
	}
	if asking != refunds.Accepted && asking != refunds.Known {
		return Answer{}, fmt.Errorf("the refund of a line that was locked is %s", asking)
	}
	return standingAnswer(l.guid, s), nil
}
