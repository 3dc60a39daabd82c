package support_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// A double click, and twenty callers that know nothing of each other, ask for
// one refund: one operation, one key, one amount.
func TestADoubleClickIsOneOperation(t *testing.T) {
	c := open(t, 4)
	o := c.sold("ann", 3)
	var callers sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		callers.Go(func() {
			a, err := c.Ask(t.Context(), c.Pool, o.wants(1))
			if err != nil || a.Word != support.Queued || a.Standing == nil {
				t.Errorf("caller %d: %+v, %v", i, a, err)
				return
			}
			ids[i] = a.Standing.ID
		})
	}
	callers.Wait()
	for _, id := range ids {
		if id != refunds.LineID(o.id, o.seats[1]) {
			t.Errorf("an operation is named %q", id)
		}
	}
	var n, minor int
	c.Scan(t, `SELECT count(*), sum(amount_minor) FROM refund_operations`, nil, &n, &minor)
	if n != 1 || minor != price {
		t.Errorf("%d operations of %d in all, want 1 of %d", n, minor, price)
	}
}

// Order, line and customer have to be one: whatever is not is answered like
// what is not there, and does nothing.
func TestOrderLineAndCustomerMustMatch(t *testing.T) {
	c := open(t, 4)
	ann, bob := c.sold("ann", 2), c.sold("bob", 1)
	unpaid := sold{id: c.Order(t, "eve", 1), customer: "eve", lines: []string{"seat-3"}}
	w := ann.wants(0)
	for _, wrong := range []struct {
		reason support.Reason
		wanted support.Wanted
	}{
		{support.NoSuchOrder, support.Wanted{Organiser: w.Organiser, Order: w.Order, Line: w.Line, Customer: "bob", By: "x"}},
		{support.NoSuchOrder, support.Wanted{Organiser: w.Organiser, Order: w.Order, Line: w.Line, Customer: "", By: "x"}},
		{support.NoSuchOrder, support.Wanted{Organiser: "acme", Order: w.Order, Line: w.Line, Customer: "ann", By: "x"}},
		{support.NoSuchOrder, support.Wanted{Organiser: w.Organiser, Order: uuid.New(), Line: w.Line, Customer: "ann", By: "x"}},
		{support.NoSuchLine, support.Wanted{Organiser: w.Organiser, Order: w.Order, Line: bob.lines[0], Customer: "ann", By: "x"}},
		{support.NoSuchLine, support.Wanted{Organiser: w.Organiser, Order: w.Order, Line: "", Customer: "ann", By: "x"}},
		{support.OrderNotPaid, unpaid.wants(0)},
	} {
		c.want(wrong.wanted, support.Refused, wrong.reason)
	}
	if n := c.Count(t, `SELECT count(*) FROM refund_operations`) + c.Count(t, `SELECT count(*) FROM refund_approvals`); n != 0 {
		t.Errorf("%d rows were made", n)
	}
	c.exec(`UPDATE orders SET holder = 'the-holder' WHERE id = $1`, ann.id)
	w.Customer = "the-holder"
	c.want(w, support.Queued, "")
}

// Whoever asks again is told how the refund stands, and never that it failed
// while nobody knows.
func TestAskedAgainItIsHowItStands(t *testing.T) {
	c := open(t, 40)
	stands := []struct {
		word   support.Word
		reason support.Reason
		become func(id string)
	}{
		{support.Queued, "", func(string) {}},
		{support.Unknown, support.WithAPerson, func(id string) { c.gaveUp(id, true) }},
		{support.Refused, support.ProviderRefused, func(id string) {
			c.gaveUp(id, false)
			c.exec(`UPDATE refund_operations SET status = 'rejected', ended_at = now() WHERE id = $1`, id)
		}},
		{support.Sending, "", func(id string) {
			c.exec(`UPDATE refund_operations SET status = 'pending', provider_refund_id = $1 WHERE id = $1`, id)
		}},
	}
	for i, s := range stands {
		o := c.sold(fmt.Sprint("ann", i), 2)
		id := c.ask(o.wants(0)).Standing.ID
		s.become(id)
		a := c.want(o.wants(0), s.word, s.reason)
		if a.Standing.ID != id || a.AmountMinor != price || c.operations(o) != 1 {
			t.Errorf("%s: asked again it is %s of %d, %d operations", s.word, a.Standing.ID, a.AmountMinor, c.operations(o))
		}
	}
	// The provider's own word comes first, and is what the next asking tells.
	o := c.sold("bob", 1)
	id := c.ask(o.wants(0)).Standing.ID
	c.hear(o, refunds.Told{ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: price})
	c.want(o.wants(0), support.Confirmed, "")
	c.hear(o, refunds.Told{ProviderRefund: "re_1", Operation: id, Status: "failed", AmountMinor: price})
	c.want(o.wants(0), support.Refused, support.DidNotArrive)
}

// What was refunded by hand at the provider is nobody's operation: all of it
// leaves nothing to ask for, part of it is for a person, because nobody knows
// of which line it was.
func TestWhatWasRefundedByHandIsNotRefundedAgain(t *testing.T) {
	c := open(t, 40)
	for what, tell := range map[string]func(o sold, minor int64){
		"told singly": func(o sold, minor int64) {
			c.hear(o, refunds.Told{ProviderRefund: "re_hand_" + o.customer, Status: "succeeded", AmountMinor: minor})
		},
		"told as a sum": func(o sold, minor int64) { c.hear(o, refunds.Told{SumMinor: minor}) },
	} {
		whole, part := c.sold("whole "+what, 2), c.sold("part "+what, 2)
		tell(whole, 2*price)
		c.want(whole.wants(0), support.Refused, support.AlreadyRefunded)
		tell(part, price)
		a := c.want(part.wants(0), support.NeedsApproval, support.RefundedByHand)
		if c.operations(whole)+c.operations(part) != 0 {
			t.Errorf("%s: an operation was made", what)
		}
		c.decide(support.Deciding{Approval: a.Approval, By: "boss", Yes: true}, support.Approved)
		c.want(part.wants(0), support.Queued, "")
		c.want(part.wants(1), support.Refused, support.AlreadyRefunded)
	}
}

// What was refunded by hand and is on its way may fail: nobody is told that it went back.
func TestWhatIsOnItsWayByHandIsNotToldAsBack(t *testing.T) {
	c := open(t, 40)
	o := c.sold("ann", 1)
	for _, told := range []struct {
		status string
		word   support.Word
		reason support.Reason
	}{{"pending", support.Unknown, support.WithAPerson}, {"succeeded", support.Refused, support.AlreadyRefunded}} {
		c.hear(o, refunds.Told{ProviderRefund: "re_hand", Status: told.status, AmountMinor: price})
		c.want(o.wants(0), told.word, told.reason)
	}
	if c.operations(o) != 0 {
		t.Error("an operation was made")
	}
}

// While what was told of a payment's refunds waits to be heard, nothing is accepted
// and nothing refused: it is not known.
func TestNothingIsAcceptedBeforeWhatWasToldIsHeard(t *testing.T) {
	c := open(t, 2)
	o := c.sold("ann", 2)
	c.exec(`INSERT INTO provider_notices (provider, notice_id, kind, body, status, next_try_at, about)
		VALUES ('stripe', 'evt_1', 'refund.created', '{}', 'waiting', now(), 'pi_ann')`)
	if a, err := c.Ask(t.Context(), c.Pool, o.wants(0)); err == nil || c.operations(o) != 0 {
		t.Errorf("%s %s, %d operations; want neither a yes nor a no", a.Word, a.Reason, c.operations(o))
	}
	c.exec(`UPDATE provider_notices SET status = 'applied', next_try_at = NULL, done_at = now(), about = ''`)
	c.want(o.wants(0), support.Queued, "")
}

// What came back to us is not what went back to the customer: the refund of one
// line that failed later leaves the others to be asked for, whether or not it is
// renewed; what somebody refunded by hand beside it is still seen.
func TestWhatFailedLaterIsNotRefundedByHand(t *testing.T) {
	c := open(t, 40)
	fails := func(o sold) (id string) {
		id = c.want(o.wants(0), support.Queued, "").Standing.ID
		c.exec(`UPDATE refund_operations SET sends = 1, first_sent_at = now() WHERE id = $1`, id)
		for _, told := range []refunds.Told{
			{ProviderRefund: "re_" + o.customer, Operation: id, Status: "succeeded", AmountMinor: price},
			{SumMinor: price},
			{ProviderRefund: "re_" + o.customer, Operation: id, Status: "failed", AmountMinor: price},
			{SumMinor: 0},
		} {
			c.hear(o, told)
		}
		return id
	}
	renew := func(id string) string {
		c.act(support.Deed{Item: c.item(id).ID, By: "mia", Do: support.Renew, Why: "the card was closed"}, support.Done)
		return id + "#2"
	}
	failed, renewed, both := c.sold("ann", 3), c.sold("ben", 3), c.sold("cleo", 3)
	fails(failed)
	renew(fails(renewed))
	again := renew(fails(both))
	for _, o := range []sold{failed, renewed, both} {
		c.want(o.wants(1), support.Queued, "")
	}
	c.exec(`UPDATE refund_operations SET sends = 1, first_sent_at = now() WHERE id = $1`, again)
	c.hear(both, refunds.Told{ProviderRefund: "re_again", Operation: again, Status: "succeeded", AmountMinor: price})
	c.hear(both, refunds.Told{SumMinor: 2 * price})
	c.want(both.wants(2), support.Refused, support.AlreadyRefunded)

	hand := c.sold("dora", 2)
	for _, status := range []string{"pending", "failed"} {
		c.hear(hand, refunds.Told{ProviderRefund: "re_hand", Status: status, AmountMinor: price})
		c.hear(hand, refunds.Told{SumMinor: price})
	}
	c.want(hand.wants(0), support.Queued, "")
	c.want(hand.wants(1), support.Queued, "")
}

// While the backlog cannot be kept in time, what nobody owes is refused with a
// time to ask again; what was accepted is told as ever, and what we owe is
// taken.
func TestNewRequestsAreRefusedWhileTheForecastIsBehind(t *testing.T) {
	c := open(t, 40)
	before, late, o := c.sold("before", 1), c.sold("late", 1), c.sold("ann", 1)
	c.want(before.wants(0), support.Queued, "")
	c.exec(`UPDATE refund_operations SET accepted_at = now() - interval '16 minutes', next_at = now() - interval '16 minutes', give_up_at = now() - interval '1 minute'`)
	a := c.want(o.wants(0), support.Refused, support.RefundsBehind) // its promise is over
	if a.RetryAfter < 30*time.Second || a.RetryAfter > refunds.Promise {
		t.Errorf("asked again after %s", a.RetryAfter)
	}
	c.want(before.wants(0), support.Queued, "")
	err := pg.InTx(t.Context(), c.Pool, func(tx pgx.Tx) error {
		taken, err := refunds.Owe(t.Context(), tx, refunds.Operation{
			Install: "here", Event: c.Event, Order: late.id, Payment: late.payment, Reason: refunds.Late,
			ProviderPayment: "pi_late", AmountMinor: price, ProviderAmount: price, Currency: "EUR",
		})
		if !taken {
			t.Error("what we owe was not taken")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.exec(`UPDATE refund_operations SET status = 'confirmed', provider_refund_id = id, ended_at = now()`)
	c.want(o.wants(0), support.Queued, "")
}
