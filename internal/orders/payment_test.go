package orders_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
)

// counter is the provider's counter: it keeps what it was asked, by key, and
// does before it answers what a test wants done.
type counter struct {
	mu     sync.Mutex
	asked  map[uuid.UUID][]orders.NewPayment
	before func(ctx context.Context, p orders.NewPayment) (orders.AtProvider, error)
}

func (c *counter) OpenPayment(ctx context.Context, p orders.NewPayment) (orders.AtProvider, error) {
	c.mu.Lock()
	if c.asked == nil {
		c.asked = map[uuid.UUID][]orders.NewPayment{}
	}
	c.asked[p.Payment] = append(c.asked[p.Payment], p)
	c.mu.Unlock()
	if c.before != nil {
		if at, err := c.before(ctx, p); err != nil || at != (orders.AtProvider{}) {
			return at, err
		}
	}
	return orders.AtProvider{ProviderPayment: "pi_" + p.Payment.String(), CheckoutURL: "https://pay.test/" + p.Payment.String()}, nil
}

func (c *counter) asks() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range c.asked {
		n += len(all)
	}
	return n
}

func (c *counter) payments() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked)
}

// pays opens payments of h's orders at the counter.
func (h *till) pays(c *counter, inFlight int) *orders.Payments {
	return orders.NewPayments(h.Pool, c, "stripe", inFlight)
}

func wantOpening(t testing.TB, p *orders.Payments, order uuid.UUID, holder, attempt string, want orders.Opening) orders.Payment {
	t.Helper()
	got, payment, err := p.Open(t.Context(), order, holder, attempt)
	if err != nil || got != want {
		t.Fatalf("attempt %q of %s: opening %q (%v), want %q", attempt, holder, got, err, want)
	}
	return payment
}

// The same attempt is the same payment, and the provider is not asked again;
// another attempt is another payment. Entering payment moves the deadline once,
// a reload never.
func TestAttemptIsOnePayment(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET pay_by = now() + interval '1 minute'`)
	must(t, err)
	c := &counter{}
	p := h.pays(c, 4)
	first := wantOpening(t, p, order, "anna", "a", orders.Opened)
	if left := time.Until(first.PayBy); left < 4*time.Minute || left > 5*time.Minute {
		t.Errorf("%s left after entering payment, want the event's 5 minutes", left)
	}
	for range 3 {
		if again := wantOpening(t, p, order, "anna", "a", orders.Opened); again != first {
			t.Errorf("again %+v, first %+v", again, first)
		}
	}
	other := wantOpening(t, p, order, "anna", "b", orders.Opened)
	if other.ID == first.ID || !other.PayBy.Equal(first.PayBy) {
		t.Errorf("another attempt: payment %s until %s, first %s until %s", other.ID, other.PayBy, first.ID, first.PayBy)
	}
	if c.payments() != 2 || len(c.asked[first.ID]) != 1 {
		t.Errorf("the provider was asked for %d payments, %d times for the first; want 2 and 1", c.payments(), len(c.asked[first.ID]))
	}
	if n := h.Count(t, `SELECT count(DISTINCT pay_by) FROM order_changes`); n != 3 {
		t.Errorf("%d deadlines in the order's life, want 3: at first, the test's, the extended one", n)
	}
}

// What a buyer holds is never held against that buyer: with every seat of the
// hall in the cart and the account at its limit, payment opens and pays.
func TestABuyersOwnHoldIsNotInTheWay(t *testing.T) {
	h := open(t, 2)
	order := h.Order(t, "anna", 2)
	_, err := h.Pool.Exec(t.Context(), `UPDATE buyers SET seat_limit = held`)
	must(t, err)
	payment := wantOpening(t, h.pays(&counter{}, 1), order, "anna", "a", orders.Opened)
	h.receive(t, says(orders.SaysCaptured, order, "pi_"+payment.ID.String(), 2*orderstest.PriceMinor), orders.Paid)
}

// An order with more time than the extension gives keeps it.
func TestExtensionNeverShortens(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	before := h.PayBy(t, order)
	wantOpening(t, h.pays(&counter{}, 1), order, "anna", "a", orders.Opened)
	if after := h.PayBy(t, order); !after.Equal(before) {
		t.Errorf("ten minutes became %s", after.Sub(before))
	}
}

// The provider's answer is lost: the same attempt asks with the same words,
// and is the same payment.
func TestLostAnswerIsAskedAgain(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	lost := errors.New("connection reset")
	c := &counter{before: func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{}, lost
	}}
	p := h.pays(c, 1)
	for range 2 {
		if _, _, err := p.Open(t.Context(), order, "anna", "a"); !errors.Is(err, orders.ErrProvider) || !errors.Is(err, lost) {
			t.Fatalf("%v, want the provider's fault", err)
		}
	}
	c.before = nil
	payment := wantOpening(t, p, order, "anna", "a", orders.Opened)
	asked := c.asked[payment.ID]
	if len(asked) != 3 || asked[0] != asked[2] || c.payments() != 1 {
		t.Errorf("asked %d times for %d payments: %+v", len(asked), c.payments(), asked)
	}
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE status = 'open'`); n != 1 {
		t.Errorf("%d open payments, want 1", n)
	}
}

// The notice is there before the answer, and the buyer does not wait for it:
// the money counts all the same.
func TestNoticeBeforeTheAnswer(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	c := &counter{before: func(_ context.Context, p orders.NewPayment) (orders.AtProvider, error) {
		n := success(order, "pi_"+p.Payment.String())
		n.Payment = p.Payment
		h.receive(t, n, orders.Paid)
		return orders.AtProvider{}, nil
	}}
	for range 2 { // what is paid is not to be paid again
		wantOpening(t, h.pays(c, 1), order, "anna", "a", orders.OrderPaid)
	}
	var id uuid.UUID
	var status, name string
	h.Scan(t, `SELECT id, status, provider_payment_id FROM payments`, nil, &id, &status, &name)
	if n := h.Count(t, `SELECT count(*) FROM payments`); n != 1 || status != "captured" || name != "pi_"+id.String() {
		t.Errorf("%d payments, %s as %s; want 1, captured, under its own name", n, status, name)
	}
}

// A refusal is final for its attempt: asked again it is the same, also once the
// provider would have it, so that nothing comes back beyond what may be open.
func TestARefusedAttemptStaysRefused(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	c := &counter{before: func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{Refused: true}, nil
	}}
	p := h.pays(c, 1)
	wantOpening(t, p, order, "anna", "a", orders.Refused)
	c.before = nil
	wantOpening(t, p, order, "anna", "a", orders.Refused)
	wantOpening(t, p, order, "anna", "b", orders.Opened)
	if n := c.payments(); n != 2 {
		t.Errorf("the provider was asked for %d payments, want 2", n)
	}
}

// Asked twice at once the same attempt is refused and had: it can be paid then,
// and is cancelled with its order as any other.
func TestAPaymentThatWasRefusedAndHadIsLookedAt(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order := h.Order(t, "anna", 1)
	p := h.pays(&b.counter, 2)
	var second atomic.Bool
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		if second.Swap(true) {
			return orders.AtProvider{Refused: true}, nil
		}
		wantOpening(t, p, order, "anna", "a", orders.Refused)
		return orders.AtProvider{}, nil
	}
	payment := wantOpening(t, p, order, "anna", "a", orders.Opened)
	if _, err := orders.Cancel(t.Context(), h.Pool, order, "anna"); err != nil {
		t.Fatal(err)
	}
	sweep(t, h.sweeper(b), 1)
	if n := len(b.cancelled["pi_"+payment.ID.String()]); n != 1 {
		t.Errorf("its order has ended, and it was cancelled %d times, want once", n)
	}
}

// Whose order has ended while the provider was asked hears that, whatever the
// provider said.
func TestAnEndDuringTheCallIsTold(t *testing.T) {
	for _, refused := range []bool{false, true} {
		h := open(t, 1)
		order := h.Order(t, "anna", 1)
		c := &counter{before: func(ctx context.Context, _ orders.NewPayment) (orders.AtProvider, error) {
			_, err := orders.Cancel(ctx, h.Pool, order, "anna")
			return orders.AtProvider{Refused: refused}, err
		}}
		wantOpening(t, h.pays(c, 1), order, "anna", "a", orders.OrderEnded)
	}
}

// A page on which nothing can be paid any more is not handed out, neither again
// nor while it comes to that; the buyer's next payment has another name.
func TestAPageThatCannotBePaidIsNotHandedOut(t *testing.T) {
	for name, told := range map[string]struct {
		says   orders.Says
		amount int64
		want   orders.Outcome
	}{
		"captured in part": {orders.SaysCaptured, orderstest.PriceMinor - 1, orders.WrongAmount},
		"cancelled":        {orders.SaysCancelled, 0, orders.PaymentCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 1)
			order := h.Order(t, "anna", 1)
			c := &counter{}
			p := h.pays(c, 1)
			first := wantOpening(t, p, order, "anna", "a", orders.Opened)
			h.receive(t, says(told.says, order, "pi_"+first.ID.String(), told.amount), told.want)
			wantOpening(t, p, order, "anna", "a", orders.Refused)
			c.before = func(_ context.Context, asked orders.NewPayment) (orders.AtProvider, error) {
				n := says(told.says, order, "pi_"+asked.Payment.String(), told.amount)
				n.Payment = asked.Payment
				h.receive(t, n, told.want)
				return orders.AtProvider{}, nil
			}
			wantOpening(t, p, order, "anna", "b", orders.Refused)
			if n, err := orders.EndedPayments(t.Context(), h.Pool, order); n != 2 || err != nil {
				t.Errorf("%d payments came to nothing (%v), want 2", n, err)
			}
			c.before = nil
			wantOpening(t, p, order, "anna", "c", orders.Opened)
		})
	}
}

// At most three payments of an order may still succeed; one that fails makes
// room. A refusal of the provider's is final for its attempt.
func TestOpenPaymentsAreBounded(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	c := &counter{}
	p := h.pays(c, 16)
	var opened, turnedAway atomic.Int32
	together(8, func(i int) {
		switch got, _, err := p.Open(t.Context(), order, "anna", fmt.Sprint("attempt-", i)); {
		case err != nil:
			t.Error(err)
		case got == orders.Opened:
			opened.Add(1)
		case got == orders.TooManyOpen:
			turnedAway.Add(1)
		}
	})
	if opened.Load() != 3 || turnedAway.Load() != 5 || c.payments() != 3 {
		t.Errorf("%d opened, %d turned away, %d at the provider; want 3, 5, 3", opened.Load(), turnedAway.Load(), c.payments())
	}
	var failed string
	h.Scan(t, `SELECT provider_payment_id FROM payments LIMIT 1`, nil, &failed)
	h.receive(t, says(orders.SaysFailed, order, failed, orderstest.PriceMinor), orders.PaymentFailed)
	c.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{Refused: true}, nil
	}
	wantOpening(t, p, order, "anna", "refused", orders.Refused)
	c.before = nil
	wantOpening(t, p, order, "anna", "fourth", orders.Opened)
}

// A payment that failed may still succeed: six of an order, open or failed, are
// all that could be paid at a time. Whoever is declined goes on, and at the sixth
// at the latest waits until the earlier ones are cancelled, as they are when the
// next is opened; the last one is let be.
func TestPaymentsThatMayBePaidAreBounded(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order := h.Order(t, "anna", 1)
	p := h.pays(&b.counter, 1)
	declined := func(attempt string) string {
		t.Helper()
		name := "pi_" + wantOpening(t, p, order, "anna", attempt, orders.Opened).ID.String()
		h.receive(t, says(orders.SaysFailed, order, name, 0), orders.PaymentFailed)
		return name
	}
	var names []string
	for i := range 6 {
		names = append(names, declined(fmt.Sprint("a", i)))
	}
	wantOpening(t, p, order, "anna", "a6", orders.TooManyOpen)
	if n := b.payments(); n != 6 {
		t.Errorf("%d payments at the provider, want 6", n)
	}
	s := h.sweeper(b)
	lost := errors.New("connection reset")
	b.during = func(context.Context) (orders.Standing, error) { return orders.Standing{}, lost }
	if n, err := s.Sweep(t.Context()); n != 5 || !errors.Is(err, lost) {
		t.Fatalf("%d payments asked about (%v), want 5 without an answer", n, err)
	}
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE look_at <= now() + interval '10 seconds'`); n != 5 {
		t.Errorf("%d payments are asked about soon again, want 5", n)
	}
	wantOpening(t, p, order, "anna", "a6", orders.TooManyOpen)
	b.during = nil
	h.come(t)
	sweep(t, s, 5)
	if n, last := h.Count(t, `SELECT count(*) FROM payments WHERE status = 'cancelled'`), len(b.cancelled[names[5]]); n != 5 || last != 0 {
		t.Errorf("%d payments are cancelled, the last one %d times; want 5, 0", n, last)
	}
	declined("a6")
	sweep(t, s, 1) // the sixth has a later one now
	h.receive(t, success(order, names[0]), orders.Paid)
}

// A declined payment that was paid after all before it could be cancelled pays.
func TestMoneyOfADeclinedPaymentIsFoundWhenItIsCancelled(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order, first := h.cart(t, b, "anna")
	h.receive(t, says(orders.SaysFailed, order, first, 0), orders.PaymentFailed)
	wantOpening(t, h.pays(&b.counter, 1), order, "anna", "b", orders.Opened)
	b.captured[first] = true
	sweep(t, h.sweeper(b), 2) // and then the second is cancelled
	if s, n := h.Status(t, order), len(b.cancelled); s != "paid" || n != 1 {
		t.Errorf("the order is %s, %d payments cancelled; want paid, 1", s, n)
	}
}

// No payment is opened for what cannot be paid, and nothing is told of orders
// of others.
func TestNothingToPay(t *testing.T) {
	h := open(t, 3)
	paid, lapsed, ended := h.Order(t, "anna", 1), h.Order(t, "ben", 1), h.Order(t, "cleo", 1)
	h.receive(t, success(paid, "pi_1"), orders.Paid)
	h.Lapse(t, ended)
	h.expire(t, 1)
	h.Lapse(t, lapsed)
	c := &counter{}
	p := h.pays(c, 1)
	wantOpening(t, p, paid, "anna", "a", orders.OrderPaid)
	wantOpening(t, p, lapsed, "ben", "a", orders.OrderEnded)
	wantOpening(t, p, ended, "cleo", "a", orders.OrderEnded)
	wantOpening(t, p, lapsed, "anna", "a", orders.NoSuchOrder)
	wantOpening(t, p, uuid.New(), "anna", "a", orders.NoSuchOrder)
	if c.payments() != 0 {
		t.Errorf("the provider was asked for %d payments, want 0", c.payments())
	}
}
