package support_test

import (
	"slices"
	"testing"

	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// refusedThenByHand is an order of two lines, of which the refund of the first was
// ended as not refunded; then somebody refunded so much of the payment at the provider.
func refusedThenByHand(c *counter, customer string, minor int64) (o sold, id string) {
	c.t.Helper()
	o = c.sold(customer, 2)
	id = c.ask(o.wants(0)).Standing.ID
	c.gaveUp(id, false)
	c.act(support.Deed{Item: c.item(id).ID, Do: support.NotRefunded, Why: "the provider refused"}, support.Done)
	c.hear(o, refunds.Told{ProviderRefund: "re_" + customer, Status: "succeeded", AmountMinor: minor})
	return o, id
}

// What somebody refunded by hand at the provider may be the line whose refund had not
// come: it is begun anew by the word alone of who has been told of that.
func TestWhatMayBeBackByHandIsRenewedOnlyAllTheSame(t *testing.T) {
	c := open(t, 40)
	_, id := refusedThenByHand(c, "ann", price)
	i := c.item(id)
	if i.ByHandMinor != price || slices.Contains(i.Can(), support.Renew) || !slices.Contains(i.Can(), support.RenewBeside) {
		t.Errorf("%d by hand, it can be %v; want %d, and renewed only all the same", i.ByHandMinor, i.Can(), price)
	}
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "asked again"}, support.ByHandToo)
	if n := c.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'queued'`); n != 0 {
		t.Errorf("%d refunds of money that may be back wait to be sent", n)
	}
	c.act(support.Deed{Item: i.ID, Do: support.RenewBeside, Why: "that was the other line"}, support.Done)
	if n := c.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'queued'`); n != 1 {
		t.Errorf("%d refunds wait to be sent, want the one that was begun all the same", n)
	}
}

// Of a payment that went back by hand as a whole nothing is left for anybody.
func TestNothingIsRenewedBeyondWhatIsLeft(t *testing.T) {
	c := open(t, 40)
	_, id := refusedThenByHand(c, "ann", 2*price)
	i := c.item(id)
	if slices.Contains(i.Can(), support.Renew) || slices.Contains(i.Can(), support.RenewBeside) {
		t.Errorf("it can be %v, and nothing is left of the payment", i.Can())
	}
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "asked again"}, support.ByHandToo)
	c.act(support.Deed{Item: i.ID, Do: support.RenewBeside, Why: "all the same"}, support.NotNow)
}

// A refund that a person holds is not pushed beside one by hand that may be the same.
func TestWhatMayBeBackByHandIsNotPushed(t *testing.T) {
	c := open(t, 40)
	o := c.sold("ann", 2)
	id := c.ask(o.wants(0)).Standing.ID
	c.gaveUp(id, false)
	if i := c.item(id); !slices.Contains(i.Can(), support.Push) {
		t.Fatalf("before anything was refunded by hand it can be %v", i.Can())
	}
	c.hear(o, refunds.Told{ProviderRefund: "re_hand", Status: "succeeded", AmountMinor: price})
	i := c.item(id)
	if slices.Contains(i.Can(), support.Push) {
		t.Errorf("it can be %v", i.Can())
	}
	c.act(support.Deed{Item: i.ID, Do: support.Push, Why: "again"}, support.ByHandToo)
}
