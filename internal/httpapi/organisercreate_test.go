package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"waitroom/examples"
	"waitroom/internal/demo"
	"waitroom/internal/organiser"
)

// An organiser creates an event with its hall by one request, all or nothing: what
// is flawed names each place and leaves nothing, an id is given once, and the record
// says whose key it was. Nobody without the scope may.
func TestEventsAreCreated(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk("acme", "box-office", organiser.LineRead, organiser.EventsWrite)
	reader := h.desk("acme", "reader", organiser.LineRead)
	plan := map[string]any{"name": "hall.json", "text": string(examples.ConcertHall)}

	var read struct {
		Seats      int
		Categories []struct {
			Name  string
			Seats int
		}
		Drawn [][3]float64
	}
	d.want(d.ask("POST", "/v1/organiser/plans/check", "", plan), 200, "").into(t, &read)
	file := "id: spring\ntitle: Gala\ncurrency: EUR\nopens_at: now\nrate: 20\nplan: hall.json\nprices:\n"
	priced := 0
	for _, c := range read.Categories {
		priced += c.Seats
		file += fmt.Sprintf("  %q: 49.50\n", c.Name)
	}
	if priced != read.Seats || len(read.Drawn) == 0 || read.Seats < 1000 {
		t.Errorf("%d seats, %d by category, %d drawn", read.Seats, priced, len(read.Drawn))
	}
	both := map[string]any{"file": file, "plan": plan}
	reader.want(reader.ask("POST", "/v1/organiser/events", "", both), 403, "scope_missing")
	for what, wrong := range map[string]map[string]any{
		"a key that there is not": {"file": "x: 1\n" + file, "plan": plan},
		"a plan that is not sent": {"file": file},
		"a plan that is not JSON": {"file": file, "plan": map[string]any{"name": "hall.json", "text": "{"}},
		"codes in a file":         {"file": file + "codes:\n  file: codes.txt\n", "plan": plan},
		"last year's dates":       {"file": strings.Replace(file, "opens_at: now", "opens_at: "+time.Now().AddDate(-1, 0, 0).Format(time.RFC3339), 1), "plan": plan},
		"a price for nothing":     {"file": file + "  Nowhere: 1.00\n", "plan": plan},
	} {
		a := d.want(d.ask("POST", "/v1/organiser/events", "", wrong), 422, "flawed_file")
		if !strings.Contains(a.String(), `"reason"`) {
			t.Errorf("%s: no place is named: %s", what, a)
		}
	}
	var made struct {
		Event string
		Seats int
		Tiers []struct{ Seats, Amount int }
	}
	d.want(d.ask("POST", "/v1/organiser/events", "", both), 201, "").into(t, &made)
	if made.Event != "spring" || made.Seats != read.Seats || len(made.Tiers) != len(read.Categories) {
		t.Errorf("made %+v of %d seats", made, read.Seats)
	}
	d.want(d.ask("POST", "/v1/organiser/events", "", both), 409, "event_exists")
	h.until("it is the organiser's", func() bool { return d.ask("GET", "/v1/organiser/events/spring/changes", "", nil).status == 200 })
	if a := d.want(d.ask("GET", "/v1/organiser/events/spring/changes", "", nil), 200, ""); !strings.Contains(a.String(), `"by":"box-office"`) {
		t.Errorf("the record does not say whose key it was: %s", a)
	}
	h.until("it is served", func() bool {
		return h.do(call{method: "GET", path: "/v1/public/events/spring/status"}).status == 200
	})

	again := map[string]any{"name": "hall.json", "text": string(examples.ConcertHall)}
	d.want(d.ask("POST", "/v1/organiser/events/spring/plan", "", again), 409, "plan_there")
	again["replace"], again["prices"] = true, map[string]any{read.Categories[0].Name: "12.345"}
	d.want(d.ask("POST", "/v1/organiser/events/spring/plan", "", again), 422, "flawed_file")
	again["prices"] = map[string]any{read.Categories[0].Name: "12.34"}
	if a := d.want(d.ask("POST", "/v1/organiser/events/spring/plan", "", again), 200, ""); !strings.Contains(a.String(), `"amount_minor":1234`) || !strings.Contains(a.String(), `"amount_minor":4950`) {
		t.Errorf("a price is new, the others stay: %s", a)
	}
	d.want(d.ask("POST", own+"/plan", "", again), 404, "no_such_event") // another organiser's
	if a := d.ask("POST", "/v1/organiser/events/spring/pause", "k", strings.Repeat("x", 70<<10)); a.status != 413 {
		t.Errorf("what is no plan may be long: %s", a)
	}
}

// A dial says what a rate would mean before it is set, and claimers say what they do.
func TestOutlookIsTheLinesOwn(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	type outlook struct {
		RateAsked float64 `json:"rate_asked"`
		Outlook   *struct {
			Rate                       float64
			SoldOut                    *float64 `json:"sold_out_in_s"`
			Likely, Possible, Unlikely int64
		}
	}
	var set, asked outlook
	h.until("it can be said", func() bool {
		d.want(d.ask("GET", own+"/outlook", "", nil), 200, "").into(t, &set)
		d.want(d.ask("GET", own+"/outlook?rate=7", "", nil), 200, "").into(t, &asked)
		return set.Outlook != nil && asked.Outlook != nil
	})
	if all, _ := d.settings(); set.RateAsked != all["rate"].(float64) {
		t.Errorf("rate %g, set to %v", set.RateAsked, all["rate"])
	}
	if asked.RateAsked != 7 || asked.Outlook.Rate > 7 || asked.Outlook.SoldOut != nil {
		t.Errorf("nobody is here, and at 7/s: %+v", asked.Outlook)
	}
	for _, rate := range []string{"0", "-1", "x", "10001", "NaN"} {
		d.want(d.ask("GET", own+"/outlook?rate="+rate, "", nil), 400, "bad_request")
	}
	h.until("a claimer has reported", func() bool {
		var c struct{ Claimers int }
		d.want(d.ask("GET", "/v1/organiser/claims", "", nil), 200, "").into(t, &c)
		return c.Claimers == 1
	})
}
