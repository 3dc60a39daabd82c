package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/organiser"
	"waitroom/internal/support"
)

type itemsRequest struct{ support.Which }

func (a *API) readItems(c *fiber.Ctx) (r itemsRequest, err error) {
	by, err := a.asks(organiser.RefundsRead)(c)
	if err != nil {
		return r, err
	}
	r.Organiser = by.key.Organiser
	switch c.Query("state", "open") {
	case "open":
	case "resolved":
		r.Resolved = true
	default:
		return r, problem("bad_request", "state: open or resolved")
	}
	if text := c.Query("before"); text != "" {
		if r.Before, err = strconv.ParseInt(text, 10, 64); err != nil || r.Before < 1 {
			return r, problem("bad_request", "before: the id of an item")
		}
	}
	r.Most, err = readMost(c)
	return r, err
}

type itemBody struct {
	ID          int64        `json:"id"`
	Kind        string       `json:"kind"`
	Subject     string       `json:"subject"`
	Event       *string      `json:"event"`
	Order       *uuid.UUID   `json:"order"`
	Payment     *uuid.UUID   `json:"payment"`
	Detail      string       `json:"detail"`
	Owner       *string      `json:"owner"` // null: nobody took it
	OpenedAt    time.Time    `json:"opened_at"`
	ResolvedAt  *time.Time   `json:"resolved_at"`
	Operation   *string      `json:"operation"`
	Status      *string      `json:"status"` // the operation's
	AmountMinor int64        `json:"amount_minor"`
	Currency    string       `json:"currency"`
	ByHandMinor int64        `json:"by_hand_minor"` // of the payment, for a line that nobody knows
	Can         []support.Do `json:"can"`
	History     []pastBody   `json:"history,omitempty"`
}

type pastBody struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Did  string    `json:"did"`
	Note string    `json:"note"`
}

func itemOf(i support.Item) itemBody {
	return itemBody{
		ID: i.ID, Kind: i.Kind, Subject: i.Subject, Event: known(i.Event), Order: i.Order, Payment: i.Payment, Detail: i.Detail,
		Owner: known(i.Owner), OpenedAt: i.OpenedAt.UTC(), ResolvedAt: utc(i.ResolvedAt), Operation: known(i.Operation),
		Status: known(string(i.Status)), AmountMinor: i.AmountMinor, Currency: i.Currency, ByHandMinor: i.ByHandMinor, Can: i.Can(),
	}
}

func (a *API) items(ctx context.Context, r itemsRequest) (reply, error) {
	all, err := support.Items(ctx, a.Desk.Pool, r.Which)
	if err != nil {
		return reply{}, a.unavailable("human list", err)
	}
	body := struct {
		Items []itemBody `json:"items"`
		Next  *int64     `json:"next"` // before= of the next page; null: there is none
	}{Items: []itemBody{}}
	for _, i := range all {
		body.Items = append(body.Items, itemOf(i))
	}
	if len(all) == r.Most {
		body.Next = &all[len(all)-1].ID
	}
	return reply{body: body}, nil
}

type itemRequest struct {
	asked
	id int64
}

func (a *API) readItem(c *fiber.Ctx) (itemRequest, error) {
	return a.readItemFor(c, organiser.RefundsRead)
}

func (a *API) readItemFor(c *fiber.Ctx, scope organiser.Scope) (r itemRequest, err error) {
	if r.asked, err = a.asks(scope)(c); err != nil {
		return r, err
	}
	if r.id, err = strconv.ParseInt(c.Params("item"), 10, 64); err != nil {
		return r, problem("no_such_item", "")
	}
	return r, nil
}

func (a *API) item(ctx context.Context, r itemRequest) (reply, error) {
	body, err := a.findItem(ctx, r.key.Organiser, r.id)
	return reply{body: body}, err
}

func (a *API) findItem(ctx context.Context, whose string, id int64) (itemBody, error) {
	i, past, found, err := support.FindItem(ctx, a.Desk.Pool, whose, id)
	if err != nil {
		return itemBody{}, a.unavailable("human list", err)
	}
	if !found {
		return itemBody{}, problem("no_such_item", "")
	}
	b := itemOf(i)
	for _, p := range past {
		b.History = append(b.History, pastBody{p.At.UTC(), p.By, p.Did, p.Note})
	}
	return b, nil
}

type deedRequest struct {
	Do     support.Do `json:"do"`
	Why    string     `json:"why"`
	Refund string     `json:"refund"`
}

// readDeed wants an Idempotency-Key of a note, which nothing else would tell from
// the same one sent again. Any other deed is a guarded move of the item's state:
// done again without a key it is refused, with one it is answered as it was.
func (a *API) readDeed(c *fiber.Ctx) (d support.Deed, err error) {
	r, err := a.readItemFor(c, organiser.HumanWrite)
	if err != nil {
		return d, err
	}
	var body deedRequest
	if err := jsonBody(c, &body); err != nil {
		return d, err
	}
	d = support.Deed{Item: r.id, Organiser: r.key.Organiser, By: r.key.Name, Do: body.Do, Why: body.Why, Refund: body.Refund}
	if d.Do == support.Note || c.Get("Idempotency-Key") != "" {
		d.Attempt, err = idempotencyKey(c)
	}
	return d, err
}

func (a *API) deed(ctx context.Context, d support.Deed) (reply, error) {
	if err := a.act(ctx, d); err != nil {
		return reply{}, err
	}
	body, err := a.findItem(ctx, d.Organiser, d.Item)
	return reply{body: body}, err
}

// act does a deed, or says why it was not done.
func (a *API) act(ctx context.Context, d support.Deed) error {
	if !isText(d.Why + d.Refund + string(d.Do)) {
		return errNoText()
	}
	v, err := support.Act(ctx, a.Desk.Pool, d)
	if err != nil {
		return a.unavailable("human list", err)
	}
	a.Log.Info("human list", "item", d.Item, "do", d.Do, "by", d.Organiser+"/"+d.By, "verdict", v)
	switch v {
	case support.Done:
		return nil
	case support.NoSuchItem:
		return problem("no_such_item", "")
	case support.WhyMissing:
		return problem("bad_request", "why: say why; it is kept")
	case support.NameMissing:
		return problem("bad_request", "refund: the provider's name of the refund that was found")
	case support.KeyReused:
		return problem("key_reused", "")
	case support.NoSuchDeed:
		return problem("bad_request", "do: take, note, resolve, push, refunded, not_refunded, renew, renew_all_the_same, reopen, look_again or give_back")
	case support.ByHandToo:
		return problem("by_hand_too", "Look at the provider which line that was for; then say so, or renew it all the same.")
	case support.NameTaken:
		return problem("refund_taken", "")
	case support.NotThis:
		return problem("refund_differs", "It is known, and of another payment, line, amount or currency, or it has not succeeded.")
	}
	return problem("not_now", "What can be done about it is in `can`.")
}
