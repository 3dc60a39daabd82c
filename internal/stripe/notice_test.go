package stripe

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func event(kind, object string) string {
	return `{"id":"evt_1","object":"event","created":1800000000,"type":"` + kind + `","new":{"a":[1]},"data":{"object":` + object + `}}`
}

const meta = `"metadata":{"install":"i","event":"e","order":"o","payment":"p","operation":"refund:o:p"}`

func TestNoticesAreReadForWhatTheyDo(t *testing.T) {
	tags := Tags{Install: "i", Event: "e", Order: "o", Payment: "p"}
	at := time.Unix(1_800_000_000, 0).UTC()
	for _, c := range []struct {
		what, body string
		want       Notice
	}{
		{
			"paid", event("payment_intent.succeeded", `{"id":"pi_1","object":"payment_intent","amount":5000,"amount_received":4999,"currency":"eur","status":"succeeded",`+meta+`,"unknown":1}`),
			Notice{Effect: PaymentSucceeded, Object: "payment_intent", ObjectID: "pi_1", ProviderPayment: "pi_1", Status: "succeeded", AmountMinor: 5000, ReceivedMinor: 4999, Currency: "EUR"},
		},
		{
			"paid in króna", event("payment_intent.succeeded", `{"id":"pi_1","object":"payment_intent","amount":500,"amount_received":500,"currency":"isk","status":"succeeded",`+meta+`}`),
			Notice{Effect: PaymentSucceeded, Object: "payment_intent", ObjectID: "pi_1", ProviderPayment: "pi_1", Status: "succeeded", AmountMinor: 5, ReceivedMinor: 5, Currency: "ISK"},
		},
		{
			"failed", event("payment_intent.payment_failed", `{"id":"pi_1","object":"payment_intent","amount":5000,"currency":"eur","status":"requires_payment_method",`+meta+`}`),
			Notice{Effect: PaymentFailed, Object: "payment_intent", ObjectID: "pi_1", ProviderPayment: "pi_1", Status: "requires_payment_method", AmountMinor: 5000, Currency: "EUR"},
		},
		{
			"cancelled", event("payment_intent.canceled", `{"id":"pi_1","object":"payment_intent","amount":5000,"amount_received":0,"currency":"eur","status":"canceled",`+meta+`}`),
			Notice{Effect: PaymentCancelled, Object: "payment_intent", ObjectID: "pi_1", ProviderPayment: "pi_1", Status: "canceled", AmountMinor: 5000, Currency: "EUR"},
		},
		{
			"refunded so far", event("charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":"pi_1","amount":5000,"amount_refunded":700,"currency":"eur","status":"succeeded",`+meta+`}`),
			Notice{Effect: ChargeRefunded, Object: "charge", ObjectID: "ch_1", ProviderPayment: "pi_1", Status: "succeeded", AmountMinor: 5000, RefundedMinor: 700, Currency: "EUR"},
		},
		{
			"one refund", event("refund.updated", `{"id":"re_1","object":"refund","payment_intent":"pi_1","amount":700,"currency":"eur","status":"failed",`+meta+`}`),
			Notice{Effect: RefundChanged, Object: "refund", ObjectID: "re_1", ProviderPayment: "pi_1", Status: "failed", AmountMinor: 700, Currency: "EUR"},
		},
	} {
		got, err := ParseNotice([]byte(c.body))
		c.want.ID, c.want.Kind, c.want.Created, c.want.Tags, c.want.Operation = "evt_1", got.Kind, at, tags, "refund:o:p"
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.what, err, diff)
		}
	}
}

func TestWhatIsNotForUsHasNoEffect(t *testing.T) {
	for what, body := range map[string]string{
		"an unknown kind":                   event("customer.created", `{"id":"cus_1","object":"customer","amount":"text"}`),
		"an unknown kind about a list":      event("x.y", `[1,2]`),
		"an object of another sort":         event("payment_intent.succeeded", `{"id":"cus_1","object":"customer"}`),
		"no object":                         event("payment_intent.succeeded", `null`),
		"a charge that is of no payment":    event("charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":null,"amount":1,"amount_refunded":1,"currency":"eur"}`),
		"a thin notice":                     `{"id":"evt_1","object":"v2.core.event","type":"v1.billing.meter.error","created":"2026-09-17T06:20:52.246Z","related_object":{"id":"m"}}`,
		"a thin notice of a kind of ours":   `{"id":"evt_1","object":"v2.core.event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent","amount":1,"amount_received":1,"currency":"eur"}}}`,
		"a thin notice with data of a sort": `{"id":"evt_1","object":"v2.core.event","type":"x","data":"text"}`,
	} {
		n, err := ParseNotice([]byte(body))
		if err != nil || n.Effect != NoEffect || n.ID != "evt_1" || n.Kind == "" {
			t.Errorf("%s: %+v, %v; want no effect and no error", what, n, err)
		}
	}
	n, err := ParseNotice([]byte(event("payment_intent.succeeded", `{"id":"pi_9","object":"payment_intent","amount":5,"amount_received":5,"currency":"usdc"}`)))
	if err != nil || n.Tags != (Tags{}) || n.Currency != "USDC" || n.ReceivedMinor != 5 {
		t.Errorf("a foreign payment in a currency that is none of ours: %+v, %v", n, err)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	intent := func(fields string) string {
		return event("payment_intent.succeeded", `{"id":"pi_1","object":"payment_intent",`+meta+`,`+fields+`}`)
	}
	for _, c := range []struct{ what, body, field string }{
		{"no JSON", `hello`, ""},
		{"a list", `[]`, ""},
		{"two documents", `{} {}`, ""},
		{"no id", `{"object":"event","type":"x"}`, "id"},
		{"an endless id", `{"id":"` + strings.Repeat("x", 256) + `","type":"x"}`, "id"},
		{"no kind", `{"id":"evt_1","object":"event"}`, "type"},
		{"an id that is a number", `{"id":1}`, "id"},
		{"an amount in text", intent(`"amount":"5000","amount_received":5000,"currency":"eur"`), "data.object.amount"},
		{"an amount with a fraction", intent(`"amount":5000,"amount_received":49.99,"currency":"eur"`), "data.object.amount_received"},
		{"an amount beyond int64", intent(`"amount":5000,"amount_received":9223372036854775808,"currency":"eur"`), "data.object.amount_received"},
		{"no amount received", intent(`"amount":5000,"currency":"eur"`), "data.object.amount_received"},
		{"an amount received of null", intent(`"amount":5000,"amount_received":null,"currency":"eur"`), "data.object.amount_received"},
		{"a negative amount", intent(`"amount":5000,"amount_received":-1,"currency":"eur"`), "data.object.amount_received"},
		{"half a króna", intent(`"amount":50,"amount_received":50,"currency":"isk"`), "data.object.amount"},
		{"no currency", intent(`"amount":5000,"amount_received":5000`), "data.object.currency"},
	} {
		n, err := ParseNotice([]byte(c.body))
		var wrong *FieldError
		if !errors.As(err, &wrong) || wrong.Field != c.field || wrong.Want == "" || n.Effect != NoEffect {
			t.Errorf("%s: %v with effect %d, want %q named and no effect", c.what, err, n.Effect, c.field)
		}
		if strings.HasPrefix(c.field, "data.") && (n.ID != "evt_1" || n.Order != "o" || n.ObjectID != "pi_1") {
			t.Errorf("%s: what could be read is lost: %+v", c.what, n)
		}
	}
	wrong := event("refund.updated", `{"id":"re_1","object":"refund","metadata":{"order":5}}`)
	if _, err := ParseNotice([]byte(wrong)); err == nil || err.Error() != "notice: data.object.metadata: want text, not number" {
		t.Errorf("metadata that is no text: %v", err)
	}
}

// FuzzParseNotice: nothing makes it fall over, and an effect never comes with
// an error, nor without the payment and the amounts that it hangs on.
func FuzzParseNotice(f *testing.F) {
	f.Add([]byte(event("payment_intent.succeeded", `{"id":"pi_1","object":"payment_intent","amount":5000,"amount_received":5000,"currency":"eur",`+meta+`}`)))
	f.Add([]byte(event("charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":"pi_1","amount":1,"amount_refunded":1,"currency":"kwd"}`)))
	f.Add([]byte(`{"id":"evt_1","object":"v2.core.event","type":"x","created":"2026-09-17T06:20:52.246Z"}`))
	f.Add([]byte(`{"id":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := ParseNotice(body)
		var wrong *FieldError
		if err != nil && (!errors.As(err, &wrong) || n.Effect != NoEffect) {
			t.Errorf("%v with effect %d", err, n.Effect)
		}
		if n.Effect != NoEffect && (n.ID == "" || n.ProviderPayment == "" || n.Currency == "" || n.AmountMinor < 0 || n.ReceivedMinor < 0) {
			t.Errorf("an effect without its payment: %+v", n)
		}
	})
}
