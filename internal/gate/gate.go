// Package gate stands in front of the claims of an event that has no waiting room.
// It says no early and never yes: what it lets through, Postgres decides. It keeps
// nothing that may not vanish. When Redis is lost, flushed or behind, the gate lets
// too many through, and Postgres tells them that nothing is left.
//
// It counts what each attempt takes under the attempt's own name, so that what was
// taken is given back once, by whoever asked or by the next turn (Turn).
package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Config is every bound that the gate has.
type Config struct {
	URL    string
	Shards int // counters that the units of one tier are spread over
	Batch  int // attempts that one script decides
	Calls  int // scripts of one counter under way at once; more: smaller batches
	Queue  int // attempts that wait for one counter; one more is told to come again
	Conns  int

	Limit time.Duration // for one question to Redis, dialling included, and for a look-up; then the attempt is let through
	Rest  time.Duration // after a fault, during which Redis is not asked
	// Processing is how long an attempt may be on its way. What Postgres has not seen
	// by then, the next turn gives back.
	Processing time.Duration
	// Hold is how long a named seat is kept for whoever asked first, and for how long
	// it is then known to be taken. A seat that comes back meanwhile is refused for
	// what is left of it. An account's attempts are counted once in it.
	Hold time.Duration
	// Fresh is how long a count stands without a new one from Postgres. After it the
	// gate knows nothing, and lets through.
	Fresh time.Duration
	// Keep is how long an attempt that has its order is known by its name: asked again,
	// it is let through, for Postgres to tell it which.
	Keep   time.Duration
	Listed int // attempts of one counter that a turn looks at
}

// Usual are the numbers that are used unless somebody says otherwise.
func Usual() Config {
	return Config{
		Shards: 4, Batch: 128, Calls: 1, Queue: 4096, Conns: 32,
		Limit: 300 * time.Millisecond, Rest: time.Second, Processing: 15 * time.Second,
		Hold: 10 * time.Second, Fresh: 10 * time.Second, Keep: 24 * time.Hour, Listed: 10_000,
	}
}

// Validate refuses what could not work.
func (c Config) Validate() error {
	if _, err := redis.ParseURL(c.URL); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	switch {
	case c.Shards < 1 || c.Shards > 64:
		return fmt.Errorf("gate: %d shards: want 1 to 64", c.Shards)
	case c.Batch < 1 || c.Batch > 1000:
		return fmt.Errorf("gate: %d attempts a script: want 1 to 1000; Redis does nothing else meanwhile", c.Batch)
	case c.Calls < 1 || c.Calls > 64, c.Queue < 1, c.Conns < 1:
		return fmt.Errorf("gate: calls %d, queue %d, conns %d: want 1 to 64, and at least 1 each", c.Calls, c.Queue, c.Conns)
	case c.Listed < c.Batch || c.Listed > 100_000:
		return fmt.Errorf("gate: %d attempts a turn: want a script's to 100000", c.Listed)
	case c.Limit < 5*time.Millisecond || c.Limit > 5*time.Second, c.Rest <= 0:
		return fmt.Errorf("gate: limit %s, rest %s: want 5ms to 5s, and more than none", c.Limit, c.Rest)
	case c.Processing < time.Millisecond, c.Hold < time.Second, c.Fresh < time.Second, c.Keep < c.Fresh:
		return fmt.Errorf("gate: processing %s, hold %s, fresh %s, keep %s: want some, 1s or more, and keep no shorter than fresh", c.Processing, c.Hold, c.Fresh, c.Keep)
	}
	return nil
}

// Gate decides attempts. It is for any number of goroutines.
type Gate struct {
	Config
	client  *redis.Client
	find    Ordered
	metrics *metrics
	log     *slog.Logger
	rests   atomic.Int64 // UnixNano until which Redis is not asked

	mu    sync.Mutex
	lanes map[lane]*line
	calls sync.WaitGroup
}

// Open does not wait for Redis: while it is away everybody is let through.
func Open(c Config, ordered Ordered, registry prometheus.Registerer, log *slog.Logger) (*Gate, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	opt, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	// What may have been done is not done again behind our back.
	opt.MaxRetries, opt.DialerRetries, opt.ContextTimeoutEnabled = -1, 1, true
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = c.Limit, c.Limit, c.Limit, c.Limit
	opt.PoolSize, opt.MaxActiveConns = c.Conns, c.Conns
	return &Gate{Config: c, client: redis.NewClient(opt), find: ordered, metrics: newMetrics(registry), log: log, lanes: map[lane]*line{}}, nil
}

// Close waits for what is under way.
func (g *Gate) Close() error {
	if g == nil {
		return nil
	}
	g.calls.Wait()
	return g.client.Close()
}

// errResting: Redis failed a moment ago.
var errResting = errors.New("redis rests after a fault")

// ask runs one script, once. The effect of one that failed is not known.
func (g *Gate) ask(ctx context.Context, s *redis.Script, keys []string, args ...any) (any, error) {
	var out any
	err := g.within(ctx, func(ctx context.Context) (err error) {
		out, err = s.Run(ctx, g.client, keys, args...).Result()
		return err
	})
	return out, err
}

// within bounds a question to Redis. After a fault none is asked for a while.
func (g *Gate) within(ctx context.Context, question func(context.Context) error) error {
	now := time.Now()
	if now.UnixNano() < g.rests.Load() {
		return errResting
	}
	asked, cancel := context.WithTimeout(ctx, g.Limit)
	defer cancel()
	err := question(asked)
	g.metrics.latency.Observe(time.Since(now).Seconds())
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // whoever asked went: no fault of Redis's
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		g.metrics.faults.Inc()
		g.rests.Store(time.Now().Add(g.Rest).UnixNano())
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}
