package notice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"

	"waitroom/internal/pg"
)

const (
	// batch bounds what a relay that dies between publishing and marking makes
	// its successor publish again.
	batch = 200
	// writtenAtOnce bounds the deliveries of one step, by the first notice that passes it:
	// one is for all of its endpoints, however many its organiser has.
	writtenAtOnce = 2000
	// stepLimit is far more than so many take, and idleLimit than there is between two
	// steps: a relay that was cut off frees its lock.
	stepLimit = 10 * time.Second
	idleLimit = "20s"
	// flushWithin bounds the wait for NATS's word that it has a batch, and rest is
	// how long a NATS that was silent is not asked: deliveries go before hints.
	flushWithin = 300 * time.Millisecond
	rest        = 2 * time.Second
)

// Relay empties the outbox: it addresses each notice, once, and publishes a hint
// of it. Of any number, one is at work: it holds an advisory lock on a connection
// of its own, and reads and writes over the same connection, so that a relay
// without the lock cannot go on.
type Relay struct {
	db   *pgx.ConnConfig
	nats *nats.Conn
	conn *pgx.Conn // kept while another relay is at work, to ask again
	held bool      // conn holds the lock
	mute time.Time // until then nothing is published
}

// Relayed is what one step did.
type Relayed struct {
	Addressed  int // notices whose deliveries are written down
	Deliveries int
	Published  int // hints
}

// ErrNoHints: NATS is away, and hints wait. Deliveries do not.
var ErrNoHints = errors.New("relay: NATS is away; hints wait, deliveries do not")

// NewRelay makes a relay for the pool's database; nothing is opened yet.
func NewRelay(pool *pgxpool.Pool, nc *nats.Conn) *Relay {
	db := pg.Apart(pool, "waitroom relay", stepLimit)
	db.RuntimeParams["idle_session_timeout"] = idleLimit
	// Its tables grow while it runs: plans that are made while they are empty do not.
	db.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return &Relay{db: db, nats: nc}
}

// Step relays one batch and says what it did: nothing when there is nothing, or
// when another relay is at work. Deliveries come first, and are written whether or
// not NATS is there. It is called by one goroutine. After an error of Postgres the
// lock is let go, and the rows wait where they are.
func (r *Relay) Step(ctx context.Context) (did Relayed, err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrNoHints) {
			r.Close(ctx)
		}
	}()
	if err := r.lock(ctx); err != nil || !r.held {
		return did, err
	}
	if did.Addressed, did.Deliveries, err = address(ctx, r.conn); err != nil {
		return did, err
	}
	did.Published, err = r.hint(ctx)
	return did, err
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

// Backlog is what waits in the outbox.
type Backlog struct {
	Unaddressed, Unrelayed             int           // notices without their deliveries, without their hint
	OldestUnaddressed, OldestUnrelayed time.Duration // ages
}

// ReadBacklog reads what waits to be relayed.
func ReadBacklog(ctx context.Context, pool *pgxpool.Pool) (b Backlog, err error) {
	var unaddressed, unrelayed float64
	err = pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE addressed IS NULL), count(*) FILTER (WHERE relayed_at IS NULL),
		  coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE addressed IS NULL)), 0)::float8,
		  coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE relayed_at IS NULL)), 0)::float8
		FROM notices WHERE addressed IS NULL OR relayed_at IS NULL`).
		Scan(&b.Unaddressed, &b.Unrelayed, &unaddressed, &unrelayed)
	if err != nil {
		return b, fmt.Errorf("notices: backlog: %w", err)
	}
	b.OldestUnaddressed = time.Duration(unaddressed * float64(time.Second))
	b.OldestUnrelayed = time.Duration(unrelayed * float64(time.Second))
	return b, nil
}
