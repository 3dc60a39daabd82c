package daemon

import (
	"context"
	"fmt"

	"waitroom/internal/orders"
	"waitroom/internal/stripe"
)

// PaymentStands looks at a payment.
func (p provider) PaymentStands(ctx context.Context, providerPayment string) (orders.Standing, error) {
	a, err := p.client.Retrieve(ctx, providerPayment)
	return p.standing(a, err)
}

// CancelPayment cancels a payment. The provider refuses one that came to
// something before: what, is then looked at.
func (p provider) CancelPayment(ctx context.Context, providerPayment string, nth int) (orders.Standing, error) {
	a, err := p.client.Cancel(ctx, providerPayment, nth)
	if err != nil || a.Refused == nil {
		return p.standing(a, err)
	}
	switch a.Refused.Status {
	case "":
		return p.standing(a, nil)
	case stripe.Cancelled:
		return orders.Standing{Says: orders.SaysCancelled}, nil
	}
	return p.PaymentStands(ctx, providerPayment)
}

// FindPayment searches for a payment by the names that we gave it.
func (p provider) FindPayment(ctx context.Context, n orders.NewPayment) (orders.AtProvider, error) {
	id, err := p.client.Search(ctx, p.tags(n))
	if throttled(err) {
		return orders.AtProvider{Throttled: true}, nil
	}
	return orders.AtProvider{ProviderPayment: id}, err
}

// standing turns an answer into what orders understands.
func (p provider) standing(a stripe.Answer, err error) (orders.Standing, error) {
	switch {
	case throttled(err):
		return orders.Standing{Throttled: true}, nil
	case err != nil:
		return orders.Standing{}, err
	case a.Refused != nil:
		return orders.Standing{}, said(a.Refused)
	}
	is := orders.Standing{AmountMinor: a.Intent.ReceivedMinor, Currency: a.Intent.Currency}
	switch a.Intent.Status {
	case stripe.Cancelled:
		is.Says = orders.SaysCancelled
	case stripe.Succeeded:
		is.Says = orders.SaysCaptured
		is.ProviderAmount, err = stripe.ToProvider(is.AmountMinor, is.Currency)
	}
	return is, err
}

// said is a refusal as a fault.
func said(no *stripe.Refused) error {
	return fmt.Errorf("the provider says %d %s %s: %s", no.HTTP, no.Type, no.Code, no.Message)
}
