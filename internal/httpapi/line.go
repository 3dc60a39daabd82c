package httpapi

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

// joinRequest names its holder by a possession secret. That is also the join's
// idempotency key: the same secret gets the same live place.
// ticket, if shown, is the place it is of: even when the line has lost it.
type joinRequest struct {
	event, secret, ticket string
	asked                 joinAsked
	seen                  seen
}

const (
	secretLeast = 22 // characters of base64url: 128 bits and more
	secretMost  = 128
)

func (a *API) readJoin(c *fiber.Ctx) (joinRequest, error) {
	r := joinRequest{
		event: c.Params("event"), secret: bearer(c), ticket: c.Get("Waitroom-Ticket"), seen: a.Identity.Suspicion.look(c),
	}
	if r.secret != "" && (len(r.secret) < secretLeast || len(r.secret) > secretMost) {
		return r, problem("bad_request", "the secret is 22 to 128 characters of base64url, of 128 random bits at least")
	}
	for _, b := range []byte(r.secret) {
		if b != '-' && b != '_' && (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') {
			return r, problem("bad_request", "the secret is base64url")
		}
	}
	if err := a.admit(c); err != nil {
		return r, err
	}
	return r, r.asked.read(c)
}

// admit counts a join against its network's. Of an event that there is not it counts
// none: nobody joined anything.
func (a *API) admit(c *fiber.Ctx) error {
	if _, there := a.Lines.Line(c.Params("event")); !there {
		return nil
	}
	return a.Joins.admit(c)
}

type placeBody struct {
	Event    string         `json:"event"`
	Epoch    int64          `json:"epoch"`
	Number   *int64         `json:"number"` // null: still to be drawn
	Index    int64          `json:"index"`
	State    admission.View `json:"state"`
	JoinedAt time.Time      `json:"joined_at"`
}

type joinedBody struct {
	Place  placeBody `json:"place"`
	Ticket string    `json:"ticket"`
	Secret string    `json:"secret,omitempty"`
	// Of a place in the lobby: signed proof of its index.
	Receipt string `json:"receipt,omitempty"`
}

// drawnNumber is null while it is still to be drawn.
func drawnNumber(n int64) *int64 {
	if n == admission.Undrawn {
		return nil
	}
	return &n
}

func (a *API) join(ctx context.Context, r joinRequest) (reply, error) {
	out, err := a.joined(ctx, r)
	return out, a.Identity.refused("join", err)
}

func (a *API) joined(ctx context.Context, r joinRequest) (reply, error) {
	line, ok := a.Lines.Line(r.event)
	if !ok {
		return reply{}, problem("no_such_event", "")
	}
	sale := line.Sale()
	holder, made, err := a.whose(ctx, sale, r)
	if err != nil {
		return reply{}, err
	}
	if sale.Open {
		return a.holds(line, sale, holder, made)
	}
	proven, err := a.challenged(ctx, line, holder, r)
	if err != nil {
		return reply{}, a.lineRefused("join", err)
	}
	var conditions []admission.Condition
	if sale.Codes {
		conditions = append(conditions, a.coded(line, holder, r.asked.Code))
	}
	had, _, err := line.Ticket(r.ticket)
	if err != nil {
		had = admission.Ticket{} // another's, or of another line: it says nothing
	}
	joined, err := line.Join(ctx, holder, had, conditions...)
	if err != nil {
		return reply{}, a.lineRefused("join", err)
	}
	p := joined.Place
	if proven || had.Proven && had.Index == p.Index {
		joined.Ticket = line.Proven(joined.Ticket)
	}
	out := reply{status: fiber.StatusOK, body: joinedBody{
		Place: placeBody{
			p.Event, p.Epoch, drawnNumber(p.Number), p.Index, p.View(line.Standing().Front, time.Now()), p.JoinedAt.UTC(),
		},
		Ticket: joined.Ticket, Secret: made, Receipt: joined.Receipt,
	}}
	if joined.New {
		out.status = fiber.StatusCreated
	}
	return out, nil
}

// lineRefused turns what the line says into its problem. What the line is not
// certain of is never a refusal: ask again.
func (a *API) lineRefused(what string, err error) error {
	var refused *Problem
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, admission.ErrUsedUp):
		return problem("code_used_up", "")
	case errors.Is(err, admission.ErrOver):
		return problem("sale_closed", "")
	case errors.Is(err, admission.ErrEarly):
		return problem("lobby_not_open", "").after(10 * time.Second)
	case errors.Is(err, admission.ErrFull):
		return problem("line_full", "").after(30 * time.Second)
	case errors.Is(err, admission.ErrEpoch):
		return problem("epoch_changed", "")
	case errors.Is(err, admission.ErrBusy):
		return problem("busy", "")
	}
	return a.unavailable(what, err)
}

// ticketRequest is what a place's holder asks with.
type ticketRequest struct {
	line    *admission.Line
	ticket  admission.Ticket
	differs bool // from the text that was shown: the holder gets it anew
}

// anew is the ticket that carries the number, for who still has the one of the
// lobby, or says that its holder is a person; else empty.
func (r ticketRequest) anew() string {
	if !r.differs {
		return ""
	}
	return r.line.Reissue(r.ticket)
}

func (a *API) readTicket(c *fiber.Ctx) (r ticketRequest, err error) {
	return a.ticketHolder(c.Params("event"), bearer(c))
}

func (a *API) ticketHolder(event, token string) (r ticketRequest, err error) {
	line, ok := a.Lines.Line(event)
	if !ok {
		return r, problem("no_such_event", "")
	}
	if token == "" {
		return r, problem("token_missing", "")
	}
	if line.Sale().Open {
		return r, problem("no_line", "Its ticket opens a claim at once: POST its orders.")
	}
	t, drawn, err := line.Ticket(token)
	if err != nil {
		return r, ticketRefused(err)
	}
	return ticketRequest{line, t, drawn}, nil
}

type spanBody struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

type meBody struct {
	Number    *int64              `json:"number"` // null: still to be drawn
	Index     *int64              `json:"index,omitempty"`
	Ticket    string              `json:"ticket,omitempty"` // in place of the one that was shown
	State     admission.View      `json:"state"`
	Ahead     int64               `json:"ahead"`
	Eta       *spanBody           `json:"eta_s"` // null: nobody can say
	Verdict   admission.Verdict   `json:"verdict"`
	Exceeds   bool                `json:"queue_exceeds_tickets"`
	Late      bool                `json:"late"` // called, and past the call window
	Seats     countsBody          `json:"seats"`
	Poll      float64             `json:"poll_s"`
	SaleState admission.SaleState `json:"sale_state"`
	Reason    admission.Reason    `json:"reason"`
	Version   int64               `json:"version"` // the document's; of two answers the higher is the later
}

func (a *API) me(ctx context.Context, r ticketRequest) (reply, error) {
	p, err := r.line.Me(ctx, r.ticket)
	if err != nil {
		return reply{}, a.lineRefused("place", err)
	}
	body := meOf(p, &meParts{})
	body.Ticket = r.anew()
	return reply{body: body}, nil
}

// meParts is where a body's optional values stand.
type meParts struct {
	number, index int64
	eta           spanBody
}

func meOf(p admission.Position, parts *meParts) meBody {
	b := meBody{
		State: p.View, Ahead: p.Ahead, Verdict: p.Verdict, Exceeds: p.Exceeds, Late: p.Late,
		Seats: countsOf(p.Stock), Poll: tenth(p.Poll), SaleState: p.State, Reason: p.Reason, Version: p.Version,
	}
	if parts.number = p.Number; p.Number != admission.Undrawn {
		b.Number = &parts.number
	}
	if parts.index = p.Index; p.View == admission.ViewLobby {
		b.Index = &parts.index
	}
	if p.Known {
		parts.eta = spanBody{tenth(p.P50), tenth(p.P90)}
		b.Eta = &parts.eta
	}
	return b
}

// tenth is a duration in seconds, to the tenth.
func tenth(d time.Duration) float64 { return math.Round(d.Seconds()*10) / 10 }

type leftBody struct {
	Number *int64         `json:"number"`
	State  admission.View `json:"state"`
}

func (a *API) leave(ctx context.Context, r ticketRequest) (reply, error) {
	view, err := r.line.Leave(ctx, r.ticket)
	if err != nil {
		return reply{}, a.lineRefused("leave", err)
	}
	return reply{body: leftBody{drawnNumber(r.ticket.Number), view}}, nil
}

type passBody struct {
	Pass      string    `json:"pass"`
	ExpiresAt time.Time `json:"expires_at"`
	Quota     int       `json:"quota"`
	Take      int64     `json:"take"`
	Number    int64     `json:"number"`
}

type notYetBody struct {
	State      admission.View      `json:"state"`
	SaleState  admission.SaleState `json:"sale_state"`
	Reason     admission.Reason    `json:"reason"`
	Ahead      int64               `json:"ahead"`
	Late       bool                `json:"late"`
	RetryAfter float64             `json:"retry_after_s"`
	Ticket     string              `json:"ticket,omitempty"` // in place of the one that was shown
}

// doorRequest is somebody at the door. Who is suspected there may bring the
// answer to a challenge.
type doorRequest struct {
	ticketRequest
	seen      seen
	challenge string
}

func (a *API) readDoor(c *fiber.Ctx) (r doorRequest, err error) {
	if r.ticketRequest, err = a.readTicket(c); err != nil {
		return r, err
	}
	r.seen = a.Identity.Suspicion.look(c)
	if len(c.BodyRaw()) == 0 {
		return r, nil
	}
	var body struct {
		Challenge string `json:"challenge"`
	}
	err = jsonBody(c, &body)
	r.challenge = body.Challenge
	return r, err
}

func (a *API) pass(ctx context.Context, r doorRequest) (reply, error) {
	answer, err := r.line.Pass(ctx, r.ticket, a.person(&r)...)
	if err != nil {
		return reply{}, a.Identity.refused("pass", a.lineRefused("pass", err))
	}
	switch answer.View {
	case admission.ViewPassed:
		p := answer.Admitted
		return reply{status: fiber.StatusOK, body: passBody{answer.Pass, p.ExpiresAt.UTC(), p.Quota, p.Take, answer.Number}}, nil
	case admission.ViewOver:
		return reply{}, problem("place_over", "Join again to wait once more, at the end of the line.")
	case admission.ViewLeft:
		return reply{}, problem("place_left", "Join again to wait once more, at the end of the line.")
	}
	again := answer.RetryAfter
	return reply{
		status: fiber.StatusAccepted,
		body:   notYetBody{answer.View, answer.State, answer.Reason, answer.Ahead, answer.Late, math.Round(again.Seconds()*1000) / 1000, r.anew()},
		header: [][2]string{{"Retry-After", strconv.Itoa(int(math.Ceil(again.Seconds())))}},
	}, nil
}

// passRequest is what somebody who was let in asks with.
type passRequest struct {
	line   *admission.Line
	pass   admission.Pass
	wanted int64
}

func (a *API) readPass(c *fiber.Ctx) (r passRequest, err error) {
	line, ok := a.Lines.Line(c.Params("event"))
	if !ok {
		return r, problem("no_such_event", "")
	}
	token := bearer(c)
	if token == "" {
		return r, problem("token_missing", "")
	}
	p, err := line.Admitted(token)
	if err != nil {
		return r, passRefused(err)
	}
	return passRequest{line: line, pass: p}, nil
}

// alive is answered from memory: a sign of life costs no store anything.
func (a *API) alive(_ context.Context, r passRequest) (reply, error) {
	r.line.Alive(r.pass)
	return reply{}, nil
}

// readLeaving may say what was looked for and not found: who wanted and got
// nothing is not somebody who did not want.
func (a *API) readLeaving(c *fiber.Ctx) (passRequest, error) {
	r, err := a.readPass(c)
	if err != nil || len(c.BodyRaw()) == 0 {
		return r, err
	}
	var body struct {
		Wanted int64 `json:"wanted"`
	}
	if err := jsonBody(c, &body); err != nil {
		return r, err
	}
	if body.Wanted < 0 || body.Wanted > 1000 {
		return r, problem("bad_request", "wanted: a whole number from 0 to 1000")
	}
	r.wanted = body.Wanted
	return r, nil
}

func (a *API) gone(ctx context.Context, r passRequest) (reply, error) {
	if r.wanted > 0 {
		r.line.FoundNothing(r.pass, r.wanted)
	}
	if err := r.line.Gone(ctx, r.pass); err != nil {
		return reply{}, a.lineRefused("give back", err)
	}
	return reply{}, nil
}
