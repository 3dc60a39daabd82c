package webhooks

import (
	"testing"
	"time"
)

// patience is how long a test waits for what has to come.
func (d *depot) patience() time.Duration { return time.Minute }

// A courier took a delivery, perhaps sent it, and was never heard of again: after
// its lease the attempt is written off and counts, and the delivery is sent again
// under the same id. Its word that comes too late changes nothing.
func TestALostAttemptIsSentAgainUnderTheSameID(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, "")
	d.tell(1)
	gone := d.courier("gone")
	gone.Lease = time.Millisecond
	errands, err := gone.take(t.Context(), 10)
	if err != nil || len(errands) != 1 {
		t.Fatalf("took %d, %v", len(errands), err)
	}
	o := gone.Client.send(t.Context(), errands[0])
	if o.Status != 200 {
		t.Fatalf("sent: %+v", o)
	}
	next := d.courier("next")
	d.within(d.patience(), "written off", func() bool {
		s, err := next.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Lost == 1
	})
	if s, err := gone.settle(t.Context(), errands[0], o); err != nil || s.Ended != LeaseLost {
		t.Errorf("a word too late: %+v, %v; want the lease lost", s, err)
	}
	if n := d.count(`SELECT count(*) FROM deliveries WHERE status = 'waiting' AND attempts = 1`); n != 1 {
		t.Errorf("it does not wait for its second attempt\n%s", d.stand())
	}
	d.work(next)
	d.until(1, "delivered")
	if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE attempt_no = 1 AND courier = 'gone' AND error LIKE 'lost:%' AND status IS NULL AND finished_at IS NOT NULL`); n != 1 {
		t.Error("the ledger does not say that the first attempt was lost")
	}
	if g := r.gots(); len(g) != 2 || g[0].header.Get("webhook-id") != g[1].header.Get("webhook-id") {
		t.Errorf("%d requests, want two under one id", len(g))
	}
	if n := d.count(`SELECT failures FROM endpoints`); n != 0 {
		t.Errorf("the endpoint has %d failures, want none: it did nothing wrong", n)
	}
}

// The last attempt that a delivery had is lost: it is dead, not gone.
func TestTheLastAttemptLostIsADeadLetter(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", "max_attempts = 1")
	d.tell(1)
	c := d.courier("c")
	c.Lease = time.Millisecond
	if e, err := c.take(t.Context(), 10); err != nil || len(e) != 1 {
		t.Fatalf("took %d, %v", len(e), err)
	}
	d.within(d.patience(), "dead", func() bool {
		if _, err := c.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d.count(`SELECT count(*) FROM deliveries WHERE status = 'dead' AND reason = 'max_attempts'`) == 1
	})
}

// What stood still between taking and sending does not send when the attempt could
// be another's before it ends.
func TestAnErrandWhoseLeaseIsNearlyOverIsNotSent(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, "")
	d.tell(1)
	c := d.courier("c")
	e, err := c.take(t.Context(), 10)
	if err != nil || len(e) != 1 {
		t.Fatalf("took %d, %v", len(e), err)
	}
	e[0].taken = e[0].taken.Add(-51 * time.Second) // 9 s are left, and a send may take 10
	c.run(t.Context(), e[0])
	if n := len(r.gots()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// And where it stands still after it looked at its lease: the send ends with that, so
// it does not begin after it.
func TestNothingIsSentAfterItsLease(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, "")
	d.tell(1)
	c := d.courier("c")
	e, err := c.take(t.Context(), 10)
	if err != nil || len(e) != 1 {
		t.Fatalf("took %d, %v", len(e), err)
	}
	e[0].taken = e[0].taken.Add(-c.Lease)
	if o := c.send(t.Context(), e[0]); o.Status != 0 || o.Error != "no answer in time" || len(r.gots()) != 0 {
		t.Errorf("%+v and %d requests, want none", o, len(r.gots()))
	}
}

// Wherever a courier is killed, or loses its lease alive, its delivery is delivered:
// sent once more only where it may not have arrived, under the same id, with what is
// known of each attempt in the ledger.
func TestACourierIsKilledAtEachStep(t *testing.T) {
	for step, c := range map[string]struct {
		until    func(d *depot, gone *Courier) (late func(*depot))
		requests int
		ledger   string // of each attempt its courier, and how it ended
	}{
		"before the take is committed": {func(d *depot, gone *Courier) func(*depot) {
			tx, err := d.pool.Begin(d.Context())
			if err != nil {
				d.Fatal(err)
			}
			due, err := gone.lockDue(d.Context(), tx)
			if err != nil || len(due) != 1 {
				d.Fatalf("locked %v, %v", due, err)
			}
			if e, err := gone.begin(d.Context(), tx, due, 10); err != nil || len(e) != 1 {
				d.Fatalf("began %d, %v", len(e), err)
			}
			if err := tx.Rollback(d.Context()); err != nil { // as Postgres does once its connection is gone
				d.Fatal(err)
			}
			return nil
		}, 1, "next 200"},
		"taken, not sent": {func(d *depot, gone *Courier) func(*depot) {
			d.takeOne(gone)
			return nil
		}, 1, "gone lost, next 200"},
		"sent, not written": {func(d *depot, gone *Courier) func(*depot) {
			gone.send(d.Context(), d.takeOne(gone))
			return nil
		}, 2, "gone lost, next 200"},
		"written": {func(d *depot, gone *Courier) func(*depot) {
			e := d.takeOne(gone)
			if s, err := gone.settle(d.Context(), e, gone.send(d.Context(), e)); err != nil || s.Ended != Delivered {
				d.Fatalf("%+v, %v", s, err)
			}
			return nil
		}, 1, "gone 200"},
		"its lease runs out while it sends": {func(d *depot, gone *Courier) func(*depot) {
			e := d.takeOne(gone)
			o := gone.send(d.Context(), e)
			return func(d *depot) {
				if s, err := gone.settle(d.Context(), e, o); err != nil || s.Ended != LeaseLost {
					d.Errorf("a word too late: %+v, %v; want the lease lost", s, err)
				}
			}
		}, 2, "gone lost, next 200"},
		"its lease runs out before it sends": {func(d *depot, gone *Courier) func(*depot) {
			e := d.takeOne(gone)
			return func(d *depot) {
				e.taken = e.taken.Add(-gone.Lease)
				gone.run(d.Context(), e)
			}
		}, 1, "gone lost, next 200"},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			d := openDepot(t)
			r := d.receiver(says200)
			d.endpoint("shop", r.URL, "")
			d.tell(1)
			late := c.until(d, d.courier("gone"))
			d.exec(`UPDATE deliveries SET leased_until = now() WHERE status = 'sending'`) // its lease is over
			next := d.courier("next")
			d.within(d.patience(), "nobody's hands hold it", func() bool {
				if _, err := next.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				return d.count(`SELECT count(*) FROM deliveries WHERE status = 'sending'`) == 0
			})
			d.work(next)
			d.until(1, "delivered")
			if late != nil {
				late(d)
			}
			d.until(1, "delivered")
			ids := map[string]bool{}
			for _, g := range r.gots() {
				ids[g.header.Get("webhook-id")] = true
			}
			if n := len(r.gots()); n != c.requests || len(ids) != 1 {
				t.Errorf("%d requests under %d ids, want %d under one", n, len(ids), c.requests)
			}
			var ledger string
			if err := d.pool.QueryRow(t.Context(), `
				SELECT string_agg(courier || ' ' || CASE WHEN error LIKE 'lost:%' THEN 'lost' ELSE coalesce(status::text, 'open') END, ', ' ORDER BY id)
				FROM delivery_attempts`).Scan(&ledger); err != nil || ledger != c.ledger {
				t.Errorf("the ledger has %q (%v), want %q", ledger, err, c.ledger)
			}
		})
	}
}

// takeOne is one taken by a courier.
func (d *depot) takeOne(c *Courier) Errand {
	d.Helper()
	e, err := c.take(d.Context(), 10)
	if err != nil || len(e) != 1 {
		d.Fatalf("took %d, %v", len(e), err)
	}
	return e[0]
}

// What waits for an endpoint that was deleted is dead; for one that is disabled it
// waits, and is dead when it has waited too long. Each says why. Nobody else's is
// touched.
func TestWhatWaitsForNobodyIsADeadLetter(t *testing.T) {
	d := openDepot(t)
	for _, id := range []string{"deleted", "disabled", "draining", "active"} {
		d.endpoint(id, "http://127.0.0.1:1/", "")
	}
	d.tell(4)
	d.exec(`UPDATE deliveries SET due_at = now() - interval '2 hours' WHERE notice_id % 2 = 0`)
	d.exec(`UPDATE endpoints SET state = 'disabled', reason = 'asked', deleted_at = CASE WHEN id = 'deleted' THEN now() END WHERE id IN ('deleted', 'disabled')`)
	d.exec(`UPDATE endpoints SET state = 'draining', reason = 'asked' WHERE id = 'draining'`)
	c := d.courier("c")
	for range 2 {
		if _, err := c.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := "active waiting : 4\ndeleted dead endpoint_deleted: 4\ndisabled dead too_old: 2\ndisabled waiting : 2\ndraining waiting : 4"
	if got := d.stand(); got != want {
		t.Errorf("stands\n%s\nwant\n%s", got, want)
	}
}

// An endpoint is deleted while its delivery is under way and fails: dead, with that
// reason; the one that succeeds is delivered.
func TestADeletionWhileSendingLeavesNothingWaiting(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", "")
	d.tell(2)
	c := d.courier("c")
	e, err := c.take(t.Context(), 10)
	if err != nil || len(e) != 2 {
		t.Fatalf("took %d, %v", len(e), err)
	}
	d.exec(`UPDATE endpoints SET state = 'disabled', reason = 'asked', deleted_at = now()`)
	if s, err := c.settle(t.Context(), e[0], Outcome{Status: 500}); err != nil || s.Reason != "endpoint_deleted" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := c.settle(t.Context(), e[1], Outcome{Status: 200}); err != nil || s.Ended != Delivered {
		t.Errorf("%+v, %v", s, err)
	}
}
