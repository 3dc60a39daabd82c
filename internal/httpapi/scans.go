package httpapi

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/ticket"
)

// gates are the routes of who stands at an event's door, and of who sent them there.
func (a *API) gates(app *fiber.App) {
	event := app.Group("/v1/events/:event")
	event.Post("/scans", serveRead(deskDeadline, a.readScan, a.scan))
	event.Post("/scans/uploads", serveRead(uploadDeadline, a.readUpload, a.upload))
	event.Get("/scans/conflicts", serveRead(deskDeadline, a.readConflicts, a.conflicts))
	event.Get("/revocations", serveRead(deskDeadline, a.readRevocations, a.revocations))
}

// scanBody is what a scanner tells of a code that was shown to it.
type scanBody struct {
	Code      string     `json:"code"`
	Gate      string     `json:"gate"`
	Device    string     `json:"device"`
	ScannedAt *time.Time `json:"scanned_at"`
	LetIn     bool       `json:"let_in"`
}

// Nothing that is shown at a door is longer: a QR code holds 4,296 letters.
const (
	codeMost = 5000
	nameMost = 100
)

// scan checks what a scanner says of itself. What was shown to it may be anything,
// bytes that are no text as well: it is kept nowhere.
func (b scanBody) scan(id, by string) (ticket.Scan, error) {
	for _, name := range []string{b.Gate, b.Device} {
		if name == "" || len(name) > nameMost || !isText(name) {
			return ticket.Scan{}, problem("bad_request", "gate and device: 1 to 100 bytes of text each")
		}
	}
	if b.Code == "" || len(b.Code) > codeMost {
		return ticket.Scan{}, problem("bad_request", "code: what was read, 1 to 5000 bytes")
	}
	s := ticket.Scan{ID: id, Device: b.Device, Code: b.Code, Gate: b.Gate, ScannedAt: utc(b.ScannedAt), LetIn: b.LetIn, By: by}
	if s.ScannedAt != nil && (s.ScannedAt.Year() < 2000 || s.ScannedAt.Year() > 2200) {
		return ticket.Scan{}, problem("bad_request", "scanned_at: no clock was ever so wrong")
	}
	return s, nil
}

type scanRequest struct {
	asked
	scan ticket.Scan
}

func (a *API) readScan(c *fiber.Ctx) (r scanRequest, err error) {
	if r.asked, err = a.asks(organiser.ScansWrite)(c); err != nil {
		return r, err
	}
	id, err := idempotencyKey(c)
	if err != nil {
		return r, err
	}
	if err := jsonKind(c); err != nil {
		return r, err
	}
	var b scanBody
	if err := strictly(c.BodyRaw(), &b); err != nil {
		return r, err
	}
	r.scan, err = b.scan(id, r.key.Name)
	return r, err
}

// scannedBody is a scan as it was recorded: the same bytes whenever it is told again.
type scannedBody struct {
	ID         string         `json:"id"`
	Outcome    ticket.Outcome `json:"outcome"`
	Flaw       *string        `json:"flaw"`   // why it is not valid
	Ticket     *string        `json:"ticket"` // null: it is none of ours
	Seat       *scannedSeat   `json:"seat"`
	Gate       string         `json:"gate"`
	Device     string         `json:"device"`
	ScannedAt  time.Time      `json:"scanned_at"`
	RecordedAt time.Time      `json:"recorded_at"`
	LetIn      bool           `json:"let_in"`
	First      *sightBody     `json:"first"` // when and where its ticket came in before
	RevokedAt  *time.Time     `json:"revoked_at"`
}

type scannedSeat struct {
	GUID    string `json:"guid"`
	Section string `json:"section"`
	Row     string `json:"row"`
	Number  string `json:"number"`
	Tier    string `json:"tier"`
}

type sightBody struct {
	ID         string    `json:"id"`
	Gate       string    `json:"gate"`
	Device     string    `json:"device"`
	ScannedAt  time.Time `json:"scanned_at"`
	RecordedAt time.Time `json:"recorded_at"`
}

func scannedOf(r ticket.Recorded) *scannedBody {
	b := &scannedBody{
		ID: r.ID, Outcome: r.Outcome, Flaw: known(string(r.Flaw)), Ticket: known(r.Ticket), Gate: r.Gate, Device: r.Device,
		ScannedAt: r.ScannedAt.UTC(), RecordedAt: r.RecordedAt.UTC(), LetIn: r.LetIn, RevokedAt: utc(r.RevokedAt),
	}
	if s := r.Seat; s != nil {
		b.Seat = &scannedSeat{s.GUID, s.Section, s.Row, s.Number, s.Tier}
	}
	if f := r.First; f != nil {
		b.First = &sightBody{f.ID, f.Gate, f.Device, f.ScannedAt.UTC(), f.RecordedAt.UTC()}
	}
	return b
}

func (a *API) scan(ctx context.Context, r scanRequest) (reply, error) {
	scanned, err := a.record(ctx, r.asked, r.scan)
	return reply{body: map[string]any{"scan": scanned}}, err
}

// record tells the door what to do. What could not be recorded is not known: the
// same again is safe, and answered as the first was.
func (a *API) record(ctx context.Context, by asked, s ticket.Scan) (*scannedBody, error) {
	if a.Tokens.Codes == nil {
		return nil, problem("unavailable", "This installation has no keys of seat codes yet (SEAT_CODE_KEYS).")
	}
	r, out, err := ticket.Record(ctx, a.Doors, a.Tokens.Codes, by.event, s)
	switch {
	case err != nil:
		return nil, a.unavailable("record a scan", err)
	case out == ticket.IDReused:
		return nil, problem("key_reused", "This device used that name for another scan.")
	}
	if r.Conflict() {
		a.Log.Warn("somebody was let in who should not have been", "event", by.event, "outcome", out, "ticket", r.Ticket, "gate", r.Gate, "device", r.Device)
	}
	return scannedOf(r), nil
}
