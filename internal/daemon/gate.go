package daemon

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/admission"
	"waitroom/internal/gate"
	"waitroom/internal/inventory"
	"waitroom/internal/process"
)

// GateLimits are the settings of the gate before events that have no line. One that
// is left at 0 is as gate.Usual has it.
type GateLimits struct {
	GateShards     int           `env:"GATE_SHARDS" default:"4" help:"Counters that the units of one tier are spread over; all replicas need the same. More: more attempts a second over a cluster, and more questions once little is left."`
	GateBatch      int           `env:"GATE_BATCH" default:"128" help:"Attempts that one script decides. Redis does nothing else meanwhile."`
	GateQueue      int           `env:"GATE_QUEUE" default:"4096" help:"Attempts that wait for one counter; one more is answered busy."`
	GateConns      int           `env:"GATE_CONNS" default:"32" help:"Connections to Redis for the gate."`
	GateLimit      time.Duration `env:"GATE_LIMIT" default:"300ms" help:"How long Redis may take to answer. Then the attempt goes through uncounted, and Redis is not asked for a second."`
	GateProcessing time.Duration `env:"GATE_PROCESSING" default:"15s" help:"How long an attempt may be on its way to Postgres. Longer: units whose process died come back later. Shorter than a claim may take: some are let through for nothing."`
	GateHold       time.Duration `env:"GATE_HOLD" default:"10s" help:"How long a named seat is refused after somebody asked for it. A seat that comes back meanwhile is refused for the rest of it."`
	GateFresh      time.Duration `env:"GATE_FRESH" default:"10s" help:"How long a count stands without a new one from Postgres. After it the gate lets everybody through."`
	GateTurn       time.Duration `env:"GATE_TURN" default:"1s" help:"How often the counts are made what Postgres says. Longer: what comes back is refused for longer."`
}

// over are the gate's numbers.
func (l GateLimits) over(url string) gate.Config {
	c := gate.Usual()
	c.URL = url
	c.Shards, c.Batch = cmp.Or(l.GateShards, c.Shards), cmp.Or(l.GateBatch, c.Batch)
	c.Queue, c.Conns = cmp.Or(l.GateQueue, c.Queue), cmp.Or(l.GateConns, c.Conns)
	c.Limit, c.Processing = cmp.Or(l.GateLimit, c.Limit), cmp.Or(l.GateProcessing, c.Processing)
	c.Hold, c.Fresh = cmp.Or(l.GateHold, c.Hold), cmp.Or(l.GateFresh, c.Fresh)
	return c
}

func (l GateLimits) every() time.Duration { return cmp.Or(l.GateTurn, time.Second) }

func (l GateLimits) validate(url string) error {
	c := l.over(url)
	turn := process.Want(l.every() >= 100*time.Millisecond && 2*l.every() <= c.Fresh, "GATE_TURN %s: want 100ms to half of GATE_FRESH, %s", l.every(), c.Fresh)
	if url == "" {
		return turn
	}
	return errors.Join(turn, c.Validate())
}

// gate is nil where there is no Redis.
func (c WaitroomConfig) gate(p *process.Process, pool *pgxpool.Pool) (*gate.Gate, error) {
	if c.RedisURL == "" {
		return nil, nil
	}
	g, err := gate.Open(c.GateLimits.over(c.RedisURL), ordered(pool), p.Metrics, p.Log)
	if err != nil {
		return nil, err
	}
	p.OnClose("gate", func(context.Context) error { return g.Close() })
	return g, nil
}

// turns makes the gates' counts what Postgres says, for every event that has a gate.
// Whichever replica comes first takes a turn; each can.
func (c WaitroomConfig) turns(p *process.Process, g *gate.Gate, lines *admission.Lines, pool *pgxpool.Pool) {
	if g == nil {
		return
	}
	every := c.GateLimits.every()
	p.Every(every, "gate", func(ctx context.Context) error {
		var faults []error
		for _, line := range lines.All() {
			sale := line.Sale()
			if !sale.Open || sale.Gate != string(inventory.GateOn) || sale.Control == admission.Close {
				continue
			}
			faults = append(faults, g.TurnEvery(ctx, every*9/10, sale.Event, sale.Epoch, unsold(pool)))
		}
		return errors.Join(faults...)
	})
}

// unsold asks Postgres for a gate.
func unsold(pool *pgxpool.Pool) gate.Recount {
	return func(ctx context.Context, event string, since time.Time, asked []gate.Name) (gate.Seen, error) {
		n, err := inventory.CountUnsold(ctx, pool, event, since, named(asked))
		return gate.Seen{At: n.At, Free: n.Free, Orders: names(n.Orders)}, err
	}
}

// ordered looks up for a gate who has an order.
func ordered(pool *pgxpool.Pool) gate.Ordered {
	return func(ctx context.Context, event string, asked []gate.Name) ([]gate.Name, error) {
		found, err := inventory.FindAttempts(ctx, pool, event, named(asked))
		return names(found), err
	}
}

func named(attempts []gate.Name) []inventory.AttemptName {
	out := make([]inventory.AttemptName, len(attempts))
	for i, n := range attempts {
		out[i] = inventory.AttemptName(n)
	}
	return out
}

func names(attempts []inventory.AttemptName) []gate.Name {
	out := make([]gate.Name, len(attempts))
	for i, n := range attempts {
		out[i] = gate.Name(n)
	}
	return out
}
