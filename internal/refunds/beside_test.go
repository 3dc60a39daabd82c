package refunds_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/outlet"
	"waitroom/internal/payprov"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
)

// counter is a desk at the stand-in provider: an order of two lines of 2500, and the
// refund of its first line, asked for.
type counter struct {
	*desk
	provider *payprov.Provider
	api      stripe.Refunds
	intent   string // the provider's name of the payment
	op       string
}

func openCounter(t *testing.T) *counter {
	t.Helper()
	d := openDesk(t)
	p := payprov.New(payprov.Config{SecretKey: "sk_test"})
	t.Cleanup(p.Close)
	srv := httptest.NewServer(p.Handler())
	t.Cleanup(srv.Close)
	client, err := stripe.NewClient(stripe.Settings{BaseURL: srv.URL, SecretKey: "sk_test", Limit: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"amount": {"5000"}, "currency": {"eur"}, "confirm": {"true"}, "payment_method": {"pm_card_visa"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/payment_intents", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer sk_test")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var intent struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&intent); err != nil {
		t.Fatal(err)
	}
	order, payment, seats := d.paid("ann", 2)
	d.exec(`UPDATE payments SET provider_payment_id = $2 WHERE id = $1`, payment, intent.ID)
	s, _ := d.request(order, seats[0])
	return &counter{d, p, stripe.Refunds{Client: client}, intent.ID, s.ID}
}

// turn makes the next call that is due, at the stand-in; false: nothing is.
func (c *counter) turn() bool {
	c.t.Helper()
	c.hurry()
	j := c.next()
	if j == nil {
		return false
	}
	j.Ask.Verb = j.Verb(j.Now)
	id, _, ok, err := c.reign.Submit(c.t.Context(), *j, j.Ask.Verb)
	if err != nil || !ok {
		c.t.Fatalf("submit: taken %t, %v", ok, err)
	}
	c.settle(refunds.Sent{ID: id, Operation: j.Ask.Operation, Verb: j.Ask.Verb, Start: outlet.Start{At: time.Now(), InFlight: 1, Wrote: 1}},
		c.api.Call(c.t.Context(), j.Ask))
	return true
}

// loses has the next send lost without an effect.
func (c *counter) loses() {
	c.t.Helper()
	if err := c.provider.Play(payprov.Script{Method: "POST", Path: "/v1/refunds", Say: payprov.RST}); err != nil {
		c.t.Fatal(err)
	}
	c.turn()
}

// byHand is what somebody refunds of the payment at the provider.
func (c *counter) byHand() refunds.Told {
	c.t.Helper()
	re, err := c.provider.RefundByHand(c.intent, 2500)
	if err != nil {
		c.t.Fatal(err)
	}
	return refunds.Told{ProviderPayment: c.intent, ProviderRefund: re, Status: "succeeded", AmountMinor: 2500, Currency: "EUR"}
}

func (c *counter) refundsThere() int { return len(c.provider.Ledger().Refunds) }

// Whoever knows that a part of a payment went back by hand does not send of it by itself:
// not after a look has seen it, nor after a notice of it, by name or as a sum, nor as the
// first send, nor as a person's push of what was tried before. A person has it, with the
// refund by hand beside it.
func TestNothingIsSentBesideARefundByHand(t *testing.T) {
	sum := func(told refunds.Told) refunds.Told {
		return refunds.Told{ProviderPayment: told.ProviderPayment, SumMinor: 2500, Currency: "EUR", SaidAt: time.Now()}
	}
	for name, c := range map[string]struct {
		play  func(*counter)
		asked int // beside the operation's own item
	}{
		"a look sees it": {func(c *counter) {
			c.loses()
			c.byHand()
		}, 1},
		"told by name, then a look": {func(c *counter) {
			c.loses()
			c.hear(c.byHand())
		}, 1},
		"told by name, after the look": {func(c *counter) {
			c.loses()
			c.turn()
			c.hear(c.byHand())
		}, 1},
		"told by name before the first send": {func(c *counter) { c.hear(c.byHand()) }, 1},
		"told as a sum before the first send": {func(c *counter) {
			c.hear(sum(c.byHand()))
		}, 0}, // five minutes later
		"told as a sum while a person has it, who pushes it": {func(c *counter) {
			c.loses()
			c.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 second'`)
			if _, err := c.ledger.GiveUp(c.t.Context()); err != nil {
				c.t.Fatal(err)
			}
			c.hear(sum(c.byHand()))
			c.tx(func(tx pgx.Tx) error {
				v, err := refunds.Push(c.t.Context(), tx, c.op, "kim", "again")
				if v != refunds.Done { // a look comes first, and harms nobody
					c.t.Errorf("push: %s", v)
				}
				return err
			})
		}, 1},
		"told as a sum, of what had no effect, and pushed": {func(c *counter) {
			for range refunds.MostSends {
				if err := c.provider.Play(payprov.Script{Method: "POST", Path: "/v1/refunds", Say: payprov.TooMany}); err != nil {
					c.t.Fatal(err)
				}
				c.turn()
			}
			c.want(c.op, "manual, 2500 pending, 0 refunded, 1 asked")
			c.hear(sum(c.byHand()))
			c.tx(func(tx pgx.Tx) error {
				v, err := refunds.Push(c.t.Context(), tx, c.op, "kim", "again")
				if v != refunds.ByHandToo {
					c.t.Errorf("push: %s, want by_hand_too", v)
				}
				return err
			})
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openCounter(t)
			c.play(d)
			for range 10 {
				d.turn()
			}
			if n := d.refundsThere(); n != 1 {
				t.Errorf("%d refunds of 2500 for one line of 2500, want the one by hand", n)
			}
			d.want(d.op, "manual, 2500 pending, 0 refunded, 1 asked")
			if n := d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_by_hand' AND resolved_at IS NULL`); n != c.asked {
				t.Errorf("%d refunds by hand are before a person, want %d", n, c.asked)
			}
		})
	}
}

// A person who knows that the refund by hand was another line's has ours go all the same,
// once: through its retries, until another is made by hand.
func TestARefundGoesBesideOneByHandByAPersonsWord(t *testing.T) {
	d := openCounter(t)
	d.hear(d.byHand())
	d.want(d.op, "manual, 2500 pending, 0 refunded, 1 asked")
	var next string
	d.tx(func(tx pgx.Tx) error {
		if v, err := refunds.NotRefunded(t.Context(), tx, d.op, "kim", "it was B's"); v != refunds.Done || err != nil {
			t.Errorf("not refunded: %s, %v", v, err)
		}
		id, v, err := refunds.Renew(t.Context(), tx, d.op, "kim", "it was B's", true)
		if v != refunds.Done {
			t.Errorf("renew all the same: %s", v)
		}
		next = id
		return err
	})
	d.loses()
	for range 3 { // the look, which sees the one by hand, and the send
		d.turn()
	}
	d.want(next, "confirmed, 0 pending, 2500 refunded, 0 asked")
	if n := d.refundsThere(); n != 2 {
		t.Errorf("%d refunds, want the one by hand and ours", n)
	}
}
