package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/stack"
)

const (
	event = "open"
	tier  = "Standing"
)

// world is an event without a line, its claimer, and a Redis of the test's own.
type world struct {
	t      testing.TB
	pool   *pgxpool.Pool
	url    string
	config Config
	claims *inventory.Claimer
	seats  []int64 // the numbered ones
}

func newWorld(t testing.TB, numbered, general int) *world {
	t.Helper()
	pool := pgtest.New(t)
	w := &world{t: t, pool: pool, url: redisOf(t), config: Usual()}
	w.config.URL, w.config.Processing = w.url, time.Hour
	w.exec(`INSERT INTO events (id, title, currency, opens_at, admission, gate, account_limit, order_limit)
		VALUES ($1, 'Open', 'EUR', now(), 'open', 'on', 8, 8)`, event)
	w.exec(`INSERT INTO price_tiers (event_id, id, amount_minor) VALUES ($1, 'Front', 5000), ($1, $2, 2500)`, event, tier)
	w.exec(`INSERT INTO seats (event_id, pos, guid, kind, section, price_tier)
		SELECT $1, i, 'seat-' || i, CASE WHEN i < $2 THEN 'numbered' ELSE 'general' END,
		  'Hall', CASE WHEN i < $2 THEN 'Front' ELSE $4 END
		FROM generate_series(0, $2::int + $3::int - 1) i`, event, numbered, general, tier)
	rows, _ := pool.Query(t.Context(), `SELECT id FROM seats WHERE kind = 'numbered' ORDER BY pos`)
	var err error
	if w.seats, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		t.Fatal(err)
	}
	w.claims = inventory.NewClaimer(pool, inventory.Sizes{Queue: 2048, Workers: 2, Batch: 64}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var running sync.WaitGroup
	running.Go(func() { w.claims.Run(context.WithoutCancel(t.Context())) })
	t.Cleanup(func() { w.claims.Stop(); running.Wait() })
	return w
}

func redisOf(t testing.TB) string {
	t.Helper()
	s, err := stack.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("redis: %v", err)
		}
	})
	return s.URL
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if err := pg.InTx(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(w.t.Context(), sql, args...)
		return err
	}); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) one(sql string, args ...any) (n int) {
	w.t.Helper()
	if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// gate is a replica's.
func (w *world) gate() *Gate {
	w.t.Helper()
	g, err := Open(w.config, w.ordered, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { g.Close() }) //nolint:errcheck // a test may have closed it
	return g
}

func (w *world) recount(ctx context.Context, event string, since time.Time, asked []Name) (Seen, error) {
	names := make([]inventory.AttemptName, len(asked))
	for i, n := range asked {
		names[i] = inventory.AttemptName(n)
	}
	n, err := inventory.CountUnsold(ctx, w.pool, event, since, names)
	seen := Seen{At: n.At, Free: n.Free}
	for _, o := range n.Orders {
		seen.Orders = append(seen.Orders, Name(o))
	}
	return seen, err
}

func (w *world) ordered(ctx context.Context, event string, asked []Name) (has []Name, err error) {
	names := make([]inventory.AttemptName, len(asked))
	for i, n := range asked {
		names[i] = inventory.AttemptName(n)
	}
	found, err := inventory.FindAttempts(ctx, w.pool, event, names)
	for _, n := range found {
		has = append(has, Name(n))
	}
	return has, err
}

func (w *world) turn(g *Gate) {
	w.t.Helper()
	if err := g.Turn(w.t.Context(), event, 1, w.recount); err != nil {
		w.t.Fatalf("turn: %v", err)
	}
}

// standing is account's attempt for n units, seated for seats.
func standing(account string, n int) Attempt {
	return Attempt{Event: event, Epoch: 1, Name: Name{account, "key"}, Tier: tier, Units: n}
}

func seated(account string, seats ...int64) Attempt {
	return Attempt{Event: event, Epoch: 1, Name: Name{account, "key"}, Seats: seats}
}

// claim asks Postgres.
func (w *world) claim(a Attempt) inventory.Answer {
	w.t.Helper()
	told := make(chan inventory.Answer, 1)
	w.claims.Submit(inventory.Attempt{
		Event: a.Event, Account: a.Account, Holder: a.Account, Epoch: a.Epoch, Quota: 10_000, Key: a.Key,
		BodyHash: sha256.Sum256(fmt.Append(nil, a.Units, a.Seats)), Seats: a.Seats, Tier: a.Tier, Quantity: a.Units,
	}, time.Now().Add(30*time.Second), func(answer inventory.Answer) { told <- answer })
	return <-told
}

// buy is a whole request: the gate, Postgres, and what follows from its answer.
func (w *world) buy(ctx context.Context, g *Gate, a Attempt) (Decision, inventory.Answer) {
	d := g.Decide(ctx, a)
	if !d.Lets() {
		return d, inventory.Answer{}
	}
	answer := w.claim(a)
	switch answer.Outcome {
	case inventory.Claimed, inventory.Unknown:
	default:
		g.GiveBack(ctx, d, answer.Taken)
	}
	return d, answer
}

// agrees holds the gate's count against Postgres's.
func (w *world) agrees(g *Gate) {
	w.t.Helper()
	free, known, err := g.Count(w.t.Context(), event, 1, tier)
	want := w.one(`SELECT count(*) FROM seats WHERE kind = 'general' AND order_id IS NULL AND NOT held_back`)
	if err != nil || !known || free != want {
		w.t.Errorf("the gate has %d units (known %t, %v), Postgres %d", free, known, err, want)
	}
}

// whole is that no unit is lost and none sold twice.
func (w *world) whole(units int) {
	w.t.Helper()
	free := w.one(`SELECT count(*) FROM seats WHERE order_id IS NULL`)
	held := w.one(`SELECT coalesce(sum(seat_count), 0) FROM orders WHERE status IN ('pending', 'paid')`)
	if free+held != units {
		w.t.Errorf("free %d + pending and sold %d = %d, want %d", free, held, free+held, units)
	}
}

var errDead = errors.New("the process is dead")
