package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/ticket"
)

// What a scanner has gathered without a network is told in parts of uploadMost. A
// part that is not done by its deadline is told again.
const (
	uploadMost     = 100
	uploadDeadline = 10 * time.Second
)

// uploadRequest has for each scan what it is, or what is wrong with it.
type uploadRequest struct {
	asked
	scans []uploaded
}

type uploaded struct {
	id      string
	scan    ticket.Scan
	refused error
}

func (a *API) readUpload(c *fiber.Ctx) (r uploadRequest, err error) {
	if r.asked, err = a.asks(organiser.ScansWrite)(c); err != nil {
		return r, err
	}
	var b struct {
		Scans []json.RawMessage `json:"scans"`
	}
	if err := jsonKind(c); err != nil {
		return r, err
	}
	if err := strictly(c.BodyRaw(), &b); err != nil {
		return r, err
	}
	if len(b.Scans) < 1 || len(b.Scans) > uploadMost {
		return r, problem("bad_request", fmt.Sprintf("scans: 1 to %d of them; there are %d", uploadMost, len(b.Scans)))
	}
	for _, text := range b.Scans {
		r.scans = append(r.scans, readUploaded(text, r.key.Name))
	}
	return r, nil
}

// readUploaded reads one scan: one that is malformed keeps no other from being told.
func readUploaded(text json.RawMessage, by string) (u uploaded) {
	var b struct {
		ID string `json:"id"`
		scanBody
	}
	if u.refused = strictly(text, &b); u.refused != nil {
		return u
	}
	u.id = b.ID
	switch {
	case b.ID == "":
		u.refused = problem("key_missing", "id: the scan's name, unlike any other of its device")
	case checkKey(b.ID) != nil:
		u.refused = problem("bad_request", "id is 1 to 200 visible ASCII characters")
	case b.ScannedAt == nil:
		u.refused = problem("bad_request", "scanned_at: when it was, by the device's clock")
	default:
		u.scan, u.refused = b.scan(b.ID, by)
	}
	return u
}

// uploadedBody is what became of one scan: recorded, or why it was not.
type uploadedBody struct {
	ID      *string        `json:"id"` // null: it has none that can be read
	Scan    *scannedBody   `json:"scan"`
	Problem map[string]any `json:"problem"`
}

// upload records what a scanner gathered, one by one: what is refused keeps nothing
// else from being recorded.
func (a *API) upload(ctx context.Context, r uploadRequest) (reply, error) {
	list := []uploadedBody{}
	for _, u := range r.scans {
		b := uploadedBody{ID: known(u.id)}
		if u.refused == nil {
			b.Scan, u.refused = a.record(ctx, r.asked, u.scan)
		}
		var why *Problem
		switch {
		case errors.As(u.refused, &why):
			b.Problem = why.body()
		case u.refused != nil:
			return reply{}, u.refused
		}
		list = append(list, b)
	}
	return reply{body: map[string]any{"scans": list}}, nil
}
