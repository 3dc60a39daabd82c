package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"waitroom/internal/payprov"
)

// priced makes a cart that costs that much in that currency.
func (s *shop) priced(secret string, amountMinor int64, currency string) cart {
	s.t.Helper()
	c := s.cart(secret)
	s.exec(`UPDATE order_lines SET amount_minor = $2 WHERE order_id = $1`, c.order, amountMinor)
	s.exec(`UPDATE orders SET amount_minor = $2, currency = $3 WHERE id = $1`, c.order, amountMinor, currency)
	return c
}

// JPY 9899 is 9899 at the provider and KWD 18.600 is 18600, charged and given
// back alike.
func TestMoneyIsToldInTheCurrencysOwnUnit(t *testing.T) {
	s := openShop(t, 3, payprov.Config{})
	for currency, amount := range map[string]int64{"JPY": 9899, "KWD": 18600, "EUR": 2599} {
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
		charged := 0
		for _, p := range s.provider.Ledger().Payments {
			if p.Currency == strings.ToLower(currency) && p.Captured == amount {
				charged++
			}
		}
		if charged != 2 {
			t.Errorf("%s: %d payments of %d at the provider, want 2", currency, charged, amount)
		}
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
