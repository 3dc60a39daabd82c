package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// pollers are connections kept alive, each with one request under way.
const pollers = 32

// polls: answers a core gives over real connections, against fasthttp alone
// sending the same bytes, and what each costs against a handler of fiber's that does
// no more; beside it what each leaves to be collected. A core's second is a second of
// this process's CPU; who asks is a process of its own, so its cost is not counted.
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
	const each = 1e6 // µs of a second
	return []Figure{
		times("polls_vs_fasthttp", "polls/s/core", status.rate, status.fasthttp),
		times("status_cpu_vs_bare", "µs", each/status.rate, each/status.bare),
		times("status_allocations_vs_bare", "allocations", status.allocations, max(0.001, status.bareAllocations)),
		times("places_vs_fasthttp", "polls/s/core", place.rate, place.fasthttp),
		times("place_cpu_vs_bare", "µs", each/place.rate, each/place.bare),
		times("place_allocations_vs_bare", "allocations", place.allocations, max(0.001, place.bareAllocations)),
	}, nil
}

// answers are how many a core gives, and what a request leaves to be collected.
type answers struct{ rate, fasthttp, bare, allocations, bareAllocations float64 }

// perCore is what a core answers, and what its anchors do.
func (e Effort) perCore(ctx context.Context, handle fasthttp.RequestHandler, path, token string) (a answers, err error) {
	c := asking(path, token)
	handle(c)
	same := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(same)
	c.Response.CopyTo(same)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get(path, func(c *fiber.Ctx) error { same.CopyTo(c.Response()); return nil })
	app.Handler() // makes the route ready
	rate := func(handle fasthttp.RequestHandler, allocations *float64) func() (float64, error) {
		return func() (perSecond float64, err error) {
			perSecond, *allocations, err = served(ctx, handle, path, token, e.Polls)
			return perSecond, err
		}
	}
	var none float64
	r, err := turns(e.Rounds, rate(handle, &a.allocations), rate(func(c *fasthttp.RequestCtx) { same.CopyTo(&c.Response) }, &none),
		rate(app.Server().Handler, &a.bareAllocations))
	if err != nil {
		return a, err
	}
	a.rate, a.fasthttp, a.bare = r[0], r[1], r[2]
	return a, nil
}

// served is how many requests the handler answers in a second of CPU, and what each
// allocates, its server included.
func served(ctx context.Context, handle fasthttp.RequestHandler, path, token string, n int) (perSecond, allocations float64, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	s := &fasthttp.Server{Handler: handle, NoDefaultServerHeader: true, ReadTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	defer func() { err = errors.Join(err, s.Shutdown(), <-ended) }()
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	var first, last runtime.MemStats
	runtime.ReadMemStats(&first)
	before, err := cpu()
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, self, pollWord, "http://"+l.Addr().String()+path, token, strconv.Itoa(n))
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("pollers: %w: %s", err, out)
	}
	after, err := cpu()
	runtime.ReadMemStats(&last)
	return float64(n) / (after - before).Seconds(), float64(last.Mallocs-first.Mallocs) / float64(n), err
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
