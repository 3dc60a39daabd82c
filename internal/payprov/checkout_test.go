package payprov_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"waitroom/internal/payprov"
)

// browse sends a form as a browser does, and follows nothing.
func browse(t *testing.T, address, returnURL string) said {
	t.Helper()
	form := url.Values{"return_url": {returnURL}}.Encode()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	return do(t, req)
}

func TestABuyerPaysOnThePageAndComesBack(t *testing.T) {
	p, base := start(t, payprov.Config{})
	in := post(t, base+"/v1/payment_intents", "", "amount", "1250", "currency", "eur", "confirm", "true",
		"payment_method_data[type]", "alipay", "return_url", "http://shop.example/o/1?a=b")
	checkout := base + "/checkout/" + in.ID
	if in.Status != "requires_action" || !strings.Contains(in.body, checkout) {
		t.Errorf("created: %s, want an address %s", in.body, checkout)
	}
	page := get(t, checkout)
	for _, want := range []string{"12.50 EUR", `lang="en"`, "<h1>", "/pay\"", "/decline\"", "/cancel\"", "http://shop.example/o/1?a=b"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q:\n%s", want, page.body)
		}
	}
	if strings.Contains(page.body, "<script") {
		t.Error("the page needs a script")
	}
	declined := browse(t, checkout+"/decline", "http://shop.example/o/1?a=b")
	if to := declined.header.Get("Location"); declined.status != 303 || !strings.Contains(to, "redirect_status=failed") {
		t.Errorf("declined: %d to %s", declined.status, to)
	}
	for range 2 { // a double click
		back := browse(t, checkout+"/pay", "http://shop.example/o/1?a=b")
		want := "http://shop.example/o/1?a=b&payment_intent=" + in.ID + "&redirect_status=succeeded"
		if back.status != 303 || back.header.Get("Location") != want {
			t.Errorf("paid: %d to %s, want %s", back.status, back.header.Get("Location"), want)
		}
	}
	if l := p.Ledger().Payments[0]; l.Captured != 1250 {
		t.Errorf("captured %d, want 1250", l.Captured)
	}
	if page := browse(t, checkout+"/pay", "javascript:alert(1)"); strings.Contains(page.header.Get("Location")+page.body, "javascript") {
		t.Errorf("a script's address is followed: %d %s", page.status, page.header.Get("Location"))
	}
}

// A program can say which part arrives, and with which of the test cards.
func TestAPartIsPaid(t *testing.T) {
	p, base := start(t, payprov.Config{})
	in := post(t, base+"/v1/payment_intents", "", "amount", "1000", "currency", "eur")
	wantRefused(t, "nothing", post(t, base+"/checkout/"+in.ID+"/pay", "", "amount", "0"), 400, "invalid_request_error", "amount_too_small")
	if got := post(t, base+"/checkout/"+in.ID+"/pay", "", "amount", "400", "payment_method", "pm_card_pendingRefund"); got.Status != "succeeded" {
		t.Fatalf("pay: %d %s", got.status, got.body)
	}
	wantRefused(t, "more than came", post(t, base+"/v1/refunds", "", "payment_intent", in.ID, "amount", "401"), 400, "invalid_request_error", "")
	if re := post(t, base+"/v1/refunds", "", "payment_intent", in.ID); re.Status != "pending" {
		t.Errorf("refund: %d %s", re.status, re.body)
	}
	if l := p.Ledger().Payments[0]; l.Amount != 1000 || l.Captured != 400 || l.Refunded != 400 {
		t.Errorf("ledger %+v, want 400 of 1000, all of it refunded", l)
	}
}

func TestACancelledPaymentIsNotPaid(t *testing.T) {
	p, base := start(t, payprov.Config{})
	in := post(t, base+"/v1/payment_intents", "", "amount", "100", "currency", "eur")
	if got := post(t, base+"/v1/payment_intents/"+in.ID+"/cancel", "", "cancellation_reason", "abandoned"); got.Status != "canceled" {
		t.Fatalf("cancel: %d %s", got.status, got.body)
	}
	pay := post(t, base+"/checkout/"+in.ID+"/pay", "")
	wantRefused(t, "pay", pay, 400, "invalid_request_error", "payment_intent_unexpected_state")
	if pay.Error.PaymentIntent.Status != "canceled" {
		t.Errorf("the refusal does not say how the payment stands: %s", pay.body)
	}
	if page := browse(t, base+"/checkout/"+in.ID+"/pay", ""); page.status != 400 || !strings.Contains(page.body, "cancelled") {
		t.Errorf("a browser is told %d %s", page.status, page.body)
	}
	wantRefused(t, "nobody's payment", post(t, base+"/checkout/pi_none/pay", ""), 404, "invalid_request_error", "resource_missing")
	if l := p.Ledger().Payments[0]; l.Captured != 0 {
		t.Errorf("captured %d of a cancelled payment", l.Captured)
	}
}
