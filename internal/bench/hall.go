package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
	"waitroom/internal/stack"
)

// buyers ask at any time; anchors has a connection for each worker of an anchor.
const (
	buyers  = 256
	anchors = 64
	inARow  = 40
)

// box is a database of the product's schema, on a server that syncs.
type box struct {
	url    string
	pool   *pgxpool.Pool // for what an anchor does: a connection for each of its workers
	seq    atomic.Int64  // no two fans, and no two halls, are the same
	server *stack.Server
	dir    string
}

// openBox starts a server whose data lies on a disk: a commit costs what it costs
// in the field, where memory makes one at a time look cheap.
func openBox(ctx context.Context) (*box, error) {
	dir, err := os.MkdirTemp("", "bench-postgres-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // the server runs as somebody else
	}
	if err != nil {
		return nil, err
	}
	server, err := stack.Postgres(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b := &box{url: server.URL, server: server, dir: dir}
	if err = pg.Migrate(ctx, b.url); err == nil {
		b.pool, err = b.open(ctx, anchors, "force_generic_plan")
	}
	if err == nil {
		_, err = b.pool.Exec(ctx, `
			ALTER TABLE seats SET (autovacuum_enabled = false); ALTER TABLE orders SET (autovacuum_enabled = false);
			ALTER TABLE buyers SET (autovacuum_enabled = false);
			CREATE TABLE bench_counter (id int PRIMARY KEY, free bigint NOT NULL CHECK (free >= 0)) WITH (fillfactor = 50);
			INSERT INTO bench_counter VALUES (1, 1000000000);
			CREATE TABLE bench_orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fan bigint NOT NULL, at timestamptz NOT NULL)`)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *box) close() error {
	if b.pool != nil {
		b.pool.Close()
	}
	return errors.Join(b.server.Stop(), os.RemoveAll(b.dir))
}

// open opens a pool whose statements keep the plan that is asked for.
func (b *box) open(ctx context.Context, conns int, plan string) (*pgxpool.Pool, error) {
	to, err := url.Parse(b.url)
	if err != nil {
		return nil, err
	}
	if plan != "" {
		q := to.Query()
		q.Set("plan_cache_mode", plan)
		to.RawQuery = q.Encode()
	}
	return pg.Open(ctx, to.String(), "bench", pg.Limits{Conns: conns, Statement: time.Minute, Lock: time.Minute})
}

// hall is one sale: numbered seats in rows, or units of general admission.
type hall struct {
	box   *box
	event string
	seats []int64 // ids by pos
	takes atomic.Int64
}

func (b *box) hall(ctx context.Context, kind string, seats int) (*hall, error) {
	h := &hall{box: b, event: fmt.Sprint("hall-", b.seq.Add(1))}
	err := pg.InTx(ctx, b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO events (id, title, currency, opens_at, release_rate, order_limit, account_limit, pass_quota)
			VALUES ($1, 'Hall', 'EUR', now(), 50, 100, 100, 100)`, h.event)
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO price_tiers (event_id, id, amount_minor) VALUES ($1, 'Front', 5000)`, h.event)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO seats (event_id, pos, guid, kind, section, price_tier, row, number, x, y)
				SELECT $1, i, 'seat-' || i, $2, 'Stalls', 'Front', 'R' || i / $4::int, (i % $4::int + 1)::text, 26 * (i % $4::int), 34 * (i / $4::int)
				FROM generate_series(0, $3::int - 1) i`, h.event, kind, seats, inARow)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := b.pool.Exec(ctx, `ANALYZE seats`); err != nil {
		return nil, err
	}
	rows, err := b.pool.Query(ctx, `SELECT id FROM seats WHERE event_id = $1 ORDER BY pos`, h.event)
	if err != nil {
		return nil, err
	}
	h.seats, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	return h, err
}

func (h *hall) fan(i int) string { return fmt.Sprint("fan-", i) }

// attempt is a fan's, with a pass of their own.
func (h *hall) attempt(wish func(*inventory.Attempt)) inventory.Attempt {
	take := h.takes.Add(1)
	fan := h.fan(int(take))
	a := inventory.Attempt{
		Event: h.event, Account: fan, Holder: fan, Epoch: 1, Place: take, Take: take, Quota: 100, Key: "k",
		BodyHash: sha256.Sum256([]byte(fan)),
	}
	wish(&a)
	return a
}

// rush is what a claimer did.
type rush struct {
	took  time.Duration
	each  []time.Duration // from each attempt to its answer
	batch float64         // attempts in a batch, in the mean
}

// claims lets buyers make n attempts through a claimer as it is shipped. Each
// answer has to be one of those allowed.
func (b *box) claims(ctx context.Context, n int, ask func(i int) inventory.Attempt, allowed ...inventory.Outcome) (r rush, err error) {
	metrics := prometheus.NewRegistry()
	c, stop, err := b.claimer(ctx, shipped, metrics)
	if err != nil {
		return r, err
	}
	r.each = make([]time.Duration, n)
	began := time.Now()
	err = together(min(n, buyers), n, func(i int) error {
		asked := time.Now()
		a := c.Claim(ctx, ask(i))
		r.each[i] = time.Since(asked)
		if !slices.Contains(allowed, a.Outcome) {
			return fmt.Errorf("claim %d: %s", i, a.Outcome)
		}
		return nil
	})
	r.took = time.Since(began)
	stop()
	if err != nil {
		return r, err
	}
	r.batch, err = meanBatch(metrics)
	return r, err
}

// shipped is how many batches a claimer has under way unless told otherwise.
const shipped = 4

// claimer sets one to work; stop waits for what it has, and ends its sessions, which
// has the server count what was done.
func (b *box) claimer(ctx context.Context, workers int, metrics prometheus.Registerer) (c *inventory.Claimer, stop func(), err error) {
	pool, err := b.open(ctx, workers+2, "")
	if err != nil {
		return nil, nil, err
	}
	sizes := inventory.Sizes{Queue: 4096, Workers: workers, Batch: 64}
	c = inventory.NewClaimer(pool, sizes, slog.New(slog.DiscardHandler), metrics)
	var working sync.WaitGroup
	working.Go(func() { c.Run(ctx) })
	return c, func() { c.Stop(); working.Wait(); pool.Close() }, nil
}

func meanBatch(metrics prometheus.Gatherer) (float64, error) {
	families, err := metrics.Gather()
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); f.GetName() == "waitroom_claim_batch_size" && h.GetSampleCount() > 0 {
			return h.GetSampleSum() / float64(h.GetSampleCount()), err
		}
	}
	return 0, errors.Join(err, errors.New("no batch was counted"))
}

// done is what the server counted: of its log, and of its buffers.
type done struct{ walBytes, walSyncs, buffers, deadlocks float64 }

// during is what the server did for something. Sessions tell it when they end:
// those of a claimer have to be gone, and ours are asked to tell.
func (b *box) during(ctx context.Context, do func() error) (d done, err error) {
	before, err := b.done(ctx)
	if err == nil {
		err = do()
	}
	if err != nil {
		return d, err
	}
	after, err := b.done(ctx)
	return done{
		after.walBytes - before.walBytes, after.walSyncs - before.walSyncs, after.buffers - before.buffers, after.deadlocks - before.deadlocks,
	}, err
}

// done reads the server's counters, on a new session once all others are gone.
func (b *box) done(ctx context.Context) (d done, err error) {
	b.pool.Reset()
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return d, err
	}
	defer conn.Close(ctx) //nolint:errcheck // it has said what it has to
	for others := 1; others > 0; {
		err := conn.QueryRow(ctx, `SELECT count(*), pg_sleep(0.02)::text FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&others, nil)
		if err != nil {
			return d, err
		}
	}
	err = conn.QueryRow(ctx, `
		SELECT wal_bytes::float8, wal_sync::float8, (blks_hit + blks_read)::float8, deadlocks::float8
		FROM pg_stat_wal, pg_stat_database WHERE datname = current_database()`).Scan(&d.walBytes, &d.walSyncs, &d.buffers, &d.deadlocks)
	return d, err
}

// together has so many at once do n things.
func together(atOnce, n int, do func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, atOnce)
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}
