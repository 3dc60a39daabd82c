package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
)

// claiming: seats a second, by the claimer as it is shipped, against what would
// be written first.
func claiming(ctx context.Context, dir string, e Effort, out io.Writer) (all []Figure, err error) {
	b, err := openBox(ctx)
	if err != nil {
		fmt.Fprintln(out, "no figures of claims:", err) //nolint:errcheck // as above
		return nil, nil
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, part := range []func(context.Context, string, Effort) ([]Figure, error){b.rates, b.work, b.nearSoldOut, b.oneSeat, b.hotSeats} {
		figures, err := part(ctx, dir, e)
		if err != nil {
			return all, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// rates are seats a second of each way to ask, and of each anchor.
func (b *box) rates(ctx context.Context, dir string, e Effort) ([]Figure, error) {
	n := e.Claims
	rate, err := turns(min(e.Rounds, 3),
		b.sells(ctx, "numbered", n, n, one),
		b.sells(ctx, "numbered", n, n/2, two),
		b.sells(ctx, "numbered", n, n/2, best2),
		b.sells(ctx, "general", n, n, unit),
		b.alone(ctx, "numbered", n, singly),
		b.alone(ctx, "general", n, skipping),
		b.alone(ctx, "numbered", max(anchors, n/8), counter),
		func() (float64, error) { return b.pgbench(ctx, dir, e.Watch/4) },
	)
	if err != nil {
		return nil, err
	}
	const unit = "seats/s"
	single, pairs, best, general := rate[0], rate[1], rate[2], rate[3]
	return []Figure{
		times("claims_batched_vs_single", unit, single, rate[4]),
		times("claims_batched_vs_skip_locked", unit, general, rate[5]),
		times("claims_batched_vs_counter", unit, single, rate[6]),
		times("claims_batched_vs_insert", unit, single, rate[7]),
		times("pairs_vs_single_seats", unit, pairs, single),
		times("best_pairs_vs_single_seats", unit, best, single),
		times("general_vs_single_seats", unit, general, single),
	}, nil
}

// The wishes.
func one(h *hall, i int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Seats = []int64{h.seats[i]} }
}

func two(h *hall, i int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Seats = []int64{h.seats[2*i], h.seats[2*i+1]} }
}

func best2(*hall, int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Best = &inventory.Best{Count: 2} }
}

func unit(*hall, int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Tier, a.Quantity = "Front", 1 }
}

// sells sells a new hall out, in so many claims.
func (b *box) sells(ctx context.Context, kind string, seats, claims int, wish func(*hall, int) func(*inventory.Attempt)) func() (float64, error) {
	return func() (float64, error) {
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return 0, err
		}
		r, err := b.claims(ctx, claims, func(i int) inventory.Attempt { return h.attempt(wish(h, i)) }, inventory.Claimed)
		return float64(seats) / r.took.Seconds(), err
	}
}

// alone sells a new hall out with a transaction for each seat, by 64 at once.
func (b *box) alone(ctx context.Context, kind string, seats int, sell func(ctx context.Context, h *hall, i int) error) func() (float64, error) {
	return func() (float64, error) {
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		err = together(anchors, seats, func(i int) error { return sell(ctx, h, i) })
		return float64(seats) / time.Since(began).Seconds(), err
	}
}

// singly is the whole claim of one seat as one statement, which is one
// transaction and one round trip: the best that a claim alone can be.
func singly(ctx context.Context, h *hall, i int) error { return claimAlone(ctx, h, i, h.seats[i]) }

func claimAlone(ctx context.Context, h *hall, i int, seat int64) error {
	return claimAloneIn(ctx, h.box.pool, h, i, newID(), seat)
}

// on is a pool, or a transaction.
type on interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func claimAloneIn(ctx context.Context, db on, h *hall, i int, order uuid.UUID, seat int64) error {
	return sold(db.QueryRow(ctx, `
		WITH counted AS (
		  INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, 1, 100)
		  ON CONFLICT (event_id, account) DO UPDATE SET held = buyers.held + 1
		), seat AS (
		  UPDATE seats SET order_id = $3, claimed_at = clock_timestamp()
		  WHERE id = $4 AND event_id = $1 AND order_id IS NULL AND NOT held_back RETURNING id
		), ordered AS (
		  INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		  SELECT $3, $1, $2, $2, 1, $5, $5, 'k', sha256($2::bytea), 1, 5000, 'EUR', clock_timestamp() + interval '10 minutes' FROM seat
		), line AS (
		  INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $3, id, 5000 FROM seat
		)
		SELECT count(*) FROM seat`, h.event, h.fan(i), order, seat, i+1))
}

// newID is as the product's are: of the time, so that indexes grow at their end.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// skipping takes any free unit that nobody is just taking.
func skipping(ctx context.Context, h *hall, i int) error {
	return sold(h.box.pool.QueryRow(ctx, `
		WITH counted AS (
		  INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, 1, 100)
		  ON CONFLICT (event_id, account) DO UPDATE SET held = buyers.held + 1
		), free AS (
		  SELECT id FROM seats WHERE event_id = $1 AND price_tier = 'Front' AND kind = 'general' AND order_id IS NULL AND NOT held_back
		  ORDER BY pos LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
		), seat AS (
		  UPDATE seats s SET order_id = $3, claimed_at = clock_timestamp() FROM free WHERE s.id = free.id RETURNING s.id
		), ordered AS (
		  INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		  SELECT $3, $1, $2, $2, 1, $4, $4, 'k', sha256($2::bytea), 1, 5000, 'EUR', clock_timestamp() + interval '10 minutes' FROM seat
		), line AS (
		  INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $3, id, 5000 FROM seat
		)
		SELECT count(*) FROM seat`, h.event, h.fan(i), newID(), i+1))
}

// counter is what everybody writes first: one row that says how many are left.
func counter(ctx context.Context, h *hall, i int) error {
	return sold(h.box.pool.QueryRow(ctx, `
		WITH taken AS (UPDATE bench_counter SET free = free - 1 WHERE id = 1 AND free > 0 RETURNING id),
		  ordered AS (INSERT INTO bench_orders (fan, at) SELECT $1, clock_timestamp() FROM taken)
		SELECT count(*) FROM taken`, i))
}

var errNotSold = errors.New("nothing was sold")

func sold(row pgx.Row) error {
	var n int
	err := row.Scan(&n)
	if err == nil && n == 0 {
		err = errNotSold
	}
	return err
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbench is the server's own tool: single-row inserts by 64 clients.
func (b *box) pgbench(ctx context.Context, dir string, long time.Duration) (float64, error) {
	script := filepath.Join(dir, "insert.sql")
	if err := os.WriteFile(script, []byte("INSERT INTO bench_orders (fan, at) VALUES (1, now());\n"), 0o644); err != nil {
		return 0, err
	}
	tool, err := exec.LookPath("pgbench")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			return 0, err
		}
		tool = found[0]
	}
	config := b.pool.Config().ConnConfig
	seconds := strconv.Itoa(max(1, int(long.Seconds())))
	cmd := exec.CommandContext(ctx, tool, "-n", "-M", "prepared", "-c", strconv.Itoa(anchors), "-j", "2", "-T", seconds, "-f", script,
		"-h", config.Host, "-U", config.User, config.Database)
	text, err := cmd.CombinedOutput()
	said := tps.FindSubmatch(text)
	if err != nil || said == nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return strconv.ParseFloat(string(said[1]), 64)
}

// work is what a claim costs the server's log: bytes against one claim alone, and
// claims for each of its syncs against the claims of a batch.
func (b *box) work(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	n := float64(e.Claims)
	h, err := b.hall(ctx, "numbered", e.Claims)
	if err != nil {
		return nil, err
	}
	var r rush
	batched, err := b.during(ctx, func() (err error) {
		r, err = b.claims(ctx, e.Claims, func(i int) inventory.Attempt { return h.attempt(one(h, i)) }, inventory.Claimed)
		return err
	})
	if err != nil {
		return nil, err
	}
	if h, err = b.hall(ctx, "numbered", e.Claims); err != nil {
		return nil, err
	}
	alone, err := b.during(ctx, func() error {
		return together(anchors, e.Claims, func(i int) error { return singly(ctx, h, i) })
	})
	return []Figure{
		times("claims_wal_vs_single", "bytes", batched.walBytes/n, alone.walBytes/n),
		times("claims_per_sync_vs_batch", "claims", n/max(1, batched.walSyncs), r.batch),
	}, err
}

// nearSoldOut: what a claim reads when of a hall's units one in a hundred is left
// and nothing was ever vacuumed, against the first claims of the same hall.
func (b *box) nearSoldOut(ctx context.Context, _ string, e Effort) (all []Figure, err error) {
	for kind, wish := range map[string]func(*hall, int) func(*inventory.Attempt){"general": unit, "numbered": one} {
		seats := 5 * e.Claims
		some := seats / 100
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return nil, err
		}
		read := func(from int) (buffers float64, err error) {
			d, err := b.during(ctx, func() error {
				_, err := b.claims(ctx, some, func(i int) inventory.Attempt { return h.attempt(wish(h, from+i)) }, inventory.Claimed)
				return err
			})
			return d.buffers / float64(some), err
		}
		fresh, err := read(0)
		if err == nil {
			err = h.sell(ctx, some, seats-some)
		}
		if err != nil {
			return nil, err
		}
		last, err := read(seats - some)
		if err != nil {
			return nil, err
		}
		name := "claims_99_buffers"
		if kind == "numbered" {
			name = "seats_99_buffers"
		}
		all = append(all, times(name, "buffers", last, fresh))
	}
	slices.SortFunc(all, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// sell puts the hall's seats of these pos on orders of ten, a statement each
// hundred: as many dead rows as a sale leaves.
func (h *hall) sell(ctx context.Context, from, to int) error {
	for pos := from; pos < to; pos += 1000 {
		_, err := h.box.pool.Exec(ctx, `
			WITH sold AS (
			  SELECT id, gen_random_uuid() AS order_id, 'crowd-' || pos AS fan, pos FROM seats
			  WHERE event_id = $1 AND pos >= $2 AND pos < $3 AND order_id IS NULL ORDER BY id
			), fans AS (
			  INSERT INTO buyers (event_id, account, held, seat_limit) SELECT $1, fan, 1, 100 FROM sold
			), ordered AS (
			  INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
			  SELECT order_id, $1, fan, fan, 1, 1000000 + pos, 1000000 + pos, 'k', sha256(fan::bytea), 1, 5000, 'EUR', now() + interval '1 hour' FROM sold
			), lines AS (
			  INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT order_id, id, 5000 FROM sold
			)
			UPDATE seats s SET order_id = sold.order_id, claimed_at = now() FROM sold WHERE s.id = sold.id`, h.event, pos, min(pos+1000, to))
		if err != nil {
			return err
		}
	}
	return nil
}

// oneSeat: a thousand want the same seat at the same instant, and hear of it.
func (b *box) oneSeat(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	p95 := func(each []time.Duration) float64 {
		slices.Sort(each)
		return float64(each[len(each)*95/100].Microseconds()) / 1000
	}
	n := e.Contenders
	took, err := turns(min(e.Rounds, 3),
		func() (float64, error) {
			h, err := b.hall(ctx, "numbered", 1)
			if err != nil {
				return 0, err
			}
			r, err := b.claims(ctx, n, func(int) inventory.Attempt { return h.attempt(one(h, 0)) }, inventory.Claimed, inventory.Taken)
			return p95(r.each), err
		},
		func() (float64, error) {
			h, err := b.hall(ctx, "numbered", 1)
			if err != nil {
				return 0, err
			}
			each := make([]time.Duration, n)
			err = together(n, n, func(i int) error {
				asked := time.Now()
				err := claimAlone(ctx, h, i, h.seats[0])
				each[i] = time.Since(asked)
				if errors.Is(err, errNotSold) {
					err = nil
				}
				return err
			})
			return p95(each), err
		})
	if err != nil {
		return nil, err
	}
	return []Figure{faster("one_seat_contended_p95", "ms", took[0], took[1])}, nil
}

const (
	hot     = 64 // seats that everybody wants
	wanted  = 4  // of these, by each
	workers = 16 // transactions at once, on either side
)

// hotSeats: attempts a second that are decided where everybody wants 4 of 64 seats,
// and whoever gets them lets them go; against a loop that updates seat by seat.
func (b *box) hotSeats(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	h, err := b.hall(ctx, "numbered", hot)
	if err != nil {
		return nil, err
	}
	pick := func() (seats []int64) {
		for _, i := range rand.Perm(hot)[:wanted] {
			seats = append(seats, h.seats[i])
		}
		return seats
	}
	var ours float64
	d, err := b.during(ctx, func() (err error) {
		ours, err = b.lettingGo(ctx, h, e, pick)
		return err
	})
	if err != nil {
		return nil, err
	}
	began, decided := time.Now(), atomic.Int64{}
	err = together(workers, workers, func(int) error {
		for time.Since(began) < e.Watch {
			if err := loop(ctx, h, int(h.takes.Add(1)), pick()); err != nil {
				return err
			}
			decided.Add(1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Figure{
		times("hot_seats_vs_loop", "attempts/s", ours, float64(decided.Load())/time.Since(began).Seconds()),
		{Name: "hot_seats_deadlocks", Ratio: d.deadlocks, Value: d.deadlocks, Unit: "deadlocks"},
	}, nil
}

// lettingGo has buyers claim through one claimer, and end at once what they got.
func (b *box) lettingGo(ctx context.Context, h *hall, e Effort, pick func() []int64) (float64, error) {
	pool, err := b.open(ctx, workers+2, "")
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	c := inventory.NewClaimer(pool, inventory.Sizes{Queue: 4096, Workers: workers, Batch: 64}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var working sync.WaitGroup
	working.Go(func() { c.Run(ctx) })
	began, decided := time.Now(), atomic.Int64{}
	err = together(4*buyers, 4*buyers, func(int) error {
		for time.Since(began) < e.Watch {
			a := c.Claim(ctx, h.attempt(func(a *inventory.Attempt) { a.Seats = pick() }))
			decided.Add(1)
			if a.Outcome == inventory.Taken {
				continue
			}
			if a.Outcome != inventory.Claimed {
				return fmt.Errorf("hot seats: %s", a.Outcome)
			}
			err := pg.InTx(ctx, b.pool, func(tx pgx.Tx) error {
				_, err := inventory.End(ctx, tx, []uuid.UUID{a.Order}, inventory.Cancelled)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	took := time.Since(began)
	c.Stop()
	working.Wait()
	return float64(decided.Load()) / took.Seconds(), err
}

// loop is what would be written first: an order, then an update for each of its
// seats as they were named; one that is taken undoes it all, and so does a deadlock.
func loop(ctx context.Context, h *hall, i int, seats []int64) error {
	id := newID()
	err := pg.InTx(ctx, h.box.pool, func(tx pgx.Tx) error {
		if err := claimAloneIn(ctx, tx, h, i, id, seats[0]); err != nil {
			return err
		}
		for _, seat := range seats[1:] {
			tag, err := tx.Exec(ctx, `UPDATE seats SET order_id = $1, claimed_at = clock_timestamp() WHERE id = $2 AND order_id IS NULL`, id, seat)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return errNotSold
			}
		}
		return nil
	})
	if err == nil {
		_, err = h.box.pool.Exec(ctx, `UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE order_id = $1`, id)
	}
	var said *pgconn.PgError
	if errors.Is(err, errNotSold) || errors.As(err, &said) && said.Code == "40P01" {
		return nil
	}
	return err
}
