package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"waitroom/internal/httpapi"
)

const redisAsked = time.Second // for what Redis takes, dialling included

// fitsRedis refuses a Redis that the replicas could fill to more than 80 %. One that
// does not answer, or does not say how many it takes, refuses nothing: nothing that is
// kept there may stop a sale.
func (c WaitroomConfig) fitsRedis(ctx context.Context, log *slog.Logger) error {
	if c.RedisURL == "" {
		return nil
	}
	opt, err := redis.ParseURL(c.RedisURL)
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	opt.DialTimeout, opt.DialerRetries, opt.MaxRetries, opt.ContextTimeoutEnabled = redisAsked, 1, -1, true
	client := redis.NewClient(opt)
	defer client.Close() //nolint:errcheck // it only asked
	ctx, cancel := context.WithTimeout(ctx, redisAsked)
	defer cancel()
	most, err := maxClients(ctx, client)
	if err != nil {
		log.Warn("it is not known how many connections redis takes", "error", err)
		return nil
	}
	each := c.over(c.RedisURL).Conns
	sum := fmt.Sprintf("gate %d", each)
	if c.JoinsPerNetwork > 0 {
		each += httpapi.LimiterConns
		sum += fmt.Sprintf(" + limiter %d", httpapi.LimiterConns)
	}
	replicas := max(1, c.Replicas)
	if all := replicas * each; float64(all) > 0.8*float64(most) {
		return fmt.Errorf("redis: %d × (%s) = %d connections, more than 80 %% of %d (maxclients); raise that, or lower REPLICAS or GATE_CONNS", replicas, sum, all, most)
	}
	return nil
}

// maxClients asks in the two ways that there are: managed servers forbid the
// first, and old ones do not know the second.
func maxClients(ctx context.Context, c *redis.Client) (int, error) {
	set, err := c.ConfigGet(ctx, "maxclients").Result()
	if err == nil && set["maxclients"] != "" {
		return strconv.Atoi(set["maxclients"])
	}
	said, err := c.Info(ctx, "clients").Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(said) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "maxclients:"); ok {
			return strconv.Atoi(value)
		}
	}
	return 0, errors.New("it does not say")
}
