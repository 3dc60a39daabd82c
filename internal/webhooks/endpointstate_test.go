package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/webhooks"
)

// An endpoint that was disabled for failing begins anew when it is made active;
// one that was draining goes on as it was. Its deliveries wait meanwhile.
func TestBackFromDisabledNothingIsHeldAgainstIt(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.deliver("e", "waiting", 3)
	set := func(to webhooks.State, want webhooks.Answer) webhooks.Endpoint {
		t.Helper()
		c, err := webhooks.SetState(t.Context(), o.pool, "e", to, asker("acme", ""))
		return o.want(c, err, want).Endpoint
	}
	o.exec(`UPDATE endpoints SET failures = 7, failing_since = now()`)
	if e := set(webhooks.Draining, webhooks.Done); e.Reason != "asked" || e.Failures != 7 {
		t.Errorf("draining: %+v", e)
	}
	if e := set(webhooks.Active, webhooks.Done); e.Reason != "" || e.Failures != 7 {
		t.Errorf("active after draining: %+v", e)
	}
	o.exec(`UPDATE endpoints SET state = 'disabled', reason = 'failing', failures = 20`)
	if e := set(webhooks.Disabled, webhooks.Unchanged); e.Reason != "failing" {
		t.Errorf("disabled when it was: the reason is %q now", e.Reason)
	}
	if e := set(webhooks.Active, webhooks.Done); e.Failures != 0 || e.FailingSince != nil || e.Version != 4 {
		t.Errorf("active after disabled: %+v", e)
	}
	set(webhooks.Active, webhooks.Unchanged)
	if _, err := webhooks.SetState(t.Context(), o.pool, "e", "asleep", asker("acme", "")); err == nil {
		t.Error("a state that there is not is taken")
	}
	if n := o.text(`SELECT count(*)::text FROM deliveries WHERE status = 'waiting'`); n != "3" {
		t.Errorf("%s deliveries wait, want 3", n)
	}
}

// No attempt begins after the commit that ends active: whoever takes asks for it
// in the statement that takes, and one of the two waits for the other.
func TestAStateAgainstATake(t *testing.T) {
	o := openOffice(t)
	take := func(id string) int64 {
		tag, err := o.pool.Exec(t.Context(), `
			WITH mine AS MATERIALIZED (
			  SELECT id FROM endpoints WHERE id = $1 AND state = 'active' AND deleted_at IS NULL FOR NO KEY UPDATE
			)
			UPDATE deliveries SET status = 'sending', attempts = 1, courier = 'c', leased_until = now() + interval '1 minute'
			WHERE id = (SELECT d.id FROM mine JOIN deliveries d ON d.endpoint_id = mine.id WHERE d.status = 'waiting' LIMIT 1)`, id)
		if err != nil {
			t.Error(err)
		}
		return tag.RowsAffected()
	}
	before := 0
	for round := range 40 {
		id := fmt.Sprint("e", round)
		o.endpoint(id)
		o.deliver(id, "waiting", 2)
		var taken int64
		atOnce(2, func(i int) {
			if i == 1 {
				taken = take(id)
				return
			}
			c, err := webhooks.SetState(t.Context(), o.pool, id, webhooks.Draining, asker("acme", ""))
			if err != nil || c.Answer != webhooks.Done {
				t.Errorf("draining: %q, %v", c.Answer, err)
			}
		})
		before += int(taken)
		if after := take(id); after != 0 {
			t.Fatalf("round %d: taken after it was draining", round)
		}
	}
	t.Logf("in %d of 40 rounds the take was first", before)
}

// What waits for a deleted endpoint is dead in the same instant, and its key is
// forgotten; what is under way ends, what has ended stays.
func TestDeletingEndsWhatWaits(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("other")
	for _, status := range []string{"waiting", "sending", "delivered", "dead"} {
		o.deliver("e", status, 4)
	}
	o.deliver("other", "waiting", 2)
	secret := o.text(`SELECT encode(secret, 'hex') FROM endpoints WHERE id = 'e'`)
	c, err := webhooks.Delete(t.Context(), o.pool, "e", asker("acme", ""))
	if o.want(c, err, webhooks.Done); c.Ended != 4 || c.Endpoint.DeletedAt == nil {
		t.Errorf("%+v; want 4 ended", c)
	}
	is := o.text(`SELECT string_agg(endpoint_id || ' ' || status || ' ' || coalesce(reason, '-') || ' ' || n, ', ' ORDER BY endpoint_id, status, reason)
		FROM (SELECT endpoint_id, status, reason, count(*) AS n FROM deliveries GROUP BY 1, 2, 3) x`)
	if want := "e dead endpoint_deleted 4, e dead max_attempts 4, e delivered - 4, e sending - 4, other waiting - 2"; is != want {
		t.Errorf("%s\nwant %s", is, want)
	}
	if now := o.text(`SELECT encode(secret, 'hex') FROM endpoints WHERE id = 'e'`); now == secret {
		t.Error("its secret is still there")
	}
}

// A deletion and a replay at the same instant leave nothing that waits for an
// endpoint that is not there.
func TestADeletionAgainstAReplay(t *testing.T) {
	o := openOffice(t)
	for round := range 20 {
		id := fmt.Sprint("e", round)
		o.endpoint(id)
		o.deliver(id, "dead", 3)
		var one int64
		if err := o.pool.QueryRow(t.Context(), `SELECT min(id) FROM deliveries WHERE endpoint_id = $1`, id).Scan(&one); err != nil {
			t.Fatal(err)
		}
		var replayed webhooks.Answer
		var many webhooks.Replayed
		atOnce(3, func(i int) {
			var err error
			var c webhooks.Changed
			switch i {
			case 0:
				c, err = webhooks.Delete(t.Context(), o.pool, id, asker("acme", ""))
			case 1:
				c, err = webhooks.Replay(t.Context(), o.pool, one, asker("acme", ""))
				replayed = c.Answer
			case 2:
				many, err = webhooks.ReplaySince(t.Context(), o.pool, id, webhooks.Replaying{}, asker("acme", id), forever)
			}
			if err != nil {
				t.Error(err)
			}
		})
		if n := o.text(`SELECT count(*)::text FROM deliveries WHERE endpoint_id = $1 AND (status <> 'dead' OR reason IS NULL)`, id); n != "0" {
			t.Fatalf("round %d (replay %s, all %+v): %s wait for what is deleted", round, replayed, many, n)
		}
	}
}

// A test is for one endpoint alone, whatever kinds it asks for; asked for again
// while it is on its way, it is the same.
func TestATestIsOfOneEndpointAlone(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("other")
	o.exec(`UPDATE endpoints SET kinds = '{order.paid}'`)
	c, err := webhooks.Test(t.Context(), o.pool, "e", asker("acme", "t1"))
	first := o.want(c, err, webhooks.Done).Delivery
	for attempt, want := range map[string]webhooks.Answer{"t1": webhooks.Done, "t2": webhooks.Unchanged} {
		if c, err := webhooks.Test(t.Context(), o.pool, "e", asker("acme", attempt)); err != nil || c.Delivery != first || c.Answer != want {
			t.Errorf("%s: %+v, %v; want delivery %d", attempt, c, err, first)
		}
	}
	o.exec(`UPDATE deliveries SET status = 'delivered', attempts = 1, ended_at = now()`)
	c, err = webhooks.Test(t.Context(), o.pool, "e", asker("acme", "t3"))
	if o.want(c, err, webhooks.Done); c.Delivery == first {
		t.Error("a test that is over was told as the next")
	}
	is := o.text(`SELECT string_agg(n.kind || ' ' || n.subject || ' ' || n.version || ' ' || d.endpoint_id || ' ' || n.addressed, ', ' ORDER BY n.id)
		FROM notices n JOIN deliveries d ON d.notice_id = n.id`)
	if want := "endpoint.test e 1 e 1, endpoint.test e 2 e 1"; is != want {
		t.Errorf("told %s, want %s", is, want)
	}
}

// Health says what an operator asks: what waits, since when, what was answered last.
func TestHealthSaysHowAnEndpointDoes(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("idle")
	o.deliver("e", "waiting", 3)
	o.deliver("e", "sending", 2)
	o.deliver("e", "dead", 1)
	o.deliver("e", "delivered", 5)
	o.exec(`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status, error)
		SELECT id, 'e', 1, 1, 'c', now() - id * interval '1 minute', now() - id * interval '1 minute', CASE WHEN status = 'delivered' THEN 204 WHEN status = 'dead' THEN 503 END,
		  CASE WHEN status = 'dead' THEN 'unavailable' ELSE 'lost' END
		FROM deliveries WHERE status IN ('delivered', 'dead')`)
	o.exec(`UPDATE endpoints SET failures = 2, failing_since = now(), next_start_at = now() + interval '1 hour' WHERE id = 'e'`)
	all, err := webhooks.HealthOf(t.Context(), o.pool, "acme", "")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	h := all[0]
	if h.ID != "e" || h.Waiting != 3 || h.Sending != 2 || h.Dead != 1 || h.Failures != 2 || h.NextStartAt == nil || h.OldestWaiting == nil || h.LastSuccess == nil || h.LastFailure == nil {
		t.Fatalf("%+v", h)
	}
	if age := time.Since(*h.OldestWaiting); age < 150*time.Second || age > time.Hour {
		t.Errorf("the oldest waits since %s, want about 3 min", age)
	}
	if f := *h.LastFailure; f.Status != 503 || f.Error != "unavailable" {
		t.Errorf("failed last with %+v", f)
	}
	if idle := all[1]; idle.Waiting+idle.Sending+idle.Dead != 0 || idle.OldestWaiting != nil || idle.LastSuccess != nil || idle.LastFailure != nil {
		t.Errorf("of one that was never used: %+v", idle)
	}
	f, err := webhooks.ReadFigures(t.Context(), o.pool)
	if err != nil || f.Endpoints[webhooks.Active] != 2 || f.Failing != 1 || f.Deliveries["waiting"] != 3 || f.Deliveries["dead"] != 1 || f.Late != 0 || f.Held != 0 {
		t.Errorf("held back by its limits, nothing is late: %+v, %v", f, err)
	}
	o.exec(`UPDATE endpoints SET next_start_at = '-infinity'`)
	o.exec(`UPDATE deliveries SET due_at = now() - interval '1 hour' WHERE status = 'waiting'`)
	if f, err = webhooks.ReadFigures(t.Context(), o.pool); err != nil || f.Late != 0 {
		t.Errorf("due for an hour at one that fails: late %s, %v", f.Late, err)
	}
	o.exec(`UPDATE endpoints SET failures = 0, failing_since = NULL`)
	if f, err = webhooks.ReadFigures(t.Context(), o.pool); err != nil || f.Late < time.Hour || f.Late > 2*time.Hour {
		t.Errorf("due for an hour: late %s, %v", f.Late, err)
	}
	o.exec(`UPDATE endpoints SET in_flight = 2`)
	if f, err = webhooks.ReadFigures(t.Context(), o.pool); err != nil || f.Late != 0 {
		t.Errorf("as much under way as its receiver takes: late %s, %v", f.Late, err)
	}
	o.exec(`UPDATE endpoints SET state = 'draining', reason = 'asked'`)
	if f, err = webhooks.ReadFigures(t.Context(), o.pool); err != nil || f.Late != 0 || f.Held < 10*time.Second {
		t.Errorf("draining: late %s, held %s, %v", f.Late, f.Held, err)
	}
}
