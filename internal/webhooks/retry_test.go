package webhooks

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"
)

// A receiver that always answers 403, three attempts at most: three attempts, then
// the dead-letter list.
func TestThreeRefusalsAndADeadLetter(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(saysStatus(http.StatusForbidden))
	d.endpoint("shop", r.URL, "max_attempts = 3")
	d.tell(1)
	d.work(d.courier("c"))
	d.until(1, "dead")
	if n := d.count(`SELECT count(*) FROM deliveries WHERE reason = 'max_attempts' AND attempts = 3`); n != 1 {
		t.Errorf("it is not dead of its third attempt:\n%s", d.stand())
	}
	got := r.gots()
	if len(got) != 3 {
		t.Fatalf("%d requests, want 3", len(got))
	}
	for _, g := range got {
		if id := g.header.Get("webhook-id"); id != got[0].header.Get("webhook-id") || string(g.body) != string(got[0].body) {
			t.Errorf("attempts of one delivery differ: %s %s", id, g.body)
		}
	}
	d.spaced()
}

// spaced holds each attempt of the ledger against the end of the one before it: the
// contract's wait at least.
func (d *depot) spaced() {
	d.Helper()
	if n := d.count(`
		SELECT count(*) FROM (
		  SELECT a.*, lag(finished_at) OVER (PARTITION BY delivery_id, go ORDER BY attempt_no) AS before FROM delivery_attempts a
		) a JOIN endpoints p ON p.id = a.endpoint_id
		WHERE started_at < before + greatest(p.min_interval, least(p.dispatch_gap, p.backoff_base * power(2, attempt_no - 1)))`); n != 0 {
		d.Errorf("%d attempts began before their time", n)
	}
}

// A receiver asks for 300 s: the next attempt is not due before, whatever the
// jitter; nothing else begins there meanwhile, for it said 503.
func TestRetryAfterIsAFloor(t *testing.T) {
	for name, header := range map[string]func() string{
		"seconds": func() string { return "300" },
		"a date":  func() string { return time.Now().Add(310 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			d := openDepot(t)
			r := d.receiver(func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Retry-After", header())
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			d.endpoint("shop", r.URL, "in_flight = 1")
			d.tell(3)
			d.work(d.courier("c"))
			d.within(d.patience(), "one attempt has ended", func() bool {
				return d.count(`SELECT count(*) FROM delivery_attempts WHERE finished_at IS NOT NULL`) == 1
			})
			var wait, rests float64
			err := d.pool.QueryRow(t.Context(), `
				SELECT extract(epoch FROM d.due_at - a.finished_at)::float8, extract(epoch FROM p.next_start_at - a.finished_at)::float8
				FROM deliveries d JOIN delivery_attempts a ON a.delivery_id = d.id JOIN endpoints p ON p.id = d.endpoint_id`).Scan(&wait, &rests)
			if err != nil || wait < 300 || wait > 350 || rests < 300 {
				t.Errorf("due after %.3f s, endpoint rests %.3f s (%v), want at least 300 s and a little", wait, rests, err)
			}
			d.work(d.courier("another"))
			d.until(3, "waiting")
			if n := len(r.gots()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// The fortieth attempt waits for the gap: not for a negative time, nor for none.
func TestTheFortiethAttemptWaitsForTheGap(t *testing.T) {
	terms := usualTerms()
	terms.Slack = time.Second
	s := Schedule{BackoffBase: 5 * time.Second, DispatchGap: time.Hour, MinInterval: time.Second}
	for n, want := range map[int]time.Duration{1: 6 * time.Second, 2: 11 * time.Second, 3: 21 * time.Second, 40: time.Hour + time.Second, 100: time.Hour + time.Second} {
		if got := terms.wait(s, n, 0, 0); got != want {
			t.Errorf("before attempt %d: %s, want %s", n, got, want)
		}
	}
}

// Whatever the settings: a wait is what the contract says or more, never less than
// the floors, never more than a tenth above, and grows with the attempts to the gap.
func TestWaitsKeepTheContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := func(what string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, what))
		}
		terms := Terms{Factor: rapid.Int64Range(1, 1000).Draw(t, "factor"), Slack: span("slack"), Jitter: 0.1}
		s := Schedule{BackoffBase: span("base"), DispatchGap: span("gap"), MinInterval: span("floor")}
		n, after := rapid.IntRange(1, 100).Draw(t, "n"), span("retry after")
		got, least := terms.wait(s, n, after, rapid.Float64Range(0, 1).Draw(t, "chance")), terms.wait(s, n, after, 0)
		if got < least || got > least+least/10+1 {
			t.Fatalf("%s with jitter, %s without", got, least)
		}
		floor := max(s.MinInterval, after) + terms.Slack
		power := float64(s.BackoffBase)
		for range n - 1 {
			power *= float64(terms.Factor)
		}
		contract := terms.Slack + s.DispatchGap
		if power < float64(s.DispatchGap) {
			contract = terms.Slack + time.Duration(power)
		}
		if want := max(floor, contract); least != want {
			t.Fatalf("%s, want %s", least, want)
		}
		if terms.wait(s, n+1, after, 0) < least {
			t.Fatal("the next wait is shorter")
		}
	})
}

// Twenty failures in a row, over all deliveries: disabled, and the organiser's other
// endpoints are told, once; what was not sent waits. A success between starts anew.
func TestTwentyFailuresInARowDisableAndAreToldOnce(t *testing.T) {
	d := openDepot(t)
	failing := d.receiver(saysStatus(http.StatusInternalServerError))
	other := d.receiver(says200)
	d.endpoint("failing", failing.URL, "in_flight = 3")
	d.endpoint("other", other.URL, "")
	d.tell(30)
	c := d.courier("c")
	c.Terms.DisableAfter, c.Terms.DisableFailingFor = 20, 0
	d.work(c)
	d.within(time.Minute, "it is disabled", func() bool {
		return d.count(`SELECT count(*) FROM endpoints WHERE id = 'failing' AND state = 'disabled' AND reason = 'failing' AND version = 2`) == 1
	})
	d.within(time.Minute, "what was under way has ended", func() bool {
		return d.count(`SELECT count(*) FROM deliveries WHERE status = 'sending'`) == 0
	})
	if n := len(failing.gots()); n < 20 || n > 22 { // three under way
		t.Errorf("%d requests, want 20 and what was under way", n)
	}
	if n := d.count(`SELECT count(*) FROM notices WHERE kind = 'endpoint.disabled' AND subject = 'failing' AND organiser = 'house'`); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	if n := d.count(`SELECT count(*) FROM endpoint_changes WHERE endpoint_id = 'failing' AND by = 'courier' AND new->>'reason' = 'failing'`); n != 1 {
		t.Errorf("noted %d times, want once", n)
	}
	if n := d.relay(); n != 1 {
		t.Errorf("%d deliveries of what was told, want the other endpoint's", n)
	}
	d.until(31, "delivered")
	d.until(30, "waiting")
}

// A success between failures sets their count to nothing, also one of another
// delivery; and however many fail within the time, the endpoint stays.
func TestASuccessStartsTheCountAnew(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(func(w http.ResponseWriter, _ *http.Request, nth int) {
		if nth%5 != 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	d.endpoint("shop", r.URL, "in_flight = 1, max_attempts = 100, dispatch_gap = '20 ms'")
	d.tell(12)
	c := d.courier("c")
	c.Terms.DisableAfter, c.Terms.DisableFailingFor = 5, 0
	d.work(c)
	d.until(12, "delivered")
	if n := d.count(`SELECT count(*) FROM endpoints WHERE state = 'active' AND failures = 0 AND failing_since IS NULL`); n != 1 {
		t.Error("the endpoint is not as well as it could be")
	}

	d.exec(`UPDATE endpoints SET url = 'http://127.0.0.1:1/'`) // nobody is there
	c2 := d.courier("c2")
	c2.Terms.DisableAfter, c2.Terms.DisableFailingFor = 2, time.Hour
	d.work(c2)
	d.tell(3)
	c.Terms.DisableAfter = 1000
	d.within(time.Minute, "ten failed", func() bool { return d.count(`SELECT failures FROM endpoints`) >= 10 })
	if n := d.count(`SELECT count(*) FROM endpoints WHERE state = 'active'`); n != 1 {
		t.Error("disabled though it has not failed for long")
	}
}

// One a minute, five notices: one is sent, four wait, and their attempts are not
// used up.
func TestOneAMinuteSendsOneAndTheOthersWait(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	other := d.receiver(says200)
	d.endpoint("shop", r.URL, "per_minute = 1")
	d.endpoint("other", other.URL, "")
	d.tell(5)
	d.work(d.courier("a"))
	d.work(d.courier("b"))
	d.until(6, "delivered") // the other's five, and one
	d.tell(5)
	d.until(11, "delivered")
	if n := d.count(`SELECT count(*) FROM deliveries WHERE endpoint_id = 'shop' AND status = 'waiting' AND attempts = 0`); n != 9 || len(r.gots()) != 1 {
		t.Errorf("%d wait with no attempt used up, %d sent; want 9 and 1", n, len(r.gots()))
	}
}

// A rate is kept over many attempts, by two couriers: in any window no more begin
// than it allows, and a step's worth.
func TestTheRateIsKeptByAllCouriersTogether(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, "per_minute = 3000")
	d.tell(100)
	d.work(d.courier("a"))
	d.work(d.courier("b"))
	d.until(100, "delivered")
	rows, _ := d.pool.Query(t.Context(), `SELECT started_at FROM delivery_attempts ORDER BY started_at`)
	starts, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		t.Fatal(err)
	}
	const step = 3000 / stepsOfAMinute
	for i, from := range starts {
		for j := i; j < len(starts); j++ {
			window := starts[j].Sub(from)
			if most := window.Seconds()*50 + step + 0.01; float64(j-i+1) > most {
				t.Fatalf("%d attempts began within %s, want at most %.0f", j-i+1, window, most)
			}
		}
	}
}

// What a receiver answers with, and what becomes of the delivery and the endpoint.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, nth int)
		want   string // of delivery and endpoint
	}{
		"200":               {says200, "delivered 1 active"},
		"299":               {saysStatus(299), "delivered 1 active"},
		"300":               {saysStatus(300), "waiting 1 active"},
		"304":               {saysStatus(304), "waiting 1 active"},
		"400":               {saysStatus(400), "waiting 1 active"},
		"410":               {saysStatus(410), "dead gone 1 disabled gone"},
		"429":               {saysStatus(429), "waiting 1 active rests"},
		"500":               {saysStatus(500), "waiting 1 active"},
		"502":               {saysStatus(502), "waiting 1 active rests"},
		"503":               {saysStatus(503), "waiting 1 active rests"},
		"504":               {saysStatus(504), "waiting 1 active rests"},
		"no answer":         {func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, "waiting 1 active rests"},
		"never an end":      {func(w http.ResponseWriter, r *http.Request, _ int) { drip(w, r, 200) }, "delivered 1 active"},
		"never an end, 500": {func(w http.ResponseWriter, r *http.Request, _ int) { drip(w, r, 500) }, "waiting 1 active"},
		"silence":           {func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, "waiting 1 active rests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDepot(t)
			r := d.receiver(c.answer)
			d.endpoint("shop", r.URL, "backoff_base = '1 hour', dispatch_gap = '1 hour'")
			d.tell(1)
			courier := d.courier("c")
			courier.Client = NewClient(Reach{Limit: 2 * time.Second, Loopback: true})
			d.work(courier)
			d.within(time.Minute, "the attempt has ended", func() bool {
				return d.count(`SELECT count(*) FROM delivery_attempts WHERE finished_at IS NOT NULL`) == 1
			})
			var stands string
			err := d.pool.QueryRow(t.Context(), `
				SELECT concat_ws(' ', d.status, d.reason, d.attempts, p.state, p.reason,
				  CASE WHEN p.next_start_at > now() + interval '10 minutes' THEN 'rests' END)
				FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id`).Scan(&stands)
			if err != nil || stands != c.want {
				t.Errorf("%q (%v), want %q", stands, err, c.want)
			}
			if told := d.count(`SELECT count(*) FROM notices WHERE kind = 'endpoint.disabled'`); (told == 1) != (name == "410") {
				t.Errorf("told %d times that the endpoint is disabled", told)
			}
			d.relay()
			if n := len(r.gots()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// drip answers with a status, more than is kept, and then byte by byte for ever.
func drip(w http.ResponseWriter, r *http.Request, status int) {
	w.WriteHeader(status)
	w.Write(make([]byte, 1000)) //nolint:errcheck // it may have gone
	for again := time.NewTicker(20 * time.Millisecond); r.Context().Err() == nil; <-again.C {
		w.Write([]byte("x"))                  //nolint:errcheck // it may have gone
		http.NewResponseController(w).Flush() //nolint:errcheck // the same
	}
}

// Of a long answer the beginning is kept, whatever is in it.
func TestTheBeginningOfAnAnswerIsKept(t *testing.T) {
	d := openDepot(t)
	long := slices.Repeat([]byte("\x00\xffanswer"), 100_000)
	r := d.receiver(func(w http.ResponseWriter, _ *http.Request, _ int) { w.Write(long) }) //nolint:errcheck // it is cut off
	d.endpoint("shop", r.URL, "")
	d.tell(1)
	d.work(d.courier("c"))
	d.until(1, "delivered")
	var kept []byte
	if err := d.pool.QueryRow(t.Context(), `SELECT answer FROM delivery_attempts`).Scan(&kept); err != nil || !slices.Equal(kept, long[:64<<10]) {
		t.Errorf("%d bytes kept (%v), want the first 65536", len(kept), err)
	}
}
