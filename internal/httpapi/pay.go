package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/orders"
)

// Pay is what the listener of payments needs from the rest of the process.
type Pay struct {
	// Holder tells whose ticket or pass a token is. An error refuses it.
	Holder func(token string, now time.Time) (event, holder string, err error)
	// Open opens a payment; see orders.Payments.
	Open func(ctx context.Context, order uuid.UUID, holder, attempt string) (orders.Opening, orders.Payment, error)
	// Verify is "" when the provider signed the body, else a word for why not.
	Verify func(body []byte, signature string, now time.Time) string
	// Receive makes a notice's effect durable; see orders.Inbox.
	Receive func(ctx context.Context, body []byte) (orders.Outcome, error)
	// Back is where a browser that cannot pay is sent: the order's page.
	Back func(event string, order uuid.UUID) string

	Log *slog.Logger
	// CallLimit bounds a call to the provider; an opening gets it and a margin.
	CallLimit time.Duration
}

const (
	// maxNotice bounds the provider's notices, which are a few KiB long.
	maxNotice = 256 << 10
	// noticeLimit is less than the provider waits before it sends again.
	noticeLimit = 8 * time.Second
	// openMargin is for the two transactions beside the provider's call.
	openMargin = 4 * time.Second
)

// NewPay serves payments and the provider's notices. No handler sheds load:
// what waits is bounded by its deadline, and money is never turned away for
// claims' sake.
func NewPay(ctx context.Context, p Pay) *fiber.App {
	limit := p.CallLimit + openMargin
	app := newApp(p.Log, Limits{Body: maxNotice, Conns: 10_000, Write: limit + time.Second, BaseCtx: context.WithoutCancel(ctx)})
	app.Post("/v1/orders/:order/payments", serve(limit, p.open))
	app.Post("/v1/provider/notices", serve(noticeLimit, p.receive))
	if pages, err := newPages(&API{Log: p.Log}); err == nil { // what refusals mean; they are answered without, too
		app.Get("/assets/:hash/:name", pages.asset)
		pages.docs(app)
	}
	return app
}

type openRequest struct {
	order      uuid.UUID
	token, key string
	form       bool // a browser's, to be sent on to the provider's page
}

func (r *openRequest) decode(c *fiber.Ctx) (err error) {
	if r.order, err = uuid.Parse(c.Params("order")); err != nil {
		return problem("no_such_order", "")
	}
	r.form = strings.HasPrefix(c.Get("Content-Type"), fiber.MIMEApplicationForm)
	if r.form {
		args := c.Request().PostArgs()
		r.token = string(args.Peek("ticket"))
		c.Request().Header.SetBytesV("Idempotency-Key", args.Peek("key"))
	} else {
		r.token = bearer(c)
	}
	if r.token == "" {
		return problem("token_missing", "")
	}
	r.key, err = idempotencyKey(c)
	return err
}

type paymentBody struct {
	Payment struct {
		ID          uuid.UUID `json:"id"`
		Status      string    `json:"status"`
		CheckoutURL string    `json:"checkout_url"`
		AmountMinor int64     `json:"amount_minor"`
		Currency    string    `json:"currency"`
	} `json:"payment"`
	PayBy time.Time `json:"pay_by"`
}

func (p Pay) open(ctx context.Context, r openRequest) (reply, error) {
	event, holder, err := p.Holder(r.token, time.Now())
	if err != nil {
		return reply{}, problem("ticket_invalid", err.Error())
	}
	out, err := p.opening(ctx, r, holder)
	var refused *Problem
	if r.form && errors.As(err, &refused) {
		return p.back(event, r.order, refused)
	}
	return out, err
}

// back sends a browser to the order's page, which says why in words: a person
// is not to read a problem document.
func (p Pay) back(event string, order uuid.UUID, why *Problem) (reply, error) {
	to, err := url.Parse(p.Back(event, order))
	if err != nil {
		return reply{}, why
	}
	q := to.Query()
	q.Set("pay", why.Code)
	to.RawQuery = q.Encode()
	return reply{status: fiber.StatusSeeOther, header: [][2]string{{"Location", to.String()}}}, nil
}

func (p Pay) opening(ctx context.Context, r openRequest, holder string) (reply, error) {
	opening, payment, err := p.Open(ctx, r.order, holder, r.key)
	switch {
	case errors.Is(err, orders.ErrProvider):
		return reply{}, problem("payment_unknown", "").after(2 * time.Second)
	case err != nil: // logged where it was seen
		return reply{}, problem("unavailable", "").after(2 * time.Second)
	}
	switch opening {
	case orders.Opened:
		return opened(r, payment), nil
	case orders.NoSuchOrder:
		return reply{}, problem("no_such_order", "")
	case orders.OrderPaid:
		return reply{}, problem("order_paid", "")
	case orders.OrderEnded:
		return reply{}, problem("order_ended", "")
	case orders.TooManyOpen:
		return reply{}, problem("too_many_payments", "Finish one of them, or wait a moment: what failed or was given up makes room by itself.")
	case orders.Throttled:
		return reply{}, problem("payments_throttled", "").after(2 * time.Second)
	case orders.Busy:
		return reply{}, problem("busy", "").after(2 * time.Second)
	}
	return reply{}, problem("provider_unavailable", "This attempt comes to nothing. Begin another, under another Idempotency-Key.")
}

func opened(r openRequest, p orders.Payment) reply {
	if r.form {
		return reply{status: fiber.StatusSeeOther, header: [][2]string{{"Location", p.CheckoutURL}}}
	}
	body := paymentBody{PayBy: p.PayBy.UTC()}
	body.Payment.ID, body.Payment.Status, body.Payment.CheckoutURL = p.ID, "open", p.CheckoutURL
	body.Payment.AmountMinor, body.Payment.Currency = p.AmountMinor, p.Currency
	return reply{status: fiber.StatusCreated, body: body}
}

type noticeRequest struct {
	body      []byte
	signature string
}

// decode takes the bytes as they came: they are what was signed. A body that
// would have to be unfolded is refused as it lies.
func (r *noticeRequest) decode(c *fiber.Ctx) error {
	if c.Get(fiber.HeaderContentEncoding) != "" {
		return problem("encoding_refused", "")
	}
	r.body, r.signature = c.BodyRaw(), c.Get("Stripe-Signature")
	return nil
}

type noticeBody struct {
	Outcome orders.Outcome `json:"outcome"`
}

// receive answers 2xx only after the effect is durable. What we do not know,
// or is none of ours, is not the provider's fault and is 2xx as well.
func (p Pay) receive(ctx context.Context, r noticeRequest) (reply, error) {
	if why := p.Verify(r.body, r.signature, time.Now()); why != "" {
		return reply{}, problem("bad_signature", "").with("reason", why)
	}
	outcome, err := p.Receive(ctx, r.body)
	switch {
	case errors.Is(err, orders.ErrUnreadable):
		return reply{}, problem("bad_request", err.Error())
	case err != nil: // nothing happened that the next try would not find
		p.Log.Error("provider notice", "error", err)
		return reply{}, problem("unavailable", "").after(2 * time.Second)
	}
	return reply{body: noticeBody{outcome}}, nil
}
