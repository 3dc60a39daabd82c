package httpapi_test

import (
	"net/url"
	"strings"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/listing"
	"waitroom/internal/seating"
)

// floor opens a sale of general admission alone, and lets somebody in.
func floor(t *testing.T, lots ...seating.Admission) (h *house, cookies string) {
	t.Helper()
	offer := seating.Offer{Currency: "EUR", Admissions: lots}
	for _, tier := range []string{"Adult", "Child"} {
		offer.Prices = append(offer.Prices, seating.Price{Category: tier, AmountMinor: 4000})
	}
	if lots[len(lots)-1].Category == "Adult" {
		offer.Prices = offer.Prices[:1]
	}
	sold, err := seating.Sell(seating.Plan{}, offer)
	if err != nil {
		t.Fatal(err)
	}
	h = open(t, demo.Build{Hall: *(&listing.Hall{Hall: sold}).Kept()})
	g := h.letIn()
	return h, "pass.gala=" + g.pass + "; ticket.gala=" + g.ticket
}

func (h *house) take(cookies string, form url.Values) answer {
	form.Set("key", "5a0e8a2e-5a39-4f6a-8f5f-0d1c6a1b2c3d")
	return h.do(call{method: "POST", path: "/e/gala/claim", page: true, body: form.Encode(), header: map[string]string{
		"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded", "Origin": h.Public,
	}})
}

// Adults and children of one floor are two tiers, and so two claims. Who fills in both
// on the page has nothing of it, is told so, and keeps what was filled in.
func TestTwoTiersOnThePageAreRefusedWhole(t *testing.T) {
	h, cookies := floor(t, seating.Admission{Section: "Floor", Category: "Adult", Count: 20}, seating.Admission{Section: "Floor", Category: "Child", Count: 20})
	both := h.take(cookies, url.Values{"quantity:Adult": {"2"}, "quantity:Child": {"1"}})
	if n := h.one(`SELECT count(*) FROM seats WHERE order_id IS NOT NULL`); n != 0 {
		t.Errorf("of 2 adults and 1 child that were asked for at once %d are in the cart, want none", n)
	}
	for _, says := range []string{"one price at a time", `name="quantity:Adult" min="0" max="4" value="2"`, `name="quantity:Child" min="0" max="4" value="1"`} {
		if !strings.Contains(string(both.body), says) {
			t.Errorf("the page that follows (%d, Location %q) does not say %q", both.status, both.header.Get("Location"), says)
		}
	}
	one := h.take(cookies, url.Values{"quantity:Adult": {"2"}, "quantity:Child": {"0"}})
	if n := h.one(`SELECT count(*) FROM seats WHERE order_id IS NOT NULL AND price_tier = 'Adult'`); n != 2 || !strings.Contains(one.header.Get("Location"), "/orders/") {
		t.Errorf("2 adults alone: %d, Location %q, %d in the cart", one.status, one.header.Get("Location"), n)
	}
}

// A claim names a tier and no section, so the page does not let anybody choose between
// the sections of one.
func TestATierInTwoSectionsIsOneField(t *testing.T) {
	h, cookies := floor(t, seating.Admission{Section: "East", Category: "Adult", Count: 5}, seating.Admission{Section: "West", Category: "Adult", Count: 5})
	page := string(h.do(call{method: "GET", path: "/e/gala/seats", page: true, header: map[string]string{"Cookie": cookies}}).body)
	if n := strings.Count(page, `name="quantity:`); n != 1 || !strings.Contains(page, "East or West: Adult") || !strings.Contains(page, "10 free") {
		t.Errorf("the page has %d fields, want one for East or West with 10 free", n)
	}
	// A page from before, which had a field for each section.
	h.take(cookies, url.Values{"quantity:Adult": {"1", "2"}})
	if n := h.one(`SELECT count(*) FROM seats WHERE order_id IS NOT NULL`); n != 3 {
		t.Errorf("1 and 2 were filled in, %d are in the cart", n)
	}
}
