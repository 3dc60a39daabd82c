package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"waitroom/internal/inventory"
)

// gallery is every page in every state. Each picture is looked at, in light
// and dark, wide and narrow: axe finds nothing, and nothing scrolls sideways.
// WEBTEST_SHOTS names a folder to keep the pictures in.
func (w *world) gallery(t *testing.T) {
	axe := axe(t)
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			b := w.tab(t)
			p.reach(t, w, b)
			b.look(p.name, axe)
			b.expect("the server responded with a status of 4") // a refusal says so
		})
	}
}

// axe is the accessibility checker, as pages are given it.
func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("../../tools/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is not there; make test installs it: npm ci --prefix tools: ", err)
	}
	return string(script)
}

type picture struct {
	name  string
	reach func(t *testing.T, w *world, b *tab)
}

// soon opens in an hour, slow lets one in every hundred seconds.
func soon(e *inventory.Event)      { e.OpensAt = time.Now().Add(time.Hour) }
func slow(e *inventory.Event)      { rate := 0.01; e.Rate = &rate }
func shortPass(e *inventory.Event) { e.PassLife = 10 * time.Second }
func shortPay(e *inventory.Event)  { e.PayWithin, e.PayExtension = time.Second, 0 }

var pictures = []picture{
	{"index", func(t *testing.T, w *world, b *tab) {
		w.sale(t, stalls(t), soon)
		b.open("/")
		b.heading("Events")
	}},
	{"event-open", func(t *testing.T, w *world, b *tab) {
		b.open("/e/hall")
		b.sees("the hall", "document.querySelector('#live canvas').drawn && asof.textContent")
	}},
	{"event-soon", func(t *testing.T, w *world, b *tab) {
		b.open("/e/" + w.sale(t, stalls(t), soon))
		b.sees("the count", "document.querySelector('[data-left]').textContent && asof.textContent")
	}},
	{"event-paused", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, stalls(t))
		w.set(t, e, inventory.Pause)
		b.open("/e/" + e)
		b.sees("paused", "sale.textContent.startsWith('Paused by the organiser')")
	}},
	{"event-over", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, stalls(t))
		w.set(t, e, inventory.CloseSale)
		w.state(t, e, "closed")
		b.open("/e/" + e)
		b.sees("over", "sale.textContent === 'The sale is over.'")
	}},
	{"event-exhausted", func(t *testing.T, w *world, b *tab) {
		e := w.soldOut(t)
		b.open("/e/" + e)
		b.sees("exhausted", "sale.textContent.startsWith('Everything is sold')")
	}},
	{"place-none", func(t *testing.T, w *world, b *tab) {
		b.open("/e/hall/place")
		b.heading("You are not in this line")
	}},
	{"place-waiting", func(t *testing.T, w *world, b *tab) {
		b.join(w.queue(t, stalls(t), 200))
		b.sees("it keeps itself true", "asof.textContent")
	}},
	{"place-waiting-noscript", func(t *testing.T, w *world, b *tab) {
		b.withoutScript().join(w.queue(t, concertHall(t), 200))
		b.heading("You are in the line")
	}},
	{"place-standby", func(t *testing.T, w *world, b *tab) {
		b.join(w.behind(t))
		b.press("Stay on standby")
		b.sees("it is taken", "document.body.innerText.includes('You are on standby') && asof.textContent")
	}},
	{"place-behind-noscript", func(t *testing.T, w *world, b *tab) {
		b.withoutScript().join(w.behind(t))
		b.heading("You are in the line")
	}},
	{"place-late", func(t *testing.T, w *world, b *tab) {
		b.late(t, w)
		b.sees("it keeps itself true", "asof.textContent")
	}},
	{"place-late-noscript", func(t *testing.T, w *world, b *tab) { b.withoutScript().late(t, w) }},
	{"place-soon", func(t *testing.T, w *world, b *tab) {
		b.join(w.sale(t, concertHall(t), soon))
		b.sees("it says when", "document.querySelector('#opens [data-left]').textContent && asof.textContent")
	}},
	{"place-paused", func(t *testing.T, w *world, b *tab) {
		e := w.queue(t, concertHall(t), 200)
		w.set(t, e, inventory.Pause)
		w.state(t, e, "paused")
		b.join(e)
		b.sees("paused", "document.getElementById('sale').textContent.startsWith('Paused')")
	}},
	{"event-lobby", func(t *testing.T, w *world, b *tab) {
		b.open("/e/" + w.sale(t, stalls(t), drawn(time.Hour, "drand quicknet, the first round after noon")))
		b.sees("how it is drawn", "document.getElementById('lot')")
	}},
	{"place-lobby", func(t *testing.T, w *world, b *tab) {
		b.join(w.sale(t, stalls(t), drawn(time.Hour, "drand quicknet, the first round after noon")))
		b.heading("You are in the lobby")
	}},
	{"draw-before", func(t *testing.T, w *world, b *tab) {
		b.open("/e/" + w.sale(t, stalls(t), drawn(time.Hour, "drand quicknet, the first round after noon")) + "/draw")
		b.heading("The draw")
	}},
	{"draw-done", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, stalls(t), drawn(2*time.Second, ""))
		w.joined(t, e)
		until(t, "it is drawn", func() bool {
			var doc struct{ Draw struct{ Seed *string } }
			w.api(t, "GET", "/v1/public/events/"+e+"/status", "", nil, &doc)
			return doc.Draw.Seed != nil
		})
		b.open("/e/" + e + "/draw")
		b.press("Check it here")
		b.sees("the verdict", "document.getElementById('verdict').textContent.includes('number')")
	}},
	{"place-called", func(t *testing.T, w *world, b *tab) {
		b.join(w.sale(t, concertHall(t)))
		b.heading("It is your turn")
	}},
	{"place-passed", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, concertHall(t))
		b.goIn(e)
		b.open("/e/" + e + "/place")
		b.heading("You are in")
	}},
	{"place-done", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, concertHall(t)))
		b.press("I do not want any")
		b.heading("You are in")
	}},
	{"place-ordered", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, concertHall(t))
		b.goIn(e)
		b.take("ST-A-1")
		b.open("/e/" + e + "/place")
		b.heading("You are in")
	}},
	{"place-over", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, concertHall(t), shortPass))
		b.heading("Your time to choose is over") // by itself
	}},
	{"place-left", func(t *testing.T, w *world, b *tab) {
		b.join(w.queue(t, concertHall(t), 200))
		b.press("Give my place up")
		b.heading("You gave your place up")
	}},
	{"place-sale-over", func(t *testing.T, w *world, b *tab) {
		e := w.queue(t, stalls(t), 200)
		b.join(e)
		w.set(t, e, inventory.CloseSale)
		w.state(t, e, "closed")
		b.open("/e/" + e + "/place")
		b.heading("The sale is over")
	}},
	{"seats", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, concertHall(t))
		f, g := w.inside(t, e), w.inside(t, e)
		f.claim(t, "ST-C-9", "ST-C-10", "ST-C-11", "ST-C-12")
		w.paid(t, g, g.claim(t, "ST-F-12", "ST-F-13"))
		b.goIn(e)
		b.tick("ST-D-9", "ST-D-10")
		b.sees("the map", "document.querySelector('canvas').drawn && chosen.textContent.includes('EUR')")
	}},
	{"seats-noscript", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, stalls(t))
		b.withoutScript().goIn(e)
	}},
	{"seats-refused", func(t *testing.T, w *world, b *tab) {
		e := w.sale(t, stalls(t))
		f := w.inside(t, e)
		b.withoutScript().goIn(e)
		b.tick("A-2", "A-3")
		f.claim(t, "A-3")
		b.press("Take these seats")
		b.sees("the refusal", "document.querySelector('[role=alert]')")
	}},
	{"seats-general", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, standing(t, 200)))
	}},
	{"order-pending", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, concertHall(t)))
		b.take("ST-D-9", "ST-D-10")
		b.heading("Pay for your seats")
	}},
	{"order-one", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, standing(t, 20)))
		b.do("one", chromedp.SetValue(chromedp.CSS("input[type=number]"), "1"))
		b.press("Take these seats")
		b.heading("Pay for your seat")
	}},
	{"checkout", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, stalls(t)))
		b.take("A-2", "A-3")
		b.checkout()
	}},
	{"order-returned", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, stalls(t)))
		b.take("A-2", "A-3")
		b.open(b.path() + "?redirect_status=succeeded") // anybody can write this: it pays nothing
		b.sees("it waits", "document.querySelector('#again')")
	}},
	{"order-failed", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, stalls(t)))
		b.take("A-2", "A-3")
		b.checkout()
		b.press("Decline the card")
		b.sees("it says so", "document.querySelector('.note')")
	}},
	{"order-paid", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, concertHall(t)))
		b.take("ST-D-9", "ST-D-10")
		b.pay()
	}},
	{"order-expired", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, stalls(t), shortPay))
		b.take("A-2", "A-3")
		b.heading("This order has run out") // by itself
	}},
	{"order-cancelled", func(t *testing.T, w *world, b *tab) {
		b.goIn(w.sale(t, stalls(t)))
		b.take("A-2", "A-3")
		b.press("Give these seats back")
		b.heading("This order was given back")
	}},
	{"docs", func(_ *testing.T, _ *world, b *tab) {
		b.open("/docs")
		b.heading("API")
		ask[bool](b, "[...document.querySelectorAll('details')].slice(0, 3).every(d => d.open = true)")
	}},
	{"problems", func(_ *testing.T, _ *world, b *tab) {
		b.open("/problems")
		b.press("sold_out")
		b.sees("what it means", "location.pathname === '/problems/sold_out' && document.readyState === 'complete'")
		b.look("problem-type", axe(b.t))
		b.open("/problems")
	}},
	{"problem", func(t *testing.T, w *world, b *tab) {
		b.open("/e/nowhere")
		b.heading("There is no such event")
	}},
	{"problem-lost", func(t *testing.T, w *world, b *tab) {
		b.open("/nothing/here")
		b.heading("There is nothing here")
	}},
	{"problem-order", func(t *testing.T, w *world, b *tab) {
		b.join("hall")
		b.open("/e/hall/orders/019dcd00-0000-7000-8000-000000000000")
		b.heading("There is no such order")
	}},
}

// look judges the page as it stands.
func (b *tab) look(name, axe string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, width := range []int64{1100, 360} {
			b.do("the window", chromedp.EmulateViewport(width, 800))
			if sideways := ask[int](b, "document.documentElement.scrollWidth - innerWidth"); sideways > 0 {
				b.t.Errorf("%s: %d px too wide at %d", name, sideways, width)
			}
			b.keep(fmt.Sprintf("%s-%s-%d", name, scheme, width))
		}
	}
	if b.noScript { // the judge is a script; it shall see what is shown without
		call(b, "script on", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
		ask[bool](b, `[...document.querySelectorAll(".scriptless")].every(e => (e.style.setProperty("display", "flex", "important"), true))`)
	}
	if twice := ask[[]string](b, "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)"); len(twice) > 0 {
		b.t.Errorf("%s: %q name more than one thing", name, twice)
	}
	for _, scheme := range []string{"dark", "light"} {
		b.scheme(scheme)
		b.axe(name+", "+scheme, rules[scheme], axe)
	}
}

func (b *tab) scheme(name string) {
	b.t.Helper()
	call(b, name, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// rules are those of WCAG 2.2 AA and of good practice. The dark scheme changes
// nothing but colours.
var rules = map[string]string{
	"light": `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`,
	"dark":  `["color-contrast"]`,
}

// axe judges the page.
func (b *tab) axe(name, rules, axe string) {
	b.t.Helper()
	b.do("axe", chromedp.Evaluate[chromedp.Void](axe))
	text := run(b, "axe", chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"], runOnly: `+rules+`})
		.then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary)}))))`,
		chromedp.EvalAwaitPromise))
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(text), &violations); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range violations {
		b.t.Errorf("axe on %s: %s: %s\n%v", name, v.ID, v.Help, v.Nodes)
	}
}

func (b *tab) keep(name string) {
	dir := os.Getenv("WEBTEST_SHOTS")
	if dir == "" {
		return
	}
	png := run(b, "a picture", chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
