package httpapi_test

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// Eight requests at once for one place's pass: one pass, counted once, and the
// same one for ever.
func TestOnePlaceOnePass(t *testing.T) {
	h := open(t, demo.Build{})
	for round := range 5 {
		j := h.join("")
		var answers [8]answer
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				for answers[i] = h.askPass(j); answers[i].status == 202; answers[i] = h.askPass(j) {
				}
			})
		}
		wg.Wait()
		ids := map[string]int{}
		for _, a := range append(answers[:], h.askPass(j)) {
			ids[passID(t, a)]++
		}
		if len(ids) != 1 {
			t.Errorf("place %d has the passes %v", j.Place.Number, ids)
		}
		if n := h.one(`SELECT count(*) FROM passes WHERE place = $1`, j.Place.Number); n != 1 {
			t.Errorf("place %d has %d passes written down", j.Place.Number, n)
		}
		if n := h.one(`SELECT max(take) FROM passes`); n != int64(round+1) {
			t.Errorf("%d people let in, %d credits used", round+1, n)
		}
	}
	h.until("counted once in the document", func() bool { return h.status().Taken == 5 })
}

// Who is held at the door and not let in is told to come again within 0.3 s, to the
// millisecond, in the answer and in the page; the header says a second, for it knows
// of no less.
func TestWhoIsHeldIsToldToComeBackAtOnce(t *testing.T) {
	event := demotest.Event()
	rate := 0.001
	event.Rate = &rate
	h := open(t, demo.Build{Event: event})
	j := h.join("")
	soon := func(what string, s float64) {
		if s < 0 || s > 0.3 {
			t.Errorf("%s says: in %v s, want 0.3 at most", what, s)
		}
	}
	var told struct {
		State string
		Again float64 `json:"retry_after_s"`
	}
	a := h.askPass(j)
	for h.want(a, 202, "").into(t, &told); told.State != "called"; h.want(a, 202, "").into(t, &told) {
		a = h.askPass(j)
	}
	soon("the answer", told.Again)
	if after := a.header.Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After: %s, want 1", after)
	}
	page := h.do(call{method: "POST", path: "/e/" + event.ID + "/pass", page: true, header: map[string]string{"Cookie": "ticket." + event.ID + "=" + j.Ticket}})
	said := regexp.MustCompile(`id="door" data-again="([0-9.]+)"`).FindSubmatch(page.body)
	if said == nil {
		t.Fatalf("the page says nothing: %s", page)
	}
	again, err := strconv.ParseFloat(string(said[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	soon("the page", again)
}

// A pass that is given back is written down before anybody is thanked for it, by
// program or by page; while it cannot be, they are told so.
func TestAPassGivenBackIsWrittenDown(t *testing.T) {
	h := open(t, demo.Build{})
	rename := func(sql string) {
		if _, err := h.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	back := func() int64 { return h.one(`SELECT count(*) FROM passes_given_back`) }
	byProgram, byPage := h.letIn(), h.letIn()
	leave := call{method: "DELETE", path: "/v1/events/" + demotest.EventID + "/passes/me", token: byProgram.pass}
	done := call{method: "POST", path: "/e/" + demotest.EventID + "/done", page: true, header: map[string]string{
		"Cookie": "ticket.gala=" + byPage.ticket + "; pass.gala=" + byPage.pass + "; secret.gala=" + byPage.secret,
	}}
	rename(`ALTER TABLE passes_given_back RENAME TO away`)
	h.want(h.do(leave), 503, "unavailable")
	if a := h.do(done); a.status != 503 || strings.Contains(string(a.body), "Thank you") {
		t.Errorf("the page, while nothing can be written: %s", a)
	}
	rename(`ALTER TABLE away RENAME TO passes_given_back`)
	if n := back(); n != 0 {
		t.Errorf("%d passes are given back, want none", n)
	}
	for range 2 {
		h.want(h.do(leave), 204, "")
		if a := h.do(done); a.status != 200 || !strings.Contains(string(a.body), "Thank you") {
			t.Errorf("the page: %s", a)
		}
	}
	if n := back(); n != 2 {
		t.Errorf("%d passes are given back, want 2", n)
	}
}

func (h *house) askPass(j joined) answer {
	return h.do(call{method: "POST", path: places + "/me/pass", token: j.Ticket})
}

// passID is the jti and the very text: the same pass to the letter.
func passID(t *testing.T, a answer) string {
	t.Helper()
	var got struct{ Pass string }
	if a.status != 200 {
		t.Fatalf("pass: %s", a)
	}
	a.into(t, &got)
	token, _, err := jwt.NewParser().ParseUnverified(got.Pass, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Claims.(jwt.MapClaims)["jti"].(string) + " " + got.Pass
}
