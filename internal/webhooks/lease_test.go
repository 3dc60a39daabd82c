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
