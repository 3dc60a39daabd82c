package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"waitroom/internal/audience"
)

// order is what a claim's answer says was bought.
type order struct {
	ID     string
	Status string
	PayURL string    `json:"pay_url"`
	PayBy  time.Time `json:"pay_by"`
	Seats  []struct{ GUID string }
}

// shop looks, chooses and claims. Nil: left without an order; wanted says how
// many seats were looked for all the same.
func (f *fan) shop(ctx context.Context) (*order, int) {
	if !f.Buys {
		wait(ctx, f.Browse)
		return nil, 0
	}
	if !wait(ctx, f.Think) {
		return nil, 0
	}
	for try := range audience.Tries {
		var seats availability
		r := f.ask(ctx, "GET", "/v1/public/events/"+f.crowd.Event+"/availability", "", "", nil)
		r.into(&seats)
		w := f.crowd.hall.choose(f.rand, seats.Bitmap, f.Seats)
		if n := len(w.Seats) + w.Quantity; n == f.Seats || n > 0 && !f.Together {
			if len(w.Seats) == f.Seats && f.holder[0]%4 == 0 { // one in four leaves the choice to us
				w = want{Best: &best{f.Seats}}
			}
			key := fmt.Sprintf("%s-%d", f.holder[:16], try)
			if o, done := f.claim(ctx, w, key); done {
				return o, f.Seats
			}
		}
		if !wait(ctx, f.jitter(audience.TryAgain)) {
			return nil, f.Seats
		}
	}
	f.crowd.Tally.FoundNothing.Add(1)
	return nil, f.Seats
}

// claim asks until the attempt has an answer: an outcome that is not known is
// asked for again with the same key and the same bytes.
func (f *fan) claim(ctx context.Context, w want, key string) (*order, bool) {
	body, _ := json.Marshal(w)
	if f.Doubles {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { f.claimOnce(ctx, key, w, body) })
	}
	for ctx.Err() == nil {
		o, r, known := f.claimOnce(ctx, key, w, body)
		if o != nil {
			f.crowd.Tally.Claimed.Add(1)
			return o, true
		}
		if known {
			return nil, f.refused(r)
		}
		wait(ctx, f.jitter(r.after(time.Second)))
	}
	return nil, true
}

// refused says whether that was the last of it.
func (f *fan) refused(r reply) bool {
	f.crowd.Tally.Refused.Add(1)
	switch code := r.code(); code {
	case "seats_taken", "sold_out":
		return false
	case "over_limit", "pass_invalid", "sale_closed":
		return true
	default:
		f.crowd.oddly("claim: %s", code)
		return true
	}
}

// claimOnce sends a claim once. The log has every one that was sent: what was asked
// for, when, and when what was answered, if anything was.
func (f *fan) claimOnce(ctx context.Context, key string, w want, body []byte) (o *order, r reply, known bool) {
	say := told{Op: "claim", Attempt: key, Asked: time.Now(), Wish: &w}
	r = f.ask(ctx, "POST", f.path("/orders"), f.pass, key, body)
	var got struct{ Order order }
	switch {
	case (r.status == 201 || r.status == 200) && r.into(&got):
		o, known = &got.Order, true
		say.Outcome, say.Order, say.Status = "claimed", o.ID, o.Status
		for _, s := range o.Seats {
			say.Seats = append(say.Seats, s.GUID)
		}
	case r.status == 0, r.status == 202, r.code() == "claim_unknown":
		f.crowd.Tally.Unknown.Add(1)
		say.Outcome = "unknown"
	case r.status >= 500 || r.status == 429:
		f.crowd.Tally.Busy.Add(1)
		say.Outcome = "busy" // not taken up, or so it says
	default:
		var refused struct{ Taken []string }
		r.into(&refused)
		known, say.Outcome, say.Taken = true, r.code(), refused.Taken
	}
	f.tell(r.at, say)
	return o, r, known
}

// settle is what becomes of an order: paid, paid late, given back, forgotten.
func (f *fan) settle(ctx context.Context, o *order) {
	switch f.Ends {
	case audience.NeverPays:
		f.crowd.Tally.NeverPaid.Add(1)
		return
	case audience.Cancels:
		f.crowd.Tally.Cancelled.Add(1)
		wait(ctx, f.UntilPaying)
		f.ask(ctx, "POST", "/v1/orders/"+o.ID+"/cancel", f.ticket, "cancel-"+o.ID, nil)
		return
	case audience.PaysLate:
		checkout := f.checkout(ctx, o, "pay-"+o.ID)
		if wait(ctx, time.Until(o.PayBy)+f.crowd.Pay) && f.atProvider(ctx, checkout, "pay", nil) {
			f.crowd.Tally.PaidLate.Add(1)
		}
		return
	case audience.PaysLast:
		f.payLast(ctx, o)
		return
	}
	wait(ctx, f.UntilPaying)
	checkout := f.checkout(ctx, o, "pay-"+o.ID)
	switch f.Ends {
	case audience.PaysTwice:
		f.payTwice(ctx, o, checkout)
		return
	case audience.PaysOther:
		if f.atProvider(ctx, checkout, "pay", url.Values{"amount": {strconv.Itoa(100 + f.rand.IntN(20000))}}) {
			f.crowd.Tally.PaidOther.Add(1)
		}
		return
	}
	if f.rand.Float64() < 0.05 { // the first card does not work
		f.atProvider(ctx, checkout, "decline", nil)
	}
	if f.atProvider(ctx, checkout, "pay", nil) {
		f.crowd.Tally.Paid.Add(1)
		f.watch(ctx, o)
	}
}

// payTwice is a second tab: each has a payment of its own, and both are paid.
func (f *fan) payTwice(ctx context.Context, o *order, checkout string) {
	second := f.checkout(ctx, o, "pay-"+o.ID+"-again")
	var both sync.WaitGroup
	var paid atomic.Int32
	for _, at := range []string{checkout, second} {
		both.Go(func() {
			if f.atProvider(ctx, at, "pay", nil) {
				paid.Add(1)
			}
		})
	}
	both.Wait()
	if paid.Load() == 2 {
		f.crowd.Tally.PaidTwice.Add(1)
	}
	if paid.Load() > 0 {
		f.crowd.Tally.Paid.Add(1)
		f.watch(ctx, o)
	}
}

// payLast pays around the order's end: whether it was in time, the fan cannot
// know.
func (f *fan) payLast(ctx context.Context, o *order) {
	checkout := f.checkout(ctx, o, "pay-"+o.ID)
	var now struct{ Order order }
	if f.ask(ctx, "GET", "/v1/orders/"+o.ID, f.ticket, "", nil).into(&now) && !now.Order.PayBy.IsZero() {
		o.PayBy = now.Order.PayBy // entering payment moved it
	}
	around := time.Duration((2.5*f.rand.Float64() - 1.5) * float64(time.Second))
	if wait(ctx, time.Until(o.PayBy)+around) && f.atProvider(ctx, checkout, "pay", nil) {
		f.crowd.Tally.PaidLast.Add(1)
	}
}

// checkout opens the payment and says where to pay.
func (f *fan) checkout(ctx context.Context, o *order, key string) string {
	var got struct {
		Payment struct {
			CheckoutURL string `json:"checkout_url"`
		}
	}
	for ctx.Err() == nil {
		r := f.crowd.call(ctx, "POST", o.PayURL, f.ticket, key, nil)
		if (r.status == 201 || r.status == 200) && r.into(&got) {
			return got.Payment.CheckoutURL
		}
		if r.status != 0 && r.status < 500 && r.status != 429 {
			if r.code() != "order_ended" {
				f.crowd.oddly("payment: %s", r.code())
			}
			return ""
		}
		if r.code() == "provider_unavailable" {
			key += "-another" // this one comes to nothing
		}
		f.crowd.Tally.Busy.Add(1)
		wait(ctx, f.jitter(r.after(time.Second)))
	}
	return ""
}

// atProvider presses a button on the provider's checkout page.
func (f *fan) atProvider(ctx context.Context, checkout, button string, form url.Values) bool {
	at, err := url.Parse(checkout)
	if checkout == "" || err != nil {
		return false
	}
	at.RawQuery = ""
	req, err := http.NewRequestWithContext(ctx, "POST", strings.TrimSuffix(at.String(), "/")+"/"+button, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := f.crowd.client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // nothing is read
	return res.StatusCode < 400
}

// watch looks at the order until its payment has arrived, and for a while only.
func (f *fan) watch(ctx context.Context, o *order) {
	for range 10 {
		r := f.ask(ctx, "GET", "/v1/orders/"+o.ID, f.ticket, "", nil)
		var got struct{ Order order }
		if r.status == 200 && r.into(&got) && got.Order.Status != "pending" {
			f.tell(r.at, told{Op: "order", Order: o.ID, Status: got.Order.Status})
			return
		}
		if !wait(ctx, f.jitter(time.Second)) {
			return
		}
	}
}
