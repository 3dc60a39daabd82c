package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/organiser"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

type forecastBody struct {
	Waiting      int      `json:"waiting"`
	Due          int      `json:"due"`
	OldestS      float64  `json:"oldest_s"`
	WindowS      float64  `json:"window_s"`
	ClosuresPerS float64  `json:"closures_per_s"`
	InflowPerS   float64  `json:"inflow_per_s"`
	ClearsInS    *float64 `json:"clears_in_s"` // null: never, at this rate
	PromiseS     float64  `json:"promise_s"`
	Accepting    bool     `json:"accepting"`
}

func (a *API) forecast(ctx context.Context, _ asked) (reply, error) {
	backlog, err := refunds.ReadBacklog(ctx, a.Desk.Pool, a.Support.StartsPerS)
	if err != nil {
		return reply{}, a.unavailable("forecast", err)
	}
	f := backlog.Forecast()
	b := forecastBody{
		Waiting: f.Waiting, Due: f.Due, OldestS: f.Oldest.Seconds(), WindowS: f.Window.Seconds(),
		ClosuresPerS: f.ClosuresPerS, InflowPerS: f.ArrivalsPerS, PromiseS: refunds.Promise.Seconds(), Accepting: !f.Behind,
	}
	if !f.Endless {
		clears := f.Clears.Seconds()
		b.ClearsInS = &clears
	}
	return reply{body: b}, nil
}

type approvalsRequest struct{ support.WhichApprovals }

func (a *API) readApprovals(c *fiber.Ctx) (r approvalsRequest, err error) {
	by, err := a.asks(organiser.RefundsRead)(c)
	if err != nil {
		return r, err
	}
	r.Organiser = by.key.Organiser
	switch c.Query("state", "waiting") {
	case "waiting":
	case "decided":
		r.Decided = true
	default:
		return r, problem("bad_request", "state: waiting or decided")
	}
	if text := c.Query("after"); text != "" {
		if r.After, err = strconv.ParseInt(text, 10, 64); err != nil || r.After < 1 {
			return r, problem("bad_request", "after: the id of an approval")
		}
	}
	r.Most, err = readMost(c)
	return r, err
}

// readMost is how many a list may have.
func readMost(c *fiber.Ctx) (int, error) {
	most, err := strconv.Atoi(c.Query("limit", strconv.Itoa(changesUsual)))
	if err != nil || most < 1 || most > changesMost {
		return 0, problem("bad_request", fmt.Sprintf("limit: a whole number from 1 to %d", changesMost))
	}
	return most, nil
}

type approvalBody struct {
	ID          int64          `json:"id"`
	Event       string         `json:"event"`
	Order       uuid.UUID      `json:"order"`
	Line        string         `json:"line"`
	AmountMinor int64          `json:"amount_minor"`
	Currency    string         `json:"currency"`
	Cause       support.Reason `json:"cause"`
	LimitMinor  int64          `json:"limit_minor"`
	AskedBy     string         `json:"asked_by"`
	AskedAt     time.Time      `json:"asked_at"`
	Decision    *string        `json:"decision"` // null: it waits
	DecidedBy   *string        `json:"decided_by"`
	DecidedAt   *time.Time     `json:"decided_at"`
	Note        string         `json:"note"`
}

func approvalOf(v support.Approval) approvalBody {
	b := approvalBody{
		ID: v.ID, Event: v.Event, Order: v.Order, Line: v.Line, AmountMinor: v.AmountMinor, Currency: v.Currency, Cause: v.Cause,
		LimitMinor: v.LimitMinor, AskedBy: v.AskedBy, AskedAt: v.AskedAt.UTC(), DecidedAt: utc(v.DecidedAt), Note: v.Note,
	}
	if v.Decision != "" {
		b.Decision, b.DecidedBy = &v.Decision, &v.DecidedBy
	}
	return b
}

func (a *API) approvals(ctx context.Context, r approvalsRequest) (reply, error) {
	all, err := support.Approvals(ctx, a.Desk.Pool, r.WhichApprovals)
	if err != nil {
		return reply{}, a.unavailable("approvals", err)
	}
	body := struct {
		Approvals []approvalBody `json:"approvals"`
		Next      *int64         `json:"next"` // after= of the next page; null: there is none
	}{Approvals: []approvalBody{}}
	for _, v := range all {
		body.Approvals = append(body.Approvals, approvalOf(v))
	}
	if len(all) == r.Most {
		body.Next = &all[len(all)-1].ID
	}
	return reply{body: body}, nil
}

type decisionRequest struct {
	Decision string `json:"decision"`
	Note     string `json:"note"`
}

func (a *API) readDeciding(c *fiber.Ctx) (w support.Deciding, err error) {
	r, err := a.asks(organiser.RefundsApprove)(c)
	if err != nil {
		return w, err
	}
	var body decisionRequest
	if err := jsonBody(c, &body); err != nil {
		return w, err
	}
	if body.Decision != "approved" && body.Decision != "refused" {
		return w, problem("bad_request", "decision: approved or refused")
	}
	w = support.Deciding{Organiser: r.key.Organiser, By: r.key.Name, Yes: body.Decision == "approved", Note: body.Note}
	if w.Approval, err = strconv.ParseInt(c.Params("approval"), 10, 64); err != nil {
		return w, problem("no_such_approval", "")
	}
	return w, nil
}

// decide gives a person's word: a yes makes the operation, and says how that
// stands.
func (a *API) decide(ctx context.Context, w support.Deciding) (reply, error) {
	if !isText(w.Note) {
		return reply{}, errNoText()
	}
	is, r, err := a.Support.Decide(ctx, a.Desk.Pool, w)
	if err != nil {
		a.Log.Error("decide approval", "approval", w.Approval, "error", err)
		return reply{}, problem("refund_unknown", "It is not known whether this was written down. Look at the approval.")
	}
	a.Log.Info("refund decided", "approval", w.Approval, "by", w.Organiser+"/"+w.By, "decision", is)
	switch is {
	case support.Approved, support.Declined:
	case support.NoSuchApproval:
		return reply{}, problem("no_such_approval", "")
	case support.WasDecided:
		return reply{}, problem("approval_decided", "")
	case support.OwnRequest:
		return reply{}, problem("own_request", "")
	default:
		return reply{}, problem("approval_changed", "")
	}
	body := struct {
		Approval int64            `json:"approval"`
		Decision support.Decision `json:"decision"`
		Refund   *refundBody      `json:"refund"` // null: nothing is refunded
	}{Approval: w.Approval, Decision: is}
	if r.Standing != nil {
		refund := refundOf(r.Standing.Order, r)
		body.Refund = &refund
	}
	return reply{body: body}, nil
}
