package httpapi_test

import (
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/stack"
	schema "waitroom/sql"
)

// The line's export is for operators: it needs their token, and is not on the
// public's listener.
func TestExportNeedsItsToken(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	path := "/v1/admin/events/" + demotest.EventID + "/line"
	for _, token := range []string{"", "nothing", h.AdminToken + "x", h.AdminToken[1:], g.ticket, g.pass} {
		h.want(h.do(call{method: "GET", path: path, token: token, base: h.Admin, page: true}), 401, "token_missing")
	}
	h.want(h.do(call{method: "GET", path: strings.Replace(path, demotest.EventID, "nowhere", 1), token: h.AdminToken, base: h.Admin, page: true}), 404, "no_such_event")
	a := h.do(call{method: "GET", path: path, token: h.AdminToken, base: h.Admin, page: true})
	if a.status != 200 || a.header.Get("Content-Type") != "application/x-ndjson" || a.header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("export: %s %v", a, a.header)
	}
	if all := h.export(); len(all) != 1 || all[0].Number != g.number || all[0].Take != g.take || all[0].State != "passed" {
		t.Errorf("exported %+v, want place %d passed by take %d", all, g.number, g.take)
	}
}

// An export that breaks off is not taken for whole: an audit of it is no audit.
func TestBrokenOffExportIsNotTakenForWhole(t *testing.T) {
	dynalite, err := stack.Dynalite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, demo.Build{Line: "dynamodb", Services: demo.Services{DynamoDB: dynalite.URL}})
	h.letIn()
	if got := h.audit(); got.Fault != "" {
		t.Errorf("before: %+v", got)
	}
	if err := dynalite.Stop(); err != nil {
		t.Fatal(err)
	}
	got := h.audit()
	if got.Exit != audit.Unusable || !strings.Contains(got.Fault, "export") {
		t.Errorf("an audit of half a line ends with %d (%s), want %d", got.Exit, got.Fault, audit.Unusable)
	}
	t.Logf("half an export: %s", got.Fault)
}

func (h *house) audit() audit.Report {
	h.t.Helper()
	line, err := h.Export(h.t.Context(), demotest.EventID)
	if err != nil {
		return audit.Report{Exit: audit.Unusable, Fault: "line export: " + err.Error()}
	}
	defer line.Close() //nolint:errcheck // read only
	db, err := pgx.Connect(h.t.Context(), h.DatabaseURL)
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close(h.t.Context()) //nolint:errcheck // read only
	queries, err := schema.Audits()
	if err != nil {
		h.t.Fatal(err)
	}
	return audit.Run(h.t.Context(), audit.Sources{DB: db, Queries: queries, Event: demotest.EventID, Line: io.Reader(line)})
}
