package edgetest

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

const shop = "/e/" + demotest.EventID + "/shop/seats"

// A protected path lets a pass through, and says whose it is; without one, with
// one that ran out, with another event's or a forged one, nothing of the request
// reaches what it protects.
func TestOnlyAPassOpensAProtectedPath(t *testing.T) {
	e := open(t, demo.Build{}, nil)
	good, other := e.sign(demotest.EventID, time.Minute), e.sign("other", time.Minute)
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": "Bearer " + token} }
	cookie := func(event, token string) map[string]string {
		return map[string]string{"Cookie": "visitor=7; pass." + event + "=" + token}
	}
	forged := bearer("")
	forged["Waitroom-Holder"], forged["Waitroom-Event"] = admission.HolderOf("x"), demotest.EventID
	for name, header := range map[string]map[string]string{
		"none":                     nil,
		"expired":                  bearer(e.sign(demotest.EventID, -time.Second)),
		"of another event":         bearer(other),
		"of another event, cookie": cookie(demotest.EventID, other),
		"under another's name":     cookie("other", good),
		"cut short":                bearer(good[:len(good)-10]),
		"only what we would say":   forged,
		"no bearer":                {"Authorization": "Basic " + good},
	} {
		for _, method := range []string{"GET", "POST"} {
			if a := e.do(call{method: method, path: shop, header: header}); a.status != 401 || a.header.Get("Cache-Control") != "private, no-store" {
				t.Errorf("%s, a pass %s: %d %s, want 401", method, name, a.status, a.body)
			}
		}
	}
	page := e.do(call{path: shop, header: map[string]string{"Accept": "text/html,*/*"}})
	if page.status != 303 || page.header.Get("Location") != "/e/"+demotest.EventID+"/place" {
		t.Errorf("a browser without a pass: %d to %q, want its place in the line", page.status, page.header.Get("Location"))
	}
	if n := len(e.shop.of(shop)); n != 0 {
		t.Fatalf("%d refused requests reached the shop", n)
	}
	for name, header := range map[string]map[string]string{"by bearer": bearer(good), "by cookie": cookie(demotest.EventID, good)} {
		header["Waitroom-Holder"], header["Waitroom-Quota"] = "me", "99"
		for _, method := range []string{"GET", "POST"} {
			if a := e.do(call{method: method, path: shop + "?row=A", header: header}); a.status != 200 || a.body != "seats" {
				t.Errorf("%s %s: %d %s", method, name, a.status, a.body)
			}
		}
	}
	told := e.shop.of(shop)
	if len(told) != 4 {
		t.Errorf("%d requests at the shop, want 4", len(told))
	}
	for _, r := range told {
		h := r.header
		if h.Get("Waitroom-Event") != demotest.EventID || h.Get("Waitroom-Holder") != admission.HolderOf(demotest.EventID+time.Minute.String()) ||
			h.Get("Waitroom-Place") != "11" || h.Get("Waitroom-Quota") != "4" || len(h.Values("Waitroom-Holder")) != 1 {
			t.Errorf("the shop was told %v", h)
		}
		if _, err := strconv.Atoi(h.Get("Waitroom-Expires")); err != nil {
			t.Errorf("the pass ends at %q", h.Get("Waitroom-Expires"))
		}
	}
}

// One pass is checked once in five seconds, however often it comes; what is
// kept of one is nobody else's; and none opens anything after its end.
func TestAPassIsKeptByItselfAndNotPastItsEnd(t *testing.T) {
	e := open(t, demo.Build{}, nil)
	const verify = "/v1/verify"
	many := map[string]string{"Authorization": "Bearer " + e.sign(demotest.EventID, time.Minute)}
	begun := time.Now()
	for i := range 50 {
		if a := e.do(call{path: shop, header: many}); a.status != 200 {
			t.Fatalf("request %d: %d", i, a.status)
		}
	}
	if n, most := len(e.origin.of(verify)), 1+int(time.Since(begun)/(5*time.Second)); n < 1 || n > most {
		t.Errorf("50 requests with one pass: %d checks, want at most %d", n, most)
	}
	ends := time.Now().Truncate(time.Second).Add(3 * time.Second)
	short := map[string]string{"Authorization": "Bearer " + e.sign(demotest.EventID, 3*time.Second)}
	if a := e.do(call{path: "/e/other/shop/seats", header: many}); a.status != 401 {
		t.Errorf("a pass that is kept, at another event: %d, want 401", a.status)
	}
	let := 0
	for time.Now().Before(ends.Add(2 * time.Second)) {
		asked := time.Now()
		a := e.do(call{path: shop, header: short})
		if a.status == 200 {
			let++
		}
		if a.status == 200 && !asked.Before(ends) {
			t.Fatalf("let through %s after its end", asked.Sub(ends))
		}
		pause(t, 20*time.Millisecond)
	}
	if let == 0 {
		t.Error("the short pass opened nothing")
	}
	var asking sync.WaitGroup
	for i := range 40 { // half of them good: each gets their own answer
		asking.Go(func() {
			token, want := fmt.Sprintf("forged-%d", i), 401
			if i%2 == 0 {
				token, want = e.sign(demotest.EventID, time.Duration(60+i)*time.Second), 200
			}
			for range 3 {
				if a := e.do(call{path: shop, header: map[string]string{"Authorization": "Bearer " + token}}); a.status != want {
					t.Errorf("client %d: %d, want %d", i, a.status, want)
				}
			}
		})
	}
	asking.Wait()
}
