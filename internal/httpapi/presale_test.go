package httpapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// An organiser sets who may have what, and each refusal says which rule it was:
// a tier's limit, a presale, a code that is none, or is spent, a cool-down.
func TestRulesOfTiersAndPresales(t *testing.T) {
	h := open(t, demo.Build{Hall: demotest.Hall(t, 2, 5)})
	boss := h.desk(organiser.House, "boss", organiser.LineRead, organiser.LineWrite)
	set := func(more map[string]any) {
		all, tag := boss.settings()
		h.want(boss.ask("PUT", own+"/settings", "", with(all, more), "If-Match", tag), 200, "")
	}
	refused := func(setting string, value any) {
		t.Helper()
		all, tag := boss.settings()
		h.want(boss.ask("PUT", own+"/settings", "", with(all, map[string]any{setting: value}), "If-Match", tag), 422, "senseless_setting")
	}
	refused("tier_limits", map[string]any{"Sets": 2})
	refused("presales", []any{map[string]any{"name": "fans", "tiers": []string{}, "sections": []string{"Stals"}, "until": nil}})
	set(map[string]any{
		"tier_limits": map[string]any{"Seats": 2},
		"presales":    []any{map[string]any{"name": "fans", "tiers": []string{"Standing"}, "sections": []string{}, "until": nil}},
	})
	hash, _ := admission.CodeHash(demotest.EventID, "FAN-2026")
	codes := inventory.PresaleCodes{Presale: "fans", Hashes: [][]byte{hash[:]}, Uses: 1, Seats: 2}
	if c, err := inventory.ImportPresaleCodes(t.Context(), h.pool, demotest.EventID, codes); err != nil || c != inventory.Changed {
		t.Fatal(c, err)
	}
	var limit struct{ Limit string }
	h.want(h.claim(h.letIn(), "k", named("A-1", "A-2", "A-3")), 409, "over_limit").into(t, &limit)
	if limit.Limit != "tier" {
		t.Errorf("the limit is %q, want tier", limit.Limit)
	}
	floor := func(code string) seats {
		w := standing(1)
		if code != "" {
			w["code"] = code
		}
		return w
	}
	h.want(h.claim(h.letIn(), "k", floor("")), 403, "code_needed")
	h.want(h.claim(h.letIn(), "k", floor("no")), 403, "code_unknown")
	h.want(h.claim(h.letIn(), "k", floor("NONE-2026")), 403, "code_unknown")
	g := h.letIn()
	h.want(h.claim(g, "k", floor("fan2026")), 201, "")
	var left struct{ Left *int }
	h.want(h.claim(h.letIn(), "k", floor("fan2026")), 409, "code_spent").into(t, &left)
	if left.Left == nil || *left.Left != 0 {
		t.Errorf("left %v, want 0", left.Left)
	}
	if _, err := h.pool.Exec(t.Context(), `UPDATE orders SET pay_by = now() - interval '1 s'`); err != nil {
		t.Fatal(err)
	}
	set(map[string]any{"lapse_limit": 1, "cool_down_s": 60, "presales": nil})
	cooled := h.want(h.claim(g, "k2", floor("")), 429, "cool_down")
	if wait, err := time.ParseDuration(cooled.header.Get("Retry-After") + "s"); err != nil || wait < 50*time.Second || wait > time.Minute {
		t.Errorf("Retry-After: %q (%v), want about 60", cooled.header.Get("Retry-After"), err)
	}
}

// What is kept for codes is told apart from what anybody may have: in what caches hold,
// and on the page, where it can be chosen by who has a code.
func TestWhatIsKeptForCodesIsShownSo(t *testing.T) {
	event := demotest.Event()
	event.Presales = []inventory.Presale{{Name: "fans", Tiers: []string{"Standing"}, Sections: []string{"Stalls"}}}
	h := open(t, demo.Build{Event: event, Hall: demotest.Hall(t, 2, 5)})
	type counts struct {
		Section          string
		Free, Kept, Sold int64
	}
	var told struct {
		Sections []counts
		Blocks   map[string]int
		Bitmap   []byte
	}
	look := func() {
		t.Helper()
		told.Sections = nil
		h.want(h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/availability"}), 200, "").into(t, &told)
	}
	h.until("counted", func() bool {
		return h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/availability"}).status == 200
	})
	if look(); !slices.Equal(told.Sections, []counts{{"Floor", 0, 5, 0}, {"Stalls", 0, 20, 0}}) || told.Blocks["Stalls"] != 0 || told.Bitmap[0] != 0xff {
		t.Errorf("while it is kept: %+v", told)
	}
	g := h.letIn()
	b := h.browser()
	b.wears(g)
	const withCode = "with a presale code"
	if _, page := b.ask("GET", "/seats"); strings.Count(page, "<small>"+withCode+"</small>") != 21 || !strings.Contains(page, `value="A-1"`) || !strings.Contains(page, "free, "+withCode) {
		t.Errorf("the page does not show what is kept: %d times %q", strings.Count(page, withCode), withCode)
	}
	if _, err := h.pool.Exec(t.Context(), `UPDATE events SET presales = NULL, version = version + 1`); err != nil {
		t.Fatal(err)
	}
	h.until("it is everybody's", func() bool {
		look()
		return slices.Equal(told.Sections, []counts{{"Floor", 5, 0, 0}, {"Stalls", 20, 0, 0}}) && told.Blocks["Stalls"] == 10
	})
	if _, page := b.ask("GET", "/seats"); strings.Contains(page, "<small>"+withCode) || strings.Contains(page, "free, "+withCode+"</li>") {
		t.Errorf("the page speaks of codes where none is needed")
	}
}
