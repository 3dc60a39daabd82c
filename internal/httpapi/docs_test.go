package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"waitroom/api"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/httpapi"
	"waitroom/internal/organiser"
)

// Whoever follows a refusal's type finds what it means and what to do, for every code
// that the source can answer with, on each listener that answers with it.
func TestProblemsHavePages(t *testing.T) {
	h := open(t, demo.Build{})
	codes := slices.Sorted(maps.Keys(httpapi.Codes()))
	list := h.do(call{method: "GET", path: "/problems", page: true})
	for _, code := range codes {
		is := httpapi.HelpOf(code)
		if is[0] == "" || is[1] == "" {
			t.Errorf("%s: nobody is told what it means, and what to do", code)
		}
		for _, base := range []string{h.Public, h.Admin, h.Pay} {
			a := h.do(call{method: "GET", path: "/problems/" + code, page: true, base: base})
			if a.status != 200 || !strings.Contains(string(a.body), "<code>"+code+"</code>") || !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s/problems/%s: %.200s", base, code, a)
			}
		}
		if !strings.Contains(string(list.body), `href="/problems/`+code+`"`) {
			t.Errorf("the list lacks %s", code)
		}
	}
	for code := range httpapi.Helped() {
		if _, there := httpapi.Codes()[code]; !there {
			t.Errorf("%s has a page, and is no code", code)
		}
	}
	used := 0
	for _, name := range sources(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\bproblem\("(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			if used++; httpapi.Codes()[found[1]] == 0 {
				t.Errorf("%s answers %s, which is not listed", name, found[1])
			}
		}
	}
	t.Logf("%d codes with a page each, %d places that answer by one", len(codes), used)
}

func sources(t *testing.T) (names []string) {
	t.Helper()
	all, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
			names = append(names, f.Name())
		}
	}
	return names
}

// The docs page shows each operation of the contract.
func TestDocsShowTheContract(t *testing.T) {
	h := open(t, demo.Build{})
	page := h.do(call{method: "GET", path: "/docs", page: true})
	n := 0
	for path, item := range h.contract.doc.Paths.Map() {
		for method, op := range item.Operations() {
			n++
			for _, want := range []string{`id="` + op.OperationID + `"`, "<code>" + path + "</code>", ">" + method + "<"} {
				if !strings.Contains(string(page.body), want) {
					t.Errorf("%s %s: the page lacks %q", method, path, want)
				}
			}
		}
	}
	for name := range h.contract.doc.Components.Schemas {
		if !strings.Contains(string(page.body), `id="`+name+`"`) {
			t.Errorf("the page lacks the schema %s", name)
		}
	}
	for _, ref := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(string(page.body), -1) {
		if !strings.Contains(string(page.body), `id="`+ref[1]+`"`) {
			t.Errorf("#%s leads nowhere", ref[1])
		}
	}
	file := h.do(call{method: "GET", path: "/docs/openapi.yaml", page: true})
	if file.status != 200 || !strings.HasPrefix(string(file.body), "openapi: 3.1") {
		t.Errorf("openapi.yaml: %.100s", file)
	}
	t.Logf("%d operations, page of %d bytes", n, len(page.body))
}

// without are the operations that no example shows, and why.
var without = map[string]string{
	"receiveNotice":  "what the provider sends, it signs",
	"leaveLine":      "whoever was let in has left the line, and one person joins",
	"scanCode":       "a seat's code is on a paid order's page, and is signed",
	"uploadScans":    "a seat's code is on a paid order's page, and is signed",
	"replayDelivery": "a delivery that waits is not sent again",
}

// Every operation has an example, or a reason why it has none.
func TestOperationsHaveExamples(t *testing.T) {
	contract, err := api.Read()
	if err != nil {
		t.Fatal(err)
	}
	shown, all := 0, map[string]bool{}
	for _, g := range contract.Groups {
		for _, o := range g.Operations {
			all[o.ID] = true
			if o.Example != nil {
				shown++
			}
			if why := without[o.ID]; (o.Example == nil) != (why != "") {
				t.Errorf("%s: an example %v, and the reason for none %q", o.ID, o.Example != nil, why)
			}
		}
	}
	for id := range without {
		if !all[id] {
			t.Errorf("%s is no operation", id)
		}
	}
	t.Logf("%d of %d operations have an example", shown, len(all))
}

// standing writes down what the examples begin with, by its names.
func (h *house) standing() map[string]string {
	h.t.Helper()
	s := h.sold("ann", 3)
	known := map[string]string{"PAID": s.order, "CUSTOMER": s.customer, "SEAT": s.lines[0], "OTHER": s.lines[1]}
	for name, sql := range map[string]string{
		"FREE": `SELECT guid FROM seats s JOIN orders o ON o.event_id = s.event_id WHERE o.id = $1 AND s.order_id IS NULL AND NOT s.held_back AND s.kind = 'numbered'
			ORDER BY s.pos DESC LIMIT 1`,
		"APPROVAL": `INSERT INTO refund_approvals (operation, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by)
			SELECT 'refund:' || o.id || ':' || l.seat_id, o.id, l.seat_id, o.payment_id, 'demo', l.amount_minor, o.currency, 'over_limit', 1000, 'agent'
			FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN seats s ON s.id = l.seat_id WHERE o.id = $1 ORDER BY s.pos DESC LIMIT 1 RETURNING id::text`,
		"ITEM": `INSERT INTO human_list (kind, subject, order_id, payment_id, detail)
			SELECT 'wrong_amount', 'pi_ann', id, payment_id, 'the provider captured another amount' FROM orders WHERE id = $1 RETURNING id::text`,
	} {
		var value string
		if err := h.pool.QueryRow(h.t.Context(), sql, s.order).Scan(&value); err != nil {
			h.t.Fatalf("%s: %v", name, err)
		}
		known[name] = value
	}
	return known
}

// The examples of the docs page are run as they stand: each is answered as it says.
func TestExamplesRun(t *testing.T) {
	h := openStill(t)
	d := h.desk(organiser.House, "desk", organiser.Scopes()...)
	contract, err := api.Read()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]api.Example{}
	for _, g := range contract.Groups {
		for _, o := range g.Operations {
			if o.Example != nil {
				shown[o.ID] = *o.Example
			}
		}
	}
	examples, err := api.Examples()
	if err != nil {
		t.Fatal(err)
	}
	known := h.standing()
	known["EVENT"], known["KEY"] = demotest.EventID, d.token
	filled := func(s string) string { return os.Expand(s, func(name string) string { return known[name] }) }
	for _, listed := range examples {
		e, ok := shown[listed.Does]
		if !ok {
			t.Errorf("%s is no operation", listed.Does)
			continue
		}
		c := call{method: e.Method, path: filled(e.Path), token: filled(e.Token), header: map[string]string{}}
		for name, value := range e.Header {
			c.header[name] = filled(value)
		}
		if e.Body != "" {
			c.body = filled(e.Body)
		}
		switch {
		case e.Organiser:
			c.base = h.Admin
		case e.Pay:
			c.base = h.Pay
		}
		var a answer
		h.until(fmt.Sprintf("%s is answered %d", e.Does, e.Status), func() bool {
			a = h.do(c)
			if a.status != e.Status && a.status != 202 { // 202: not yet
				t.Fatalf("%s: %s\nanswered %s, want %d", e.Does, e.Curl(), a, e.Status)
			}
			return a.status == e.Status
		})
		for name, at := range e.Keep {
			switch at {
			case ".":
				known[name] = string(a.body)
			case "ETag":
				known[name] = a.header.Get("ETag")
			default:
				known[name] = found(t, a.body, at)
			}
		}
	}
	t.Logf("%d examples run", len(examples))
}

// found is what stands at a path of members.
func found(t *testing.T, body []byte, path string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(path, ".") {
		members, _ := v.(map[string]any)
		v = members[name]
	}
	if v == nil {
		t.Fatalf("there is no %s in %s", path, body)
	}
	return fmt.Sprint(v)
}
