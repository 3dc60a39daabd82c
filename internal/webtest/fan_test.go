package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
)

// fan is somebody else in the sale, who uses the API.
type fan struct {
	w                   *world
	event, ticket, pass string
}

// api asks the house, and returns the status.
func (w *world) api(t *testing.T, method, path, bearer string, body, answer any) int {
	t.Helper()
	return send(t, method, w.house.Public+path, bearer, body, answer)
}

// send is one request. An answer is read when it is good.
func send(t *testing.T, method, address, bearer string, body, answer any) int {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
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
			t.Fatalf("%s %s: %d: %v", method, address, res.StatusCode, err)
		}
	}
	return res.StatusCode
}

// joined is a fan with a place in the line.
func (w *world) joined(t *testing.T, event string) *fan {
	t.Helper()
	var answer struct{ Ticket string }
	until(t, "a fan has joined "+event, func() bool { // a busy machine may say 503
		return w.api(t, "POST", "/v1/events/"+event+"/places", "", nil, &answer) == 201
	})
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

func (f *fan) cancel(t *testing.T, order string) {
	t.Helper()
	if status := f.w.api(t, "POST", "/v1/orders/"+order+"/cancel", f.ticket, nil, nil); status != 200 {
		t.Fatalf("cancel: %d", status)
	}
}

// free is how many seats are free, as everybody is told.
func (w *world) free(t *testing.T, event string) int64 {
	t.Helper()
	var doc struct{ Seats struct{ Free int64 } }
	w.api(t, "GET", "/v1/public/events/"+event+"/status", "", nil, &doc)
	return doc.Seats.Free
}

// paid pays an order at the provider.
func (w *world) paid(t *testing.T, f *fan, order string) {
	t.Helper()
	var answer struct {
		Payment struct {
			URL string `json:"checkout_url"`
		}
	}
	if status := send(t, "POST", w.house.Pay+"/v1/orders/"+order+"/payments", f.ticket, nil, &answer); status != 201 {
		t.Fatalf("open a payment: %d", status)
	}
	if status := send(t, "POST", answer.Payment.URL+"/pay", "", nil, nil); status != 200 {
		t.Fatalf("pay at the provider: %d", status)
	}
	until(t, "an order is paid", func() bool {
		var o struct{ Order struct{ Status string } }
		w.api(t, "GET", "/v1/orders/"+order, f.ticket, nil, &o)
		return o.Order.Status == "paid"
	})
}

// queue is a slow sale with so many people in its line.
func (w *world) queue(t *testing.T, hall inventory.Hall, people int) string {
	t.Helper()
	e := w.sale(t, hall, slow)
	w.crowd(t, e, people)
	w.state(t, e, "open")
	return e
}

// crowd is so many people who join.
func (w *world) crowd(t *testing.T, e string, people int) {
	t.Helper()
	var joining sync.WaitGroup
	for range 10 {
		joining.Go(func() {
			for range people / 10 {
				w.joined(t, e)
			}
		})
	}
	joining.Wait()
}

// soldOut is a sale of which everything is sold.
func (w *world) soldOut(t *testing.T) string {
	t.Helper()
	e := w.sale(t, standing(t, 2))
	f := w.inside(t, e)
	var answer struct{ Order struct{ ID string } }
	if status := w.api(t, "POST", "/v1/events/"+e+"/orders", f.pass, map[string]any{"tier": "Standing", "quantity": 2}, &answer); status != 201 {
		t.Fatalf("claim: %d", status)
	}
	w.paid(t, f, answer.Order.ID)
	w.state(t, e, "exhausted")
	return e
}

// set changes what the organiser wants.
func (w *world) set(t *testing.T, event string, do func(context.Context, *pgxpool.Pool, string) (inventory.Change, error)) {
	t.Helper()
	if out, err := do(t.Context(), w.pool, event); err != nil || out != inventory.Changed {
		t.Fatalf("%s: %s, %v", event, out, err)
	}
}

// state waits until the sale is in it.
func (w *world) state(t *testing.T, event, want string) {
	t.Helper()
	until(t, event+" is "+want, func() bool {
		var doc struct{ State string }
		w.api(t, "GET", "/v1/public/events/"+event+"/status", "", nil, &doc)
		return doc.State == want
	})
}
