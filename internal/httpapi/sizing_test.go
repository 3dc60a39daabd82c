package httpapi_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"waitroom/internal/httpapi"
)

// Replicas that could fill Redis do not start, and say how their sum came
// about. A Redis that does not answer stops nobody.
func TestReplicasFitRedis(t *testing.T) {
	server := redisServer(t)
	limiter := func(url string) *httpapi.Limiter {
		l, err := httpapi.NewLimiter(httpapi.LimiterConfig{PerMinute: 6, RedisURL: url}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() }) //nolint:errcheck // it keeps nothing
		return l
	}
	if err := limiter("redis://127.0.0.1:1/0").Fits(t.Context(), 10_000); err != nil {
		t.Errorf("no redis: %v", err)
	}
	if err := limiter("").Fits(t.Context(), 10_000); err != nil {
		t.Errorf("without redis: %v", err)
	}
	if server.Kind == "miniredis" {
		t.Skip("this machine has no redis-server, and miniredis has no maxclients")
	}
	opt, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close() //nolint:errcheck // it keeps nothing
	if err := c.ConfigSet(t.Context(), "maxclients", "100").Err(); err != nil {
		t.Fatal(err)
	}
	l := limiter(server.URL)
	if err := l.Fits(t.Context(), 2); err != nil {
		t.Errorf("64 of 100: %v", err)
	}
	err = l.Fits(t.Context(), 3)
	if err == nil || !strings.Contains(err.Error(), "3 × (limiter 32) = 96 connections, more than 80 % of 100 (maxclients)") {
		t.Errorf("96 of 100: %v", err)
	}
}
