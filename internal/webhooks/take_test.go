package webhooks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// An endpoint is set to draining at the instant when a retry is due, a thousand
// times: no attempt begins after that commit. The row's lock orders the two, and
// Postgres's clock is read under it by both.
func TestNoAttemptBeginsAfterAnEndpointDrains(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", "http://127.0.0.1:1/", "max_attempts = 100")
	d.tell(1)
	c := d.courier("c")
	begun, held := 0, 0
	for i := range 1000 {
		due := 1 + rand.IntN(3)
		d.exec(`UPDATE deliveries SET due_at = clock_timestamp() + $1 * interval '1 millisecond', attempts = 0, go = go + 1`, due)
		var both sync.WaitGroup
		var stopped time.Time
		over, begins := make(chan struct{}), make(chan struct{})
		both.Go(func() {
			defer close(over)
			switch {
			case i%10 == 0: // whatever the machine: some are stopped before
			case i%10 == 1: // and some after
				<-begins
			default:
				rest(t.Context(), time.Duration(rand.IntN(2000*due))*time.Microsecond, nil)
			}
			err := pg.InTx(t.Context(), d.pool, func(tx pgx.Tx) error {
				return tx.QueryRow(t.Context(), `UPDATE endpoints SET state = 'draining', reason = 'asked' WHERE id = 'shop' RETURNING clock_timestamp()`).Scan(&stopped)
			})
			if err != nil {
				t.Error(err)
			}
		})
		var taken []Errand
		look := func() {
			e, err := c.take(t.Context(), 10)
			if err != nil {
				t.Error(err)
			}
			taken = append(taken, e...)
		}
		both.Go(func() {
			defer close(begins)
			if i%10 == 0 {
				<-over
			}
			for len(taken) == 0 {
				look()
				select {
				case <-over:
					return
				default:
				}
			}
		})
		both.Wait()
		look() // it is due, and the endpoint is draining: nothing
		if len(taken) == 0 {
			held++
		}
		for _, e := range taken {
			begun++
			if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE delivery_id = $1 AND go = $2 AND started_at > $3`, e.Delivery, e.Go, stopped); n != 0 {
				t.Fatalf("time %d: an attempt began after its endpoint drained", i)
			}
			if s, err := c.settle(t.Context(), e, Outcome{Status: 500}); err != nil || s.Ended != Failed {
				t.Fatalf("settled: %+v, %v", s, err)
			}
		}
		d.exec(`UPDATE endpoints SET state = 'active', reason = NULL, next_start_at = '-infinity' WHERE id = 'shop'`)
	}
	t.Logf("of 1000 retries %d began before, %d never", begun, held)
	if begun < 100 || held < 100 {
		t.Errorf("of 1000 %d began and %d were held, want 100 of each at least", begun, held)
	}
}

// Only active is sent to. What is not active keeps its deliveries, and they go on
// when it is.
func TestOnlyActiveEndpointsAreSentTo(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	for _, s := range []string{"draining", "disabled"} {
		d.endpoint(s, r.URL, fmt.Sprintf("state = '%s', reason = 'asked'", s))
	}
	d.endpoint("active", r.URL, "")
	d.tell(3)
	d.work(d.courier("c"))
	d.until(3, "delivered")
	if n := d.count(`SELECT count(*) FROM deliveries WHERE status = 'waiting' AND attempts = 0`); n != 6 {
		t.Errorf("%d wait, want 6\n%s", n, d.stand())
	}
	d.exec(`UPDATE endpoints SET state = 'active', reason = NULL`)
	d.until(9, "delivered")
}

// Two couriers, ten thousand deliveries: each is attempted once, each arrives.
func TestTwoCouriersSendNothingTwiceAndSkipNothing(t *testing.T) {
	d := openDepot(t)
	const endpoints, notices = 5, 2000
	r := d.receiver(says200)
	for i := range endpoints {
		d.endpoint(fmt.Sprint("shop-", i), fmt.Sprintf("%s/%d", r.URL, i), "in_flight = 20")
	}
	d.tell(notices)
	began := time.Now()
	d.work(d.courier("a"))
	d.work(d.courier("b"))
	d.within(5*time.Minute, "all delivered", func() bool {
		return d.count(`SELECT count(*) FROM deliveries WHERE status <> 'delivered'`) == 0
	})
	t.Logf("%d deliveries by two couriers in %.1f s", endpoints*notices, time.Since(began).Seconds())
	if n := d.count(`SELECT count(*) FROM delivery_attempts`); n != endpoints*notices || len(r.gots()) != n {
		t.Errorf("%d attempts, %d requests, want %d each", n, len(r.gots()), endpoints*notices)
	}
	if n := d.count(`SELECT count(DISTINCT courier) FROM delivery_attempts`); n != 2 {
		t.Errorf("%d couriers were at work, want 2", n)
	}
}

// No more are under way at an endpoint than it can bear, by all couriers together.
func TestNoMoreAreUnderWayThanAnEndpointBears(t *testing.T) {
	d := openDepot(t)
	var mu sync.Mutex
	now, most := 0, 0
	r := d.receiver(func(http.ResponseWriter, *http.Request, int) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		rest(t.Context(), 10*time.Millisecond, nil)
		mu.Lock()
		now--
		mu.Unlock()
	})
	d.endpoint("shop", r.URL, "in_flight = 3")
	d.tell(60)
	for i := range 3 {
		d.work(d.courier(fmt.Sprint("c", i)))
	}
	d.until(60, "delivered")
	if most > 3 {
		t.Errorf("%d were under way, want at most 3", most)
	}
}

// Of fifty endpoints five are silent, five fail and five take one a minute: the
// others get everything while the silent ones have not said a word.
func TestOneSlowEndpointDelaysNoOther(t *testing.T) {
	d := openDepot(t)
	const notices = 20
	release := make(chan struct{})
	silent := d.receiver(func(http.ResponseWriter, *http.Request, int) { <-release })
	failing := d.receiver(saysStatus(http.StatusInternalServerError))
	well := d.receiver(says200)
	for i := range 50 {
		switch id := fmt.Sprintf("shop-%02d", i); {
		case i < 5:
			d.endpoint(id, silent.URL, "in_flight = 4")
		case i < 10:
			d.endpoint(id, failing.URL, "in_flight = 4")
		case i < 15:
			d.endpoint(id, well.URL, "per_minute = 1")
		default:
			d.endpoint(id, well.URL, "")
		}
	}
	c := d.courier("a")
	c.Client = NewClient(Reach{Limit: 5 * time.Minute, Loopback: true})
	c.Lease = 15 * time.Minute
	stop := d.work(c)
	began := time.Now()
	for range notices {
		d.tell(1)
	}
	d.within(4*time.Minute, "the other 35 have all of them", func() bool {
		return d.count(`SELECT count(*) FROM deliveries WHERE status = 'delivered' AND endpoint_id >= 'shop-15'`) == 35*notices
	})
	if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE endpoint_id < 'shop-05' AND finished_at IS NOT NULL`); n != 0 {
		t.Errorf("%d attempts at the silent ones were over first", n)
	}
	n, most := d.count(`SELECT count(*) FROM delivery_attempts WHERE endpoint_id BETWEEN 'shop-10' AND 'shop-14'`), 5*(1+int(time.Since(began)/time.Minute))
	if n > most {
		t.Errorf("%d attempts at those that take one a minute, want %d at most", n, most)
	}
	close(release)
	stop()
}

// However many endpoints are full, and have more that is due than is looked at at
// once: another one is served meanwhile.
func TestFullEndpointsAreInNobodysWay(t *testing.T) {
	d := openDepot(t)
	release := make(chan struct{})
	silent := d.receiver(func(http.ResponseWriter, *http.Request, int) { <-release })
	well := d.receiver(says200)
	for i := range endpointsAtOnce + 6 {
		d.endpoint(fmt.Sprintf("a-%02d", i), silent.URL, "in_flight = 1")
	}
	d.tell(2)
	c := d.courier("c")
	c.Client = NewClient(Reach{Limit: time.Minute, Loopback: true})
	c.Lease = 3 * time.Minute
	d.work(c)
	d.within(d.patience(), "all of them are full", func() bool { return len(silent.gots()) == endpointsAtOnce+6 })
	d.endpoint("well", well.URL, "next_start_at = now()") // it was served after all of these
	d.tell(1)
	d.until(1, "delivered")
	if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE finished_at IS NOT NULL`); n != 1 {
		t.Errorf("%d attempts had ended when it was served, want its own alone", n)
	}
	close(release)
}

// A courier that is told to end takes nothing more, and ends what it has begun.
func TestACourierEndsWhatItHasBegun(t *testing.T) {
	d := openDepot(t)
	arrived, go_ := make(chan struct{}, 10), make(chan struct{})
	r := d.receiver(func(http.ResponseWriter, *http.Request, int) { arrived <- struct{}{}; <-go_ })
	d.endpoint("shop", r.URL, "in_flight = 2")
	d.tell(5)
	c := d.courier("c")
	taking, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Run(taking, t.Context()) }() //nolint:errcheck // it never fails
	<-arrived
	<-arrived
	end()
	close(go_)
	<-ended
	if n := d.count(`SELECT count(*) FROM deliveries WHERE status = 'delivered'`); n != 2 {
		t.Errorf("%d delivered, want 2", n)
	}
	if n := d.count(`SELECT count(*) FROM deliveries WHERE status = 'waiting' AND attempts = 0`); n != 3 {
		t.Errorf("%d wait untouched, want 3", n)
	}
}

// Endpoints that fail, however many and however long each attempt takes, have their
// share of a courier's attempts, and leave the rest to those that answer.
func TestFailingEndpointsLeaveRoomForTheOthers(t *testing.T) {
	d := openDepot(t)
	const silents, inFlight, share, notices = endpointsAtOnce + 6, 8, 4, 30
	release := make(chan struct{})
	var mu sync.Mutex
	before, now, most := map[string]bool{}, 0, 0
	silent := d.receiver(func(_ http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		again := before[r.URL.Path]
		if before[r.URL.Path] = true; again {
			now++
			most = max(most, now)
		}
		mu.Unlock()
		if !again {
			panic(http.ErrAbortHandler) // the first time it hangs up, and is failing
		}
		<-release
		mu.Lock()
		now--
		mu.Unlock()
	})
	waiting := func() int {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	well := d.receiver(says200)
	for i := range silents {
		id := fmt.Sprintf("a-%02d", i)
		d.endpoint(id, silent.URL+"/"+id, "in_flight = 1")
	}
	d.tell(1)
	c := d.courier("c")
	c.Client = NewClient(Reach{Limit: 10 * time.Minute, Loopback: true})
	c.Lease, c.InFlight, c.FailingInFlight = 30*time.Minute, inFlight, share
	d.work(c)
	d.within(d.patience(), "the silent ones have their share", func() bool { return waiting() == share })
	d.endpoint("well", well.URL, "next_start_at = now()") // it was served after all of these
	d.tell(notices)
	d.within(d.patience(), "the other one has all of its own", func() bool {
		return d.count(`SELECT count(*) FROM deliveries WHERE endpoint_id = 'well' AND status = 'delivered'`) == notices
	})
	if n := waiting(); n != share {
		t.Errorf("%d attempts at failing endpoints are under way meanwhile, want %d", n, share)
	}
	close(release)
	d.until(silents*(1+notices)+notices, "delivered") // and they are told, once they answer
	if most > share {
		t.Errorf("%d attempts at failing endpoints were under way, want %d at most", most, share)
	}
}

// Endpoints that answer, and slowly, hold every send there is; one of their answers
// comes, and the next send is another's, who was not served for longer: whatever
// waits for the slow ones.
func TestWhoAnswersSlowlyDelaysNoOther(t *testing.T) {
	d := openDepot(t)
	release := make(chan struct{})
	slow := d.receiver(func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	well := d.receiver(says200)
	for i := range 3 {
		d.endpoint(fmt.Sprintf("slow-%d", i), slow.URL, "in_flight = 100")
	}
	d.tell(40)
	c := d.courier("c")
	c.InFlight, c.FailingInFlight, c.Lease = 6, 3, 3*time.Minute
	c.Client = NewClient(Reach{Limit: time.Minute, Loopback: true})
	d.work(c)
	d.within(d.patience(), "they hold every send", func() bool { return len(slow.gots()) == c.InFlight })
	d.endpoint("well", well.URL, "organiser = 'other'")
	d.exec(`INSERT INTO notices (kind, organiser, subject, version, body) VALUES ('order.paid', 'other', 'o', 1, '{}')`)
	d.relay()
	release <- struct{}{}
	d.within(d.patience(), "the send that came free is the other's", func() bool { return len(well.gots()) == 1 })
	close(release)
}

// Whoever takes an endpoint back from disabled by way of draining waits no longer than
// who does it at once.
func TestBackByDrainingIsBack(t *testing.T) {
	d := openDepot(t)
	d.endpoint("e", "http://127.0.0.1:1/", "")
	d.tell(1)
	d.exec(`UPDATE deliveries SET due_at = now() + interval '20 hours'`)
	d.exec(`UPDATE endpoints SET state = 'disabled', reason = 'failing', next_start_at = now() + interval '20 hours', failures = 20, failing_since = now()`)
	for _, to := range []State{Draining, Active} {
		if c, err := SetState(t.Context(), d.pool, "e", to, Asker{Organiser: "house", By: "desk"}); err != nil || c.Answer != Done {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	if n := d.count(`SELECT count(*) FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id WHERE d.due_at <= now() AND p.next_start_at <= now()`); n != 1 {
		t.Error("its delivery is not due")
	}
}

// Another address is another receiver: it does not rest because the one before
// asked to, is not disabled for its failures, and gets at once what waits. So it is
// for the same one, when it comes back from disabled.
func TestAnotherAddressIsAnotherReceiver(t *testing.T) {
	d := openDepot(t)
	who := Asker{Organiser: "house", By: "desk"}
	old := d.receiver(func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	moved := d.receiver(func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		says200(w, r, nth)
	})
	d.endpoint("shop", old.URL, "in_flight = 1, failures = 18, failing_since = now() - interval '1 hour'")
	c := d.courier("c")
	c.Terms.DisableAfter, c.Terms.DisableFailingFor = 20, time.Second
	d.work(c)
	rests := func() bool {
		return d.count(`SELECT count(*) FROM endpoints WHERE next_start_at > now() + interval '1 hour'`) == 1
	}
	d.tell(2)
	d.within(d.patience(), "it rests", rests)
	e, _, err := Find(t.Context(), d.pool, "house", "shop")
	if err != nil || e.Failures != 19 {
		t.Fatalf("%d failures, %v; want 19", e.Failures, err)
	}
	s := e.Settings
	s.URL = moved.URL
	if c, err := Edit(t.Context(), d.pool, "shop", 0, s, true, who); err != nil || c.Answer != Done || c.Endpoint.Failures != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	d.until(2, "delivered")

	s.URL = old.URL
	if c, err := Edit(t.Context(), d.pool, "shop", 0, s, true, who); err != nil || c.Answer != Done {
		t.Fatalf("%+v, %v", c, err)
	}
	d.tell(1)
	d.within(d.patience(), "it rests again", rests)
	n := len(old.gots())
	for _, to := range []State{Disabled, Active} {
		if c, err := SetState(t.Context(), d.pool, "shop", to, who); err != nil || c.Answer != Done {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	d.within(d.patience(), "it is asked again", func() bool { return len(old.gots()) == n+1 })
}

// Postgres's clock is set back by an hour: what the rate of an endpoint put off until
// later is not put off by that hour too, is late where it is not sent, and is told of
// in turn. A receiver's own wish is kept.
func TestAClockSetBackHoldsNoEndpointBack(t *testing.T) {
	url := pgtest.URL(t)
	d := &depot{T: t, pool: pgtest.Open(t, url, pgtest.Limits(pg.Limits{Conns: 6, Replan: true}))}
	r := d.receiver(says200)
	busy := d.receiver(func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	d.endpoint("slow", r.URL, "per_minute = 1")
	d.endpoint("well", r.URL, "")
	d.endpoint("rests", busy.URL, "")
	d.tell(1)
	stop := d.work(d.courier("before"))
	d.until(2, "delivered")
	d.within(d.patience(), "it rests", func() bool { return d.count(`SELECT failures FROM endpoints WHERE id = 'rests'`) == 1 })
	stop()
	d.setBack(url, "1 hour")
	d.exec(`UPDATE deliveries SET due_at = now() WHERE status = 'waiting'`)
	d.tell(1)
	d.exec(`UPDATE deliveries SET due_at = now() - interval '7 s' WHERE status = 'waiting'`)
	f, err := ReadFigures(t.Context(), d.pool)
	if err != nil || f.Late < 7*time.Second || f.Late > time.Minute {
		t.Errorf("late by %s (%v), want 7 s", f.Late, err)
	}
	for id, held := range map[string]bool{"slow": false, "well": false, "rests": true} {
		if all, err := HealthOf(t.Context(), d.pool, "", id); err != nil || len(all) != 1 || (all[0].NextStartAt != nil) != held {
			t.Errorf("%s: %+v, %v; want it held back: %t", id, all, err, held)
		}
	}
	d.work(d.courier("after"))
	d.until(4, "delivered")
	if n := len(busy.gots()); n != 1 {
		t.Errorf("who asked for 300 s was told %d times, want once", n)
	}
	if n := d.count(`SELECT count(*) FROM endpoints WHERE id IN ('slow', 'well') AND next_start_at <= now() + interval '1 minute'`); n != 2 {
		t.Errorf("%d of two endpoints go by the clock as it is, want both", n)
	}
}

// setBack has this depot's Postgres tell an earlier time from now on.
func (d *depot) setBack(url, by string) {
	d.Helper()
	d.exec(`CREATE SCHEMA earlier`)
	d.exec(`CREATE FUNCTION earlier.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() - interval '` + by + `' $$`)
	d.exec(`CREATE FUNCTION earlier.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() - interval '` + by + `' $$`)
	d.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = earlier, pg_catalog, public', current_database()); END $$`)
	d.pool = pgtest.Open(d.T, url, pgtest.Limits(pg.Limits{Conns: 6, Replan: true}))
	var back bool
	if err := d.pool.QueryRow(d.Context(), `SELECT now() = pg_catalog.now() - $1::interval`, by).Scan(&back); err != nil || !back {
		d.Fatalf("the clock is not set back by %s: %v", by, err)
	}
}
