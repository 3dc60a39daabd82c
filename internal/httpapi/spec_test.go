package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"waitroom/internal/httpapi"
)

// Routes that the contract leaves out: pages are for people, and the admin
// listener is for operators and is described in their own documents.
var exempt = []string{
	"GET /", "GET /assets/{hash}/{name}", "GET /assets/look/{name}",
	"GET /e/{event}", "GET /e/{event}/draw", "GET /e/{event}/place", "GET /e/{event}/seats", "GET /e/{event}/orders/{order}",
	"POST /e/{event}/join", "POST /e/{event}/leave", "POST /e/{event}/standby", "POST /e/{event}/pass", "POST /e/{event}/alive",
	"POST /e/{event}/claim", "POST /e/{event}/done", "POST /e/{event}/orders/{order}/cancel",
	"GET /v1/admin/events/{event}/line",
	"GET /assets/{hash}/{name}", "GET /docs", "GET /docs/openapi.yaml", "GET /problems", "GET /problems/{code}",
	"GET /docs", "GET /docs/openapi.yaml", "GET /problems", "GET /problems/{code}", "GET /assets/{hash}/{name}",
	"GET /docs", "GET /docs/openapi.yaml", "GET /problems", "GET /problems/{code}",
	"GET /", "GET /console", "GET /human", "GET /human/{item}", "POST /human/{item}", "POST /human/approvals/{approval}",
	"GET /webhooks", "POST /webhooks/endpoints/{endpoint}", "GET /webhooks/deliveries/{delivery}", "POST /webhooks/deliveries/{delivery}/replay",
}

// inEveryLanguage are the fan's pages, which each language has of its own.
func inEveryLanguage(routes []string) (all []string) {
	for _, route := range routes {
		all = append(all, route)
		for _, tag := range []string{"zh-Hant", "zh-Hans", "ja"} {
			if method, rest, fans := strings.Cut(route, " /e/{event}"); fans {
				all = append(all, method+" /e/{event}/"+tag+rest)
			}
		}
	}
	return append(all, "GET /zh-Hant", "GET /zh-Hans", "GET /ja")
}

// What is served is what is described, no more and no less.
func TestRoutesAreTheContracts(t *testing.T) {
	a := &httpapi.API{}
	public, err := a.Public()
	if err != nil {
		t.Fatal(err)
	}
	served := routes(public, a.Admin(), httpapi.NewPay(t.Context(), httpapi.Pay{}))
	exempt := inEveryLanguage(exempt)
	for _, route := range exempt {
		i := slices.Index(served, route)
		if i < 0 {
			t.Errorf("exempt, and not served: %s", route)
			continue
		}
		served = slices.Delete(served, i, i+1)
	}
	var described []string
	for path, item := range readContract(t).doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	slices.Sort(described)
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("routes (-described +served):\n%s", diff)
	}
	t.Logf("%d routes described and served, %d exempt", len(described), len(exempt))
}

var parameter = regexp.MustCompile(`:(\w+)`)

// routes are what apps serve, as the contract writes them. HEAD follows GET by
// itself. The seat map's file is one of any name to the router.
func routes(apps ...*fiber.App) (all []string) {
	for _, app := range apps {
		for _, r := range app.GetRoutes(true) {
			if r.Method == http.MethodHead {
				continue
			}
			path := parameter.ReplaceAllString(r.Path, "{$1}")
			path = strings.Replace(path, "/v1/public/events/{event}/{file}", "/v1/public/events/{event}/seatmap.{hash}.json", 1)
			all = append(all, r.Method+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

// A client can tell every refusal there is by its code.
func TestCodesAreTheContracts(t *testing.T) {
	c := readContract(t)
	var described []string
	for _, code := range c.doc.Components.Schemas["Problem"].Value.Properties["code"].Value.Enum {
		described = append(described, code.(string))
	}
	var served []string
	for code := range c.codes {
		served = append(served, code)
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("codes (-described +served):\n%s", diff)
	}
}

// The contract is one that can be broken: exchanges that are not as it says
// are told.
func TestContractCanBeBroken(t *testing.T) {
	c := readContract(t)
	json := http.Header{"Content-Type": {"application/json"}}
	refusal := http.Header{"Content-Type": {"application/problem+json"}, "Cache-Control": {"private, no-store"}}
	for what, x := range map[string]struct {
		method, path, sent string
		status             int
		header             http.Header
		body               string
	}{
		"a member is missing":         {"GET", "/v1/public/events", "", 200, json, `{}`},
		"a member is not described":   {"GET", "/v1/public/events", "", 200, json, `{"events":[],"more":1}`},
		"a state that there is not":   {"DELETE", "/v1/events/e/places/me", "", 200, json, `{"number":1,"state":"lost"}`},
		"null where a state is":       {"DELETE", "/v1/events/e/places/me", "", 200, json, `{"number":1,"state":null}`},
		"a status not described":      {"GET", "/v1/public/events", "", 206, json, `{"events":[]}`},
		"a page for JSON":             {"GET", "/v1/public/events", "", 200, http.Header{"Content-Type": {"text/html"}}, `<p>`},
		"a route not described":       {"GET", "/v1/secrets", "", 200, json, `{}`},
		"a request not described":     {"POST", "/v1/events/e/orders", `{"seats":["A"],"quantity":2}`, 202, http.Header{"Location": {"/x"}, "Retry-After": {"1"}}, ``},
		"a request without its key":   {"POST", "/v1/orders/o/cancel", "", 202, json, ``},
		"a code that there is not":    {"GET", "/v1/public/events", "", 404, refusal, `{"type":"/problems/x","title":"x","status":404,"code":"x"}`},
		"a code with another status":  {"GET", "/v1/public/events", "", 404, refusal, `{"type":"/problems/busy","title":"x","status":404,"code":"busy"}`},
		"busy without a Retry-After":  {"GET", "/v1/public/events", "", 503, refusal, `{"type":"/problems/busy","title":"x","status":503,"code":"busy"}`},
		"a refusal that may be kept":  {"GET", "/v1/public/events", "", 404, http.Header{"Content-Type": {"application/problem+json"}}, `{"type":"/problems/no_such_event","title":"x","status":404,"code":"no_such_event"}`},
		"a refusal that is not JSON":  {"GET", "/v1/public/events", "", 404, http.Header{"Content-Type": {"text/plain"}}, `Not Found`},
		"an outcome without Location": {"POST", "/v1/events/e/orders", `{"seats":["A"]}`, 202, http.Header{"Retry-After": {"1"}}, ``},
	} {
		request := httptest.NewRequest(x.method, x.path, strings.NewReader(x.sent))
		request.Header.Set("Content-Type", "application/json")
		if len(c.broken(context.WithoutCancel(t.Context()), exchange{request, []byte(x.sent), x.status, x.header, []byte(x.body)})) == 0 {
			t.Errorf("%s: nobody noticed", what)
		}
	}
	whole := httptest.NewRequest("DELETE", "/v1/events/e/places/me", nil)
	if faults := c.broken(t.Context(), exchange{whole, nil, 200, json, []byte(`{"number":1,"state":"left"}`)}); len(faults) > 0 {
		t.Errorf("a good exchange: %v", faults)
	}
}
