package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// pollers are connections kept alive, each with one request under way.
const pollers = 32

// polls: answers a core gives over real connections, against fasthttp alone
// sending the same bytes. A core's second is a second of this process's CPU;
// who asks is a process of its own, so its cost is not counted.
func polls(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	l, err := still(ctx, file(dir, "polls"), long1m)
	if err != nil {
		return nil, err
	}
	handle, err := listener(ctx, &only{l})
	if err != nil {
		return nil, err
	}
	token, err := waiting(long1m)
	if err != nil {
		return nil, err
	}
	status, err := e.perCore(ctx, handle, statusPath, "")
	if err != nil {
		return nil, err
	}
	place, err := e.perCore(ctx, handle, placePath, token)
	if err != nil {
		return nil, err
	}
	return []Figure{
		times("polls_vs_fasthttp", "polls/s/core", status[0], status[1]),
		times("places_vs_fasthttp", "polls/s/core", place[0], place[1]),
	}, nil
}

// perCore is what a core answers, and what its anchor does.
func (e Effort) perCore(ctx context.Context, handle fasthttp.RequestHandler, path, token string) ([]float64, error) {
	c := asking(path, token)
	handle(c)
	same := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(same)
	c.Response.CopyTo(same)
	rate := func(handle fasthttp.RequestHandler) func() (float64, error) {
		return func() (float64, error) { return served(ctx, handle, path, token, e.Polls) }
	}
	return turns(e.Rounds, rate(handle), rate(func(c *fasthttp.RequestCtx) { same.CopyTo(&c.Response) }))
}

// served is how many requests the handler answers in a second of CPU.
func served(ctx context.Context, handle fasthttp.RequestHandler, path, token string, n int) (perSecond float64, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s := &fasthttp.Server{Handler: handle, NoDefaultServerHeader: true, ReadTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	defer func() { err = errors.Join(err, s.Shutdown(), <-ended) }()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	before, err := cpu()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, pollWord, "http://"+l.Addr().String()+path, token, strconv.Itoa(n))
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("pollers: %w: %s", err, out)
	}
	after, err := cpu()
	return float64(n) / (after - before).Seconds(), err
}

// cpu is what this process has used, the system's work for it included.
func cpu() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

const pollWord = "poll"

// Poll is the other process's whole life, if args ask for it. It asks so often,
// from all pollers together, and fails unless every answer is a good one.
func Poll(args []string) (asked bool, err error) {
	if len(args) != 5 || args[1] != pollWord {
		return false, nil
	}
	n, err := strconv.Atoi(args[4])
	if err != nil {
		return true, err
	}
	client := &fasthttp.Client{MaxConnsPerHost: pollers, ReadTimeout: 10 * time.Second}
	failed := make([]error, pollers)
	var all sync.WaitGroup
	for i := range pollers {
		all.Go(func() { failed[i] = ask(client, args[2], args[3], n*(i+1)/pollers-n*i/pollers) })
	}
	all.Wait()
	return true, errors.Join(failed...)
}

func ask(client *fasthttp.Client, url, token string, n int) error {
	var req fasthttp.Request
	var res fasthttp.Response
	req.SetRequestURI(url)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for range n {
		if err := client.Do(&req, &res); err != nil {
			return err
		}
		if res.StatusCode() != fasthttp.StatusOK || len(res.Body()) == 0 {
			return fmt.Errorf("answered %d %s", res.StatusCode(), res.Body())
		}
	}
	return nil
}
