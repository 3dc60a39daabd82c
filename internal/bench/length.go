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
	longer := func(name string, c *fasthttp.RequestCtx) (Figure, error) {
		ratio, long, short, err := pair(e.Batches, ask(c, 1), ask(c, 0))
		return Figure{name, ratio, long, "ns", short}, err
	}
	statusCost, err := longer("status_cost_1m_vs_1k", status)
	if err != nil {
		return nil, err
	}
	placeCost, err := longer("place_cost_1m_vs_1k", told)
	if err != nil {
		return nil, err
	}
	said, err := allocations(func() error { return answer(handle, status) })
	if err != nil {
		return nil, err
	}
	place, err := allocations(func() error { return answer(handle, told) })
	return []Figure{
		statusCost, placeCost,
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
