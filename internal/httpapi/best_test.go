package httpapi_test

import (
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// Who leaves the choice to us is told what it was, and whether it is together:
// so is who chose, and it is the same whenever it is asked for.
func TestBestSeatsAreTold(t *testing.T) {
	h := open(t, demo.Build{Hall: demotest.Hall(t, 2, 5)})
	type told struct {
		Order struct {
			ID       string
			Seats    []struct{ GUID string }
			Together *bool
		}
	}
	best := func(more seats) seats { return seats{"best": more} }
	for _, c := range []struct {
		name, want string
		wish       any
		together   bool
	}{
		{"two", "A-5 A-6", best(seats{"count": 2}), true},
		{"four, beside them", "", best(seats{"count": 4, "tier": "Seats", "section": "Stalls"}), true},
		{"by name, apart", "B-1 B-10", named("B-1", "B-10"), false},
	} {
		g := h.letIn()
		var got, again told
		h.want(h.claim(g, "k", c.wish), 201, "").into(t, &got)
		h.want(h.claim(g, "k", c.wish), 200, "").into(t, &again)
		names := ""
		for _, s := range got.Order.Seats {
			names += " " + s.GUID
		}
		if c.want != "" && names != " "+c.want {
			t.Errorf("%s: seats%s, want %s", c.name, names, c.want)
		}
		if got.Order.Together == nil || *got.Order.Together != c.together || again.Order.ID != got.Order.ID || *again.Order.Together != c.together {
			t.Errorf("%s: %+v, then %+v; want the same, together %v", c.name, got.Order, again.Order, c.together)
		}
	}
	var floor told
	h.want(h.claim(h.letIn(), "k", standing(2)), 201, "").into(t, &floor)
	if floor.Order.Together != nil {
		t.Error("standing places are said to be together, or not")
	}
	var none struct{ Left int }
	for range 3 {
		h.claim(h.letIn(), "k", best(seats{"count": 3}))
	}
	h.want(h.claim(h.letIn(), "k", best(seats{"count": 4})), 409, "sold_out").into(t, &none)
	if none.Left < 1 || none.Left > 3 {
		t.Errorf("refused four with %d left side by side", none.Left)
	}
	h.want(h.claim(h.letIn(), "k", best(seats{"count": 2, "split": true})), 201, "")
}
