package httpapi_test

import (
	"strings"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/organiser"
)

// In an outage an organiser gives the pending orders of an event of its own more
// time, under a name: the same again is answered the same, and no order gets it
// twice.
func TestOrganisersExtendTheirPendingOrders(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineWrite)
	looks := h.desk(organiser.House, "looks", organiser.LineRead)
	other := h.desk("other", "desk", organiser.LineWrite)
	const path = own + "/orders/extend"
	hall := &orderstest.Hall{Pool: h.pool, Event: demotest.EventID}
	for _, holder := range orderstest.Holders(3) {
		hall.Order(t, holder, 1)
	}
	down := map[string]any{"by_s": 600, "reason": "the provider is down"}
	for _, attempt := range []string{"a", "a", "b"} {
		var told struct{ Orders int }
		d.want(d.ask("POST", path, attempt, down), 200, "").into(t, &told)
		if want := map[string]int{"a": 3, "b": 0}[attempt]; told.Orders != want {
			t.Errorf("attempt %s: %d orders, want %d", attempt, told.Orders, want)
		}
	}
	if n := hall.Count(t, `SELECT count(*) FROM orders WHERE pay_by > now() + interval '19 minutes' AND extension IS NOT NULL`); n != 3 {
		t.Errorf("%d orders have ten minutes more, want 3", n)
	}
	d.want(d.ask("POST", path, "a", map[string]any{"by_s": 60}), 422, "key_reused")
	for _, by := range []any{0.5, 3601, -600} {
		d.want(d.ask("POST", path, "c", map[string]any{"by_s": by}), 422, "senseless_setting")
	}
	d.want(d.ask("POST", path, "c", map[string]any{"by_s": 60, "reason": strings.Repeat("x", 501)}), 422, "senseless_setting")
	d.want(d.ask("POST", path, "", down), 400, "key_missing")
	d.want(d.ask("POST", path, "c", `{"reason":"x"}`, "Content-Type", "application/json"), 400, "bad_request")
	looks.want(looks.ask("POST", path, "c", down), 403, "scope_missing")
	other.want(other.ask("POST", path, "c", down), 404, "no_such_event")
}
