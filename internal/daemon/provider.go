package daemon

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/orders"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
)

// providerName stands on the rows of payments and provider notices.
const providerName = "stripe"

// provider opens payments in the provider's words: orders.Provider.
type provider struct {
	client    *stripe.Client
	install   string
	returnURL string // {order} and {event} stand for their ids
	log       *slog.Logger
}

func (p provider) OpenPayment(ctx context.Context, n orders.NewPayment) (orders.AtProvider, error) {
	answer, err := p.client.Create(ctx, stripe.Payment{
		Tags:        p.tags(n),
		AmountMinor: n.AmountMinor, Currency: n.Currency,
		ReturnURL: backTo(p.returnURL, n.Event, n.Order),
	})
	switch {
	case throttled(err):
		return orders.AtProvider{Throttled: true}, nil
	case errors.Is(err, stripe.ErrCurrency) || errors.Is(err, stripe.ErrInexact): // it never will
		p.log.Error("payment cannot be asked for", "order", n.Order, "payment", n.Payment, "error", err)
		return orders.AtProvider{Refused: true}, nil
	case errors.Is(err, stripe.ErrKept):
		p.log.Warn("payment has no answer", "order", n.Order, "payment", n.Payment, "error", err)
		return orders.AtProvider{Kept: true}, nil
	case err != nil:
		return orders.AtProvider{}, err
	}
	if no := answer.Refused; no != nil {
		if no.UnderWay() {
			return orders.AtProvider{UnderWay: true}, nil
		}
		if no.Later() || no.Ours() {
			return orders.AtProvider{}, said(no)
		}
		p.log.Warn("payment refused", "order", n.Order, "payment", n.Payment, "error", said(no))
		return orders.AtProvider{Refused: true}, nil
	}
	if answer.Intent.CheckoutURL == "" {
		return orders.AtProvider{}, errors.New("the provider names no page to pay on; PROVIDER_METHOD has to be a method that has one")
	}
	return orders.AtProvider{ProviderPayment: answer.Intent.ID, CheckoutURL: answer.Intent.CheckoutURL}, nil
}

func (p provider) tags(n orders.NewPayment) stripe.Tags {
	return stripe.Tags{Install: p.install, Event: n.Event, Order: n.Order.String(), Payment: n.Payment.String()}
}

// throttled says that nothing was sent, for want of our share of the calls.
func throttled(err error) bool {
	return errors.Is(err, stripe.ErrQuota) && errors.Is(err, stripe.ErrNotSent)
}

// backTo fills a return address in.
func backTo(address, event string, order uuid.UUID) string {
	return strings.NewReplacer("{order}", order.String(), "{event}", event).Replace(address)
}

// readNotice turns a verified body into what orders understands. What can be
// named but not read is kept for a person; what has no name is refused.
func readNotice(body []byte) (orders.ProviderNotice, error) {
	n, err := stripe.ParseNotice(body)
	if n.ID == "" {
		return orders.ProviderNotice{}, err
	}
	// Postgres keeps no NUL. A name with one is no name; elsewhere it says nothing.
	if strings.Contains(n.ID, "\x00") {
		return orders.ProviderNotice{}, errors.New("the notice's id has a NUL in it")
	}
	for _, text := range []*string{&n.Kind, &n.ObjectID, &n.ProviderPayment, &n.Currency} {
		*text = strings.ReplaceAll(*text, "\x00", "")
	}
	told := orders.ProviderNotice{
		ID: n.ID, Kind: n.Kind, Object: n.ObjectID, Body: body, Says: saysOf(n.Effect),
		Capture: orders.Capture{
			Provider: providerName, ProviderPayment: n.ProviderPayment, Install: n.Install,
			Order: parseID(n.Order), Payment: parseID(n.Payment),
			AmountMinor: n.ReceivedMinor, Currency: n.Currency,
		},
	}
	if told.Says == orders.SaysRefunded {
		told.Refund = toldOf(n)
	}
	if err != nil || told.Says != orders.SaysNothing && (!isCurrency(n.Currency) || len(n.ObjectID) > 255) {
		told.Says = orders.SaysUnreadable
	}
	// A currency that we do not know has no other unit than the told one.
	if told.ProviderAmount, err = stripe.ToProvider(n.ReceivedMinor, n.Currency); err != nil {
		told.ProviderAmount = n.ReceivedMinor
	}
	return told, nil
}

func saysOf(e stripe.Effect) orders.Says {
	switch e {
	case stripe.PaymentSucceeded:
		return orders.SaysCaptured
	case stripe.PaymentFailed:
		return orders.SaysFailed
	case stripe.PaymentCancelled:
		return orders.SaysCancelled
	case stripe.ChargeRefunded, stripe.RefundChanged:
		return orders.SaysRefunded
	}
	return orders.SaysNothing
}

// toldOf is what a notice tells of one refund, or of all refunds of a payment.
func toldOf(n stripe.Notice) refunds.Told {
	t := refunds.Told{Provider: providerName, ProviderPayment: n.ProviderPayment, Currency: n.Currency, SaidAt: n.Created}
	if n.Effect == stripe.ChargeRefunded {
		t.SumMinor = n.RefundedMinor
		return t
	}
	t.ProviderRefund, t.Operation = n.ObjectID, strings.ReplaceAll(n.Operation, "\x00", "")
	t.Status, t.AmountMinor = strings.ReplaceAll(n.Status, "\x00", ""), n.AmountMinor
	return t
}

// parseID is Nil for what is no id of ours: no order has it.
func parseID(s string) uuid.UUID {
	id, err := uuid.Parse(s)
	if err != nil {
		return uuid.Nil
	}
	return id
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// signedBy makes the check of a notice's signature: "" when it is good, else a
// word for what is wrong with it.
func signedBy(v *stripe.Verifier) func(body []byte, signature string, now time.Time) string {
	return func(body []byte, signature string, now time.Time) string {
		switch v.Verify(body, signature, now) {
		case nil:
			return ""
		case stripe.NoSignature:
			return "no_signature"
		case stripe.Malformed:
			return "malformed"
		case stripe.TooOld:
			return "too_old"
		case stripe.TooNew:
			return "too_new"
		}
		return "mismatch"
	}
}
