package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// priced makes a cart that costs that much in that currency.
func (s *shop) priced(secret string, amountMinor int64, currency string) cart {
	s.t.Helper()
	c := s.cart(secret)
	s.exec(`UPDATE order_lines SET amount_minor = $2 WHERE order_id = $1`, c.order, amountMinor)
	s.exec(`UPDATE orders SET amount_minor = $2, currency = $3 WHERE id = $1`, c.order, amountMinor, currency)
	return c
}

// refunded runs a refunder until all that is owed is confirmed, and returns the
// refunds that the provider made, by payment.
func (s *shop) refunded() map[string][]payprov.LedgerRefund {
	s.t.Helper()
	till := &till{t: s.t, db: s.db, url: s.account}
	c := till.config()
	c.ProviderAccount = s.config.ProviderAccount
	till.refunder(c)
	within(s.t, 30*time.Second, "all refunds are confirmed", func() bool {
		return s.provider.Undelivered() == 0 && s.Count(s.t, `SELECT count(*) FROM refund_operations WHERE status <> 'confirmed'`) == 0
	})
	of := map[string][]payprov.LedgerRefund{}
	for _, re := range s.provider.Ledger().Refunds {
		of[re.Payment] = append(of[re.Payment], re)
	}
	return of
}

// JPY 9899 is 9899 at the provider and KWD 18.600 is 18600, charged and given
// back alike: in what we ask, in what the provider did, and in our own books.
func TestMoneyIsToldInTheCurrencysOwnUnit(t *testing.T) {
	s := openShop(t, 3, payprov.Config{})
	amounts := map[string]int64{"JPY": 9899, "KWD": 18600, "EUR": 2599}
	for currency, amount := range amounts {
		c := s.priced(currency, amount, currency)
		first, second := s.open(c.order, c.ticket, "a"), s.open(c.order, c.ticket, "b")
		if p := first.body.Payment; first.status != 201 || p.AmountMinor != amount || p.Currency != currency {
			t.Fatalf("%s: %d %+v", currency, first.status, p)
		}
		s.decide(first.body.Payment.CheckoutURL, "pay")
		s.decide(second.body.Payment.CheckoutURL, "pay")
		s.settled(c.order, "paid")
		var request string
		s.Scan(t, `SELECT convert_from(request, 'UTF8') FROM refund_operations WHERE order_id = $1`, []any{c.order}, &request)
		if want := fmt.Sprintf("amount=%d&", amount); !strings.HasPrefix(request, want) {
			t.Errorf("%s: the refund asks for %s, want %s", currency, request, want)
		}
	}
	made := s.refunded()
	charged, back := map[string]int{}, map[string]int{}
	for _, p := range s.provider.Ledger().Payments {
		currency := strings.ToUpper(p.Currency)
		if p.Captured != amounts[currency] || p.Amount != amounts[currency] {
			t.Errorf("%s: %d of %d at the provider, want %d", currency, p.Captured, p.Amount, amounts[currency])
		}
		charged[currency]++
		for _, re := range made[p.ID] {
			if re.Amount != amounts[currency] || re.Currency != p.Currency || re.Status != "succeeded" {
				t.Errorf("%s: the provider gave back %d %s, %s; want %d", currency, re.Amount, re.Currency, re.Status, amounts[currency])
			}
			back[currency]++
		}
	}
	for currency, amount := range amounts {
		kept := s.Count(t, `SELECT count(*) FROM payments WHERE currency = $1 AND captured_minor = $2 AND refunded_minor = CASE stands WHEN 'to_refund' THEN $2::bigint ELSE 0 END`, currency, amount)
		if charged[currency] != 2 || back[currency] != 1 || kept != 2 {
			t.Errorf("%s: charged %d times, given back %d times, %d payments of ours say so; want 2, 1 and 2", currency, charged[currency], back[currency], kept)
		}
	}
}

// Ten lines of 2390 less 25 %, to the cent on each line: each line's refund is that
// line's, whatever they are asked in, and also asked twice; all together they are exactly
// the payment, at the provider as in our books, and no cent more goes back.
func TestRefundsOfDiscountedLinesAddUpAtTheProvider(t *testing.T) {
	s := openShop(t, 10, payprov.Config{})
	c := s.cartOf("anna", 10)
	s.exec(`UPDATE order_lines l SET amount_minor = 1792 + n % 2
		FROM (SELECT seat_id, row_number() OVER (ORDER BY seat_id) AS n FROM order_lines WHERE order_id = $1) s
		WHERE l.order_id = $1 AND l.seat_id = s.seat_id`, c.order)
	s.exec(`UPDATE orders SET amount_minor = 17925 WHERE id = $1`, c.order)
	paid := s.open(c.order, c.ticket, "a")
	s.decide(paid.body.Payment.CheckoutURL, "pay")
	s.settled(c.order, "paid")
	rows, err := s.Pool.Query(t.Context(), `SELECT seat_id FROM order_lines WHERE order_id = $1 ORDER BY seat_id % 3, seat_id`, c.order)
	if err != nil {
		t.Fatal(err)
	}
	seats, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	for _, seat := range append(seats, seats...) {
		if err := pg.InTx(t.Context(), s.Pool, func(tx pgx.Tx) error {
			_, _, err := refunds.Request(t.Context(), tx, refunds.Requesting{
				Install: "here", Order: c.order, Seat: seat, By: "desk",
				ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil },
			})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	made := s.refunded()
	p := s.provider.Ledger().Payments[0]
	sum, lines := int64(0), map[int64]int{}
	for _, re := range made[p.ID] {
		sum += re.Amount
		lines[re.Amount]++
	}
	if p.Captured != 17925 || p.Refunded != 17925 || sum != 17925 || len(made[p.ID]) != 10 || lines[1792] != 5 || lines[1793] != 5 {
		t.Errorf("at the provider %d came and %d went back, in %d refunds of %d: %v; want 17925 of each, in 10", p.Captured, p.Refunded, len(made[p.ID]), sum, lines)
	}
	var captured, refunded, pending, own, back int64
	s.Scan(t, `SELECT captured_minor, refunded_minor, refund_pending_minor,
		(SELECT count(*) FROM refund_operations f JOIN order_lines l USING (order_id, seat_id) WHERE f.amount_minor = l.amount_minor AND l.given_back_by = f.id),
		(SELECT given_back FROM orders WHERE id = $1) FROM payments WHERE order_id = $1`, []any{c.order}, &captured, &refunded, &pending, &own, &back)
	if captured != 17925 || refunded != 17925 || pending != 0 || own != 10 || back != 10 {
		t.Errorf("our books: %d came, %d went back, %d is on its way, %d lines by their own refund, %d seats back; want 17925, 17925, 0, 10, 10", captured, refunded, pending, own, back)
	}
}

// What the provider has no unit for, or cannot tell exactly, is refused for good,
// and the provider never hears of it.
func TestMoneyThatCannotBeToldIsRefused(t *testing.T) {
	s := openShop(t, 3, payprov.Config{})
	for name, c := range map[string]cart{
		"no currency": s.priced("a", 2500, "XXX"), "no unit": s.priced("b", 2500, "IQD"), "a fils too many": s.priced("c", 18601, "KWD"),
	} {
		if a := s.open(c.order, c.ticket, "a"); a.status != 503 || a.body.Code != "provider_unavailable" {
			t.Errorf("%s: %d %s, want 503 provider_unavailable", name, a.status, a.body.Code)
		}
	}
	if failed := s.Count(t, `SELECT count(*) FROM payments WHERE status = 'failed' AND look_at IS NULL`); failed != 3 || len(s.provider.Requests()) != 0 {
		t.Errorf("%d payments failed, %d calls made; want 3 and none", failed, len(s.provider.Requests()))
	}
}
