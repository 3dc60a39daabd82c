package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/daemon"
	"waitroom/internal/notice"
	"waitroom/internal/pg"
	"waitroom/internal/process"
)

// course is what is held: fifty endpoints, a third of them bad, and notices at ten
// a second; then many at once.
type course struct {
	out           io.Writer
	database      string
	steady, burst int
	promise       time.Duration

	pool *pgxpool.Pool
	at   *receivers
}

// wells is the first of the endpoints that answer as they should.
const endpoints, silent, failing, limited, wells = 50, 5, 5, 5, 15

func (c *course) run(ctx context.Context) (kept bool, err error) {
	if err := pg.Migrate(ctx, c.database); err != nil {
		return false, err
	}
	if c.pool, err = pg.Open(ctx, c.database, "courierproof", pg.Limits{Conns: 4, Statement: time.Minute}); err != nil {
		return false, err
	}
	defer c.pool.Close()
	at, end, err := open(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	c.at = at
	if err := c.prepare(ctx); err != nil {
		return false, err
	}
	stop, err := c.start(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	fmt.Fprintf(c.out, "one courier as it ships, %d cores, no NATS\n\n", runtime.GOMAXPROCS(0))
	steady, err := c.tellSteadily(ctx)
	if err != nil {
		return false, err
	}
	burst, err := c.tellAtOnce(ctx)
	if err != nil {
		return false, err
	}
	whole, err := c.audit(ctx)
	return steady && burst && whole, err
}

// prepare makes two organisers, each with an event: one with fifty endpoints, one
// with two.
func (c *course) prepare(ctx context.Context) error {
	_, err := c.pool.Exec(ctx, `INSERT INTO events (id, title, currency, opens_at, organiser) VALUES
		('steady', 'S', 'EUR', now(), 'many'), ('burst', 'B', 'EUR', now(), 'few')`)
	if err != nil {
		return err
	}
	add := func(id, organiser, path, set string) error {
		_, err := c.pool.Exec(ctx, `INSERT INTO endpoints (id, organiser, url, secret) VALUES ($1::text, $2, $3, sha256(convert_to($1::text, 'UTF8')))`, id, organiser, c.at.url+path)
		if err == nil && set != "" {
			_, err = c.pool.Exec(ctx, `UPDATE endpoints SET `+set+` WHERE id = $1`, id)
		}
		return err
	}
	for i := range endpoints {
		id, path, set := fmt.Sprintf("e%02d", i), fmt.Sprintf("/well/%d", i), ""
		switch {
		case i < silent:
			path = fmt.Sprintf("/silent/%d", i)
		case i < silent+failing:
			path = fmt.Sprintf("/fails/%d", i)
		case i < silent+failing+limited:
			set = "per_minute = 1"
		}
		if err := add(id, "many", path, set); err != nil {
			return err
		}
	}
	quick := "per_minute = 60000, in_flight = 50, max_attempts = 3, backoff_base = '1 s'"
	return errors.Join(add("mixed", "few", "/mixed/0", quick), add("well", "few", "/well/burst", quick))
}

// start starts an expirer, whose relay addresses, and a courier.
func (c *course) start(ctx context.Context) (stop func() error, err error) {
	life, end := context.WithCancel(ctx)
	ended := make(chan error, 2)
	common := daemon.Common{Ops: process.Ops{OpsAddr: "127.0.0.1:0", DrainLimit: 15 * time.Second}, DatabaseURL: c.database, Replicas: 1, Logs: io.Discard}
	expirer := daemon.ExpirerConfig{Common: common, NATSURL: "nats://127.0.0.1:1", Every: 200 * time.Millisecond, Batch: 200}
	courier := daemon.CourierConfig{
		Common: common, Every: 50 * time.Millisecond, InFlight: 256, Failing: 0.5, Limit: 10 * time.Second, Lease: 30 * time.Second, Conns: 6,
		Factor: 2, Slack: 1, SuccessMin: 200, SuccessMax: 299, Jitter: 0.1,
		DisableAfter: 20, DisableFailingFor: 10 * time.Second, WaitAtMost: 168 * time.Hour, Loopback: true,
	}
	go func() { ended <- daemon.Expirer(life, expirer) }()
	go func() { ended <- daemon.Courier(life, courier) }()
	return func() error { end(); return errors.Join(<-ended, <-ended) }, nil
}

// tell writes n notices of an event in one transaction, and returns their ids.
func (c *course) tell(ctx context.Context, event string, from, n int) (ids []string, err error) {
	err = pg.InTx(ctx, c.pool, func(tx pgx.Tx) error {
		var all []notice.Notice
		for i := range n {
			all = append(all, notice.Notice{
				Kind: "order.paid", Event: event, Subject: fmt.Sprintf("%s-%d", event, from+i), Version: 1, Body: map[string]int{"nth": from + i},
			})
		}
		if err := notice.Write(ctx, tx, all...); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT 'ntc_' || id FROM notices WHERE xmin = pg_current_xact_id()::xid ORDER BY id`)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return ids, err
}

func (c *course) tellSteadily(ctx context.Context) (bool, error) {
	committed := map[string]time.Time{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range c.steady {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		ids, err := c.tell(ctx, "steady", i, 1)
		if err != nil {
			return false, err
		}
		committed[ids[0]] = time.Now()
	}
	want := (endpoints - wells) * c.steady
	err := c.until(ctx, 5*time.Minute, `
		SELECT count(*) FROM deliveries d JOIN notices n ON n.id = d.notice_id
		WHERE d.status = 'delivered' AND d.endpoint_id BETWEEN 'e15' AND 'e49' AND n.event_id = 'steady'`, want)
	var took []time.Duration
	for id, at := range committed {
		for i := wells; i < endpoints; i++ {
			if t, ok := c.at.at(arrival{fmt.Sprintf("/well/%d", i), id}); ok {
				took = append(took, t.Sub(at))
			}
		}
	}
	slices.Sort(took)
	of := func(share float64) time.Duration {
		return took[min(len(took)-1, int(share*float64(len(took))))].Round(time.Millisecond)
	}
	if len(took) == 0 {
		return false, errors.Join(errors.New("nothing arrived"), err)
	}
	fmt.Fprintf(c.out, "%d notices at 10/s to %d endpoints, of which %d are silent, %d fail, %d take one a minute\n", c.steady, endpoints, silent, failing, limited)
	fmt.Fprintf(c.out, "  the other %d got %d of %d; from commit to arrival p50 %s, p90 %s, p99 %s (want < %s), the last %s\n",
		endpoints-wells, len(took), want, of(.5), of(.9), of(.99), c.promise, of(1))
	if err := c.print(ctx, "e0", "e15"); err != nil {
		return false, err
	}
	return err == nil && len(took) == want && of(.99) < c.promise, err
}

// print prints how the deliveries of some endpoints stand.
func (c *course) print(ctx context.Context, from, to string) error {
	rows, err := c.pool.Query(ctx, `
		SELECT format('  %-12s %s%s%s: %s deliveries, %s attempts', split_part(p.url, '/', 4), p.state, coalesce(' (' || p.reason || ')', ''), ' ' || d.status || coalesce(' ' || d.reason, ''), count(*), sum(d.attempts))
		FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id WHERE p.id >= $1 AND p.id < $2
		GROUP BY split_part(p.url, '/', 4), p.per_minute, p.state, p.reason, d.status, d.reason ORDER BY 1`, from, to)
	if err != nil {
		return err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	fmt.Fprintln(c.out, strings.Join(lines, "\n"))
	return err
}

func (c *course) tellAtOnce(ctx context.Context) (bool, error) {
	before, began := c.at.requests(), time.Now()
	if _, err := c.tell(ctx, "burst", 0, c.burst); err != nil {
		return false, err
	}
	err := c.until(ctx, 10*time.Minute, `SELECT count(*) FROM deliveries WHERE endpoint_id IN ('mixed', 'well') AND status IN ('delivered', 'dead')`, 2*c.burst)
	took := time.Since(began)
	fmt.Fprintf(c.out, "\n%d notices at once to two endpoints, one of which refuses 1 in 100 for ever and 1 in 20 at first\n", c.burst)
	fmt.Fprintf(c.out, "  every delivery had its end after %.1f s: %.0f ends a second, with what else went on %d requests\n", took.Seconds(), float64(2*c.burst)/took.Seconds(), c.at.requests()-before)
	return err == nil, errors.Join(err, c.print(ctx, "mixed", "zz"))
}

// until polls until a count is reached.
func (c *course) until(ctx context.Context, limit time.Duration, sql string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		var n int
		if err := c.pool.QueryRow(ctx, sql).Scan(&n); err != nil {
			return err
		}
		if n >= want {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d deliveries after %s", n, want, limit)
		}
	}
}
