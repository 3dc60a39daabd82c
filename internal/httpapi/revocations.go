package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/ticket"
)

// revocationsMost are on one page of the feed.
const revocationsMost = 500

type revocationsRequest struct {
	asked
	after int64
	match string
}

func (a *API) readRevocations(c *fiber.Ctx) (r revocationsRequest, err error) {
	if r.asked, err = a.asks(organiser.ScansRead)(c); err != nil {
		return r, err
	}
	r.match = c.Get("If-None-Match")
	r.after, err = strconv.ParseInt(c.Query("after", "0"), 10, 64)
	if err != nil || r.after < 0 {
		return r, problem("bad_request", "after: `next` of the page before; 0 is the beginning")
	}
	return r, nil
}

type revocationBody struct {
	No     int64     `json:"no"`
	Ticket string    `json:"ticket"`
	Seat   string    `json:"seat"`
	At     time.Time `json:"at"`
}

// revocations is a page of the event's feed. A page that was whole never changes; the
// last one does by growing, and its tag says how far it goes.
func (a *API) revocations(ctx context.Context, r revocationsRequest) (reply, error) {
	list, err := ticket.Revocations(ctx, a.Doors, r.event, r.after, revocationsMost+1)
	if err != nil {
		return reply{}, a.unavailable("revocations", err)
	}
	body := struct {
		Revocations []revocationBody `json:"revocations"`
		Next        int64            `json:"next"` // after= of the next page
		More        bool             `json:"more"` // there are more already
	}{Revocations: []revocationBody{}, Next: r.after, More: len(list) > revocationsMost}
	for _, v := range list[:min(len(list), revocationsMost)] {
		body.Revocations = append(body.Revocations, revocationBody{v.No, v.Ticket, v.Seat, v.At.UTC()})
		body.Next = v.No
	}
	tag := `"` + r.event + "." + asText(r.after) + "-" + asText(body.Next) + `"`
	if body.More {
		tag = tag[:len(tag)-1] + `+"`
	}
	out := reply{body: body, header: [][2]string{{"ETag", tag}}}
	if r.match != "" && etagMatches([]byte(r.match), tag) {
		out.status, out.body = fiber.StatusNotModified, nil
	}
	return out, nil
}

type conflictsRequest struct {
	asked
	before int64
	most   int
}

func (a *API) readConflicts(c *fiber.Ctx) (r conflictsRequest, err error) {
	if r.asked, err = a.asks(organiser.ScansRead)(c); err != nil {
		return r, err
	}
	if r.before, err = readBefore(c); err != nil {
		return r, err
	}
	r.most, err = readMost(c)
	return r, err
}

// conflicts are the scans by which somebody is in whom the house would not have let
// in, the latest first: by two doors without a network, or by a code that was void.
func (a *API) conflicts(ctx context.Context, r conflictsRequest) (reply, error) {
	list, err := ticket.Conflicts(ctx, a.Doors, r.event, r.before, r.most)
	if err != nil {
		return reply{}, a.unavailable("conflicts", err)
	}
	body := struct {
		Conflicts []*scannedBody `json:"conflicts"`
		Next      *int64         `json:"next"` // before= of the next page; null: there is none
	}{Conflicts: []*scannedBody{}}
	for _, r := range list {
		body.Conflicts = append(body.Conflicts, scannedOf(r))
	}
	if len(list) == r.most {
		body.Next = &list[len(list)-1].No
	}
	return reply{body: body}, nil
}
