package webhooks

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Message is a notice as organisers get it.
type Message struct {
	ID      int64
	Kind    string
	Event   string // empty: of no event
	Subject string // what Version counts
	Version int64
	At      time.Time
	Body    json.RawMessage // a JSON object, or null
}

// MessageID is the webhook-id: the same at every attempt, at every endpoint and in
// every replay, so that a receiver can tell what it has had.
func MessageID(notice int64) string { return "ntc_" + strconv.FormatInt(notice, 10) }

// Payload is the body that is sent, the same bytes each time:
// {"data":{…},"id":"ntc_7","timestamp":"…","type":"order.paid"}. What it is about,
// and which version of that, stands in data beside what the notice says.
func Payload(m Message) ([]byte, error) {
	data := map[string]any{}
	if len(m.Body) > 0 {
		var says map[string]json.RawMessage // keeps numbers as they are written
		if err := json.Unmarshal(m.Body, &says); err != nil {
			return nil, fmt.Errorf("body of notice %d: %w", m.ID, err)
		}
		for k, v := range says {
			data[k] = v
		}
	}
	data["subject"], data["version"] = m.Subject, m.Version
	if m.Event != "" {
		data["event"] = m.Event
	}
	return json.Marshal(map[string]any{
		"type": m.Kind, "timestamp": m.At.UTC().Format(time.RFC3339Nano), "id": MessageID(m.ID), "data": data,
	})
}
