package httpapi

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/hex"
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
	Index  int64           `json:"index"`
	Number *int64          `json:"number"` // null: still to be drawn
	State  admission.State `json:"state"`
	Take   int64           `json:"take,omitempty"`
	Taken  *time.Time      `json:"taken_at,omitempty"`
	Until  *time.Time      `json:"pass_until,omitempty"`
}

// whole is an export's last line: how many places came before it, and how their
// numbers were drawn.
type whole struct {
	Places int64      `json:"places"`
	Draw   *drawnLine `json:"draw"` // null: nothing was drawn
}

type drawnLine struct {
	Epoch int64  `json:"epoch"`
	Count int64  `json:"count"`
	Seed  string `json:"seed"` // hex
	Value string `json:"value"`
}

func drawnOf(l *admission.Line) *drawnLine {
	end := l.Ends()
	if !end.Drawn {
		return nil
	}
	return &drawnLine{l.Epoch(), end.Lobby, hex.EncodeToString(end.Seed[:]), end.Beacon}
}

// export writes an event's places as NDJSON, for audits. The last line counts
// them: an export that breaks off has none, and nobody takes it for whole.
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
		var n int64
		err := line.Export(ctx, func(p admission.Place) error {
			n++
			return enc.Encode(lineOf(p))
		})
		if err == nil {
			err = enc.Encode(whole{n, drawnOf(line)})
		}
		if err != nil {
			a.Log.Error("export", "error", err)
		}
	})
	return nil
}

func lineOf(p admission.Place) placeLine {
	l := placeLine{Event: p.Event, Epoch: p.Epoch, Holder: p.Holder, Index: p.Index, Number: drawnNumber(p.Number), State: p.State, Take: p.Take}
	if p.Take > 0 {
		l.Taken, l.Until = &p.TakenAt, &p.PassUntil
	}
	return l
}
