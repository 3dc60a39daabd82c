package httpapi_test

import (
	"fmt"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
)

// An organiser takes seats off sale and puts them back, and frees what the house
// held back; whoever asks again under the same name is answered the same.
func TestOrganisersHandleSeats(t *testing.T) {
	h := open(t, demo.Build{Hall: demotest.Hall(t, 2, 5)})
	boss := h.desk(organiser.House, "boss", organiser.LineRead, organiser.LineWrite)
	reads := h.desk(organiser.House, "reads", organiser.LineRead)
	post := func(what, key string, body any) answer { return boss.ask("POST", own+what, key, body) }
	g := h.letIn()
	h.want(h.claim(g, "k", named("A-1")), 201, "")
	type withdrawal struct {
		Off, Sold, Unknown []string
	}
	var w withdrawal
	off := map[string]any{"seats": []string{"A-1", "A-2", "X-1"}}
	for range 2 {
		h.want(post("/seats/withdraw", "w1", off), 200, "").into(t, &w)
		if fmt.Sprint(w.Off, w.Unknown) != "[A-2] [X-1]" {
			t.Errorf("%+v", w)
		}
	}
	h.want(post("/seats/withdraw", "w1", map[string]any{"seats": []string{"A-3"}}), 422, "key_reused")
	h.want(post("/seats/withdraw", "w2", map[string]any{"seats": []string{}}), 400, "bad_request")
	h.want(reads.ask("POST", own+"/seats/withdraw", "w3", off), 403, "scope_missing")
	h.want(h.claim(h.letIn(), "k", named("A-2")), 409, "seats_taken")
	h.want(reads.ask("GET", own+"/seats/withdrawn", "", nil), 200, "").into(t, &w)
	if fmt.Sprint(w.Off) != "[A-2]" {
		t.Errorf("withdrawn: %+v", w)
	}
	h.want(post("/seats/restore", "r1", map[string]any{"seats": []string{"A-1", "A-2"}}), 200, "")
	h.want(h.claim(h.letIn(), "k", named("A-2")), 201, "")
	if _, err := h.pool.Exec(t.Context(), `UPDATE seats SET held_back = true WHERE guid IN ('B-1', 'B-2')`); err != nil {
		t.Fatal(err)
	}
	var freed struct{ Freed int }
	for range 2 {
		h.want(post("/seats/free", "f1", map[string]any{"count": 1}), 200, "").into(t, &freed)
		if freed.Freed != 1 {
			t.Errorf("%d freed, want 1", freed.Freed)
		}
	}
	var n int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM seats WHERE held_back`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d seats are held back, %v; want 1", n, err)
	}
	var pending string
	if err := h.pool.QueryRow(t.Context(), `SELECT id::text FROM orders WHERE status = 'pending' LIMIT 1`).Scan(&pending); err != nil {
		t.Fatal(err)
	}
	to := map[string]any{"from": "A-1", "to": "A-4"}
	h.want(post("/orders/"+pending+"/move", "m1", to), 409, "order_not_paid")
	h.want(post("/orders/00000000-0000-0000-0000-000000000001/move", "m2", to), 404, "no_such_order")
}
