package orders_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
)

// A success notice pays; a copy of it, and another notice of the same payment,
// change nothing more.
func TestPaidOnce(t *testing.T) {
	h := open(t, 2)
	order := h.Order(t, "anna", 1)
	first := success(order, "pi_1")
	h.receive(t, first, orders.Paid)
	h.receive(t, first, orders.Paid)
	h.receive(t, success(order, "pi_1"), orders.AlreadyPaid)
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE stands = 'on_order'`); n != 1 {
		t.Errorf("%d payments on the order, want 1", n)
	}
}

// The second payment of a paid order goes back, once, however often it is told.
func TestPaidTwiceIsRefundedOnce(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	h.receive(t, success(order, "pi_1"), orders.Paid)
	for range 3 {
		h.receive(t, success(order, "pi_2"), orders.PaidTwice)
	}
	var id, request string
	h.Scan(t, `SELECT id, convert_from(request, 'UTF8') FROM refund_operations`, nil, &id, &request)
	payment := h.paymentID(t, "pi_2")
	if want := fmt.Sprintf("refund:%s:%s", order, payment); id != want {
		t.Errorf("operation %s, want %s", id, want)
	}
	want := fmt.Sprintf("amount=2500&metadata%%5Bevent%%5D=%s&metadata%%5Binstall%%5D=here&"+
		"metadata%%5Boperation%%5D=refund%%3A%s%%3A%s&metadata%%5Border%%5D=%s&metadata%%5Bpayment%%5D=%s&payment_intent=pi_2",
		h.Event, order, payment, order, payment)
	if request != want {
		t.Errorf("frozen request\n%s\nwant\n%s", request, want)
	}
}

func (h *till) paymentID(t testing.TB, providerPayment string) (id uuid.UUID) {
	t.Helper()
	h.Scan(t, `SELECT id FROM payments WHERE provider_payment_id = $1`, []any{providerPayment}, &id)
	return id
}

// Another amount or currency than the order's is not a payment of it: the
// order stays unpaid, the money is seen by a person.
func TestWrongMoneyGoesToAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		amount   int64
		currency string
		want     orders.Outcome
	}{
		"a cent less":      {4999, "EUR", orders.WrongAmount},
		"a cent more":      {5001, "EUR", orders.WrongAmount},
		"another currency": {5000, "USD", orders.WrongCurrency},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 2)
			order := h.Order(t, "anna", 2)
			n := says(orders.SaysCaptured, order, "pi_1", c.amount)
			n.Currency = c.currency
			h.receive(t, n, c.want)
			n.ID += "-again"
			h.receive(t, n, c.want)
			if s := h.Status(t, order); s != "pending" {
				t.Errorf("the order is %s, want pending", s)
			}
			var kind, detail, stands, currency string
			var captured int64
			h.Scan(t, `SELECT kind, detail, p.stands, p.captured_minor, p.currency
				FROM human_list h JOIN payments p ON p.id = h.payment_id`, nil, &kind, &detail, &stands, &captured, &currency)
			if kind != string(c.want) || stands != "human" || captured != c.amount || currency != c.currency {
				t.Errorf("on the list: %s; money %d %s stands %s", kind, captured, currency, stands)
			}
			if want := fmt.Sprintf("the order is for 5000 EUR, stripe captured %d %s", c.amount, c.currency); detail != want {
				t.Errorf("detail %q, want %q", detail, want)
			}
			h.receive(t, says(orders.SaysCaptured, order, "pi_2", 5000), orders.Paid)
		})
	}
}

// A try failed (or was given up) and another succeeded, told in every order
// and each told twice: paid. One payment may fail and succeed, or two payments
// one each.
func TestFailureNeverUndoesSuccess(t *testing.T) {
	for _, payments := range []int{1, 2} {
		for what, failure := range map[orders.Outcome]orders.Says{
			orders.PaymentFailed: orders.SaysFailed, orders.PaymentCancelled: orders.SaysCancelled,
		} {
			t.Run(fmt.Sprint(what, " of ", payments), func(t *testing.T) {
				h := open(t, len(doubled()))
				p := h.pays(&counter{}, 1)
				for i, sequence := range doubled() {
					holder := fmt.Sprint("holder-", i)
					order := h.Order(t, holder, 1)
					first := wantOpening(t, p, order, holder, "0", orders.Opened)
					last := wantOpening(t, p, order, holder, fmt.Sprint(payments-1), orders.Opened)
					notices := []orders.ProviderNotice{
						says(failure, order, "pi_"+first.ID.String(), 0), success(order, "pi_"+last.ID.String()),
					}
					for _, which := range sequence {
						h.receive(t, notices[which], []orders.Outcome{what, orders.Paid}[which])
					}
					if s := h.Status(t, order); s != "paid" {
						t.Errorf("order %d %v: %s, want paid", i, sequence, s)
					}
				}
			})
		}
	}
}

// doubled is every order in which two notices can come, each twice.
func doubled() [][]int {
	return [][]int{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}}
}

// Fifty copies of one notice at the same instant: fifty answers alike, one
// transition, one notice out.
func TestFiftyCopiesOfOneNotice(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	text := body(t, success(order, "pi_1"))
	var alike atomic.Int32
	together(50, func(int) {
		outcome, err := h.in.Receive(t.Context(), text)
		if err == nil && outcome == orders.Paid {
			alike.Add(1)
		} else {
			t.Errorf("outcome %q: %v", outcome, err)
		}
	})
	out := h.Count(t, `SELECT count(*) FROM notices WHERE kind = 'order.paid'`)
	moves := h.Count(t, `SELECT count(*) FROM order_changes WHERE from_status = 'pending'`)
	if alike.Load() != 50 || out != 1 || moves != 1 {
		t.Errorf("%d alike, %d notices out, %d transitions; want 50, 1, 1", alike.Load(), out, moves)
	}
}

// The buyer's browser comes back from the provider's page as the notice comes, a
// hundred times: it reads the order, and opens the same payment once more, as the page
// does that is loaded anew; and a look, which the order's last seconds bring, learns
// the same. One transition, one notice out, one payment, nothing cancelled, no refund, and
// the browser is told the order's state, never an error.
func TestTheBrowsersReturnAndTheNoticeAtOneInstant(t *testing.T) {
	const rounds = 100
	h, b := open(t, rounds), newBooks()
	pages := h.pays(&b.counter, 8)
	s := h.sweeper(b)
	for i, holder := range orderstest.Holders(rounds) {
		order, payment := h.cart(t, b, holder)
		b.mu.Lock()
		b.captured[payment] = true
		b.mu.Unlock()
		_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET pay_by = now() + interval '10 seconds' WHERE id = $1`, order)
		must(t, err)
		h.come(t)
		together(4, func(n int) {
			var told any
			var err error
			as := true
			switch n {
			case 0:
				var outcome orders.Outcome
				outcome, err = h.in.Receive(t.Context(), body(t, success(order, payment)))
				told, as = outcome, outcome == orders.Paid || outcome == orders.AlreadyPaid
			case 1:
				var opening orders.Opening
				opening, _, err = pages.Open(t.Context(), order, holder, "a")
				told, as = opening, opening == orders.Opened || opening == orders.OrderPaid || opening == orders.Busy
			case 2:
				_, err = s.Sweep(t.Context())
			case 3:
				var status string
				err = h.Pool.QueryRow(t.Context(), `SELECT status FROM orders WHERE id = $1`, order).Scan(&status)
				told, as = status, status == "pending" || status == "paid"
			}
			if err != nil || !as {
				t.Errorf("round %d, %d: %v, %v", i, n, told, err)
			}
		})
		if opening, _, err := pages.Open(t.Context(), order, holder, "a"); opening != orders.OrderPaid || err != nil {
			t.Errorf("round %d: opened once more it is %s, %v; want order_paid", i, opening, err)
		}
	}
	var paid, moves, out, payments, standing, captured, refunds, held, asked int
	h.Scan(t, `SELECT (SELECT count(*) FROM orders WHERE status = 'paid'),
		(SELECT count(*) FROM order_changes WHERE from_status = 'pending' AND to_status <> 'pending'),
		(SELECT count(*) FROM notices WHERE kind = 'order.paid'), (SELECT count(*) FROM payments),
		(SELECT count(*) FROM payments p JOIN orders o ON o.payment_id = p.id WHERE p.stands = 'on_order'),
		(SELECT sum(captured_minor) FROM payments), (SELECT count(*) FROM refund_operations),
		(SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id), (SELECT count(*) FROM human_list)`, nil,
		&paid, &moves, &out, &payments, &standing, &captured, &refunds, &held, &asked)
	got := fmt.Sprint(paid, moves, out, payments, standing, captured, refunds, held, asked)
	if want := fmt.Sprint(rounds, rounds, rounds, rounds, rounds, rounds*orderstest.PriceMinor, 0, rounds, 0); got != want {
		t.Errorf("paid, transitions, notices, payments, on their orders, captured, refunds, seats, asked: %s; want %s", got, want)
	}
	if n := len(b.cancelled); n != 0 || b.payments() != rounds {
		t.Errorf("%d payments cancelled, %d opened at the provider; want none and %d", n, b.payments(), rounds)
	}
}

// Two notices of one payment at the same instant, a hundred times: one transition, no
// refund.
func TestTwoTellingsAtOneInstant(t *testing.T) {
	h := open(t, 100)
	for i, holder := range orderstest.Holders(100) {
		order, payment := h.Order(t, holder, 1), fmt.Sprint("pi_", i)
		var paid, repeat atomic.Int32
		together(2, func(int) {
			switch outcome, err := h.in.Receive(t.Context(), body(t, success(order, payment))); {
			case err != nil:
				t.Error(err)
			case outcome == orders.Paid:
				paid.Add(1)
			case outcome == orders.AlreadyPaid:
				repeat.Add(1)
			}
		})
		if paid.Load() != 1 || repeat.Load() != 1 {
			t.Fatalf("round %d: paid %d times, repeated %d, want 1 and 1", i, paid.Load(), repeat.Load())
		}
	}
	if n := h.Count(t, `SELECT count(*) FROM refund_operations`); n != 0 {
		t.Errorf("%d refunds, want none", n)
	}
}

// Two payments of one order at the same instant: one pays, the other goes back.
func TestTwoPaymentsAtOneInstant(t *testing.T) {
	h := open(t, 30)
	for i, holder := range orderstest.Holders(30) {
		order := h.Order(t, holder, 1)
		var paid, twice atomic.Int32
		together(2, func(n int) {
			switch outcome, err := h.in.Receive(t.Context(), body(t, success(order, fmt.Sprintf("pi_%d_%d", i, n)))); {
			case err != nil:
				t.Error(err)
			case outcome == orders.Paid:
				paid.Add(1)
			case outcome == orders.PaidTwice:
				twice.Add(1)
			}
		})
		if paid.Load() != 1 || twice.Load() != 1 {
			t.Fatalf("round %d: paid %d, twice %d, want 1 and 1", i, paid.Load(), twice.Load())
		}
	}
}

// Money that was counted for one order and is then told of under another's name
// pays nothing twice: a person is told, and the provider gets its 2xx.
func TestMoneyOfAnotherOrderGoesToAPerson(t *testing.T) {
	h := open(t, 2)
	first, second := h.Order(t, "anna", 1), h.Order(t, "bert", 1)
	h.receive(t, success(first, "pi_1"), orders.Paid)
	h.receive(t, success(second, "pi_1"), orders.WrongOrder)
	if status := h.Status(t, second); status != "pending" {
		t.Errorf("the second order is %s, want pending", status)
	}
	if n := h.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'wrong_order'`); n != 1 {
		t.Errorf("%d rows on the human list, want 1", n)
	}
}

// A success that names another order than its payment was opened for pays
// neither, whichever of the two is told first, and whether or not the provider's
// name of the payment is known yet: a person has the money, once.
func TestNoOrderIsPaidByAnothersPayment(t *testing.T) {
	for name, known := range map[string]bool{"open": true, "its answer is still to come": false} {
		t.Run(name, func(t *testing.T) {
			h, c := open(t, 2), &counter{}
			anna, ben := h.Order(t, "anna", 1), h.Order(t, "ben", 1)
			payment := wantOpening(t, h.pays(c, 1), anna, "anna", "a", orders.Opened)
			if !known {
				_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET status = 'opening', provider_payment_id = NULL, checkout_url = NULL`)
				must(t, err)
			}
			for _, order := range []uuid.UUID{ben, anna, ben} {
				n := success(order, "pi_"+payment.ID.String())
				n.Payment = payment.ID
				h.receive(t, n, orders.WrongOrder)
			}
			if a, b := h.Status(t, anna), h.Status(t, ben); a != "pending" || b != "pending" {
				t.Errorf("anna's order is %s, ben's %s; want both pending", a, b)
			}
			var listed, stands string
			h.Scan(t, `SELECT string_agg(h.kind, ' '), min(p.stands) FROM human_list h JOIN payments p ON p.id = h.payment_id`, nil, &listed, &stands)
			if n := h.Count(t, `SELECT count(*) FROM payments`); listed != "wrong_order" || stands != "human" || n != 1 {
				t.Errorf("listed %q, the money stands %q, %d payments; want wrong_order, human, 1", listed, stands, n)
			}
			for order, pays := range map[uuid.UUID]string{anna: "pi_anna", ben: "pi_ben"} {
				h.receive(t, success(order, pays), orders.Paid)
			}
		})
	}
}

// Should ours ever be wrong about whose a payment is, the database refuses.
func TestTheDatabaseRefusesAnothersPayment(t *testing.T) {
	h := open(t, 2)
	anna, ben := h.Order(t, "anna", 1), h.Order(t, "ben", 1)
	wantOpening(t, h.pays(&counter{}, 1), anna, "anna", "a", orders.Opened)
	_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET status = 'paid', paid_at = now(), payment_id = (SELECT id FROM payments) WHERE id = $1`, ben)
	if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "23503" {
		t.Errorf("ben's order, paid by anna's payment: %v; want the foreign key to refuse it", err)
	}
}

// Money that a person has for its amount or its currency stays there, whatever
// is told of the same payment later: the first answer is given again, and the
// provider gets its 2xx.
func TestMoneyThatAPersonHasIsAnsweredTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		amount   int64
		currency string
		want     orders.Outcome
	}{
		"amount":   {orderstest.PriceMinor - 1, orderstest.Currency, orders.WrongAmount},
		"currency": {orderstest.PriceMinor, "USD", orders.WrongCurrency},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 2)
			order := h.Order(t, "anna", 1)
			first := says(orders.SaysCaptured, order, "pi_1", c.amount)
			first.Currency = c.currency
			h.receive(t, first, c.want)
			right := success(order, "pi_1")
			h.receive(t, right, c.want)
			h.receive(t, success(order, "pi_1"), c.want)
			if status, _, tries := h.row(t, right); status != "human" || tries != 1 {
				t.Errorf("the later notice is %s after %d tries, want human, 1", status, tries)
			}
			h.receive(t, success(order, "pi_2"), orders.Paid)
			h.receive(t, success(order, "pi_1"), c.want)
			if n := h.Count(t, `SELECT count(*) FROM human_list`); n != 1 {
				t.Errorf("%d rows on the human list, want 1", n)
			}
		})
	}
}

// Money that was counted stays where it is when the provider tells of another
// amount or currency later; a person sees it, once.
func TestCountedMoneyToldOtherwiseIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		amount   int64
		currency string
		want     orders.Outcome
	}{
		"amount":   {orderstest.PriceMinor - 1, orderstest.Currency, orders.WrongAmount},
		"currency": {orderstest.PriceMinor, "USD", orders.WrongCurrency},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 1)
			order := h.Order(t, "anna", 1)
			h.receive(t, success(order, "pi_1"), orders.Paid)
			for range 2 {
				n := says(orders.SaysCaptured, order, "pi_1", c.amount)
				n.Currency = c.currency
				h.receive(t, n, c.want)
			}
			h.receive(t, success(order, "pi_1"), orders.AlreadyPaid)
			var detail string
			h.Scan(t, `SELECT string_agg(detail, '; ') FROM human_list WHERE resolved_at IS NULL`, nil, &detail)
			want := fmt.Sprintf("stripe now says that it captured %d %s by pi_1; 2500 EUR were counted", c.amount, c.currency)
			if s := h.Status(t, order); s != "paid" || detail != want {
				t.Errorf("the order is %s, listed: %q; want paid, %q", s, detail, want)
			}
		})
	}
}
