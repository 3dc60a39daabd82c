package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
)

// An organiser's name, colour and words are on the event's pages, as text; what no
// page could show is refused, and so is a key without leave.
func TestPagesWearTheOrganisersLook(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.desk(organiser.House, "look", organiser.LineRead, organiser.LineWrite)
	look := func(by, accent, note string) map[string]any {
		return map[string]any{"by": by, "accent": accent, "note": note}
	}
	for name, bad := range map[string]map[string]any{
		"a pale colour": look("", "#ffff00", ""), "no colour": look("", "red", ""), "two lines": look("a\nb", "", ""),
		"a long name": look(strings.Repeat("å", 81), "", ""), "a long note": look("", "", strings.Repeat("å", 601)),
	} {
		if got := d.ask("PUT", own+"/look", "", bad); got.status != 422 {
			t.Errorf("%s: %d, want 422", name, got.status)
		}
	}
	if got := h.desk(organiser.House, "reader", organiser.LineRead).ask("PUT", own+"/look", "", look("x", "", "")); got.status != 403 {
		t.Errorf("without leave: %d, want 403", got.status)
	}
	d.want(d.ask("PUT", own+"/look", "", look("Musik & Co. <b>", "#7A1F5C", "Doors at 7.\nNo <script>.")), 200, "")
	var got map[string]any
	d.want(d.ask("GET", own+"/look", "", nil), 200, "").into(t, &got)
	if got["accent"] != "#7a1f5c" {
		t.Errorf("the look is %v", got)
	}
	h.until("the page wears it", func() bool {
		page := fetched(t, h.Public+"/e/"+demotest.EventID+"/ja")
		return strings.Contains(page, `<p class="by">Musik &amp; Co. &lt;b&gt;</p>`) && strings.Contains(page, "No &lt;script&gt;.") &&
			strings.Contains(page, `href="/assets/look/7a1f5c.css"`)
	})
	if css := fetched(t, h.Public+"/assets/look/7a1f5c.css"); !strings.HasPrefix(css, ":root{--accent:#7a1f5c;--on-accent:#fff}") {
		t.Errorf("the styles are %q", css)
	}
	for _, wrong := range []string{"7a1f5g", "7a1f5c7a1f5c", "7a1f5c;}", "%7B"} {
		if css := fetched(t, h.Public+"/assets/look/"+wrong+".css"); strings.Contains(css, "accent") {
			t.Errorf("%s gives %q", wrong, css)
		}
	}
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
