package httpapi_test

import (
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo/demotest"
)

const places = "/v1/events/" + demotest.EventID + "/places"

type joined struct {
	Place struct {
		Number int64
		State  string
	}
	Ticket, Secret string
	status         int
}

func (h *house) join(secret string) (j joined) {
	h.t.Helper()
	a := h.do(call{method: "POST", path: places, token: secret})
	if a.status != 201 && a.status != 200 {
		h.t.Fatalf("join: %s", a)
	}
	a.into(h.t, &j)
	j.status = a.status
	return j
}

// guest is somebody with a pass.
type guest struct {
	secret, ticket, pass string
	number, take         int64
}

// letIn joins and waits at the door.
func (h *house) letIn() guest {
	h.t.Helper()
	secret := admission.NewSecret()
	j := h.join(secret)
	return h.enter(secret, j)
}

func (h *house) enter(secret string, j joined) guest {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		a := h.do(call{method: "POST", path: places + "/me/pass", token: j.Ticket})
		var got struct {
			Pass         string
			Take, Number int64
		}
		switch a.status {
		case 200:
			a.into(h.t, &got)
			return guest{secret, j.Ticket, got.Pass, got.Number, got.Take}
		case 202, 503:
			h.pause(50 * time.Millisecond)
		default:
			h.t.Fatalf("pass: %s", a)
		}
	}
	h.t.Fatalf("place %d was not let in within %s: %+v", j.Place.Number, patience, h.status())
	return guest{}
}

// pause waits a while, less if the test ends.
func (h *house) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-h.t.Context().Done():
	}
}

// patience is for machines that do much besides; nobody who is right needs it.
const patience = time.Minute

// until asks until it is told yes.
func (h *house) until(what string, yes func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for !yes() {
		if time.Now().After(deadline) {
			h.t.Fatalf("not within %s: %s", patience, what)
		}
		h.pause(20 * time.Millisecond)
	}
}

type status struct {
	State, Reason                      string
	Front, Tail, Waiting, Taken, Epoch int64
	Version                            int64
	AtDoor                             int64 `json:"at_door"`
	Seats                              struct{ Free, Pending, Sold int64 }
}

func (h *house) status() (s status) {
	h.t.Helper()
	a := h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status"})
	a.into(h.t, &s)
	return s
}

// claim asks for seats with a pass.
func (h *house) claim(g guest, key string, wish any) answer {
	return h.do(call{method: "POST", path: "/v1/events/" + demotest.EventID + "/orders", token: g.pass, key: key, body: wish})
}

type seats map[string]any

func named(guids ...string) seats { return seats{"seats": guids} }

func standing(n any) seats { return seats{"tier": "Standing", "quantity": n} }

type order struct {
	Order struct {
		ID, Status  string
		AmountMinor int64 `json:"amount_minor"`
		Seats       []struct{ GUID string }
		PayURL      string `json:"pay_url"`
	}
}

func (h *house) order(a answer) (o order) {
	h.t.Helper()
	a.into(h.t, &o)
	return o
}
