package httpapi

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/webhooks"
)

type endpointPastRequest struct {
	endpointRequest
	before int64
	most   int
}

func (a *API) readEndpointPast(c *fiber.Ctx) (r endpointPastRequest, err error) {
	if r.endpointRequest, err = a.readEndpoint(c); err != nil {
		return r, err
	}
	if r.before, err = readBefore(c); err != nil {
		return r, err
	}
	r.most, err = readMost(c)
	return r, err
}

// readBefore is the id that a page ends before; 0: none.
func readBefore(c *fiber.Ctx) (int64, error) {
	text := c.Query("before")
	if text == "" {
		return 0, nil
	}
	before, err := strconv.ParseInt(text, 10, 64)
	if err != nil || before < 1 {
		return 0, problem("bad_request", "before: `next` of the page before")
	}
	return before, nil
}

type endpointPastBody struct {
	ID  int64           `json:"id"`
	At  time.Time       `json:"at"`
	By  string          `json:"by"`
	Did string          `json:"did"`
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

func (a *API) endpointPast(ctx context.Context, r endpointPastRequest) (reply, error) {
	all, found, err := webhooks.History(ctx, a.Desk.Pool, r.key.Organiser, r.id, r.before, r.most)
	switch {
	case err != nil:
		return reply{}, a.unavailable("endpoint's history", err)
	case !found:
		return reply{}, problem("no_such_endpoint", "")
	}
	body := struct {
		Changes []endpointPastBody `json:"changes"`
		Next    *int64             `json:"next"` // before= of the next page; null: there is none
	}{Changes: []endpointPastBody{}}
	for _, p := range all {
		body.Changes = append(body.Changes, endpointPastBody{p.ID, p.At.UTC(), p.By, p.Did, p.Old, p.New})
	}
	if len(all) == r.most {
		body.Next = &all[len(all)-1].ID
	}
	return reply{body: body}, nil
}
