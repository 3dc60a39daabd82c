package payprov

import "time"

// apiVersion is the shape that notices are told in.
const apiVersion = "2026-03-25.dahlia"

// wireEvent is the provider's envelope.
type wireEvent struct {
	ID              string  `json:"id"`
	Object          string  `json:"object"`
	APIVersion      string  `json:"api_version"`
	Created         int64   `json:"created"`
	Data            data    `json:"data"`
	Livemode        bool    `json:"livemode"`
	PendingWebhooks int     `json:"pending_webhooks"`
	Request         request `json:"request"`
	Type            string  `json:"type"`
}

type data struct {
	Object   subject        `json:"object"`
	Previous map[string]any `json:"previous_attributes,omitempty"`
}

type request struct {
	ID  *string `json:"id"`
	Key *string `json:"idempotency_key"`
}

// thinEvent names what changed and does not carry it.
type thinEvent struct {
	ID       string  `json:"id"`
	Object   string  `json:"object"`
	Type     string  `json:"type"`
	Created  string  `json:"created"`
	Livemode bool    `json:"livemode"`
	Context  *string `json:"context"`
	Related  related `json:"related_object"`
}

type related struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// subject is an object that notices tell of.
type subject interface{ related() related }

func (w *wireIntent) related() related { return related{w.ID, w.Object, "/v1/payment_intents/" + w.ID} }
func (w *wireRefund) related() related { return related{w.ID, w.Object, "/v1/refunds/" + w.ID} }
func (w *wireCharge) related() related { return related{w.ID, w.Object, "/v1/charges/" + w.ID} }

// tell queues one notice for every endpoint, as the object is now. Callers
// hold the lock; telling waits for no endpoint.
func (p *Provider) tell(kind string, object subject, previous map[string]any) {
	endpoints := p.notices.listeners()
	for _, to := range endpoints {
		p.notices.push(p.copies(to, wireEvent{
			ID: newID("evt_"), Object: "event", APIVersion: apiVersion, Created: p.clock.now().Unix(),
			Data: data{object, previous}, PendingWebhooks: len(endpoints), Type: kind,
		}))
	}
}

// copies are all that one endpoint is told of one notice.
func (p *Provider) copies(to Endpoint, event wireEvent) []*delivery {
	j := p.fate.next(event.Type)
	list := []*delivery{p.delivery(to, event, j.delay)}
	list[0].behind = j.odd[Behind]
	for _, o := range []Oddity{Forged, Stale} {
		if j.odd[o] {
			list[0].wrong = append(list[0].wrong, o)
		}
	}
	also := func(o Oddity, d *delivery) {
		d.odd = o
		list = append(list, d)
	}
	if j.odd[Doubled] {
		also(Doubled, p.delivery(to, event, j.delay))
	}
	if j.odd[Twin] {
		twin := event
		twin.ID = newID("evt_")
		also(Twin, p.delivery(to, twin, j.delay))
	}
	if j.odd[Thin] {
		also(Thin, p.thin(to, event, j.delay))
	}
	if j.odd[Foreign] {
		also(Foreign, p.foreign(to, event))
	}
	return list
}

func (p *Provider) delivery(to Endpoint, event wireEvent, delay time.Duration) *delivery {
	return &delivery{
		to: to, id: event.ID, kind: event.Type, about: event.Data.Object.related().ID, body: mustJSON(event),
		due: time.Now().Add(delay + p.fate.late()),
	}
}

func (p *Provider) thin(to Endpoint, event wireEvent, delay time.Duration) *delivery {
	d := p.delivery(to, event, delay)
	thin := thinEvent{
		ID: newID("evt_"), Object: "v2.core.event", Type: "v1." + event.Type,
		Created: p.clock.now().UTC().Format(time.RFC3339Nano), Related: event.Data.Object.related(),
	}
	d.id, d.kind, d.body = thin.ID, thin.Type, mustJSON(thin)
	return d
}

// foreign tells of a payment that another application took on this account.
// It is at the provider like any other, and none of ours.
func (p *Provider) foreign(to Endpoint, event wireEvent) *delivery {
	in := &intent{
		header: p.book.header("pi_", map[string]string{"application": "another"}), foreign: true,
		status: succeeded, amount: 999, captured: 999, currency: "eur", charge: newID("ch_"), chargedAt: p.clock.now(),
	}
	p.book.enter(in)
	event.ID, event.Type, event.Data = newID("evt_"), "payment_intent.succeeded", data{Object: in.wire()}
	return p.delivery(to, event, 0)
}
