package webtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
)

// fan is somebody else in the sale, who uses the API.
type fan struct {
	w                   *world
	event, ticket, pass string
}

// api asks the house, and returns the status.
func (w *world) api(t *testing.T, method, path, bearer string, body, answer any) int {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, w.house.Public+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	req.Header.Set("Idempotency-Key", uuid.NewString())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	if answer != nil && res.StatusCode < 300 {
		if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
			t.Fatalf("%s %s: %d: %v", method, path, res.StatusCode, err)
		}
	}
	return res.StatusCode
}

// joined is a fan with a place in the line.
func (w *world) joined(t *testing.T, event string) *fan {
	t.Helper()
	var answer struct{ Ticket string }
	if status := w.api(t, "POST", "/v1/events/"+event+"/places", "", nil, &answer); status != 201 {
		t.Fatalf("join %s: %d", event, status)
	}
	return &fan{w: w, event: event, ticket: answer.Ticket}
}

// inside is a fan who was let in.
func (w *world) inside(t *testing.T, event string) *fan {
	t.Helper()
	f := w.joined(t, event)
	until(t, "a fan is let in to "+event, func() bool {
		var answer struct{ Pass string }
		w.api(t, "POST", "/v1/events/"+event+"/places/me/pass", f.ticket, nil, &answer)
		f.pass = answer.Pass
		return f.pass != ""
	})
	return f
}

// claim takes seats, and returns the order.
func (f *fan) claim(t *testing.T, seats ...string) string {
	t.Helper()
	var answer struct{ Order struct{ ID string } }
	if status := f.w.api(t, "POST", "/v1/events/"+f.event+"/orders", f.pass, map[string]any{"seats": seats}, &answer); status != 201 {
		t.Fatalf("claim %v: %d", seats, status)
	}
	return answer.Order.ID
}
