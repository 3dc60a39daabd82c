package webhooks

import (
	"net/http"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// What arrives is verified by the reference library, by the key as its organiser
// got it; while a new key comes in, by either of them; by no other, nor when a byte
// is changed. A secret stands nowhere in it.
func TestReceiversVerifyByEitherKeyWithTheReferenceLibrary(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, `old_secret = decode(repeat('a5', 24), 'hex'), old_secret_until = now() + interval '1 hour'`)
	d.endpoint("over", r.URL+"/over", `old_secret = decode(repeat('a5', 24), 'hex'), old_secret_until = now() - interval '1 second'`)
	d.tell(1)
	d.work(d.courier("c"))
	d.until(2, "delivered")
	now, old, other := []byte(strings.Repeat("\x5a", 32)), []byte(strings.Repeat("\xa5", 24)), []byte(strings.Repeat("\x00", 32))
	verify := func(key []byte, body string, h http.Header) error {
		wh, err := standardwebhooks.NewWebhook(Secret(key))
		if err != nil {
			t.Fatal(err)
		}
		return wh.Verify([]byte(body), h)
	}
	both := 0
	for _, g := range r.gots() {
		body := string(g.body)
		if err := verify(now, body, g.header); err != nil {
			t.Errorf("by its key: %v", err)
		}
		if verify(old, body, g.header) == nil {
			both++
		}
		if verify(other, body, g.header) == nil || verify(now, body+" ", g.header) == nil {
			t.Error("verified by another key, or with another body")
		}
		want := `{"data":{"order":1,"subject":"order-1","version":1},"id":"` + g.header.Get("webhook-id") + `","timestamp":"`
		if !strings.HasPrefix(body, want) || !strings.HasSuffix(body, `","type":"order.paid"}`) {
			t.Errorf("sent %s", body)
		}
		if g.header.Get("Content-Type") != "application/json" {
			t.Errorf("sent as %q", g.header.Get("Content-Type"))
		}
	}
	if both != 1 {
		t.Errorf("%d verified by the old key, want the one while it is valid", both)
	}
}

// A replay is sent under the same id.
func TestAReplayKeepsItsID(t *testing.T) {
	d := openDepot(t)
	r := d.receiver(says200)
	d.endpoint("shop", r.URL, "")
	d.tell(1)
	d.work(d.courier("c"))
	d.until(1, "delivered")
	d.exec(`UPDATE deliveries SET status = 'waiting', go = go + 1, attempts = 0, due_at = now(), ended_at = NULL`)
	d.within(d.patience(), "sent again", func() bool { return len(r.gots()) == 2 })
	d.until(1, "delivered")
	g := r.gots()
	if g[0].header.Get("webhook-id") != g[1].header.Get("webhook-id") || string(g[0].body) != string(g[1].body) {
		t.Errorf("%s and %s", g[0].body, g[1].body)
	}
}

// What a notice says of itself cannot be hidden by what its body says.
func TestAPayloadSaysWhatItIsAbout(t *testing.T) {
	body, err := Payload(Message{ID: 7, Kind: "order.paid", Event: "hall", Subject: "o", Version: 3, Body: []byte(`{"version": 1, "amount": 12345678901234567890, "event": "x"}`)})
	want := `{"data":{"amount":12345678901234567890,"event":"hall","subject":"o","version":3},"id":"ntc_7","timestamp":"0001-01-01T00:00:00Z","type":"order.paid"}`
	if err != nil || string(body) != want {
		t.Errorf("%s (%v), want %s", body, err, want)
	}
	if body, err := Payload(Message{ID: 7, Body: []byte(`null`)}); err != nil {
		t.Errorf("of no body: %s, %v", body, err)
	}
}
