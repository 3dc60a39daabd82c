package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// TestCookiesGoNowhereElse: where pages are reached by https, cookies are sent
// over nothing else, to no other event, for no other site, and to no script.
func TestCookiesGoNowhereElse(t *testing.T) {
	for _, secure := range []bool{true, false} {
		p := &pages{api: &API{Secure: secure}}
		app := fiber.New()
		app.Get("/e/:event", func(c *fiber.Ctx) error {
			p.keep(c, ticketCookie, "of-a-place", cookieLife)
			p.keep(c, passCookie, "", 0)
			return nil
		})
		res, err := app.Test(httptest.NewRequest(http.MethodGet, "/e/hall", nil))
		if err != nil {
			t.Fatal(err)
		}
		kept := res.Cookies()
		if len(kept) != 2 {
			t.Fatalf("%d cookies, want 2", len(kept))
		}
		for _, k := range kept {
			if k.Secure != secure || !k.HttpOnly || k.SameSite != http.SameSiteLaxMode || k.Path != "/e/hall" || !strings.HasSuffix(k.Name, ".hall") {
				t.Errorf("secure %v: %s", secure, k.Raw)
			}
		}
		if kept[0].MaxAge != int(cookieLife.Seconds()) || kept[1].Value != "" || kept[1].Expires.Year() != 1970 {
			t.Errorf("kept %s, taken back %s", kept[0].Raw, kept[1].Raw)
		}
	}
}

// TestTheSameChoiceIsOneAttempt, and another choice from the same page another.
func TestTheSameChoiceIsOneAttempt(t *testing.T) {
	page := choice{key: "k", wish: wish{Seats: []string{"A-1", "A-2"}}}
	other := choice{key: "k", wish: wish{Seats: []string{"A-1"}}}
	if page.attempt() != (choice{key: "k", wish: wish{Seats: []string{"A-1", "A-2"}}}).attempt() {
		t.Error("the same choice has two names")
	}
	if page.attempt() == other.attempt() {
		t.Error("two choices have one name")
	}
	if err := checkKey(page.attempt()); err != nil {
		t.Error(err)
	}
}
