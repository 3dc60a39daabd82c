package pg

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// patience is how much longer than a statement may take its caller waits for a word
	// of the server, which ends what takes too long itself. One that says nothing is gone,
	// and a network may never say so.
	patience = 5 * time.Second
	// pong is how long a connection that was idle may take to answer before another is
	// tried: a pool whose connections are all silent is through with them soon.
	pong = 2 * time.Second
)

// heard dials connections that end when their server is silent for too long.
func heard(dial pgconn.DialFunc, statement time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &wire{Conn: conn, limit: statement + patience}, nil
	}
}

// wire is a connection on which neither a read nor a write waits for longer than its
// limit. A deadline that its user sets stands instead of that, until the user lifts it.
type wire struct {
	net.Conn
	mu    sync.Mutex
	limit time.Duration
	told  bool // its user has set a deadline
}

func (w *wire) Write(b []byte) (int, error) {
	w.wait()
	return w.Conn.Write(b)
}

func (w *wire) Read(b []byte) (n int, err error) {
	if n, err = w.Conn.Read(b); n > 0 {
		w.wait() // there is a server, and more may come
	}
	return n, err
}

func (w *wire) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told {
		w.Conn.SetDeadline(time.Now().Add(w.limit)) //nolint:errcheck // a closed one says so when it is used
	}
}

func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = !t.IsZero()
	return w.Conn.SetDeadline(t)
}

// Longer lets each statement of a transaction take so long from now on, and its caller
// wait for it.
func Longer(ctx context.Context, tx pgx.Tx, statement time.Duration) error {
	conn := tx.Conn().PgConn().Conn()
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	if w, ok := conn.(*wire); ok { // it is as patient from then on
		w.mu.Lock()
		w.limit = max(w.limit, statement+patience)
		w.mu.Unlock()
	}
	_, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, millis(statement))
	return err
}

// Apart is for a connection of its own to a pool's database, for whoever holds a lock
// by it: statements may take so long, and the server frees the lock of a machine that is
// gone in 20 s, not in two hours. It may not go through a pooler that shares sessions.
func Apart(pool *pgxpool.Pool, app string, statement time.Duration) *pgx.ConnConfig {
	c := pool.Config().ConnConfig.Copy()
	c.DialFunc = heard(c.DialFunc, statement)
	c.RuntimeParams["application_name"] = app
	c.RuntimeParams["statement_timeout"] = millis(statement)
	c.RuntimeParams["tcp_keepalives_idle"] = "10"
	c.RuntimeParams["tcp_keepalives_interval"] = "5"
	c.RuntimeParams["tcp_keepalives_count"] = "2"
	return c
}
