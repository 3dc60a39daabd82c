package payprov_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85"

	"waitroom/internal/payprov"
)

// vendor is the provider's own SDK, which knows nothing of us: what it
// understands is the real wire.
func vendor(base string) *stripe.Client {
	cfg := &stripe.BackendConfig{
		URL: stripe.String(base), MaxNetworkRetries: stripe.Int64(0), EnableTelemetry: stripe.Bool(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(cfg)))
}

func TestTheVendorsOwnClientUnderstandsIt(t *testing.T) {
	p, base := start(t, payprov.Config{})
	sdk, ctx := vendor(base), t.Context()

	params := &stripe.PaymentIntentCreateParams{Amount: stripe.Int64(4998), Currency: stripe.String("eur")}
	params.AddMetadata("order", "o-1")
	params.SetIdempotencyKey("pay:1")
	in, err := sdk.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if in.Amount != 4998 || in.Currency != "eur" || in.Metadata["order"] != "o-1" ||
		in.Status != stripe.PaymentIntentStatusRequiresPaymentMethod || in.ClientSecret == "" {
		t.Errorf("created: %+v", in)
	}
	if got := post(t, base+"/checkout/"+in.ID+"/pay", ""); got.Status != "succeeded" {
		t.Fatalf("pay: %d %s", got.status, got.body)
	}
	if in, err = sdk.V1PaymentIntents.Retrieve(ctx, in.ID, nil); err != nil {
		t.Fatal(err)
	}
	if in.Status != stripe.PaymentIntentStatusSucceeded || in.AmountReceived != 4998 || in.LatestCharge == nil {
		t.Errorf("paid: %+v", in)
	}
	re, err := sdk.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(in.ID), Amount: stripe.Int64(998), Reason: stripe.String("requested_by_customer"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if re.Amount != 998 || re.PaymentIntent.ID != in.ID || re.Status != stripe.RefundStatusSucceeded {
		t.Errorf("refund: %+v", re)
	}
	_, err = sdk.V1PaymentIntents.Cancel(ctx, in.ID, nil)
	var no *stripe.Error
	if !errors.As(err, &no) || no.Code != stripe.ErrorCodePaymentIntentUnexpectedState || no.PaymentIntent.Status != "succeeded" {
		t.Errorf("cancel a paid one: %v", err)
	}
	if l := p.Ledger(); len(l.Payments) != 1 || l.Payments[0].Captured != 4998 || l.Payments[0].Refunded != 998 || len(l.Refunds) != 1 {
		t.Errorf("ledger: %+v", l)
	}
}

// Every field that the vendor's types have of a refund and its refusal, and
// that this account can fill, is filled.
func TestTheVendorsTypesAreFilled(t *testing.T) {
	p, base := start(t, payprov.Config{})
	sdk, ctx := vendor(base), t.Context()
	id := paid(t, base, "1000")
	if err := p.Play(payprov.Script{Path: "/v1/refunds", Refund: payprov.Course{Pending: true}}); err != nil {
		t.Fatal(err)
	}
	params := &stripe.RefundCreateParams{PaymentIntent: stripe.String(id), Reason: stripe.String("duplicate")}
	params.AddMetadata("operation", "refund:o:p")
	params.SetIdempotencyKey("refund:o:p")
	re, err := sdk.V1Refunds.Create(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if re.Object != "refund" || re.Amount != 1000 || re.Currency != "eur" || re.Created == 0 || re.Metadata["operation"] != "refund:o:p" ||
		re.PaymentIntent.ID != id || re.Charge == nil || re.BalanceTransaction == nil || re.Reason != stripe.RefundReasonDuplicate ||
		re.Status != stripe.RefundStatusPending || re.PendingReason != stripe.RefundPendingReasonProcessing {
		t.Errorf("pending: %+v", re)
	}
	head := re.LastResponse.Header
	if !strings.HasPrefix(re.LastResponse.RequestID, "req_") || re.LastResponse.IdempotencyKey != "refund:o:p" || head.Get("Stripe-Version") == "" {
		t.Errorf("headers: %v", head)
	}
	again, err := sdk.V1Refunds.Create(ctx, params)
	if err != nil || again.ID != re.ID || again.LastResponse.Header.Get("Idempotent-Replayed") != "true" ||
		again.LastResponse.Header.Get("Original-Request") != re.LastResponse.RequestID {
		t.Errorf("again: %+v, %v, %v", again, again.LastResponse.Header, err)
	}
	if err := p.Settle(re.ID, "failed", "lost_or_stolen_card"); err != nil {
		t.Fatal(err)
	}
	if re, err = sdk.V1Refunds.Retrieve(ctx, re.ID, nil); err != nil {
		t.Fatal(err)
	}
	if re.Status != stripe.RefundStatusFailed || re.FailureReason != stripe.RefundFailureReasonLostOrStolenCard || re.FailureBalanceTransaction == nil || re.PendingReason != "" {
		t.Errorf("failed: %+v", re)
	}
	all := &stripe.RefundCreateParams{PaymentIntent: stripe.String(id)}
	if _, err := sdk.V1Refunds.Create(ctx, all); err != nil {
		t.Fatal(err)
	}
	_, err = sdk.V1Refunds.Create(ctx, all)
	var no *stripe.Error
	if !errors.As(err, &no) || no.Code != stripe.ErrorCodeChargeAlreadyRefunded || no.HTTPStatusCode != 400 || no.RequestID == "" ||
		no.DocURL != "https://stripe.com/docs/error-codes/charge-already-refunded" || no.Type != stripe.ErrorTypeInvalidRequest {
		t.Errorf("of nothing: %v", err)
	}
	params.Amount = stripe.Int64(1)
	if _, err = sdk.V1Refunds.Create(ctx, params); !errors.As(err, &no) || no.Type != stripe.ErrorTypeIdempotency || no.HTTPStatusCode != 400 {
		t.Errorf("other parameters: %v", err)
	}
}

func TestEveryPageOfAListIsReachedOnce(t *testing.T) {
	_, base := start(t, payprov.Config{})
	sdk, ctx := vendor(base), t.Context()
	const n = 25
	for i := range n {
		post(t, base+"/v1/payment_intents", "", "amount", fmt.Sprint(1000+i), "currency", "eur",
			"confirm", "true", "payment_method", "pm_card_visa")
	}
	intents := &stripe.PaymentIntentListParams{}
	intents.Limit = stripe.Int64(7)
	var amounts []int64
	var newest string
	for in, err := range sdk.V1PaymentIntents.List(ctx, intents).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if newest == "" {
			newest = in.ID
		}
		amounts = append(amounts, in.Amount)
	}
	for i, amount := range amounts {
		if want := int64(1000 + n - 1 - i); amount != want {
			t.Fatalf("intent %d of the list has amount %d, want %d", i, amount, want)
		}
	}
	for range n {
		post(t, base+"/v1/refunds", "", "payment_intent", newest, "amount", "1")
	}
	refunds := &stripe.RefundListParams{PaymentIntent: stripe.String(newest)}
	refunds.Limit = stripe.Int64(10)
	seen := map[string]bool{}
	for re, err := range sdk.V1Refunds.List(ctx, refunds).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		seen[re.ID] = true
	}
	if len(amounts) != n || len(seen) != n {
		t.Errorf("listed %d intents and %d refunds, want %d and %d", len(amounts), len(seen), n, n)
	}
}

func TestWhatTheProviderWouldRefuseIsRefused(t *testing.T) {
	_, base := start(t, payprov.Config{})
	intents := base + "/v1/payment_intents"
	for _, c := range []struct {
		what   string
		pairs  []string
		status int
		code   string
	}{
		{"no amount", []string{"currency", "eur"}, 400, "parameter_invalid_integer"},
		{"a fraction", []string{"amount", "10.5", "currency", "eur"}, 400, "parameter_invalid_integer"},
		{"nothing", []string{"amount", "0", "currency", "eur"}, 400, "amount_too_small"},
		{"13 digits", []string{"amount", "1000000000000", "currency", "eur"}, 400, "amount_too_large"},
		{"upper case", []string{"amount", "100", "currency", "EUR"}, 400, ""},
		{"a misspelling", []string{"amount", "100", "currency", "eur", "ammount", "1"}, 400, "parameter_unknown"},
		{"no return address", []string{"amount", "1", "currency", "eur", "confirm", "true", "payment_method_data[type]", "alipay"}, 400, "parameter_missing"},
	} {
		wantRefused(t, c.what, post(t, intents, "", c.pairs...), c.status, "invalid_request_error", c.code)
	}
	wantRefused(t, "unknown intent", get(t, intents+"/pi_none"), 404, "invalid_request_error", "resource_missing")
	wantRefused(t, "unknown path", get(t, base+"/v1/charges"), 404, "invalid_request_error", "")
	wantRefused(t, "declined card", post(t, intents, "", "amount", "100", "currency", "eur", "confirm", "true",
		"payment_method", "pm_card_chargeDeclined"), 402, "card_error", "card_declined")

	for version, want := range map[string]int{"2026-03-25.dahlia": 200, "2022-11-15": 200, "latest": 400} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, intents, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Stripe-Version", version)
		if got := do(t, req); got.status != want || want == 200 && got.header.Get("Stripe-Version") != version {
			t.Errorf("version %s: %d %q, want %d", version, got.status, got.header.Get("Stripe-Version"), want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, intents, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer wrong")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d, want 401", resp.StatusCode)
	}
}

// The vendor's client finds a payment by what we called it, and only that one.
func TestAPaymentIsFoundByItsMetadata(t *testing.T) {
	_, base := start(t, payprov.Config{})
	sdk := vendor(base)
	want := map[string]string{}
	for _, name := range []string{"p-1", "p-2"} {
		params := &stripe.PaymentIntentCreateParams{Amount: stripe.Int64(4998), Currency: stripe.String("eur")}
		params.AddMetadata("payment", name)
		in, err := sdk.V1PaymentIntents.Create(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = in.ID
	}
	for name, id := range map[string]string{"p-1": want["p-1"], "p-3": ""} {
		params := &stripe.PaymentIntentSearchParams{SearchParams: stripe.SearchParams{Query: "metadata['payment']:'" + name + "'"}}
		var found []string
		for in, err := range sdk.V1PaymentIntents.Search(t.Context(), params).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, in.ID)
		}
		if id == "" && len(found) > 0 || id != "" && (len(found) != 1 || found[0] != id) {
			t.Errorf("%s: found %v, want %q", name, found, id)
		}
	}
	if got := get(t, base+"/v1/payment_intents/search?query=amount%3E100"); got.status != 400 {
		t.Errorf("another question: %d, want 400", got.status)
	}
}
