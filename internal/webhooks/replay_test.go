package webhooks_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/webhooks"
)

// Replayed many times at once it begins anew once; what waits or is being sent
// is let be.
func TestADeliveryIsReplayedOnce(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	for _, status := range []string{"waiting", "sending", "delivered", "dead"} {
		o.deliver("e", status, 1)
	}
	one := func(status string) (id int64) {
		if err := o.pool.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE status = $1`, status).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, status := range []string{"waiting", "sending"} {
		c, err := webhooks.Replay(t.Context(), o.pool, one(status), asker("acme", ""))
		o.want(c, err, webhooks.NotEnded)
	}
	dead, delivered := one("dead"), one("delivered")
	var mu sync.Mutex
	got := map[webhooks.Answer]int{}
	atOnce(8, func(i int) {
		c, err := webhooks.Replay(t.Context(), o.pool, dead, asker("acme", fmt.Sprint("r", i)))
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got[c.Answer]++
	})
	if got[webhooks.Done] != 1 || got[webhooks.NotEnded] != 7 {
		t.Errorf("%v, want one done", got)
	}
	// The same name, also after it was delivered again, is the same replay.
	for range 3 {
		c, err := webhooks.Replay(t.Context(), o.pool, delivered, asker("acme", "same"))
		o.want(c, err, webhooks.Done)
		o.exec(`UPDATE deliveries SET status = 'delivered', attempts = 1, ended_at = now() WHERE id = $1`, delivered)
	}
	is := o.text(`SELECT string_agg(status || ' ' || go || ' ' || attempts, ', ' ORDER BY id) FROM deliveries WHERE id = ANY($1)`, []int64{delivered, dead})
	if want := "delivered 2 1, waiting 2 0"; is != want {
		t.Errorf("they are %s, want %s", is, want)
	}
	c, err := webhooks.Replay(t.Context(), o.pool, 999, asker("acme", ""))
	o.want(c, err, webhooks.NoDelivery)
}

// All since then, in steps, broken off and gone on with, by two at once: each
// begins anew once, and it says how many.
func TestReplayedSinceIsReplayedOnce(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("other")
	const dead, delivered = 1300, 300
	o.deliver("e", "dead", dead)
	o.deliver("e", "delivered", delivered)
	o.deliver("e", "waiting", 5)
	o.deliver("other", "dead", 7)
	r := webhooks.Replaying{Only: "dead"}
	part, err := webhooks.ReplaySince(t.Context(), o.pool, "e", r, asker("acme", "all"), func() bool { return false })
	if err != nil || part.Whole || part.Replayed == 0 || part.Replayed >= dead {
		t.Fatalf("broken off: %+v, %v", part, err)
	}
	o.exec(`UPDATE deliveries SET status = 'dead', reason = 'max_attempts', attempts = 12, ended_at = now() WHERE status = 'waiting' AND go = 2`)
	atOnce(3, func(int) {
		whole, err := webhooks.ReplaySince(t.Context(), o.pool, "e", r, asker("acme", "all"), forever)
		if err != nil || !whole.Whole || whole.Replayed != dead {
			t.Errorf("whole: %+v, %v; want %d", whole, err, dead)
		}
	})
	again, err := webhooks.ReplaySince(t.Context(), o.pool, "e", r, asker("acme", "all"), forever)
	if err != nil || again.Replayed != dead {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	is := o.text(`SELECT string_agg(endpoint_id || ' go ' || go || ' ' || n, ', ' ORDER BY endpoint_id, go)
		FROM (SELECT endpoint_id, go, count(*) AS n FROM deliveries GROUP BY 1, 2) x`)
	if want := fmt.Sprintf("e go 1 %d, e go 2 %d, other go 1 7", delivered+5, dead); is != want {
		t.Errorf("%s\nwant %s", is, want)
	}
	other := asker("acme", "all")
	other.Request[0] = 1
	if reused, err := webhooks.ReplaySince(t.Context(), o.pool, "e", r, other, forever); err != nil || reused.Answer != webhooks.KeyReused {
		t.Errorf("%+v, %v", reused, err)
	}
	// The kth notice is k minutes old.
	since := webhooks.Replaying{Since: time.Now().Add(-10*time.Minute - 30*time.Second), Only: "delivered"}
	some, err := webhooks.ReplaySince(t.Context(), o.pool, "e", since, asker("acme", "since"), forever)
	if err != nil || some.Replayed < 5 || some.Replayed > 10 {
		t.Errorf("of the last ten minutes: %+v, %v; want 10, or less on a slow machine", some, err)
	}
	if _, err := webhooks.ReplaySince(t.Context(), o.pool, "e", webhooks.Replaying{Only: "waiting"}, asker("acme", "x"), forever); err == nil {
		t.Error("what waits is replayed")
	}
}

// Deliveries are found by status, kind, endpoint, order and time, page by page,
// each once, what became true last first.
func TestDeliveriesAreFound(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("f")
	o.deliver("e", "delivered", 7)
	o.deliver("f", "dead", 4)
	order := uuid.NewString()
	o.exec(`WITH n AS (INSERT INTO notices (kind, organiser, subject, version, body, addressed) VALUES ('order.expired', 'acme', $1, 2, '{"order": "y"}', 2) RETURNING id)
		INSERT INTO deliveries (notice_id, endpoint_id) SELECT n.id, e.id FROM n, endpoints e`, order)
	seen := func(w webhooks.Which) (ids []int64) {
		t.Helper()
		var last webhooks.Delivery
		w.Organiser = "acme"
		for w.Most = 3; ; {
			page, err := webhooks.Deliveries(t.Context(), o.pool, w)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				if newer := last.At.Compare(d.At); len(ids) > 0 && (newer < 0 || newer == 0 && last.ID < d.ID) {
					t.Errorf("%+v: delivery %d of %s comes after %d of %s", w, d.ID, d.At, last.ID, last.At)
				}
				ids, last = append(ids, d.ID), d
			}
			if len(page) < w.Most {
				return ids
			}
			w.Before = page[len(page)-1].ID
		}
	}
	for what, x := range map[string]struct {
		w webhooks.Which
		n int
	}{
		"all":            {webhooks.Which{}, 13},
		"endpoint":       {webhooks.Which{Endpoint: "e"}, 8},
		"status":         {webhooks.Which{Status: "dead"}, 4},
		"kind":           {webhooks.Which{Kind: "order.expired"}, 2},
		"order":          {webhooks.Which{About: order}, 2},
		"order, one":     {webhooks.Which{About: order, Endpoint: "f", Status: "waiting"}, 1},
		"what is not":    {webhooks.Which{About: "x'; DROP TABLE"}, 0},
		"another status": {webhooks.Which{Endpoint: "e", Status: "dead"}, 0},
		"since":          {webhooks.Which{Since: time.Now().Add(-24 * time.Hour)}, 13},
		"since later":    {webhooks.Which{Since: time.Now().Add(time.Hour)}, 0},
	} {
		ids := seen(x.w)
		each := slices.Compact(slices.Sorted(slices.Values(ids)))
		if len(ids) != x.n || len(each) != x.n {
			t.Errorf("%s: %v, want %d, each once", what, ids, x.n)
		}
	}
	all, err := webhooks.Deliveries(t.Context(), o.pool, webhooks.Which{Organiser: "acme", About: order, Endpoint: "e", Most: 1})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	o.exec(`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status, answer)
		VALUES ($1, 'e', 1, 1, 'c', now(), now(), 500, 'no')`, all[0].ID)
	d, body, tries, found, err := webhooks.FindDelivery(t.Context(), o.pool, "acme", all[0].ID)
	if err != nil || !found || d != all[0] || len(tries) != 1 || tries[0].Status != 500 || !bytes.Equal(tries[0].Answer, []byte("no")) {
		t.Errorf("%+v, %+v, %v", d, tries, err)
	}
	for _, part := range []string{`"order.expired"`, order, `"y"`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("the body %s lacks %s", body, part)
		}
	}
	if _, _, _, found, err := webhooks.FindDelivery(t.Context(), o.pool, "other", all[0].ID); err != nil || found {
		t.Errorf("another's delivery: %t, %v", found, err)
	}
}
