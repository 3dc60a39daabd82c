package ordersmodel_test

import (
	"testing"

	"waitroom/internal/orders/ordersmodel"
)

const most = 3_000_000

// All of it at once, and a third order, take hours. What refunds do is nobody's business but their
// payment's, so they are taken apart where there are fewer of the others.
var small = []ordersmodel.Rules{
	{Orders: 1, Payments: 2, Calls: true, Reclaim: true},
	{Orders: 2, Payments: 1, Calls: true},
	{Orders: 2, Payments: 1, Calls: true, Reclaim: true},
	{Orders: 2, Payments: 2},
	{Orders: 2, Payments: 2, Reclaim: true},
}

// P1, P3, P4, P5, P6, P11 and P13 hold in every state that a small sale can come to,
// with deaths and repeats wherever they can be, and from each of them it can settle.
// Everything that can happen does.
func TestEveryStateOfASmallSaleKeepsItsPromises(t *testing.T) {
	for _, rules := range small {
		found, err := rules.Search(most)
		if err != nil {
			t.Fatal(err)
		}
		if found.Wrong != "" || found.Stuck != "" {
			t.Errorf("%+v: %s%s", rules, found.Wrong, found.Stuck)
		}
		t.Logf("%+v: %d states, steps %v", rules, found.States, found.Taken)
		for _, do := range []ordersmodel.Do{
			ordersmodel.Claim, ordersmodel.Again, ordersmodel.Lapse, ordersmodel.List, ordersmodel.Expire, ordersmodel.Death, ordersmodel.Cancel,
			ordersmodel.Open, ordersmodel.Capture, ordersmodel.Tell, ordersmodel.Refund,
		} {
			if found.Taken[do] == 0 {
				t.Errorf("%+v: it never happens: %s", rules, do)
			}
		}
		for _, do := range []ordersmodel.Do{ordersmodel.Send, ordersmodel.Record, ordersmodel.Die, ordersmodel.Look} {
			if (found.Taken[do] > 0) != rules.Calls {
				t.Errorf("%+v: %d times: %s", rules, found.Taken[do], do)
			}
		}
	}
}

// Without any one of its guards the same search finds what is broken.
func TestWithoutAGuardSomethingIsWrong(t *testing.T) {
	for _, without := range ordersmodel.Defects() {
		found, err := ordersmodel.Rules{Orders: 2, Payments: 2, Calls: true, Reclaim: true, Without: without}.Search(most)
		if err != nil {
			t.Errorf("%s: %v", without, err)
		}
		if found.Wrong == "" {
			t.Errorf("%s: nothing is found in %d states", without, found.States)
			continue
		}
		t.Logf("%s: %s", without, found.Wrong)
	}
}
