package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"
)

// LimiterConfig bounds how often one network may join.
type LimiterConfig struct {
	PerMinute int    // 0: no limit
	RedisURL  string // counts for all replicas; "": each counts for itself
	Proxies   Proxies
}

// LimiterConns is how many connections to Redis a replica's limiter takes at most.
const LimiterConns = 32

const (
	redisLimit   = 300 * time.Millisecond // for one question, dialling included
	redisRest    = time.Second            // after a fault, during which it is not asked
	networksMost = 100_000                // that one replica counts by itself, about 20 MB
)

// Limiter keeps one network's scripts from filling the line. It is a courtesy
// to the others and no lock: whatever goes wrong with it lets people through,
// and is counted. While Redis is away each replica counts for itself.
type Limiter struct {
	LimiterConfig
	client *redis.Client       // nil: there is none
	shared *redis_rate.Limiter // on client
	rests  atomic.Int64        // UnixNano until which Redis is not asked
	away   atomic.Bool         // the last question to Redis failed
	here   map[netip.Prefix]*rate.Limiter
	mu     sync.Mutex // on here and swept
	swept  time.Time

	log     *slog.Logger
	faults  *prometheus.CounterVec
	decided *prometheus.CounterVec
}

// NewLimiter is nil, which limits nobody, when there is no limit.
func NewLimiter(cfg LimiterConfig, metrics prometheus.Registerer, log *slog.Logger) (*Limiter, error) {
	if cfg.PerMinute == 0 {
		return nil, nil
	}
	f := promauto.With(metrics)
	l := &Limiter{
		LimiterConfig: cfg, here: map[netip.Prefix]*rate.Limiter{}, log: log,
		faults: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_limiter_faults_total", Help: "Joins that the limiter could not judge as it should, by why (redis: judged by this replica alone; full: let through).",
		}, []string{"why"}),
		decided: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_limiter_joins_total", Help: "Joins judged by the limiter, by outcome (allowed, refused).",
		}, []string{"outcome"}),
	}
	if cfg.RedisURL == "" {
		return l, nil
	}
	opt, err := redis.ParseURL(cfg.RedisURL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	// A question that may have been counted is not asked again.
	opt.MaxRetries, opt.DialerRetries, opt.ContextTimeoutEnabled = -1, 1, true
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = redisLimit, redisLimit, redisLimit, redisLimit
	opt.PoolSize, opt.MaxActiveConns = LimiterConns, LimiterConns
	l.client = redis.NewClient(opt)
	l.shared = redis_rate.NewLimiter(l.client)
	return l, nil
}

// Close gives Redis's connections back.
func (l *Limiter) Close() error {
	if l == nil || l.client == nil {
		return nil
	}
	return l.client.Close()
}

// allowance is what the limiter says of one join.
type allowance struct {
	allowed bool
	left    int           // joins that the network has at once
	reset   time.Duration // until it has all of them again
	after   time.Duration // refused: until it has one
}

// admit judges a join, tells its sender where the network stands, and refuses
// it if there were too many. Once it is allowed, what becomes of it is no
// matter: a reload counts as much as a newcomer.
func (l *Limiter) admit(c *fiber.Ctx) error {
	if l == nil {
		return nil
	}
	v := l.judge(c.UserContext(), l.Proxies.network(c), time.Now())
	c.Set("RateLimit-Policy", fmt.Sprintf(`"joins";q=%d;w=60`, l.PerMinute))
	c.Set("RateLimit", fmt.Sprintf(`"joins";r=%d;t=%d`, v.left, seconds(v.reset)))
	if !v.allowed {
		l.decided.WithLabelValues("refused").Inc()
		return problem("too_many_requests", "Too many joins came from your network just now.").after(max(v.after, time.Second))
	}
	l.decided.WithLabelValues("allowed").Inc()
	return nil
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func (l *Limiter) judge(ctx context.Context, network netip.Prefix, now time.Time) allowance {
	if l.shared != nil && now.UnixNano() >= l.rests.Load() {
		v, err := l.ask(ctx, network)
		if err == nil {
			if l.away.Swap(false) {
				l.log.Info("the limiter's redis answers again")
			}
			return v
		}
		l.rests.Store(now.Add(redisRest).UnixNano())
		if !l.away.Swap(true) {
			l.log.Warn("the limiter's redis does not answer; this replica counts for itself", "error", err)
		}
	}
	if l.shared != nil {
		l.faults.WithLabelValues("redis").Inc()
	}
	return l.count(network, now)
}

func (l *Limiter) ask(ctx context.Context, network netip.Prefix) (allowance, error) {
	ctx, cancel := context.WithTimeout(ctx, redisLimit)
	defer cancel()
	r, err := l.shared.Allow(ctx, "joins:"+network.String(), redis_rate.PerMinute(l.PerMinute))
	if err != nil {
		return allowance{}, err
	}
	return allowance{r.Allowed > 0, r.Remaining, r.ResetAfter, r.RetryAfter}, nil
}

// count judges by what this replica alone has seen.
func (l *Limiter) count(network netip.Prefix, now time.Time) allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	perSecond := float64(l.PerMinute) / 60
	bucket := l.here[network]
	if bucket == nil {
		if len(l.here) >= networksMost && !l.sweep(now) {
			l.faults.WithLabelValues("full").Inc()
			return allowance{allowed: true, left: l.PerMinute}
		}
		bucket = rate.NewLimiter(rate.Limit(perSecond), l.PerMinute)
		l.here[network] = bucket
	}
	v := allowance{allowed: bucket.AllowN(now, 1)}
	tokens := max(0, bucket.TokensAt(now))
	v.left = int(tokens)
	v.reset = time.Duration((float64(l.PerMinute) - tokens) / perSecond * float64(time.Second))
	v.after = time.Duration((1 - tokens) / perSecond * float64(time.Second))
	return v
}

// sweep forgets the networks that have all their joins again, which is what an
// unknown one has. At most once a second: it looks at all of them.
func (l *Limiter) sweep(now time.Time) (room bool) {
	if now.Sub(l.swept) < time.Second {
		return false
	}
	l.swept = now
	for network, bucket := range l.here {
		if bucket.TokensAt(now) >= float64(l.PerMinute) {
			delete(l.here, network)
		}
	}
	return len(l.here) < networksMost
}
