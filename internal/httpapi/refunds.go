package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/organiser"
	"waitroom/internal/support"
)

// refunding are the routes of those who help customers: refunds, what persons
// approve, and the human list.
func (a *API) refunding(app *fiber.App) {
	app.Post("/v1/orders/:order/refunds", serveRead(deskDeadline, a.readRefund, a.refund))
	app.Get("/v1/orders/:order/refunds", serveRead(deskDeadline, a.readHelped, a.refunds))
	app.Get("/v1/organiser/orders/:order", serveRead(deskDeadline, a.readHelped, a.helped))
	app.Get("/v1/organiser/refunds/forecast", serveRead(deskDeadline, a.asks(organiser.RefundsRead), a.forecast))
	app.Get("/v1/organiser/refunds/approvals", serveRead(deskDeadline, a.readApprovals, a.approvals))
	app.Post("/v1/organiser/refunds/approvals/:approval", serveRead(deskDeadline, a.readDeciding, a.decide))
	app.Get("/v1/organiser/human", serveRead(deskDeadline, a.readItems, a.items))
	app.Get("/v1/organiser/human/:item", serveRead(deskDeadline, a.readItem, a.item))
	app.Post("/v1/organiser/human/:item", serveRead(deskDeadline, a.readDeed, a.deed))
}

type refundRequest struct {
	Line     string `json:"line"`
	Customer string `json:"customer"`
}

// readRefund takes no amount, and needs no Idempotency-Key: what is asked for names
// itself. Only what a person refused is brought up again by a new one, which a late
// copy of the asking does not have.
func (a *API) readRefund(c *fiber.Ctx) (w support.Wanted, err error) {
	r, err := a.asks(organiser.RefundsWrite)(c)
	if err != nil {
		return w, err
	}
	if a.Support.Install == "" {
		return w, problem("unavailable", "This installation takes no refunds on: INSTALL is not set.")
	}
	var body refundRequest
	if err := jsonBody(c, &body); err != nil {
		return w, err
	}
	if body.Line == "" || body.Customer == "" {
		return w, problem("bad_request", "line and customer: which seat of the order, and whose the order is")
	}
	w = support.Wanted{Organiser: r.key.Organiser, Line: body.Line, Customer: body.Customer, By: r.key.Name, MayApprove: r.key.May(organiser.RefundsApprove)}
	if w.Order, err = uuid.Parse(c.Params("order")); err != nil {
		return w, problem("no_such_order", "")
	}
	if c.Get("Idempotency-Key") != "" {
		w.Attempt, err = idempotencyKey(c)
	}
	return w, err
}

type refundBody struct {
	Order       uuid.UUID       `json:"order"`
	Line        *string         `json:"line"` // null: the whole of a payment that was not due
	Answer      support.Word    `json:"answer"`
	Reason      *support.Reason `json:"reason"`
	Detail      string          `json:"detail"`
	AmountMinor int64           `json:"amount_minor"`
	Currency    string          `json:"currency"`
	Approval    *int64          `json:"approval"`
	Operation   *operationBody  `json:"operation"` // null: there is none
}

type operationBody struct {
	ID         string     `json:"id"`
	Status     string     `json:"status"`
	Parent     string     `json:"parent,omitempty"`
	Refund     string     `json:"refund,omitempty"` // the provider's name of it
	AcceptedAt time.Time  `json:"accepted_at"`
	EndedAt    *time.Time `json:"ended_at"`
}

func refundOf(order uuid.UUID, r support.Answer) refundBody {
	b := refundBody{Order: order, Answer: r.Word, Detail: r.Says(), AmountMinor: r.AmountMinor, Currency: r.Currency}
	if r.Line != "" {
		b.Line = &r.Line
	}
	if r.Reason != "" {
		b.Reason = &r.Reason
	}
	if r.Approval != 0 {
		b.Approval = &r.Approval
	}
	if s := r.Standing; s != nil {
		b.Operation = &operationBody{s.ID, string(s.Status), s.Parent, s.Refund, s.AcceptedAt.UTC(), utc(s.EndedAt)}
	}
	return b
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// refund asks for the refund of a line. What may have been done is never told
// as a failure: a fault of ours is "not known", and asking again is one asking.
func (a *API) refund(ctx context.Context, w support.Wanted) (reply, error) {
	r, err := a.Support.Ask(ctx, a.Desk.Pool, w)
	if err != nil {
		a.Log.Error("ask for a refund", "order", w.Order, "line", w.Line, "error", err)
		return reply{}, problem("refund_unknown", support.Answer{Word: support.Unknown}.Says()).after(2 * time.Second)
	}
	a.Log.Info("refund asked for", "order", w.Order, "line", w.Line, "by", w.Organiser+"/"+w.By, "answer", r.Word, "reason", r.Reason)
	if a.Support.Answered != nil {
		a.Support.Answered(r)
	}
	switch r.Word {
	case support.Refused:
		return reply{}, refusalOf(w.Order, r)
	case support.Confirmed:
		return reply{body: refundOf(w.Order, r)}, nil
	}
	return reply{status: fiber.StatusAccepted, body: refundOf(w.Order, r)}, nil
}

// refusalOf gives a refusal its code: its reason's. What an operation came to
// names the operation, too.
func refusalOf(order uuid.UUID, r support.Answer) *Problem {
	code := string(r.Reason)
	if r.Reason == support.ProviderRefused || r.Reason == support.DidNotArrive {
		code = "refund_refused"
	}
	p := problem(code, r.Says()).with("reason", r.Reason)
	if r.RetryAfter > 0 {
		p.after(r.RetryAfter)
	}
	if r.Standing != nil {
		p.with("refund", refundOf(order, r))
	}
	return p
}

// helping is whose order is looked at, by whom.
type helping struct {
	asked
	order    uuid.UUID
	customer string // "": any, for a key that reads all
}

// readHelped lets a key that only asks for refunds see the orders of customers
// whom it can name, and no others.
func (a *API) readHelped(c *fiber.Ctx) (r helping, err error) {
	if r.customer = c.Get("Customer"); !isText(r.customer) {
		return r, errNoText()
	}
	r.asked, err = a.asks(organiser.RefundsRead)(c)
	var lacks *Problem
	if errors.As(err, &lacks) && lacks.Code == "scope_missing" {
		if r.asked, err = a.asks(organiser.RefundsWrite)(c); err == nil && r.customer == "" {
			return r, problem("bad_request", "Customer: this key sees the orders of customers whom it names")
		}
	}
	if err != nil {
		return r, err
	}
	if r.order, err = uuid.Parse(c.Params("order")); err != nil {
		return r, problem("no_such_order", "")
	}
	return r, nil
}

func (a *API) findHelped(ctx context.Context, r helping) (support.Order, error) {
	o, found, err := support.FindOrder(ctx, a.Desk.Pool, r.key.Organiser, r.order, r.customer)
	if err != nil {
		return o, a.unavailable("find order", err)
	}
	if !found {
		return o, problem("no_such_order", "")
	}
	return o, nil
}

func (a *API) refunds(ctx context.Context, r helping) (reply, error) {
	o, err := a.findHelped(ctx, r)
	if err != nil {
		return reply{}, err
	}
	list := []refundBody{}
	for _, one := range o.Refunds {
		list = append(list, refundOf(o.ID, one))
	}
	return reply{body: map[string]any{"order": o.ID, "refunds": list}}, nil
}

type helpedBody struct {
	Order       uuid.UUID        `json:"order"`
	Event       string           `json:"event"`
	Title       string           `json:"title"`
	Status      string           `json:"status"`
	AmountMinor int64            `json:"amount_minor"`
	Currency    string           `json:"currency"`
	PaidAt      *time.Time       `json:"paid_at"`
	GivenBack   int              `json:"seats_given_back"`
	Lines       []helpedLineBody `json:"lines"`
}

type helpedLineBody struct {
	Line        string      `json:"line"`
	Section     string      `json:"section"`
	Row         string      `json:"row"`
	Number      string      `json:"number"`
	AmountMinor int64       `json:"amount_minor"`
	GivenBack   bool        `json:"given_back"`
	Refund      *refundBody `json:"refund"` // null: nobody asked for it
}

func (a *API) helped(ctx context.Context, r helping) (reply, error) {
	o, err := a.findHelped(ctx, r)
	if err != nil {
		return reply{}, err
	}
	b := helpedBody{Order: o.ID, Event: o.Event, Title: o.Title, Status: o.Status, AmountMinor: o.AmountMinor, Currency: o.Currency, PaidAt: utc(o.PaidAt), GivenBack: o.GivenBack}
	for _, l := range o.Lines {
		line := helpedLineBody{Line: l.GUID, Section: l.Section, Row: l.Row, Number: l.Number, AmountMinor: l.AmountMinor, GivenBack: l.GivenBack}
		if l.Refund != nil {
			refund := refundOf(o.ID, *l.Refund)
			line.Refund = &refund
		}
		b.Lines = append(b.Lines, line)
	}
	return reply{body: b}, nil
}
