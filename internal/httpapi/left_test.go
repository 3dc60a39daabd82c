package httpapi_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// browser is one, with its cookies: all its tabs have the same.
type browser struct {
	*house
	http.Client
}

func (h *house) browser() browser {
	jar, _ := cookiejar.New(nil) // it never fails
	return browser{h, http.Client{Jar: jar, CheckRedirect: h.client.CheckRedirect, Timeout: h.client.Timeout}}
}

// wears gives it the cookies of somebody who was let in.
func (b browser) wears(g guest) {
	b.t.Helper()
	at, err := url.Parse(b.Public + "/e/" + demotest.EventID)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Jar.SetCookies(at, []*http.Cookie{{Name: "ticket." + demotest.EventID, Value: g.ticket}, {Name: "pass." + demotest.EventID, Value: g.pass}})
}

func (b browser) ask(method, to string) (status int, page string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.Public+"/e/"+demotest.EventID+to, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// does sends a form until it is taken: a line that was just begun anew may ask
// for a moment.
func (b browser) does(to string) {
	b.t.Helper()
	b.until("taken: "+to, func() bool { status, _ := b.ask("POST", to); return status == http.StatusSeeOther })
}

// holds fails unless every look at the place's page, by any tab, says so.
func (b browser) holds(when string, place bool) {
	b.t.Helper()
	for range 2 {
		_, page := b.ask("GET", "/place")
		gaveUp, shown := strings.Contains(page, "You gave your place up"), strings.Contains(page, `id="place"`) || strings.Contains(page, `id="lobby"`)
		if shown != place || gaveUp && place {
			from := max(0, strings.Index(page, "<h1"))
			b.t.Errorf("%s: a place is shown: %t, given up: %t: %.200s", when, shown, gaveUp, page[from:])
		}
	}
}

// Whoever gave a place up holds none, whichever page says so; and whoever joins
// again holds one, in the same line or in one that was begun anew, where places
// are counted from the first again.
func TestAPlaceGivenUpIsThatPlaceAlone(t *testing.T) {
	for name, build := range map[string]demo.Build{"before the opening": {OpensIn: time.Hour}, "at the door": {}} {
		t.Run(name, func(t *testing.T) {
			h := open(t, build)
			b := h.browser()
			for round := range 2 {
				b.does("/join")
				b.holds("joined", true)
				b.does("/leave")
				b.holds("left", false)
				if round > 0 {
					break
				}
				if _, err := h.pool.Exec(t.Context(), `UPDATE events SET epoch = epoch + 1 WHERE id = $1`, demotest.EventID); err != nil {
					t.Fatal(err)
				}
				h.until("the new line", func() bool { s := h.status(); return s.Epoch == 2 })
			}
			b.does("/join")
			b.holds("joined once more", true)
		})
	}
}
