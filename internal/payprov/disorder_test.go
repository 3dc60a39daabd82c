package payprov_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"waitroom/internal/payprov"
)

// inbox keeps what came, as it came, and answers as a receiver does: 400 to
// what the vendor's verifier refuses.
type inbox struct {
	mu      sync.Mutex
	letters []letter
}

type letter struct {
	id, kind, about, body, signature string
	refused                          error
}

func newInbox(t *testing.T) (*inbox, payprov.Endpoint) {
	b := &inbox{}
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return b, payprov.Endpoint{URL: s.URL, Secret: secret}
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l := letter{body: string(body), signature: r.Header.Get("Stripe-Signature")}
	l.refused = webhook.ValidatePayload(body, l.signature, secret)
	var e struct {
		ID, Type string
		Data     struct{ Object struct{ ID string } }
		Related  struct{ ID string } `json:"related_object"`
	}
	_ = json.Unmarshal(body, &e)
	l.id, l.kind, l.about = e.ID, e.Type, e.Data.Object.ID+e.Related.ID
	b.mu.Lock()
	b.letters = append(b.letters, l)
	b.mu.Unlock()
	if l.refused != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (b *inbox) all() []letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.letters)
}

// odd starts a provider, asks for one oddity of the next payment's notice, and
// tells what came of one payment.
func odd(t *testing.T, script string) (p *payprov.Provider, base, payment string, came []letter) {
	t.Helper()
	b, endpoint := newInbox(t)
	p, base = start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}, Backoff: time.Millisecond})
	if got := post(t, base+"/_admin/notices", "", pairsOf(t, script)...); got.status != 200 {
		t.Fatalf("%s: %d %s", script, got.status, got.body)
	}
	payment = paid(t, base, "1000")
	settled(t, p)
	return p, base, payment, b.all()
}

func pairsOf(t testing.TB, form string) (pairs []string) {
	values, err := url.ParseQuery(form)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range values {
		pairs = append(pairs, name, v[0])
	}
	return pairs
}

func TestANoticeComesTwiceUnderOneIDOrTwo(t *testing.T) {
	for o, ids := range map[string]int{"doubled": 1, "twin": 2} {
		_, _, payment, came := odd(t, "type=payment_intent.*&odd="+o)
		if len(came) != 2 {
			t.Fatalf("%s: %d came, want 2", o, len(came))
		}
		a, b := came[0], came[1]
		if a.about != payment || b.about != payment || a.refused != nil || b.refused != nil || a.kind != b.kind {
			t.Errorf("%s: %+v and %+v", o, a, b)
		}
		if distinct := len(map[string]bool{a.id: true, b.id: true}); distinct != ids {
			t.Errorf("%s: %d ids, want %d", o, distinct, ids)
		}
		if strings.Replace(a.body, a.id, "", 1) != strings.Replace(b.body, b.id, "", 1) {
			t.Errorf("%s: they differ in more than the id:\n%s\n%s", o, a.body, b.body)
		}
	}
}

// What is signed wrongly is refused, and then comes rightly.
func TestANoticeIsSignedWronglyAndThenRightly(t *testing.T) {
	for o, want := range map[payprov.Oddity]error{payprov.Forged: webhook.ErrNoValidSignature, payprov.Stale: webhook.ErrTooOld} {
		p, _, _, came := odd(t, "odd="+string(o))
		if len(came) != 2 || !errors.Is(came[0].refused, want) || came[1].refused != nil || came[0].body != came[1].body {
			t.Errorf("%s: %+v, want it refused with %v and then accepted", o, came, want)
		}
		told := p.Told()
		if len(told) != 2 || told[0].Odd != o || told[0].Status != 400 || told[0].Try != 1 || told[1].Odd != "" || told[1].Status != 200 || told[1].Try != 2 {
			t.Errorf("%s: logged as %+v", o, told)
		}
	}
}

// A receiver that believes a stranger is told again by the provider, and shows
// in the log.
func TestABelievedForgeryShows(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{{URL: s.URL, Secret: secret}}, Backoff: time.Millisecond})
	if err := p.PlayNotices(payprov.NoticeScript{Odd: payprov.Forged}, payprov.NoticeScript{Odd: payprov.Stale}); err != nil {
		t.Fatal(err)
	}
	paid(t, base, "100")
	settled(t, p)
	var tries []payprov.Oddity
	for _, told := range p.Told() {
		tries = append(tries, told.Odd)
	}
	if want := []payprov.Oddity{payprov.Forged, payprov.Stale, ""}; !slices.Equal(tries, want) {
		t.Errorf("tries %q, want %q", tries, want)
	}
}

func TestAThinNoticeNamesAndDoesNotCarry(t *testing.T) {
	_, base, payment, came := odd(t, "odd=thin")
	if len(came) != 2 {
		t.Fatalf("%d came, want 2", len(came))
	}
	thin := came[slices.IndexFunc(came, func(l letter) bool { return strings.HasPrefix(l.kind, "v1.") })]
	told, err := vendor(base).ParseEventNotification([]byte(thin.body), thin.signature, secret)
	if err != nil {
		t.Fatalf("the vendor's parser refuses: %v in %s", err, thin.body)
	}
	n, known := told.(*stripe.UnknownEventNotification)
	if !known || n.Type != "v1.payment_intent.succeeded" || n.RelatedObject.ID != payment || n.RelatedObject.Type != "payment_intent" || n.Created.IsZero() {
		t.Errorf("told %s", thin.body)
	}
	if got := get(t, base+n.RelatedObject.URL); got.ID != payment || got.Status != "succeeded" {
		t.Errorf("what it names: %d %s", got.status, got.body)
	}
}

func TestAForeignPaymentIsAtTheProviderAndNotAmongOurs(t *testing.T) {
	p, base, payment, came := odd(t, "odd=foreign")
	l := p.Ledger()
	if len(came) != 2 || len(l.Payments) != 1 || len(l.Foreign) != 1 {
		t.Fatalf("%d came, %d payments, %d foreign, want 2, 1, 1", len(came), len(l.Payments), len(l.Foreign))
	}
	foreign := came[slices.IndexFunc(came, func(l letter) bool { return l.about != payment })]
	if foreign.about != l.Foreign[0].ID || foreign.refused != nil || l.Foreign[0].Metadata["order"] != "" {
		t.Errorf("told %+v, the ledger has %+v", foreign, l.Foreign)
	}
	if got := get(t, base+"/v1/payment_intents/"+foreign.about); got.Status != "succeeded" {
		t.Errorf("looked up: %d %s", got.status, got.body)
	}
}

// What notices carry fills the vendor's types.
func TestNoticesCarryTheVendorsObjects(t *testing.T) {
	b, endpoint := newInbox(t)
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}})
	id := paid(t, base, "1000")
	re := post(t, base+"/v1/refunds", "", "payment_intent", id, "amount", "300")
	if err := p.Settle(re.ID, "failed", "lost_or_stolen_card"); err != nil {
		t.Fatal(err)
	}
	settled(t, p)
	seen := map[stripe.EventType]bool{}
	for _, l := range b.all() {
		e, err := webhook.ConstructEvent([]byte(l.body), l.signature, secret)
		if err != nil || e.Request == nil {
			t.Fatalf("%s: %v, %+v", l.kind, err, e.Request)
		}
		seen[e.Type] = true
		var object struct {
			in stripe.PaymentIntent
			ch stripe.Charge
			re stripe.Refund
		}
		right := false
		switch e.Type {
		case "payment_intent.succeeded":
			err = json.Unmarshal(e.Data.Raw, &object.in)
			right = object.in.ID == id && object.in.AmountReceived == 1000 && object.in.LatestCharge != nil
		case "charge.refunded":
			err = json.Unmarshal(e.Data.Raw, &object.ch)
			right = object.ch.PaymentIntent.ID == id && object.ch.AmountCaptured == 1000 && object.ch.AmountRefunded == 300 && !object.ch.Refunded && object.ch.Paid
		case "refund.created":
			err = json.Unmarshal(e.Data.Raw, &object.re)
			right = object.re.ID == re.ID && object.re.Amount == 300 && object.re.Status == "succeeded" && object.re.FailureReason == ""
		case "refund.updated", "refund.failed":
			err = json.Unmarshal(e.Data.Raw, &object.re)
			right = object.re.Status == "failed" && object.re.FailureReason == "lost_or_stolen_card" &&
				(e.Type == "refund.failed" || e.GetPreviousValue("status") == "succeeded")
		}
		if err != nil || !right {
			t.Errorf("%s (%v): %s", e.Type, err, l.body)
		}
	}
	if len(seen) != 5 {
		t.Errorf("told %v, want five kinds", seen)
	}
}

// A notice that is behind comes after the next, however long it would wait.
func TestANoticeComesBehindTheNext(t *testing.T) {
	b, endpoint := newInbox(t)
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}})
	if err := p.PlayNotices(payprov.NoticeScript{Odd: payprov.Behind, Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	first, second := paid(t, base, "100"), paid(t, base, "100")
	settled(t, p)
	came := b.all()
	if len(came) != 2 || came[0].about != second || came[1].about != first {
		t.Errorf("came %+v, want %s and then %s", came, second, first)
	}
}

func TestANoticeIsLateByWhatWasAsked(t *testing.T) {
	const delay = 50 * time.Millisecond
	p, _, _, _ := odd(t, "delay=50ms")
	if late := p.Told()[0].At - p.Requests()[0].At; late < delay {
		t.Errorf("late by %v, want at least %v", late, delay)
	}
}

// Each script is met by the notices that it names, so often as it says.
func TestANoticeScriptIsMetByWhatItNames(t *testing.T) {
	b, endpoint := newInbox(t)
	p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}})
	if err := p.PlayNotices(payprov.NoticeScript{Type: "refund.*", Times: 2, Odd: payprov.Twin}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		post(t, base+"/v1/refunds", "", "payment_intent", paid(t, base, "100"))
	}
	settled(t, p)
	kinds := map[string]int{}
	for _, l := range b.all() {
		kinds[l.kind]++
	}
	if kinds["payment_intent.succeeded"] != 3 || kinds["refund.created"] != 5 || kinds["charge.refunded"] != 3 {
		t.Errorf("came %v, want 3 payments, 5 refunds, 3 charges", kinds)
	}
	for _, form := range []string{"odd=lost", "type=[", "times=-1", "delay=-1s", "share=1"} {
		if got := post(t, base+"/_admin/notices", "", pairsOf(t, form)...); got.status != 400 {
			t.Errorf("%s: %d, want 400", form, got.status)
		}
	}
}

// By shares every oddity comes, the same ones with the same seed, and every
// notice arrives rightly signed.
func TestSharesOfNoticesTravelOddly(t *testing.T) {
	const payments, share = 150, 0.2
	sale := func(seed uint64) (arrived int, seen map[payprov.Oddity]int) {
		b, endpoint := newInbox(t)
		p, base := start(t, payprov.Config{
			Webhooks: []payprov.Endpoint{endpoint}, Backoff: time.Millisecond,
			Disorder: payprov.Disorder{
				Doubled: share, Twin: share, Behind: share, Forged: share, Stale: share, Thin: share, Foreign: share,
				MaxDelay: 20 * time.Millisecond, Seed: seed,
			},
		})
		for range payments {
			paid(t, base, "100")
		}
		settled(t, p)
		distinct := map[string]bool{}
		for _, l := range b.all() {
			if l.refused == nil {
				distinct[l.about] = true
			}
		}
		seen = map[payprov.Oddity]int{}
		for _, told := range p.Told() {
			seen[told.Odd]++
		}
		return len(distinct) - len(p.Ledger().Foreign), seen
	}
	arrived, seen := sale(1)
	_, again := sale(1)
	if arrived != payments {
		t.Errorf("%d of %d payments are told", arrived, payments)
	}
	for _, o := range []payprov.Oddity{payprov.Doubled, payprov.Twin, payprov.Forged, payprov.Stale, payprov.Thin, payprov.Foreign} {
		if n := seen[o]; n < payments/10 || n > payments*3/10 || n != again[o] {
			t.Errorf("%s: %d of %d, with the same seed %d; want about %.0f, twice", o, n, payments, again[o], share*payments)
		}
	}
}
