package daemon

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/admission/local"
	"waitroom/internal/httpapi"
	"waitroom/internal/inventory"
	"waitroom/internal/notice"
	"waitroom/internal/pg"
	"waitroom/internal/process"
	"waitroom/internal/seating"
)

// WaitroomConfig are the settings of cmd/waitroom.
type WaitroomConfig struct {
	Common
	TokenKeys
	SeatCodes
	Addr       string `env:"ADDR" default:":8080" help:"The public listener: API and pages."`
	AdminAddr  string `env:"ADMIN_ADDR" default:"127.0.0.1:8081" help:"The operators' and organisers' listener: the line's export, the organisers' API. Never the public's."`
	AdminToken string `env:"ADMIN_TOKEN" required:"" secret:"" help:"Bearer of the line's export. Organisers have keys of their own: waitctl key create."`
	NATSURL    string `env:"NATS_URL" required:"" help:"Where claims are asked and hints come from. While it is down claims are answered busy, and from 3 s on nobody is let in."`

	Line     string `env:"LINE_STORE" default:"dynamodb" enum:"dynamodb,local" help:"Where the line is kept: dynamodb, or local for a single replica with a file."`
	LineFile string `env:"LINE_FILE" default:"line.db" help:"The file of LINE_STORE=local. One process holds it; its folder must exist and outlive the process."`
	dynamo.Config
	Identity
	Asking
	Endpoints
	GateLimits

	Replica string        `env:"REPLICA" help:"This replica's name, unlike any other's that runs. Default: the host's, and a word of chance."`
	Hold    time.Duration `env:"HOLD" default:"2s" help:"How long a request for a pass stands at the door. Longer: fewer requests, more of them open."`
	Lease   time.Duration `env:"LEASE" default:"1500ms" help:"How long a releaser must stand still to be replaced. Shorter: a slow store costs the lease. Longer: nobody is let in for longer after a crash."`

	PayURL     string `env:"PAY_URL" help:"Where browsers reach paycallback, as http(s)://host. Empty: this same origin, behind one edge."`
	PayOrigins string `env:"PAY_ORIGINS" help:"Origins that the pay button may lead to, apart from this one: paycallback's, and those of the provider's pages."`
	Secure     bool   `env:"SECURE_COOKIES" default:"true" negatable:"" help:"Pages are reached by https, and cookies are sent over nothing else. Turn off for plain http on loopback only."`

	Conns       int `env:"READ_CONNS" default:"6" help:"Connections to Postgres for orders and counts."`
	LedgerConns int `env:"LEDGER_CONNS" default:"3" help:"Connections to Postgres for passes and settings alone."`
	DeskConns   int `env:"DESK_CONNS" default:"3" help:"Connections to Postgres for organisers alone, who steer while the crowd takes all others."`
	ScanConns   int `env:"SCAN_CONNS" default:"3" help:"Connections to Postgres for scans at the doors alone. Fewer: scanners wait longer while many come in at once."`
	HTTPConns   int `env:"HTTP_CONNS" default:"100000" help:"Open connections at most, about 6 kB each while idle."`

	JoinsPerNetwork int      `env:"JOINS_PER_NETWORK" default:"0" help:"Joins a minute from one network (an IPv4 address, 64 bits of IPv6); 0: no limit. Too few: people behind one office or carrier are told to wait. It lets through whatever it cannot judge."`
	RedisURL        string   `env:"REDIS_URL" secret:"" help:"Where the replicas count these joins together, and where the gate of events without a line is. Empty, or while it is down, each counts for itself. Empty, an event that asks for a gate is closed; while it is down, the gate lets everybody through to the claims' own queue."`
	TrustedProxies  []string `env:"TRUSTED_PROXIES" sep:"," help:"Networks of the edge, whose X-Forwarded-For is believed. Empty: who is connected is who asks, so that behind an edge all are one network."`
}

// Validate tells all that could not work.
func (c WaitroomConfig) Validate() error {
	_, proxies := httpapi.ParseProxies(c.TrustedProxies)
	return errors.Join(
		process.Want(c.Hold >= 100*time.Millisecond && c.Hold <= 4*time.Second, "HOLD %s: want 100ms to 4s", c.Hold),
		process.Want(c.Lease >= 500*time.Millisecond && c.Lease <= 30*time.Second, "LEASE %s: want 500ms to 30s", c.Lease),
		process.Want(c.Conns >= 2 && c.LedgerConns >= 2 && c.DeskConns >= 2 && c.ScanConns >= 2, "READ_CONNS %d, LEDGER_CONNS %d, DESK_CONNS %d, SCAN_CONNS %d: want at least 2 each", c.Conns, c.LedgerConns, c.DeskConns, c.ScanConns),
		process.Want(c.HTTPConns >= 1, "HTTP_CONNS %d: want at least 1", c.HTTPConns),
		process.Want(c.Line != "local" || c.LineFile != "", "LINE_FILE: LINE_STORE=local needs one"),
		process.Want(c.Endpoint == "" || origin(c.Endpoint), "DYNAMODB_ENDPOINT %q: want http(s)://host", c.Endpoint),
		process.Want(name(c.Replica), "REPLICA %q: want up to 100 letters without spaces", c.Replica),
		process.Want(len(strings.TrimSpace(c.AdminToken)) >= 16, "ADMIN_TOKEN: want 16 characters or more; nothing else guards the export"),
		process.Want(c.PayURL == "" || origin(c.PayURL), "PAY_URL %q: want http(s)://host", c.PayURL),
		process.Want(origins(c.PayOrigins), "PAY_ORIGINS %q: want http(s)://host, with spaces between", c.PayOrigins),
		process.Want(c.JoinsPerNetwork >= 0, "JOINS_PER_NETWORK %d: want 0 (no limit) or more", c.JoinsPerNetwork),
		process.Want(proxies == nil, "TRUSTED_PROXIES: %w", proxies),
		c.GateLimits.validate(c.RedisURL), c.TokenKeys.validate(), c.SeatCodes.validate(), c.Identity.validate(), c.Asking.validate(), c.Endpoints.validate(), c.Common.validate(),
	)
}

// name says whether a text can stand in logs and rows as it is.
func name(s string) bool {
	return len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

// origins says whether a text is a list of web origins.
func origins(list string) bool {
	for one := range strings.FieldsSeq(list) {
		if !origin(one) {
			return false
		}
	}
	return true
}

// origin says whether a text is a web origin and no more: it goes into the
// pages' security policy as it stands.
func origin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && !strings.ContainsAny(s, ";,'\"* ")
}

// Waitroom serves the line, the claims and the pages of all events. Any number
// of replicas may run, each with a releaser for each event, of which one holds
// the event's lease.
func Waitroom(ctx context.Context, c WaitroomConfig) error {
	return process.Run(ctx, "waitroom", c.Ops, c.logger("waitroom"), c.setup)
}

func (c WaitroomConfig) setup(ctx context.Context, p *process.Process) error {
	tokens, err := c.tokens()
	if err != nil {
		return err
	}
	if !tokens.Passes.CanSign() {
		return errors.New("PASS_KEYS has no private key: passes could not be signed")
	}
	if tokens.Codes, err = c.SeatCodes.keys(); err != nil {
		return err
	}
	if tokens.Codes == nil {
		p.Log.Warn("paid orders show no codes: SEAT_CODE_KEYS is not set")
	}
	reads, err := c.open(ctx, p, "reads", pg.Limits{Conns: c.Conns})
	if err != nil {
		return err
	}
	books, err := c.open(ctx, p, "ledger", pg.Limits{Conns: c.LedgerConns})
	if err != nil {
		return err
	}
	store, err := c.store(ctx, p)
	if err != nil {
		return err
	}
	nc, err := connect(p, c.NATSURL)
	if err != nil {
		return err
	}
	identity, err := c.identity(ctx, p, reads)
	if err != nil {
		return err
	}
	if err := c.fitsRedis(ctx, p.Log); err != nil {
		return err
	}
	joins, err := c.limiter(p)
	if err != nil {
		return err
	}
	metrics := admission.NewMetrics(p.Metrics)
	ledger := admission.NewLedger(books, metrics)
	halls := &halls{pool: reads}
	steering, err := c.steering(ctx, p, nc)
	if err != nil {
		return err
	}
	doors, err := c.open(ctx, p, "scans", pg.Limits{Conns: c.ScanConns})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, reads, pooled("reads", reads), pooled("ledger", books), pooled("desk", steering.pool), pooled("scans", doors)); err != nil {
		return err
	}
	gates, err := c.gate(p, reads)
	if err != nil {
		return err
	}
	lines := admission.NewLines(admission.Config{
		Replica: c.replica(), Store: store, Books: asking(nc, ledger.Books()), Tickets: tokens.Tickets, Passes: tokens.Passes,
		Recount: halls.recount, Hold: c.Hold, Lease: c.Lease, Log: p.Log, Metrics: metrics,
	}, steering.over(ledger.Sales))
	live(p, lines, ledger)
	if err := steering.listen(p, lines); err != nil {
		return err
	}
	p.Check("lines", time.Second, lines.Ready)
	p.OnStop("doors", lines.Drain)
	if err := hints(p, nc, lines); err != nil {
		return err
	}
	var claimers inventory.Roster
	p.Every(time.Second, "claimers", func(ctx context.Context) error {
		reports, err := inventory.Reports(ctx, reads)
		claimers.Hear(reports, len(lines.All())) // in doubt, any of them
		return err
	})
	c.turns(p, gates, lines, reads)
	return c.serve(ctx, p, &httpapi.API{
		Gate:  gates,
		Lines: lines, Halls: &halls.served, Tokens: tokens, Pool: reads,
		Claim: func(ctx context.Context, at inventory.Attempt) (inventory.Answer, error) {
			return claimers.Ask(ctx, nc, at)
		},
		PayURL: strings.TrimSuffix(c.PayURL, "/"), PayOrigins: c.PayOrigins, Secure: c.Secure, Money: money,
		AdminToken: c.AdminToken, Desk: steering.desk(c.Endpoints.rules()), Doors: doors, Support: c.Asking.support(p, steering.pool), Joins: joins, Identity: identity, Log: p.Log, Limits: httpapi.Limits{Conns: c.HTTPConns, BaseCtx: p.Work()},
	})
}

// asking are the books of a replica that can ask the claimers over NATS. One that
// cannot does not know what they bear, whatever they report.
func asking(nc *nats.Conn, books admission.Books) admission.Books {
	load := books.Load
	books.Load = func(ctx context.Context) (admission.Load, error) {
		if !nc.IsConnected() {
			return admission.Load{}, errors.New("not connected to NATS: no claimer can be asked")
		}
		return load(ctx)
	}
	return books
}

// live runs the lines until the last request was answered, for whoever joins or
// is let in meanwhile still needs them, and the ledger until the last pass was
// written.
func live(p *process.Process, lines *admission.Lines, ledger *admission.Ledger) {
	life, end := context.WithCancel(p.Work())
	p.Go("lines", func(context.Context) error {
		books, stop := context.WithCancel(p.Work())
		var writing sync.WaitGroup
		writing.Go(func() { ledger.Run(books) })
		lines.Run(life)
		stop()
		writing.Wait()
		return nil
	})
	p.OnFinish("lines", func(context.Context) error { end(); return nil })
}

func (c WaitroomConfig) replica() string {
	if c.Replica != "" {
		return c.Replica
	}
	host, err := os.Hostname()
	if err != nil {
		host = "waitroom"
	}
	return host + "/" + uuid.NewString()[:8]
}

// store opens the line's store.
func (c WaitroomConfig) store(ctx context.Context, p *process.Process) (admission.Store, error) {
	var store admission.Store
	switch c.Line {
	case "local":
		s, err := local.Open(c.LineFile)
		if err != nil {
			return nil, err
		}
		store = s
	default:
		s, err := dynamo.New(ctx, c.Config)
		if err != nil {
			return nil, err
		}
		if err := s.EnsureTable(ctx); err != nil {
			return nil, err
		}
		store = s
	}
	if closer, ok := store.(io.Closer); ok {
		p.OnClose("line store", func(context.Context) error { return closer.Close() })
	}
	return store, nil
}

// limiter is nil when nobody is limited.
func (c WaitroomConfig) limiter(p *process.Process) (*httpapi.Limiter, error) {
	proxies, err := httpapi.ParseProxies(c.TrustedProxies)
	if err != nil {
		return nil, err
	}
	l, err := httpapi.NewLimiter(httpapi.LimiterConfig{PerMinute: c.JoinsPerNetwork, RedisURL: c.RedisURL, Proxies: proxies}, p.Metrics, p.Log)
	if err != nil {
		return nil, err
	}
	p.OnClose("limiter", func(context.Context) error { return l.Close() })
	return l, nil
}

// hints recounts an event's stock at once when something of it changed. A lost
// hint costs a second: the recount comes by itself.
func hints(p *process.Process, nc *nats.Conn, lines *admission.Lines) error {
	stop, err := notice.Listen(nc, "tickets.returned", func(h notice.Hint) {
		if line, ok := lines.Line(h.Event); ok {
			line.StockChanged()
		}
	})
	if err != nil {
		return err
	}
	p.OnStop("hints", func(context.Context) error { return stop() })
	return nil
}

func (c WaitroomConfig) serve(ctx context.Context, p *process.Process, api *httpapi.API) error {
	public, err := api.Public()
	if err != nil {
		return err
	}
	listener, err := c.listen(ctx, "public", c.Addr)
	if err != nil {
		return err
	}
	operators, err := c.listen(ctx, "admin", c.AdminAddr)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	admin := api.Admin()
	p.Go("public", func(context.Context) error { return public.Listener(listener) })
	p.Go("admin", func(context.Context) error { return admin.Listener(operators) })
	p.OnStop("public", public.ShutdownWithContext)
	p.OnStop("admin", admin.ShutdownWithContext)
	c.listening("ops", p.OpsAddr())
	return nil
}

// halls keeps the seats of the events that are served: read once for each import
// of a plan, counted once a second.
type halls struct {
	pool   *pgxpool.Pool
	served httpapi.Halls
}

// recount counts an event's seats for its line, and publishes the same count.
// An event without seats has none to sell, which is known.
func (h *halls) recount(ctx context.Context, event string, theta time.Duration) (admission.Stock, error) {
	n, err := inventory.Recount(ctx, h.pool, event, theta)
	if err != nil {
		return admission.Stock{}, err
	}
	if err := h.publish(ctx, event, n); err != nil && !errors.Is(err, inventory.ErrNoPlan) {
		return admission.Stock{}, err
	}
	return admission.Stock{
		Free: n.Free, Pending: n.Pending, Sold: n.Sold, HeldBack: n.HeldBack,
		Due: n.Due, Expired: n.Expired, PaidLate: n.PaidLate,
	}, nil
}

func (h *halls) publish(ctx context.Context, event string, n inventory.Count) error {
	hall, ok := h.served.Get(event)
	if !ok || !hall.Counted(n) {
		plan, err := inventory.ReadPlan(ctx, h.pool, event)
		if err != nil {
			return err
		}
		if hall, err = httpapi.NewHall(event, plan); err != nil {
			return err
		}
	}
	if err := hall.Count(n); err != nil {
		return err
	}
	h.served.Put(hall)
	return nil
}

// money writes an amount as people read it.
func money(minor int64, currency string) string {
	return currency + " " + seating.FormatAmount(currency, minor)
}
