package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"waitroom/internal/httpapi"
)

// contract is api/openapi.yaml, against which every exchange is held.
type contract struct {
	doc    *openapi3.T
	router routers.Router
	codes  map[string]int
}

func readContract(t testing.TB) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !doc.IsOpenAPI31OrLater() {
		t.Fatalf("openapi %s: JSON Schema 2020-12 begins with 3.1", doc.OpenAPI)
	}
	for name, s := range doc.Components.Schemas {
		if name != "Problem" { // it says itself what it leaves open
			closeObjects(s.Value)
		}
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &contract{doc, router, httpapi.Codes()}
}

// closeObjects forbids members that are not described. Clients have to let
// them be; our own answers have none.
func closeObjects(s *openapi3.Schema) {
	if s.Type.Is("object") && len(s.Properties) > 0 && s.AdditionalProperties.Has == nil {
		no := false
		s.AdditionalProperties.Has = &no
	}
	for _, p := range s.Properties {
		if p.Ref == "" {
			closeObjects(p.Value)
		}
	}
	if s.Items != nil && s.Items.Ref == "" {
		closeObjects(s.Items.Value)
	}
}

// exchange is one request with its answer, as the contract sees them.
type exchange struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	body    []byte
}

var options = &openapi3filter.Options{
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
}

// broken says what of the exchange is not as the contract has it. What it does
// not allow to be asked has to be refused.
func (c *contract) broken(ctx context.Context, x exchange) (faults []error) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	at := x.request.Clone(ctx)
	at.URL = &url.URL{Path: x.request.URL.Path, RawPath: x.request.URL.RawPath, RawQuery: x.request.URL.RawQuery}
	at.Body = io.NopCloser(bytes.NewReader(x.sent))
	route, params, err := c.router.FindRoute(at)
	if err != nil {
		if x.status != 404 && x.status != 405 {
			fail("it is not in the contract (%w), and was answered %d", err, x.status)
		}
		return append(faults, c.problem(x)...)
	}
	in := &openapi3filter.RequestValidationInput{Request: at, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(ctx, in); err != nil && x.status < 400 {
		fail("the contract forbids it (%w), and it was answered %d", err, x.status)
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.status, Header: x.header, Options: options,
	}
	if err := openapi3filter.ValidateResponse(ctx, out.SetBodyBytes(x.body)); err != nil {
		fail("the answer: %w", err)
	}
	if x.status >= 400 {
		faults = append(faults, c.problem(x)...)
	}
	return faults
}

// allows says whether the contract lets a client ask this.
func (c *contract) allows(ctx context.Context, x exchange) bool {
	at := x.request.Clone(ctx)
	at.URL = &url.URL{Path: x.request.URL.Path, RawPath: x.request.URL.RawPath, RawQuery: x.request.URL.RawQuery}
	at.Body = io.NopCloser(bytes.NewReader(x.sent))
	route, params, err := c.router.FindRoute(at)
	if err != nil {
		return false
	}
	return openapi3filter.ValidateRequest(ctx, &openapi3filter.RequestValidationInput{
		Request: at, PathParams: params, Route: route, Options: options,
	}) == nil
}

// problem holds a refusal against RFC 9457 and our own table.
func (c *contract) problem(x exchange) (faults []error) {
	a := answer{status: x.status, header: x.header, body: x.body}
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if got := x.header.Get("Content-Type"); got != "application/problem+json" {
		fail("a refusal is %q, want application/problem+json", got)
		return faults
	}
	if got := x.header.Get("Cache-Control"); got != "private, no-store" {
		fail("a refusal may be kept: %q", got)
	}
	if status, listed := c.codes[a.code()]; !listed || status != x.status {
		fail("code %q with %d; the table of problems has %d (listed: %t)", a.code(), x.status, status, listed)
	}
	if again := x.header.Get("Retry-After"); (x.status == 503 || x.status == 429) && again == "" {
		fail("%d without Retry-After", x.status)
	}
	if x.status == 401 && x.header.Get("WWW-Authenticate") == "" {
		fail("401 without WWW-Authenticate")
	}
	return faults
}
