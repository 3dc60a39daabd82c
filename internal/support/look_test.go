package support_test

import (
	"slices"
	"strings"
	"testing"

	"waitroom/internal/support"
)

// A payment of which nobody could say is asked about anew by a person's word, once
// until that is over; and no item of anything else is.
func TestAPersonHasTheProviderAskedAnew(t *testing.T) {
	c := open(t, 40)
	order := c.Order(t, "ann", 1)
	c.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, unknowns)
		VALUES (gen_random_uuid(), $1, 'stripe', 'pi_ann', 'open', $2, 'EUR', 10)`, order, price)
	c.exec(`INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'payment_unknown', id::text, order_id, id FROM payments`)
	var id int64
	c.Scan(t, `SELECT id FROM human_list`, nil, &id)
	can := func() bool {
		i, _, _, err := support.FindItem(t.Context(), c.Pool, "", id)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(i.Can(), support.LookAgain)
	}
	if !can() {
		t.Error("the provider cannot be asked anew")
	}
	c.act(support.Deed{Item: id, Do: support.LookAgain, Why: "it answers again"}, support.Done)
	if n := c.Count(t, `SELECT count(*) FROM payments WHERE look_at <= now() AND unknowns = 0`); n != 1 || can() {
		t.Errorf("%d payments are due to be looked at, and it can be asked for again: %t; want 1, false", n, can())
	}
	c.act(support.Deed{Item: id, Do: support.LookAgain, Why: "again"}, support.NotNow)
	c.exec(`UPDATE payments SET look_at = NULL; UPDATE human_list SET resolved_at = now()`)
	c.act(support.Deed{Item: id, Do: support.LookAgain, Why: "resolved"}, support.NotNow)
}

// What is no provider's name of a refund is refused as that, and nothing is asked of
// the database.
func TestALongNameIsNoRefunds(t *testing.T) {
	for name, want := range map[string]support.Verdict{strings.Repeat("r", 255): support.Done, strings.Repeat("r", 256): support.NameMissing, " ": support.NameMissing} {
		if v := (support.Deed{Do: support.Refunded, Why: "found", Refund: name}).Check(); v != want {
			t.Errorf("a name of %d characters: %s, want %s", len(name), v, want)
		}
	}
}
