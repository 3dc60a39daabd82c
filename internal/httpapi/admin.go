package httpapi

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

// exportLimit is long: an export reads every place of an event.
const exportLimit = 10 * time.Minute

type placeLine struct {
	Event  string          `json:"event"`
	Epoch  int64           `json:"epoch"`
	Holder string          `json:"holder"`
	Number int64           `json:"number"`
	State  admission.State `json:"state"`
	Take   int64           `json:"take,omitempty"`
	Taken  *time.Time      `json:"taken_at,omitempty"`
	Until  *time.Time      `json:"pass_until,omitempty"`
}

// export writes an event's places as NDJSON, for audits. An export that breaks
// off ends with a line that is no place, so that nobody takes it for whole.
func (a *API) export(c *fiber.Ctx) error {
	if subtle.ConstantTimeCompare([]byte(bearer(c)), []byte(a.AdminToken)) != 1 || a.AdminToken == "" {
		return problem("token_missing", "")
	}
	line, ok := a.Lines.Line(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	base := c.UserContext()
	c.Set("Content-Type", "application/x-ndjson")
	c.Set("Cache-Control", "private, no-store")
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(base, exportLimit)
		defer cancel()
		enc := json.NewEncoder(w)
		if err := line.Export(ctx, func(p admission.Place) error { return enc.Encode(lineOf(p)) }); err != nil {
			a.Log.Error("export", "error", err)
			w.WriteString("broken off\n") //nolint:errcheck // the connection is all there is to tell
		}
	})
	return nil
}

func lineOf(p admission.Place) placeLine {
	l := placeLine{Event: p.Event, Epoch: p.Epoch, Holder: p.Holder, Number: p.Number, State: p.State, Take: p.Take}
	if p.Take > 0 {
		l.Taken, l.Until = &p.TakenAt, &p.PassUntil
	}
	return l
}
