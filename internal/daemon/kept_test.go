package daemon_test

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/orders"
	"waitroom/internal/payprov"
)

// pageKey names the order's next payment as its page does.
func (s *shop) pageKey(c cart) string {
	s.t.Helper()
	ended, err := orders.EndedPayments(s.t.Context(), s.Pool, c.order)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("page-%s-%d", c.order, ended)
}

func (s *shop) play(script payprov.Script) {
	s.t.Helper()
	if err := s.provider.Play(script); err != nil {
		s.t.Fatal(err)
	}
}

// The provider answers one opening with a 500, keeps that answer for a day, and is
// well. Whoever asks again is told to begin another, as the page does by itself,
// and pays. What the first may have left at the provider is found and cancelled.
func TestWhoseOpeningMetAKeptFailurePaysByAnother(t *testing.T) {
	for _, commit := range []bool{false, true} {
		t.Run(fmt.Sprintf("commit %t", commit), func(t *testing.T) {
			s := openShop(t, 4, payprov.Config{})
			c := s.cart("anna's secret")
			s.play(payprov.Script{Method: "POST", Path: "/v1/payment_intents", Say: "500", Commit: commit})
			for i, want := range []string{"503 payment_unknown", "503 provider_unavailable", "201 "} {
				a := s.open(c.order, c.ticket, s.pageKey(c))
				if got := fmt.Sprint(a.status, " ", a.body.Code); got != want {
					t.Fatalf("the button pressed for the %d. time: %s, want %s", i+1, got, want)
				}
				if a.status == 201 {
					s.decide(a.body.Payment.CheckoutURL, "pay")
				}
			}
			s.settled(c.order, "paid")
			s.exec(`UPDATE payments SET created_at = now() - interval '11 minutes' WHERE lost_at IS NOT NULL`)
			within(t, 30*time.Second, "nothing is in payment", func() bool {
				s.exec(`UPDATE payments SET look_at = now() WHERE look_at IS NOT NULL AND looking_until IS NULL`)
				return s.Count(t, `SELECT count(*) FROM payments WHERE status IN ('opening', 'open') OR look_at IS NOT NULL`) == 0
			})
			stands := map[string]int{}
			for _, p := range s.provider.Ledger().Payments {
				stands[p.Status]++
			}
			if stands["succeeded"] != 1 || (stands["canceled"] == 1) != commit || stands["requires_action"] != 0 {
				t.Errorf("at the provider: %v", stands)
			}
		})
	}
}

// The buyer's app takes another name for each try, and the provider keeps a 500 for
// each of the first three: once that is known they stand in nobody's way, and the
// order still has room for a fourth.
func TestKeptFailuresUseUpNoRoom(t *testing.T) {
	s := openShop(t, 4, payprov.Config{})
	c := s.cart("anna's secret")
	s.play(payprov.Script{Method: "POST", Path: "/v1/payment_intents", Say: "500", Times: 3})
	for _, key := range []string{"a", "b", "c"} {
		if a := s.open(c.order, c.ticket, key); a.status != 503 {
			t.Fatalf("%s: %d", key, a.status)
		}
	}
	s.exec(`UPDATE payments SET look_at = now()`)
	within(t, 20*time.Second, "the sweeper has asked again", func() bool {
		return s.Count(t, `SELECT count(*) FROM payments WHERE lost_at IS NOT NULL`) == 3
	})
	if a := s.open(c.order, c.ticket, "d"); a.status != 201 {
		t.Errorf("the fourth: %d %s, want 201", a.status, a.body.Code)
	}
}

// Money that an opening without an answer takes all the same is counted on its
// order; where that is paid, it goes back. Nobody keeps two.
func TestMoneyOfAnOpeningThatWasLostIsCounted(t *testing.T) {
	s := openDeafShop(t, 4, payprov.Config{})
	c := s.cart("anna's secret")
	s.play(payprov.Script{Method: "POST", Path: "/v1/payment_intents", Say: "500", Commit: true})
	s.open(c.order, c.ticket, "a")
	s.open(c.order, c.ticket, "a")
	lost := s.provider.Ledger().Payments[0].ID
	s.decide(s.config.ProviderURL+"/checkout/"+lost, "pay")
	s.decide(s.open(c.order, c.ticket, "b").body.Payment.CheckoutURL, "pay")
	within(t, 30*time.Second, "both are counted", func() bool {
		s.exec(`UPDATE payments SET look_at = now() WHERE look_at IS NOT NULL AND looking_until IS NULL`)
		s.exec(`UPDATE orders SET pay_by = clock_timestamp() + interval '14 seconds' WHERE status = 'pending'`)
		return s.Count(t, `SELECT count(*) FROM payments WHERE status = 'captured'`) == 2
	})
	on, back := s.Count(t, `SELECT count(*) FROM payments WHERE stands = 'on_order'`), s.Count(t, `SELECT count(*) FROM refund_operations WHERE reason = 'second_payment'`)
	if on != 1 || back != 1 || s.Status(t, c.order) != "paid" {
		t.Errorf("the order is %s, with %d payments on it and %d on their way back; want paid, 1, 1", s.Status(t, c.order), on, back)
	}
}
