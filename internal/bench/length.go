package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/valyala/fasthttp"

	"waitroom/internal/admission"
)

const short1k, long1m = 1_000, 1_000_000

// lengths: what the same answer costs the server with a thousand people in the
// line and with a million. The whole listener but the socket, and the same one:
// two would differ by where they lie in memory.
func lengths(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	var serves only
	handle, err := listener(ctx, &serves)
	if err != nil {
		return nil, err
	}
	var lines [2]*admission.Line
	var tokens [2]string
	for i, people := range []int64{short1k, long1m} {
		if lines[i], err = still(ctx, file(dir, fmt.Sprint("length-", people)), people); err != nil {
			return nil, err
		}
		if tokens[i], err = waiting(people); err != nil {
			return nil, err
		}
	}
	status, told := asking(statusPath, ""), asking(placePath, tokens[0])
	ask := func(c *fasthttp.RequestCtx, i int) func() error {
		return func() error {
			serves.line = lines[i]
			if c == told {
				c.Request.Header.Set("Authorization", "Bearer "+tokens[i])
			}
			return answer(handle, c)
		}
	}
	e.Rounds, e.Each = 4*e.Rounds, e.Each/4 // a difference of a hundredth is sought
	short, long := ask(status, 0), ask(status, 1)
	shortPlace, longPlace := ask(told, 0), ask(told, 1)
	ns, err := e.costs(short, long, shortPlace, longPlace)
	if err != nil {
		return nil, err
	}
	said, err := allocations(func() error { return answer(handle, status) })
	if err != nil {
		return nil, err
	}
	place, err := allocations(func() error { return answer(handle, told) })
	return []Figure{
		times("status_cost_1m_vs_1k", "ns", ns[1], ns[0]), times("place_cost_1m_vs_1k", "ns", ns[3], ns[2]),
		times("status_allocations", "allocations", said, 1), times("place_allocations", "allocations", place, 1),
	}, err
}

func answer(handle fasthttp.RequestHandler, c *fasthttp.RequestCtx) error {
	c.Response.Reset()
	handle(c)
	if c.Response.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("%s: %d %s", c.Path(), c.Response.StatusCode(), c.Response.Body())
	}
	return nil
}
