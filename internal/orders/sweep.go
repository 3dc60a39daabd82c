package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Sweeper finds out what became of payments that nobody told of: those whose
// opening was never answered, or never will be, and those that are open past their order's end, or
// failed before their buyer opened another, which it cancels. So no payment stays open for ever, and no late money comes
// for want of a cancellation. What it learns takes effect as a notice of it
// would. What it cannot find out is a person's, after a bounded number of looks.
//
// Any number of processes may sweep: a payment is asked about by one at a time.
// No call is made within a transaction.
type Sweeper struct {
	Pool    *pgxpool.Pool
	Books   Books
	Name    string // of the provider, on the rows
	Install string // which installation we are
	// InFlight bounds the payments asked about at a time.
	InFlight int
	// Lease is longer than the calls about one payment can take: whoever holds it
	// for longer has died.
	Lease time.Duration
	// Seen, unless nil, hears of each payment that was asked about, once what
	// was learnt is durable.
	Seen func(Looked)
}

// Looked is what became of a look at a payment.
type Looked struct {
	Order, Payment uuid.UUID
	Did            string // reopen, look, find, cancel or human
	Outcome        Outcome
	Err            error // the provider's or the database's
}

// What a look can come to, beside what money and cancellations do.
const (
	StillOpen      Outcome = "still_open"      // it may still become anything
	Reopened       Outcome = "reopened"        // its lost answer was had again
	NoAnswer       Outcome = "no_answer"       // its lost answer cannot be had: it is searched for
	NotAsked       Outcome = "not_asked"       // our share of the provider's calls is used up
	PaymentUnknown Outcome = "payment_unknown" // nobody could say
)

// Sweep takes up every payment that is due, and says how many it asked about.
// A payment that cannot be looked at is put off, so that it does not stand in
// the others' way; the faults are returned.
func (s *Sweeper) Sweep(ctx context.Context) (asked int, faults error) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range max(1, s.InFlight) {
		workers.Go(func() {
			n, err := s.work(ctx)
			mu.Lock()
			defer mu.Unlock()
			asked, faults = asked+n, errors.Join(faults, err)
		})
	}
	workers.Wait()
	return asked, faults
}

func (s *Sweeper) work(ctx context.Context) (asked int, faults error) {
	for ctx.Err() == nil {
		d, found, err := s.take(ctx)
		if err != nil || !found {
			return asked, errors.Join(faults, err)
		}
		did, until := d.next()
		if did == wait || did == forget {
			if err := s.putOff(ctx, d, until); err != nil {
				return asked, errors.Join(faults, err)
			}
			continue
		}
		outcome, err := s.do(ctx, d, did)
		if err != nil {
			err = fmt.Errorf("%s payment %s: %w", did, d.Payment, err)
			faults = errors.Join(faults, err)
		}
		if s.Seen != nil {
			s.Seen(Looked{d.Order, d.Payment, string(did), outcome, err})
		}
		if outcome == NotAsked { // the others would not be either
			return asked, faults
		}
		asked++
	}
	return asked, faults
}

// take takes up the payment that is due for longest, for as long as the lease.
func (s *Sweeper) take(ctx context.Context) (d due, found bool, err error) {
	var name *string
	err = s.Pool.QueryRow(ctx, `
		WITH due AS MATERIALIZED (
		  SELECT id FROM payments
		  WHERE provider = $1 AND look_at IS NOT NULL AND look_at <= now() AND (looking_until IS NULL OR looking_until <= now())
		  ORDER BY look_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
		)
		UPDATE payments p SET looking_until = clock_timestamp() + $2::interval, looks = p.looks + 1
		FROM due, orders o, events e
		WHERE p.id = due.id AND o.id = p.order_id AND e.id = o.event_id
		RETURNING p.id, p.order_id, o.event_id, p.amount_minor, p.currency, p.provider_payment_id, p.status,
		  p.looks, p.unknowns, p.created_at, p.lost_at, p.look_at,
		  EXISTS (SELECT FROM payments l WHERE l.order_id = p.order_id AND l.id > p.id),
		  o.status, o.pay_by, o.ended_at, e.late, clock_timestamp()`,
		s.Name, s.Lease).Scan(&d.Payment, &d.Order, &d.Event, &d.AmountMinor, &d.Currency, &name, &d.status,
		&d.looks, &d.unknowns, &d.createdAt, &d.lostAt, &d.lookAt, &d.later, &d.order, &d.payBy, &d.endedAt, &d.late, &d.now)
	if errors.Is(err, pgx.ErrNoRows) {
		return due{}, false, nil
	}
	if err != nil {
		return due{}, false, fmt.Errorf("payments to look at: %w", err)
	}
	if name != nil {
		d.name = *name
	}
	return d, true, nil
}

// do asks, and makes what it learns durable. A payment that nothing was learnt
// about is put off.
func (s *Sweeper) do(ctx context.Context, d due, did step) (Outcome, error) {
	if did == askHumans {
		return PaymentUnknown, s.giveToPerson(ctx, d)
	}
	outcome, err := s.ask(ctx, d, did)
	// Also when we are to end: what was learnt is written down.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer stop()
	switch {
	case outcome == NotAsked:
		return outcome, errors.Join(err, s.release(ctx, d, time.Second, d.unknowns))
	case err != nil || outcome == StillOpen:
		if err != nil {
			outcome = PaymentUnknown
		}
		unknowns, after := d.undecided()
		return outcome, errors.Join(err, s.release(ctx, d, after, unknowns))
	}
	return outcome, nil
}

func (s *Sweeper) ask(ctx context.Context, d due, did step) (Outcome, error) {
	switch did {
	case reopen:
		return s.reopen(ctx, d)
	case look:
		return s.learn(ctx, d, func() (Standing, error) { return s.Books.PaymentStands(ctx, d.name) })
	case find:
		return s.find(ctx, d)
	case cancel:
		return s.learn(ctx, d, func() (Standing, error) { return s.Books.CancelPayment(ctx, d.name, d.looks) })
	}
	return "", fmt.Errorf("nothing is asked to %s", did)
}

// reopen gets a lost answer again. It is looked at at once if its order has ended.
func (s *Sweeper) reopen(ctx context.Context, d due) (Outcome, error) {
	at, err := s.Books.OpenPayment(ctx, d.NewPayment)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer stop()
	switch {
	case at.Throttled:
		return NotAsked, nil
	case at.Refused:
		_, err := giveUp(ctx, s.Pool, d.Order, d.Payment)
		return PaymentFailed, err
	case at.Kept:
		_, err := lose(ctx, s.Pool, d.Order, d.Payment)
		return NoAnswer, errors.Join(err, s.handBack(ctx, d))
	case at.UnderWay:
		return StillOpen, nil
	}
	if _, err := record(ctx, s.Pool, d.Order, d.Payment, at); err != nil {
		return "", err
	}
	return Reopened, s.handBack(ctx, d)
}

// find searches for a payment that was opened without an answer. Nobody has its
// page, so what there is of it is cancelled, and money that it took counts.
func (s *Sweeper) find(ctx context.Context, d due) (Outcome, error) {
	at, err := s.Books.FindPayment(ctx, d.NewPayment)
	switch {
	case err != nil:
		return "", err
	case at.Throttled:
		return NotAsked, nil
	case at.ProviderPayment != "":
		d.name = at.ProviderPayment
		return s.learn(ctx, d, func() (Standing, error) { return s.Books.CancelPayment(ctx, d.name, d.looks) })
	case d.now.Sub(d.createdAt) < searchSettles:
		return StillOpen, nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer stop()
	_, err = giveUp(ctx, s.Pool, d.Order, d.Payment)
	return PaymentFailed, err
}

// learn asks what a payment is, and does what a notice of it would.
func (s *Sweeper) learn(ctx context.Context, d due, ask func() (Standing, error)) (outcome Outcome, err error) {
	is, err := ask()
	if err != nil {
		return "", err
	}
	c := Capture{
		Provider: s.Name, ProviderPayment: d.name, Install: s.Install, Order: d.Order, Payment: d.Payment,
		AmountMinor: is.AmountMinor, ProviderAmount: is.ProviderAmount, Currency: is.Currency,
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer stop()
	switch {
	case is.Throttled:
		return NotAsked, nil
	case is.Says == SaysCaptured && is.AmountMinor > 0:
		err = pg.InTx(ctx, s.Pool, func(tx pgx.Tx) (err error) {
			outcome, err = Pay(ctx, tx, c)
			return err
		})
		return outcome, err
	case is.Says == SaysCancelled:
		return PaymentCancelled, pg.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
			return c.mark(ctx, tx, "cancelled", "opening", "open", "failed")
		})
	}
	return StillOpen, nil
}
