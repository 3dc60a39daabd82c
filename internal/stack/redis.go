package stack

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Redis starts the machine's redis-server, or a small one in this process
// where there is none. Neither keeps anything over its end: nothing of ours may
// rely on it.
func Redis(ctx context.Context) (*Server, error) {
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		return smallRedis()
	}
	return program{
		kind: "redis-server",
		cmd: func(dir string, port int) *exec.Cmd {
			return exec.Command(bin, "--bind", "127.0.0.1", "--port", strconv.Itoa(port),
				"--save", "", "--appendonly", "no", "--dir", dir)
		},
		url:    func(port int) string { return fmt.Sprintf("redis://127.0.0.1:%d/0", port) },
		answer: redisAnswers,
	}.start(ctx)
}

func redisAnswers(ctx context.Context, url string) bool {
	opt, err := redis.ParseURL(url)
	if err != nil {
		return false
	}
	opt.MaxRetries, opt.DialTimeout, opt.ReadTimeout = -1, time.Second, time.Second
	c := redis.NewClient(opt)
	defer c.Close()
	return c.Ping(ctx).Err() == nil
}

// FlushRedis empties a Redis, and says how many keys it had.
func FlushRedis(ctx context.Context, url string) (keys int64, err error) {
	opt, err := redis.ParseURL(url)
	if err != nil {
		return 0, err
	}
	c := redis.NewClient(opt)
	defer c.Close()
	if keys, err = c.DBSize(ctx).Result(); err != nil {
		return 0, fmt.Errorf("redis: %w", err)
	}
	return keys, c.FlushAll(ctx).Err()
}

// smallRedis is miniredis, in which time only passes when it is told so.
func smallRedis() (*Server, error) {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("miniredis: %w", err)
	}
	const tick = 20 * time.Millisecond
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		last := time.Now()
		for {
			select {
			case <-done:
				return
			case now := <-t.C:
				m.FastForward(now.Sub(last))
				last = now
			}
		}
	}()
	stop := func() error {
		close(done)
		m.Close()
		return nil
	}
	return &Server{URL: "redis://" + m.Addr() + "/0", Kind: "miniredis", stop: stop}, nil
}
