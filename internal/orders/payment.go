package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Provider opens payments at the payment provider. Its promises:
//   - the same NewPayment, asked again within a day, is the same payment;
//   - one call is one send: nothing is retried behind our back;
//   - it ends when ctx ends, or before;
//   - Refused is a definite no. An error is not: the payment may exist.
type Provider interface {
	OpenPayment(ctx context.Context, p NewPayment) (AtProvider, error)
}

// NewPayment is all that a payment's request depends on.
type NewPayment struct {
	Event       string
	Order       uuid.UUID
	Payment     uuid.UUID // also the idempotency key
	AmountMinor int64
	Currency    string
}

// AtProvider is a payment as the provider has it, or why it has none.
type AtProvider struct {
	ProviderPayment string
	CheckoutURL     string // the page where the buyer pays
	Refused         bool   // and then there is nothing else
	// No answer but the provider's own failure will ever come: it may have the
	// payment all the same, whose page nobody was told.
	Kept bool
	// The same opening is being carried out: its answer can be had soon.
	UnderWay bool
	// Nothing was sent: our share of the account's calls is used up.
	Throttled bool
}

// Opening is the answer to a buyer who wants to pay.
type Opening string

// The openings.
const (
	Opened      Opening = "opened"
	NoSuchOrder Opening = "no_such_order" // or another holder's
	OrderPaid   Opening = "order_paid"
	OrderEnded  Opening = "order_ended"   // or its time to pay is over
	TooManyOpen Opening = "too_many_open" // the order has as many payments as may be open, or may still be paid
	Busy        Opening = "busy"          // as many calls as we allow are in flight, or one for the same payment: ask again
	Throttled   Opening = "throttled"     // our share of the calls to the provider is used up: ask again
	Refused     Opening = "refused"       // this attempt comes to nothing, now or ever; another one may
)

const (
	// openLimit bounds the payments of one order that are open at a time, and of
	// which the buyer has a page, or may get one yet.
	openLimit = 3
	// payableLimit bounds those that may still succeed, which one that failed
	// may: each is money that may have to be given back. It is above openLimit so
	// that a buyer whose card was declined goes on at once; what failed is
	// cancelled when the next is opened, and makes room.
	payableLimit = 6
)

// Payment is a payment that the buyer can make.
type Payment struct {
	ID          uuid.UUID
	CheckoutURL string
	AmountMinor int64
	Currency    string
	PayBy       time.Time
}

// Payments opens payments. Nobody else's work waits for the provider: the pool
// is their own, the calls in flight are bounded, and none is made within a
// transaction.
type Payments struct {
	// Room, unless nil, says whether our share of the calls to the provider has
	// room for one more. Without room nothing new is written down.
	Room func() bool

	pool     *pgxpool.Pool
	provider Provider
	name     string        // of the provider, on the rows
	slots    chan struct{} // one for each call that may be in flight
}

// NewPayments allows inFlight calls to the provider at a time.
func NewPayments(pool *pgxpool.Pool, provider Provider, name string, inFlight int) *Payments {
	return &Payments{pool: pool, provider: provider, name: name, slots: make(chan struct{}, inFlight)}
}

// InFlight is how many openings are under way.
func (p *Payments) InFlight() int { return len(p.slots) }

// recordLimit is the time to record the provider's answer, also for a buyer
// who has gone.
const recordLimit = 2 * time.Second

// Open opens a payment of the holder's order, named by the buyer's attempt: the
// same attempt is the same payment, here and at the provider, whatever was lost
// before. Entering payment moves the order's pay_by, once.
//
// After an error the payment may exist at the provider; asked again with the
// same attempt, it is found. Money for it is counted either way, because the
// row is committed before the provider hears of it.
func (p *Payments) Open(ctx context.Context, order uuid.UUID, holder, attempt string) (Opening, Payment, error) {
	select {
	case p.slots <- struct{}{}: // before the row: what is turned away writes nothing
		defer func() { <-p.slots }()
	default:
		return Busy, Payment{}, nil
	}
	var e entry
	room := p.Room == nil || p.Room()
	err := pg.InTx(ctx, p.pool, func(tx pgx.Tx) (err error) {
		e, err = p.enter(ctx, tx, order, holder, attempt, room)
		return err
	})
	if err != nil {
		return "", Payment{}, fmt.Errorf("open payment of order %s: %w", order, err)
	}
	switch {
	case e.opening != Opened || e.CheckoutURL != "":
		return e.opening, e.Payment, nil
	case !room:
		return Throttled, Payment{}, nil
	}
	at, err := p.provider.OpenPayment(ctx, NewPayment{e.event, order, e.ID, e.AmountMinor, e.Currency})
	if err != nil {
		return "", Payment{}, fmt.Errorf("%w: order %s, payment %s: %w", ErrProvider, order, e.ID, err)
	}
	switch {
	case at.Throttled:
		return Throttled, Payment{}, nil
	case at.UnderWay:
		return Busy, Payment{}, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	switch {
	case at.Refused:
		opening, err := giveUp(ctx, p.pool, order, e.ID)
		return opening, Payment{}, err
	case at.Kept:
		opening, err := lose(ctx, p.pool, order, e.ID)
		return opening, Payment{}, err
	}
	e.CheckoutURL = at.CheckoutURL
	opening, err := record(ctx, p.pool, order, e.ID, at)
	if opening != Opened || err != nil {
		return opening, Payment{}, err
	}
	return Opened, e.Payment, nil
}

// ErrProvider: the provider gave no answer that can be believed.
var ErrProvider = errors.New("orders: payment provider's answer unknown")

// entry is a buyer's entering of payment, as committed.
type entry struct {
	opening Opening
	event   string
	Payment
}

// enter makes the payment's row if there is room for one more, or finds the
// attempt's, and moves pay_by with the order's first one.
func (p *Payments) enter(ctx context.Context, tx pgx.Tx, order uuid.UUID, holder, attempt string, room bool) (entry, error) {
	var e entry
	err := tx.QueryRow(ctx, `SELECT event_id FROM orders WHERE id = $1 AND holder = $2
		FOR NO KEY UPDATE`, order, holder).Scan(&e.event)
	if errors.Is(err, pgx.ErrNoRows) {
		return entry{opening: NoSuchOrder}, nil
	}
	if err != nil {
		return entry{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return entry{}, err
	}
	tag, err := tx.Exec(ctx, `
		INSERT INTO payments (id, order_id, provider, attempt, amount_minor, currency, look_at)
		SELECT $1, o.id, $2, $3, o.amount_minor, o.currency, now() + $7::interval FROM orders o
		WHERE o.id = $4 AND o.status = 'pending' AND o.pay_by > now() AND $6
		  AND (SELECT count(*) FILTER (WHERE status = 'open' OR status = 'opening' AND lost_at IS NULL) < $5 AND count(*) < $8 FROM payments
		    WHERE order_id = $4 AND (status IN ('opening', 'open') OR status = 'failed' AND provider_payment_id IS NOT NULL))
		ON CONFLICT (order_id, attempt) DO NOTHING`, id, p.name, attempt, order, openLimit, room, lostAfter, payableLimit)
	if err != nil {
		return entry{}, fmt.Errorf("payment row: %w", err)
	}
	if tag.RowsAffected() == 1 {
		if err := errors.Join(extend(ctx, tx, order), supersede(ctx, tx, order)); err != nil {
			return entry{}, err
		}
	}
	if err := e.read(ctx, tx, order, attempt); err != nil {
		return entry{}, err
	}
	if e.opening == TooManyOpen && !room {
		e.opening = Throttled
	}
	return e, nil
}

// extend moves pay_by so that whoever has begun to pay can finish. It happens
// once in an order's life, and never makes the time shorter.
func extend(ctx context.Context, tx pgx.Tx, order uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		UPDATE orders o SET extended_at = now(), version = o.version + 1,
		  pay_by = greatest(o.pay_by, now() + e.pay_extension)
		FROM events e
		WHERE o.id = $1 AND o.status = 'pending' AND o.extended_at IS NULL AND e.id = o.event_id`, order)
	if err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	return nil
}

// supersede has the order's failed payments cancelled: the buyer has gone on to
// another. Their money, should it come all the same before that, counts.
func supersede(ctx context.Context, tx pgx.Tx, order uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		UPDATE payments SET look_at = now() WHERE order_id = $1 AND status = 'failed' AND look_at > now()`, order)
	if err != nil {
		return fmt.Errorf("failed payments: %w", err)
	}
	return nil
}

// read tells what the buyer's attempt has come to. The order is locked, so
// this is what the insert saw. What was refused, given up, lost or captured has no page
// on which the order could be paid.
func (e *entry) read(ctx context.Context, tx pgx.Tx, order uuid.UUID, attempt string) error {
	var status string
	var inTime, over bool
	var id *uuid.UUID
	err := tx.QueryRow(ctx, `
		SELECT o.status, o.pay_by > now(), o.pay_by, o.amount_minor, o.currency, p.id, coalesce(p.checkout_url, ''),
		  coalesce(p.status IN ('captured', 'cancelled') OR p.status = 'failed' AND p.provider_payment_id IS NULL
		    OR p.status = 'opening' AND p.lost_at IS NOT NULL, false)
		FROM orders o LEFT JOIN payments p ON p.order_id = o.id AND p.attempt = $2
		WHERE o.id = $1`, order, attempt).
		Scan(&status, &inTime, &e.PayBy, &e.AmountMinor, &e.Currency, &id, &e.CheckoutURL, &over)
	if err != nil {
		return err
	}
	switch e.opening = openingOf(status, inTime); {
	case e.opening != Opened:
	case id == nil:
		e.opening = TooManyOpen
	case over:
		e.opening = Refused
	default:
		e.ID = *id
	}
	return nil
}

// record stores the provider's answer, and says what it is worth: the order may
// have been paid, or its time may have ended, while the provider was asked. Zero
// rows: its notice, or the same attempt in another request, was faster, and both
// say the same, but for a refusal: what the provider has can be paid, and is open.
// It is looked at once more shortly before the order's time is over:
// by then its notice has come, or was lost. Of an order that has ended meanwhile
// it is due at once, to be cancelled; the lock keeps the end from coming in between.
func record(ctx context.Context, pool *pgxpool.Pool, order, id uuid.UUID, at AtProvider) (is Opening, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if _, err := lock(ctx, tx, order); err != nil {
			return err
		}
		var status string
		var inTime, over bool
		err := tx.QueryRow(ctx, `
			SELECT o.status, o.pay_by > now(), p.status IN ('captured', 'cancelled') FROM orders o, payments p
			WHERE o.id = $1 AND p.id = $2`, order, id).Scan(&status, &inTime, &over)
		if err != nil {
			return err
		}
		if is = openingOf(status, inTime); is == Opened && over {
			is = Refused
		}
		_, err = tx.Exec(ctx, `
			UPDATE payments p SET status = 'open', provider_payment_id = $2, checkout_url = $3,
			  look_at = CASE WHEN o.status = 'pending' THEN o.pay_by - $4::interval ELSE now() END
			FROM orders o WHERE p.id = $1 AND o.id = p.order_id
			  AND (p.status = 'opening' OR p.status = 'failed' AND p.provider_payment_id IS NULL)`,
			id, at.ProviderPayment, at.CheckoutURL, lastLook)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("record payment %s: %w", id, err)
	}
	return is, nil
}

// openingOf is whether an order can still be paid.
func openingOf(status string, inTime bool) Opening {
	switch {
	case status == "paid":
		return OrderPaid
	case status != "pending" || !inTime:
		return OrderEnded
	}
	return Opened
}
