package webtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

func (w *world) byHand(t *testing.T) {
	t.Parallel()
	w.state(t, "hall", "open")
	b := w.tab(t)
	b.open("/")
	b.press("Winter concert")
	b.heading("Winter concert")
	b.press("Join the line")
	b.called()
	b.press("Go in")
	b.heading("Choose your seats")
	b.sees("the map", "document.querySelector('canvas').drawn")
	b.clickMap("ST-B-12")
	b.clickMap("ST-B-13")
	b.sees("two chosen", "chosen.textContent === 'Stalls, row B, seat 12; Stalls, row B, seat 13 – EUR 190.00'")
	b.press("Take these seats")
	b.heading("Pay for your seats")
	order := b.path()
	b.pay()
	b.heading("These seats are yours")
	b.sees("a code for each seat", "document.querySelectorAll('.codes svg[role=img][aria-label^=\"QR code for Stalls, row B, seat 1\"] path').length === 2")
	if b.path() != order {
		t.Errorf("paid at %s, want back at %s", b.path(), order)
	}
	b.open("/e/hall/place")
	b.press("See your order")
	b.heading("These seats are yours")
}

// clickMap clicks a seat where the map draws it.
func (b *tab) clickMap(guid string) {
	b.t.Helper()
	at := ask[[]float64](b, fmt.Sprintf(`(() => {
		const canvas = document.querySelector("canvas");
		canvas.scrollIntoView({block: "center"});
		const {event, plan} = document.querySelector(".hall").dataset;
		return fetch(`+"`/v1/public/events/${event}/seatmap.${plan}.json`"+`).then(r => r.json()).then(m => {
			for (const r of m.rows) {
				let x = 0, y = 0;
				for (let i = 0; i < (r.numbers || []).length; i++) {
					x += r.x[i]; y += r.y[i];
					if ((r.prefix || "") + r.numbers[i] !== %q) continue;
					const box = canvas.getBoundingClientRect(), k = box.width / m.box[2];
					return [box.left + (x - m.box[0]) * k, box.top + (y - m.box[1]) * k];
				}
			}
		}) })()`, guid), chromedp.EvalAwaitPromise)
	if len(at) != 2 {
		b.t.Fatalf("the map has no %s", guid)
	}
	b.do("click the seat "+guid, chromedp.MouseClickXY(at[0], at[1]))
	b.sees(guid+" is chosen", fmt.Sprintf("document.querySelector('input[value=%q]').checked", guid))
}

// byKeyboard uses Tab, Enter and Space alone. Wherever the focus goes it can be
// seen, and nothing lies over it.
func (w *world) byKeyboard(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	b := w.tab(t)
	b.open("/e/" + e)
	b.tabTo("Join the line")
	b.key(kb.Enter)
	b.heading("It is your turn")
	b.tabTo("Go in")
	b.key(kb.Enter)
	b.heading("Choose your seats")
	b.tabTo("Stalls 12 free, from EUR 80.00")
	b.key(kb.Enter)
	b.tabTo("Row B: 6 free, EUR 80.00")
	b.key(kb.Enter)
	b.tabTo("3")
	b.key(" ")
	b.tabTo("4")
	b.key(" ")
	b.tabTo("Take these seats")
	b.key(kb.Enter)
	b.heading("Pay for your seats")
	b.tabTo("Pay EUR 160.00")
	b.key(kb.Enter)
	b.heading("Pay 160.00 EUR")
	b.tabTo("Pay")
	b.key(kb.Enter)
	b.heading("These seats are yours")
	b.sees("the seats", "document.querySelector('table').innerText.includes('row B, seat 3') && document.querySelector('table').innerText.includes('row B, seat 4')")
}

// tabTo presses Tab until what has the focus reads so.
func (b *tab) tabTo(want string) {
	b.t.Helper()
	var been []string
	for range 60 {
		b.key(kb.Tab)
		got := ask[struct {
			Text    string
			Seen    bool
			Covered string
		}](b, `(() => {
			const el = document.activeElement, box = el.getBoundingClientRect(), style = getComputedStyle(el);
			const over = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
			return {
				text: ((el.type === "checkbox" ? el.parentElement : el).innerText || el.getAttribute("aria-label") || el.labels?.[0]?.innerText || "").trim().replace(/\s+/g, " "),
				seen: el === document.body || style.outlineStyle !== "none",
				covered: el === document.body || !over || el.contains(over) || over.contains(el) ? "" : over.outerHTML.slice(0, 80),
			} })()`)
		if !got.Seen || got.Covered != "" {
			b.t.Errorf("the focus on %q cannot be seen (outline %v, covered by %q)", got.Text, got.Seen, got.Covered)
		}
		if got.Text == want {
			return
		}
		been = append(been, got.Text)
	}
	b.t.Fatalf("60 times Tab do not lead to %q; they lead to %q", want, been)
}

// withoutScript buys with forms and links alone.
func (w *world) withoutScript(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	b := w.tab(t).withoutScript()
	b.goIn(e)
	b.press("Stalls")
	b.press("Row A")
	b.click("input[value='A-5']")
	b.press("Take these seats")
	b.heading("Pay for your seat")
	b.checkout()
	b.press("Pay")
	b.sees("back at the order", "location.pathname.includes('/orders/') && document.readyState === 'complete'")
	until(t, "the order is paid", func() bool {
		if b.title() == "Pay for your seat" {
			b.leave("Look again")
		}
		return b.title() == "This seat is yours"
	})
	b.sees("its code", "document.querySelectorAll('.codes svg[role=img] path').length === 1")
}

// best buys without choosing a seat: two side by side, by keyboard and without
// a script.
func (w *world) best(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	b := w.tab(t).withoutScript()
	b.goIn(e)
	b.tabTo("Take the best seats")
	b.key(kb.Enter)
	b.heading("Pay for your seats")
	b.sees("two seats side by side", "document.querySelector('table').innerText.includes('row A, seat 3') && document.querySelector('table').innerText.includes('row A, seat 4')")
}

// refused: who asks for a seat that has just gone is told which, keeps the
// other, and can go on from there.
func (w *world) refused(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		e := w.sale(t, stalls(t))
		other := w.inside(t, e)
		b := w.tab(t)
		if !script {
			b.withoutScript()
		}
		b.goIn(e)
		b.tick("A-2", "A-3")
		// The page cannot know yet: the claim is under way when the form is sent.
		b.do("no word of what is free", chromedp.Evaluate[chromedp.Void](`(() => {
			const real = window.fetch;
			window.fetch = (url, ...rest) => String(url).includes("/availability") ? Promise.reject(new TypeError("cut off")) : real(url, ...rest);
		})()`))
		other.claim(t, "A-3")
		b.press("Take these seats")
		b.sees("the refusal", `document.querySelector("[role=alert]")?.textContent.includes("Just gone: Stalls, row A, seat 3.")`)
		if ticked := ask[[]string](b, "[...document.querySelectorAll('input[name=seat]:checked')].map(b => b.value)"); len(ticked) != 1 || ticked[0] != "A-2" {
			t.Errorf("script %v: ticked are %v, want A-2", script, ticked)
		}
		if !ask[bool](b, "document.querySelector('input[value=A-2]').checkVisibility()") {
			t.Errorf("script %v: the seat that is kept cannot be seen", script)
		}
		near := ask[[]string](b, "[...document.querySelectorAll('.near input[name=seat]')].map(b => b.parentElement.innerText.trim())")
		if len(near) == 0 || !strings.HasPrefix(near[0], "Stalls, row A, seat 4") {
			t.Errorf("script %v: in its place %q are offered, want first the seat beside it", script, near)
		}
		b.click(".near input[name=seat]")
		b.press("Take these seats")
		b.heading("Pay for your seats")
		b.sees("the seat that was kept, and the one beside", "['row A, seat 2', 'row A, seat 4'].every(s => document.querySelector('table').innerText.includes(s))")
		b.expect("status of 409")
	}
}

// again: the same place, however often and in how many tabs one comes.
func (w *world) again(t *testing.T) {
	t.Parallel()
	e := w.queue(t, concertHall(t), 200)
	b := w.tab(t)
	b.join(e)
	place := func(b *tab) string {
		b.sees("a place", "document.querySelector('#place')")
		return ask[string](b, "document.querySelector('#place').dataset.number")
	}
	want := place(b)
	b.do("reload", chromedp.Reload())
	if got := place(b); got != want {
		t.Errorf("after a reload the place is %s, it was %s", got, want)
	}
	b.join(e)
	if got := place(b); got != want {
		t.Errorf("after joining again the place is %s, it was %s", got, want)
	}
	ask[bool](b, "(history.back(), true)")
	b.sees("the event", "location.pathname === '/e/"+e+"'")
	ask[bool](b, "(history.forward(), true)")
	b.sees("the place", "location.pathname === '/e/"+e+"/place'")
	if got := place(b); got != want {
		t.Errorf("after back and forward the place is %s, it was %s", got, want)
	}
	second := b.second()
	second.join(e)
	if got := place(second); got != want {
		t.Errorf("in a second tab the place is %s, it was %s", got, want)
	}
}

// back: the seats' page left by the back button leads to the order that is to
// be paid, whatever is chosen there now.
func (w *world) back(t *testing.T) {
	t.Parallel()
	b := w.tab(t)
	b.goIn(w.sale(t, stalls(t)))
	b.take("A-1")
	order := b.path()
	b.do("back", chromedp.NavigateBack())
	b.heading("Choose your seats")
	b.take("B-4")
	if b.path() != order {
		t.Errorf("led to %s, want the order %s", b.path(), order)
	}
	b.expect("status of 409")
}

// tooLate: who presses Pay when the time has run out is told so, on a page.
func (w *world) tooLate(t *testing.T) {
	t.Parallel()
	b := w.tab(t).withoutScript()
	b.goIn(w.sale(t, stalls(t), func(e *inventory.Event) { e.PayWithin, e.PayExtension = 3*time.Second, 0 }))
	b.take("A-1")
	b.heading("Pay for your seat")
	order := b.path()
	until(t, "the order has run out", func() bool {
		var status string
		err := w.pool.QueryRow(t.Context(), "SELECT status FROM orders WHERE id = $1", order[strings.LastIndex(order, "/")+1:]).Scan(&status)
		return err == nil && status == "expired"
	})
	b.press("Pay EUR 95.00")
	b.heading("This order has run out")
	if b.path() != order {
		t.Errorf("led to %s, want %s", b.path(), order)
	}
}

// paidAnew: a payment that came to nothing does not stand in the next one's way.
func (w *world) paidAnew(t *testing.T) {
	t.Parallel()
	b := w.tab(t)
	b.goIn(w.sale(t, stalls(t)))
	b.take("A-1")
	b.checkout()
	b.press("Cancel the payment")
	b.heading("Pay for your seat")
	key := "document.querySelector('input[name=key]').value"
	was := ask[string](b, key)
	until(t, "the provider's word came", func() bool {
		b.do("reload", chromedp.Reload())
		b.heading("Pay for your seat")
		return ask[string](b, key) != was || was[len(was)-1] == '1'
	})
	b.pay()
	b.heading("This seat is yours")
}

// oneTier: who fills in two prices of standing places is told to choose one, and keeps
// what was filled in; nothing is taken before.
func (w *world) oneTier(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		e := w.sale(t, families(t))
		b := w.tab(t)
		if !script {
			b.withoutScript()
		}
		b.goIn(e)
		fill := func(tier, n string) {
			ask[bool](b, fmt.Sprintf(`(() => {
				const f = document.querySelector('input[name="quantity:%s"]');
				f.value = %q;
				return f.dispatchEvent(new Event("change", {bubbles: true})) })()`, tier, n))
		}
		fill("Adult", "2")
		fill("Child", "1")
		if script {
			b.sees("no sum of both", `chosen.textContent.includes("one price at a time") && !chosen.textContent.includes("×")`)
		}
		b.press("Take these seats")
		b.sees("the refusal", `document.querySelector("[role=alert]")?.textContent.includes("one price at a time")`)
		if kept := ask[[]string](b, `[...document.querySelectorAll("#pick input[type=number]")].map(f => f.value)`); !slices.Equal(kept, []string{"2", "1"}) {
			t.Errorf("script %v: filled in are %v, want 2 and 1 as before", script, kept)
		}
		fill("Child", "0")
		if script {
			b.sees("what is chosen", `chosen.textContent.includes("2 × Adult")`)
		}
		b.press("Take these seats")
		b.heading("Pay for your seats")
		if n := w.count(t, "SELECT count(*) FROM seats WHERE event_id = '"+e+"' AND order_id IS NOT NULL AND price_tier = 'Adult'"); n != 2 {
			t.Errorf("script %v: %d places for adults are in the cart, want 2", script, n)
		}
	}
}

// families is a floor with places for adults and for children.
func families(t *testing.T) inventory.Hall {
	t.Helper()
	sold, err := seating.Sell(seating.Plan{}, seating.Offer{
		Currency: "EUR", Prices: []seating.Price{{Category: "Adult", AmountMinor: 4000}, {Category: "Child", AmountMinor: 1000}},
		Admissions: []seating.Admission{{Section: "Floor", Category: "Adult", Count: 20}, {Section: "Floor", Category: "Child", Count: 20}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept(sold)
}
