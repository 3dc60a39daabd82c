package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"waitroom/internal/audit"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
)

// What a pass is good for is settled when it is written: asked for again after
// the settings have changed, it is the same to the letter.
func TestAPassStaysWhatItWas(t *testing.T) {
	event := demotest.Event()
	event.PassQuota = 1
	h := open(t, demo.Build{Event: event})
	g := h.letIn()
	h.pay(g, h.order(h.want(h.claim(g, "one", standing(1)), 201, "")))
	h.overLimit(g, 1, "pass", "")
	if _, err := h.pool.Exec(t.Context(), `UPDATE events SET pass_quota = 3, version = version + 1`); err != nil {
		t.Fatal(err)
	}
	h.pause(3 * time.Second) // until the line has read that
	again := h.enter(g.secret, joined{Ticket: g.ticket})
	if again.pass != g.pass {
		t.Errorf("asked again, another pass came back:\n%s\n%s", g.pass, again.pass)
	}
	h.overLimit(again, 1, "pass", "")
	if r := h.audit(); r.Exit != audit.Clean {
		t.Errorf("the audit ends with %d: %+v", r.Exit, r)
	}
}

// Bytes that no store takes are refused at the edge, and never answered as if
// something might have been done.
func TestTextThatNoStoreTakesIsRefused(t *testing.T) {
	h := openStill(t)
	s := h.sold("ann", 4)
	boss := h.helper(organiser.House, "boss", organiser.Scopes()...)
	boss.want(boss.ask("POST", s.path(), "", map[string]string{"line": "A\x00", "customer": "ann"}), 400, "bad_request")
	boss.want(boss.ask("POST", s.path(), "", map[string]string{"line": s.lines[0], "customer": "ann\x00"}), 400, "bad_request")
	boss.want(boss.ask("GET", s.path(), "", nil, "Customer", "ann\xff"), 400, "bad_request")
	boss.want(boss.ask("POST", "/v1/organiser/human/1", "", map[string]string{"do": "note", "why": "was\x00ill"}), 400, "bad_request")
	boss.want(boss.ask("POST", "/v1/organiser/refunds/approvals/1", "", map[string]string{"decision": "approved", "note": "was\x00ill"}), 400, "bad_request")
}

// A line's document has one address. A path that only comes to the same is none:
// a cache in front would keep as many copies as there are ways to write it.
func TestTheStatusHasOneAddress(t *testing.T) {
	h := open(t, demo.Build{})
	events, id := "/v1/public/events/", demotest.EventID
	for path, want := range map[string]int{
		events + id + "/status": 200, events + id + "/status?x=1": 200, events + id + "/status/": 404,
		events + id + "%2fstatus": 404, events + id + "//status": 404, events + id + "/x/../status": 404,
		"/v1//public/events/" + id + "/status": 404, "/v1/events/x/..%2f..%2fpublic/events/" + id + "/status": 404,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			req, err := http.NewRequestWithContext(t.Context(), method, h.Public, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.URL.Opaque = fmt.Sprintf("//%s%s", req.URL.Host, path) // as it is written
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close() //nolint:errcheck // nothing is read
			if resp.StatusCode != want {
				t.Errorf("%s %s: %d, want %d", method, path, resp.StatusCode, want)
			}
		}
	}
}
