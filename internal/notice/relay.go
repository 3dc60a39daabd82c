package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
)

const (
	// batch bounds what a relay that dies between publishing and marking makes
	// its successor publish again.
	batch = 200
	// flushWithin bounds the wait for NATS's word that it has a batch.
	flushWithin = 2 * time.Second
)

// Relay publishes the outbox. Of any number, one is at work: it holds an
// advisory lock on a connection of its own, and reads and marks over the same
// connection, so that a relay without the lock cannot go on.
//
// A notice is published again when the relay dies, or NATS does, between the
// publishing and the mark; otherwise once.
type Relay struct {
	db   *pgx.ConnConfig
	nats *nats.Conn
	conn *pgx.Conn // kept while another relay is at work, to ask again
	held bool      // conn holds the lock
}

// NewRelay makes a relay for the pool's database; nothing is opened yet.
func NewRelay(pool *pgxpool.Pool, nc *nats.Conn) *Relay {
	db := pool.Config().ConnConfig.Copy()
	db.RuntimeParams["application_name"] = "waitroom relay"
	// A relay whose machine is gone frees its lock in 20 s, not in two hours.
	db.RuntimeParams["tcp_keepalives_idle"] = "10"
	db.RuntimeParams["tcp_keepalives_interval"] = "5"
	db.RuntimeParams["tcp_keepalives_count"] = "2"
	return &Relay{db: db, nats: nc}
}

// Step relays one batch and says how many notices went out: 0 when there are
// none, or when another relay is at work. It is called by one goroutine. After
// an error the lock is let go, and the rows wait where they are.
func (r *Relay) Step(ctx context.Context) (relayed int, err error) {
	defer func() {
		if err != nil {
			r.Close(ctx)
		}
	}()
	if !r.nats.IsConnected() {
		return 0, errors.New("relay: NATS is not connected; notices wait")
	}
	if err := r.lock(ctx); err != nil || !r.held {
		return 0, err
	}
	hints, err := r.unrelayed(ctx)
	if err != nil || len(hints) == 0 {
		return 0, err
	}
	if err := r.publish(ctx, hints); err != nil {
		return 0, err
	}
	return len(hints), r.mark(ctx, hints)
}

// Close lets the lock go; another relay takes over.
func (r *Relay) Close(ctx context.Context) {
	if r.conn != nil {
		r.conn.Close(ctx) //nolint:errcheck // the server frees the lock however it ends
	}
	r.conn, r.held = nil, false
}

func (r *Relay) lock(ctx context.Context) (err error) {
	if r.conn == nil {
		if r.conn, err = pgx.ConnectConfig(ctx, r.db); err != nil {
			return fmt.Errorf("relay: %w", err)
		}
	}
	if r.held {
		return nil
	}
	err = r.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext('waitroom notice relay'))`).Scan(&r.held)
	if err != nil {
		return fmt.Errorf("relay: lock: %w", err)
	}
	return nil
}

// unrelayed reads in id order, which is each subject's version order: see Notice.
func (r *Relay) unrelayed(ctx context.Context) ([]Hint, error) {
	rows, err := r.conn.Query(ctx, `
		SELECT id, kind, event_id, subject, version, at, body
		FROM notices WHERE relayed_at IS NULL ORDER BY id LIMIT $1`, batch)
	if err != nil {
		return nil, fmt.Errorf("relay: read: %w", err)
	}
	hints, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hint])
	if err != nil {
		return nil, fmt.Errorf("relay: read: %w", err)
	}
	return hints, nil
}

func (r *Relay) publish(ctx context.Context, hints []Hint) error {
	for _, h := range hints {
		data, err := json.Marshal(h)
		if err != nil {
			return fmt.Errorf("relay: notice %d: %w", h.ID, err)
		}
		if err := r.nats.Publish(prefix+h.Kind, data); err != nil {
			return fmt.Errorf("relay: publish: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	if err := r.nats.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("relay: flush: %w", err)
	}
	return nil
}

func (r *Relay) mark(ctx context.Context, hints []Hint) error {
	ids := make([]int64, len(hints))
	for i, h := range hints {
		ids[i] = h.ID
	}
	_, err := r.conn.Exec(ctx, `UPDATE notices SET relayed_at = now()
		WHERE id = ANY($1) AND relayed_at IS NULL`, ids)
	if err != nil {
		return fmt.Errorf("relay: mark: %w", err)
	}
	return nil
}

// Backlog is what waits to be relayed: how many, and how old the oldest is.
func Backlog(ctx context.Context, pool *pgxpool.Pool) (n int, oldest time.Duration, err error) {
	var seconds float64
	err = pool.QueryRow(ctx, `
		SELECT count(*), coalesce(extract(epoch FROM now() - min(at)), 0)::float8
		FROM notices WHERE relayed_at IS NULL`).Scan(&n, &seconds)
	if err != nil {
		return 0, 0, fmt.Errorf("notices: backlog: %w", err)
	}
	return n, time.Duration(seconds * float64(time.Second)), nil
}
