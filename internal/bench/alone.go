package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

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
