package webhooks

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// hold holds an endpoint's row until it is let go.
func (d *depot) hold(endpoint string) (letGo func()) {
	d.Helper()
	ctx := context.WithoutCancel(d.Context())
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		d.Fatal(err)
	}
	for _, sql := range []string{
		`SELECT set_config('idle_in_transaction_session_timeout', '10min', true)`,
		`SELECT FROM endpoints WHERE id = '` + endpoint + `' FOR NO KEY UPDATE`,
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			d.Fatal(err)
		}
	}
	letGo = func() { tx.Rollback(ctx) } //nolint:errcheck // it wrote nothing
	d.Cleanup(letGo)                    // or who writes down there would never end
	return letGo
}

// Somebody holds the row of an endpoint while what was sent to it ends well or badly:
// what the others took is written down, all at the first attempt, over the two
// connections that there are. What was sent to it is written down when it is free.
func TestOneHeldEndpointKeepsNobodysWordBack(t *testing.T) {
	for name, status := range map[string]int{"that answers": 200, "that fails": 500} {
		t.Run(name, func(t *testing.T) {
			d := openDepot(t)
			answer := make(chan struct{})
			held := d.receiver(func(w http.ResponseWriter, _ *http.Request, nth int) {
				<-answer
				if nth <= 8 {
					w.WriteHeader(status)
				}
			})
			other := d.receiver(says200)
			d.endpoint("held", held.URL, `in_flight = 8`)
			d.tell(8)
			c := d.courier("c")
			c.Lease, c.FailingInFlight = time.Hour, 100
			c.Pool = pgtest.Open(t, d.pool.Config().ConnString(), pgtest.Limits(pg.Limits{Conns: 2, Replan: true}))
			c = NewCourier(*c)
			d.work(c)
			d.within(d.patience(), "eight under way", func() bool {
				return d.count(`SELECT count(*) FROM deliveries WHERE status = 'sending'`) == 8
			})
			d.exec(`UPDATE endpoints SET failures = 1, failing_since = now()`)
			letGo := d.hold("held")
			close(answer)
			d.endpoint("other", other.URL, "")
			for n := 5; n <= 20; n += 5 {
				d.tell(5)
				d.within(5*d.patience(), "the others' are written down", func() bool {
					return d.count(`SELECT count(*) FROM deliveries WHERE endpoint_id = 'other' AND status = 'delivered'`) == n
				})
			}
			if n := d.count(`SELECT count(*) FROM deliveries WHERE endpoint_id = 'held' AND status = 'sending'`); n != 8 {
				t.Errorf("%d are under way at the one that is held, want 8", n)
			}
			letGo()
			d.until(8+20+20, "delivered")
			if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE endpoint_id = 'other' AND attempt_no > 1 OR error LIKE 'lost:%'`); n != 0 {
				t.Errorf("%d attempts were made again, want none", n)
			}
		})
	}
}

// Of what is written down together, what is of an endpoint that is held is left, and
// nothing else.
func TestWhatIsHeldIsSetAside(t *testing.T) {
	d := openDepot(t)
	d.endpoint("held", "http://127.0.0.1:1/", "")
	d.endpoint("other", "http://127.0.0.1:1/", "")
	d.tell(2)
	c := d.courier("c")
	errands, err := c.take(t.Context(), 10)
	if err != nil || len(errands) != 4 {
		t.Fatal(err, len(errands))
	}
	d.exec(`UPDATE endpoints SET failures = 3, failing_since = now()`)
	var all []end
	for _, e := range errands {
		all = append(all, end{Errand: e, Outcome: Outcome{Status: 200}})
	}
	letGo := d.hold("held")
	become, err := settleDelivered(t.Context(), d.pool, all)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range errands {
		if held := e.Endpoint == "held"; errors.Is(become[i].err, errHeld) != held || (become[i].Ended == Delivered) == held {
			t.Errorf("%s: %+v", e.Endpoint, become[i])
		}
		if _, err := c.settle(t.Context(), e, Outcome{Status: 500}); e.Endpoint == "held" && !errors.Is(err, errHeld) {
			t.Errorf("a failure of the one that is held: %v", err)
		}
	}
	letGo()
	if become, err = settleDelivered(t.Context(), d.pool, all); err != nil {
		t.Fatal(err)
	}
	for i, e := range errands {
		if want := map[string]Ended{"held": Delivered, "other": LeaseLost}[e.Endpoint]; become[i].Ended != want || become[i].err != nil {
			t.Errorf("%s, when nobody holds it: %+v, want %s", e.Endpoint, become[i], want)
		}
	}
	if n := d.count(`SELECT sum(failures) FROM endpoints`); n != 0 {
		t.Errorf("%d failures are left, want none", n)
	}
}

// A success clears its endpoint's failures if it is a courier's word in time, about the
// address that the endpoint has.
func TestOnlyTheReceiversOwnWordClearsItsFailures(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", "")
	d.tell(3)
	c := d.courier("c")
	errands, err := c.take(t.Context(), 10)
	if err != nil || len(errands) != 3 {
		t.Fatal(err, len(errands))
	}
	failures := func(what string, want int) {
		t.Helper()
		if n := d.count(`SELECT failures FROM endpoints`); n != want {
			t.Errorf("%s: %d failures, want %d", what, n, want)
		}
	}
	settle := func(e Errand, want Ended) {
		t.Helper()
		if s, err := c.settle(t.Context(), e, Outcome{Status: 200}); err != nil || s.Ended != want {
			t.Errorf("%+v, %v; want %s", s, err, want)
		}
	}
	d.exec(`UPDATE deliveries SET leased_until = now() - interval '1 s' WHERE id = $1`, errands[0].Delivery)
	if s, err := c.Sweep(t.Context()); err != nil || s.Lost != 1 {
		t.Fatal(s, err)
	}
	d.exec(`UPDATE endpoints SET failures = 5, failing_since = now()`)
	settle(errands[0], LeaseLost)
	failures("a word too late", 5)
	old := errands[1]
	old.URL = "https://old.example/"
	settle(old, Delivered)
	failures("a word of the address before", 5)
	settle(errands[2], Delivered)
	failures("its own word", 0)
}

// wait writes n deliveries to an endpoint that failed once and wait for an hour.
func (d *depot) wait(endpoint string, n int) {
	d.Helper()
	d.exec(`
		WITH told AS (
		  INSERT INTO notices (kind, organiser, subject, version, body, addressed)
		  SELECT 'order.paid', 'house', 'waits-' || i, 1, '{}', 1 FROM generate_series(1, $2::int) i RETURNING id, kind, at
		), written AS (
		  INSERT INTO deliveries (notice_id, endpoint_id, notice_kind, notice_at, attempts, due_at)
		  SELECT id, $1, kind, at, 1, now() + interval '1 hour' FROM told RETURNING id
		)
		INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status)
		SELECT id, $1, 1, 1, 'c', now(), now(), 500 FROM written`, endpoint, n)
}

// However many wait, another address takes one short step, and sweeps do the rest: what
// failed before is due, and what fails since then waits its time.
func TestAnotherAddressMakesAllThatWaitsDueInSteps(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", `backoff_base = '2 hours', dispatch_gap = '2 hours', min_interval = '2 hours'`)
	d.wait("shop", 2*atOnce+100)
	due := func() int { return d.count(`SELECT count(*) FROM deliveries WHERE due_at <= now()`) }
	e, _, err := Find(t.Context(), d.pool, "", "shop")
	if err != nil {
		t.Fatal(err)
	}
	e.URL = "http://127.0.0.1:65534/"
	if c, err := Edit(t.Context(), d.pool, "shop", 0, e.Settings, true, Asker{By: "kim"}); err != nil || c.Answer != Done {
		t.Fatal(c, err)
	}
	if n := due(); n != atOnce {
		t.Errorf("%d are due with the change, want %d", n, atOnce)
	}
	c := d.courier("c")
	errands, err := c.take(t.Context(), 5)
	if err != nil || len(errands) != 5 {
		t.Fatal(err, len(errands))
	}
	for _, e := range errands {
		if s, err := c.settle(t.Context(), e, Outcome{Status: 500}); err != nil || s.Ended != Failed {
			t.Fatal(s, err)
		}
	}
	for range 2 {
		if _, err := c.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := due(); n != 2*atOnce+100-5 {
		t.Errorf("%d are due, want all but the 5 that failed since: %d", n, 2*atOnce+100-5)
	}
	if n := d.count(`SELECT count(*) FROM endpoints WHERE woken_at IS NOT NULL`); n != 0 {
		t.Error("something is left to wake")
	}
}

// However many wait, a deletion takes one short step: none of them is sent any more, and
// sweeps end the rest.
func TestADeletionEndsAllThatWaitsInSteps(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", "")
	d.wait("shop", 2*atOnce+100)
	c, err := Delete(t.Context(), d.pool, "shop", Asker{By: "kim"})
	if err != nil || c.Ended != 2*atOnce+100 {
		t.Fatalf("%+v, %v", c, err)
	}
	ended := func() int { return d.count(`SELECT count(*) FROM deliveries WHERE reason = 'endpoint_deleted'`) }
	if n := ended(); n != atOnce {
		t.Errorf("%d are dead with the deletion, want %d", n, atOnce)
	}
	d.exec(`UPDATE deliveries SET due_at = now()`)
	courier := d.courier("c")
	if errands, err := courier.take(t.Context(), 10); err != nil || len(errands) != 0 {
		t.Errorf("%d were taken, %v; want none", len(errands), err)
	}
	if _, err := courier.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := ended(); n != 2*atOnce+100 {
		t.Errorf("%d are dead, want all %d", n, 2*atOnce+100)
	}
}

// Another address is given while attempts at the one before are under way. What fails
// there, or is lost, is due at the new one at once, and once more even if it was the last.
func TestWhatWasUnderWayAtTheOldAddressIsDueAtTheNew(t *testing.T) {
	d := openDepot(t)
	now := d.receiver(says200)
	d.endpoint("shop", "http://127.0.0.1:1/", `max_attempts = 1, backoff_base = '1 hour', dispatch_gap = '1 hour'`)
	d.tell(3)
	c := d.courier("c")
	errands, err := c.take(t.Context(), 10)
	if err != nil || len(errands) != 3 {
		t.Fatal(err, len(errands))
	}
	e, _, err := Find(t.Context(), d.pool, "", "shop")
	if err != nil {
		t.Fatal(err)
	}
	e.URL = now.URL
	if c, err := Edit(t.Context(), d.pool, "shop", 0, e.Settings, true, Asker{By: "kim"}); err != nil || c.Answer != Done {
		t.Fatal(c, err)
	}
	for i, o := range []Outcome{{Status: 500}, {Status: http.StatusGone, RetryAfter: time.Hour}} {
		if s, err := c.settle(t.Context(), errands[i], o); err != nil || s.Ended != Failed || s.Disabled != "" || s.Throttled {
			t.Errorf("%d: %+v, %v; want a failure", o.Status, s, err)
		}
	}
	d.exec(`UPDATE deliveries SET leased_until = now() - interval '1 s' WHERE status = 'sending'`)
	if s, err := c.Sweep(t.Context()); err != nil || s.Lost != 1 {
		t.Fatal(s, err)
	}
	if n := d.count(`SELECT failures FROM endpoints`); n != 0 {
		t.Errorf("%d failures are held against the new address, want none", n)
	}
	d.work(c)
	d.until(3, "delivered")
	if n := len(now.gots()); n != 3 {
		t.Errorf("the new address got %d, want 3", n)
	}
}
