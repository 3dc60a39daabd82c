// Package daemon puts each process together: its settings, its parts, what it
// tells of itself. One file is one process; each is a function that runs until
// its context ends, so that all of them can run in one program.
package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/admission"
	"waitroom/internal/httpapi"
	"waitroom/internal/notice"
	"waitroom/internal/pg"
	"waitroom/internal/process"
)

// Common are the settings of every process that works on the sale.
type Common struct {
	process.Ops
	DatabaseURL string `env:"DATABASE_URL" required:"" secret:"" help:"Postgres, where seats, orders and money are. It has to be migrated, writable and durable, or the process does not start."`
	Replicas    int    `env:"REPLICAS" default:"1" help:"How many of this process run at most, a deployment's overlap included. All that they and the other processes may take of Postgres and Redis is added up, and above 80 % the process does not start. Too few: connections are refused under load."`

	// Set by a program that runs processes itself.
	Logs      io.Writer               `kong:"-"` // nil: stdout
	Listening func(name, addr string) `kong:"-"` // told where each listener answers; "ops", the last, when all is set up
}

func (c Common) validate() error {
	return errors.Join(
		process.Want(c.Replicas >= 1 && c.Replicas <= 10_000, "REPLICAS %d: want 1 to 10000", c.Replicas),
		c.Ops.Validate(),
	)
}

func (c Common) logger(name string) *slog.Logger {
	out := c.Logs
	if out == nil {
		out = os.Stdout
	}
	return process.Logger(out, name, c.LogLevel)
}

func (c Common) listening(name, addr string) {
	if c.Listening != nil {
		c.Listening(name, addr)
	}
}

// open opens a pool that lives as long as the process, and refuses a database
// that could not keep our promises. use tells the process's pools apart.
func (c Common) open(ctx context.Context, p *process.Process, use string, l pg.Limits) (*pgxpool.Pool, error) {
	pool, err := pg.Open(ctx, c.DatabaseURL, "waitroom "+p.Name+" "+use, l)
	if err != nil {
		return nil, err
	}
	p.OnClose("postgres "+use, func(context.Context) error { pool.Close(); return nil })
	if err := pg.Fit(ctx, pool); err != nil {
		return nil, err
	}
	p.Check("postgres "+use, 2*time.Second, pool.Ping)
	gauge := func(name, help string, f func(*pgxpool.Stat) int32) {
		promauto.With(p.Metrics).NewGaugeFunc(prometheus.GaugeOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"pool": use},
		}, func() float64 { return float64(f(pool.Stat())) })
	}
	gauge("waitroom_pool_connections_used", "Connections to Postgres at work.", (*pgxpool.Stat).AcquiredConns)
	gauge("waitroom_pool_connections_max", "Connections to Postgres at most.", (*pgxpool.Stat).MaxConns)
	return pool, nil
}

// fits declares what the process takes of Postgres, and refuses to start it if
// that is too much with all that the others declare.
func (c Common) fits(ctx context.Context, p *process.Process, pool *pgxpool.Pool, uses ...pg.Use) error {
	share := pg.Share{Process: p.Name, Replicas: max(1, c.Replicas), Uses: uses}
	if err := pg.Declare(ctx, pool, share); err != nil {
		return err
	}
	p.Log.Info("connections", "postgres", share.Conns(), "replicas", share.Replicas)
	p.Every(time.Minute, "connection share", func(ctx context.Context) error { return pg.Renew(ctx, pool, share) })
	return nil
}

// pooled is what a pool may take.
func pooled(use string, pool *pgxpool.Pool) pg.Use {
	return pg.Use{Name: use, Conns: int(pool.Config().MaxConns)}
}

// connect opens the process's connection to NATS. While it is away the process
// is not ready: what it asks or answers there does not arrive.
func connect(p *process.Process, url string) (*nats.Conn, error) {
	nc, err := notice.Connect(url, "waitroom "+p.Name, p.Log)
	if err != nil {
		return nil, err
	}
	// The last answers are on their way before the connection closes.
	p.OnClose("nats", func(ctx context.Context) error {
		defer nc.Close()
		if !nc.IsConnected() { // nothing can go, and who waits for it asks again
			return nil
		}
		return nc.FlushWithContext(ctx)
	})
	p.Check("nats", time.Second, func(context.Context) error {
		if err := notClosed(nc); err != nil {
			return err
		}
		if !nc.IsConnected() {
			return errors.New("not connected")
		}
		return nil
	})
	return nc, nil
}

// notClosed refuses a connection that is closed for good. One that is away comes
// back by itself, and who only sends hints by it can wait; this one does not.
func notClosed(nc *nats.Conn) error {
	if nc.IsClosed() {
		return errors.New("closed for good; the process has to be started anew")
	}
	return nil
}

// listen opens a TCP listener of both families.
func (c Common) listen(ctx context.Context, name, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c.listening(name, l.Addr().String())
	return l, nil
}

// TokenKeys are the settings of what callers carry.
type TokenKeys struct {
	TicketKeys string `env:"TICKET_KEYS" required:"" secret:"" help:"id:base64,id:base64: the keys of place tickets, at least 32 bytes each; the first signs. All processes need the same."`
	PassKeys   string `env:"PASS_KEYS" required:"" secret:"" help:"P-256 keys of passes as PEM; the first private one signs. All processes need the same, or their public halves."`
	PassIssuer string `env:"PASS_ISSUER" default:"waitroom" help:"iss of passes."`
}

// tokens refuses keys with which nobody could be told from anybody else.
func (k TokenKeys) tokens() (t httpapi.Tokens, err error) {
	var tickets, passes error
	t.Tickets, tickets = admission.ParseTicketKeys(k.TicketKeys)
	t.Passes, passes = admission.ParsePassKeys(k.PassIssuer, []byte(k.PassKeys))
	return t, errors.Join(
		process.Want(tickets == nil, "TICKET_KEYS: %w", tickets),
		process.Want(passes == nil, "PASS_KEYS: %w", passes),
	)
}

func (k TokenKeys) validate() error {
	_, err := k.tokens()
	return err
}
