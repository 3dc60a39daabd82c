package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// depot is what couriers work from in a test: a database of its own.
type depot struct {
	*testing.T
	pool *pgxpool.Pool
	told int64
}

func openDepot(t *testing.T) *depot {
	t.Helper()
	d := &depot{T: t, pool: pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 12, Replan: true}))}
	t.Cleanup(d.audit)
	return d
}

func (d *depot) exec(sql string, args ...any) {
	d.Helper()
	if _, err := d.pool.Exec(d.Context(), sql, args...); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

func (d *depot) count(sql string, args ...any) (n int) {
	d.Helper()
	if err := d.pool.QueryRow(context.WithoutCancel(d.Context()), sql, args...).Scan(&n); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
	return n
}

// endpoint adds one of the house's; set is SQL for its settings.
func (d *depot) endpoint(id, url, set string) {
	d.Helper()
	d.exec(`INSERT INTO endpoints (id, organiser, url, secret, backoff_base, min_interval, per_minute, in_flight)
		VALUES ($1, 'house', $2, decode(repeat('5a', 32), 'hex'), '20 ms', '0', 60000, 20)`, id, url)
	if set != "" {
		d.exec(`UPDATE endpoints SET `+set+` WHERE id = $1`, id)
	}
}

// tell writes n notices to the house and relays them, with NATS away.
func (d *depot) tell(n int) {
	d.Helper()
	var all []notice.Notice
	for range n {
		d.told++
		all = append(all, notice.Notice{
			Kind: "order.paid", Organiser: "house", Subject: fmt.Sprint("order-", d.told), Version: 1, Body: map[string]any{"order": d.told},
		})
	}
	if err := pg.InTx(d.Context(), d.pool, func(tx pgx.Tx) error { return notice.Write(d.Context(), tx, all...) }); err != nil {
		d.Fatal(err)
	}
	d.relay()
}

// relay addresses what is in the outbox, with NATS away, and says how many
// deliveries that made.
func (d *depot) relay() (deliveries int) {
	d.Helper()
	nc, err := notice.Connect("nats://127.0.0.1:1", "test", slog.New(slog.DiscardHandler))
	if err != nil {
		d.Fatal(err)
	}
	defer nc.Close()
	relay := notice.NewRelay(d.pool, nc)
	defer relay.Close(d.Context())
	d.within(time.Minute, "all is addressed", func() bool {
		did, err := relay.Step(d.Context())
		if err == nil { // Postgres has not yet seen that the relay before this one is gone
			return false
		}
		if !errors.Is(err, notice.ErrNoHints) {
			d.Fatalf("relay with NATS away: %v", err)
		}
		deliveries += did.Deliveries
		return did.Addressed == 0
	})
	return deliveries
}

// usualTerms are those of most tests.
func usualTerms() Terms {
	return Terms{Factor: 2, Jitter: 0.1, SuccessMin: 200, SuccessMax: 299, DisableAfter: 1000, DisableFailingFor: time.Hour, WaitAtMost: time.Hour}
}

// courier is one who is not at work yet.
func (d *depot) courier(name string) *Courier {
	return NewCourier(Courier{
		Pool: d.pool, Name: name, Client: NewClient(Reach{Limit: 10 * time.Second, Loopback: true}), Terms: usualTerms(),
		InFlight: 100, FailingInFlight: 50, Every: 20 * time.Millisecond, Lease: time.Minute, Chance: func() float64 { return 0.5 },
		Looked: func(_ []Errand, err error) {
			if err != nil && d.Context().Err() == nil {
				d.Errorf("take: %v", err)
			}
		},
		Seen: func(e Errand, _ Outcome, _ Settled, err error) {
			if err != nil && d.Context().Err() == nil {
				d.Errorf("delivery %d: %v", e.Delivery, err)
			}
		},
	})
}

// work sets a courier to work until the test ends, or it is stopped.
func (d *depot) work(c *Courier) (stop func()) {
	taking, end := context.WithCancel(d.Context())
	work := context.WithoutCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(taking, work) //nolint:errcheck // it never fails
	}()
	stop = func() { end(); <-ended }
	d.Cleanup(stop)
	return stop
}

// within polls until is holds.
func (d *depot) within(limit time.Duration, what string, is func() bool) {
	d.Helper()
	over := time.NewTimer(limit)
	defer over.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-over.C:
			d.Fatalf("not within %s: %s\n%s", limit, what, d.stand())
		case <-again.C:
		}
	}
}

// until waits for so many deliveries in a status.
func (d *depot) until(n int, status string) {
	d.Helper()
	d.within(2*time.Minute, fmt.Sprintf("%d deliveries %s", n, status), func() bool {
		return d.count(`SELECT count(*) FROM deliveries WHERE status = $1`, status) == n
	})
}

// stand is how far all deliveries came.
func (d *depot) stand() (s string) {
	d.pool.QueryRow(context.WithoutCancel(d.Context()), `SELECT coalesce(string_agg(line, E'\n'), '') FROM (
		SELECT format('%s %s %s: %s', endpoint_id, status, coalesce(reason, ''), count(*)) AS line
		FROM deliveries GROUP BY endpoint_id, status, reason ORDER BY 1 LIMIT 60) lines`).Scan(&s) //nolint:errcheck // then it says nothing
	return s
}

// audit holds what every test leaves behind against the raw rows.
func (d *depot) audit() {
	for what, sql := range map[string]string{
		"notices that were not addressed in full": `SELECT count(*) FROM notices n
			WHERE addressed IS DISTINCT FROM (SELECT count(*) FROM deliveries d WHERE d.notice_id = n.id)`,
		"deliveries whose attempts are not consecutive": `SELECT count(*) FROM (
			SELECT delivery_id, go FROM delivery_attempts GROUP BY delivery_id, go HAVING max(attempt_no) <> count(*)) odd`,
		"deliveries that count other attempts than the ledger": `SELECT count(*) FROM deliveries d
			WHERE attempts <> (SELECT count(*) FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.go = d.go)`,
		"delivered without a success": `SELECT count(*) FROM deliveries d WHERE status = 'delivered' AND NOT EXISTS (
			SELECT FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.go = d.go AND a.attempt_no = d.attempts AND a.status BETWEEN 200 AND 299)`,
		"attempts that overlap another of their delivery": `SELECT count(*) FROM delivery_attempts a JOIN delivery_attempts b
			ON b.delivery_id = a.delivery_id AND b.id > a.id AND b.started_at < coalesce(a.finished_at, 'infinity')`,
	} {
		if n := d.count(sql); n != 0 {
			d.Errorf("%d %s, want none\n%s", n, what, d.stand())
		}
	}
}

// got is one request as a receiver had it.
type got struct {
	at     time.Time
	header http.Header
	body   []byte
}

// receiver is an organiser's. answer is asked with the number of the request.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	all []got
}

func (d *depot) receiver(answer func(w http.ResponseWriter, r *http.Request, nth int)) *receiver {
	d.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.all = append(r.all, got{time.Now(), req.Header.Clone(), body})
		nth := len(r.all)
		r.mu.Unlock()
		answer(w, req, nth)
	}))
	r.Server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	r.Server.Start()
	d.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) gots() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]got(nil), r.all...)
}

func says200(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusOK) }

func saysStatus(status int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(status) }
}
