package webtest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/google/uuid"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
	"waitroom/internal/payprov"
)

// sounds: a page is silent unless its reader asked for the sound, which is tried once
// then, and heard when the turn comes.
func (w *world) sounds(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), soon)
	silent := w.tab(t)
	silent.join(e)
	loud := w.tab(t)
	loud.join(e)
	for _, b := range []*tab{silent, loud} {
		call(b, "tones are counted", page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			window.tones = 0;
			const made = AudioContext.prototype.createOscillator;
			AudioContext.prototype.createOscillator = function () { window.tones++; return made.call(this); };
			AudioContext.prototype.resume = () => Promise.resolve();`})
		b.open("/e/" + e + "/place")
		b.sees("the box, empty", "!sound.checked && asof.textContent")
	}
	loud.click("#sound")
	loud.sees("it is tried once", "sound.checked && tones === 2")
	w.opens(t, e)
	for b, tones := range map[*tab]int{silent: 0, loud: 4} {
		ask[int](b, looksOften)
		b.heading("It is your turn")
		if got := ask[int](b, "tones"); got != tones {
			t.Errorf("%d tones are made, want %d", got, tones)
		}
	}
}

// comesBy: whoever is called is told for how long that is in time, as it happens and on a
// page that is loaded anew, until it is over.
func (w *world) comesBy(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), soon, func(e *inventory.Event) { e.CallWindow = 30 * time.Second })
	b := w.tab(t)
	b.join(e)
	ask[int](b, looksOften)
	w.opens(t, e)
	b.heading("It is your turn")
	const told = "come.checkVisibility() && /^You are in time until \\d\\d:\\d\\d \\(0:[0-3]\\d left\\)\\. Whoever comes later keeps the place/.test(come.textContent)"
	b.sees("until when", told)
	b.open("/e/" + e + "/place")
	b.heading("It is your turn")
	b.sees("until when, loaded anew", told)
	b.within(time.Minute, "that it is over", "come.hidden")
}

// secondWave: everything is in carts; who waits is told when some of it comes back, and
// gets in.
func (w *world) secondWave(t *testing.T) {
	t.Parallel()
	e := w.sale(t, standing(t, 2), func(e *inventory.Event) { e.CallWindow = 5 * time.Second })
	f := w.inside(t, e)
	var answer struct{ Order struct{ ID string } }
	if status := w.api(t, "POST", "/v1/events/"+e+"/orders", f.pass, map[string]any{"tier": "Standing", "quantity": 2}, &answer); status != 201 {
		t.Fatalf("claim: %d", status)
	}
	w.state(t, e, "exhausted")
	w.theirs(t, e, 0.01)
	w.crowd(t, e, 60)
	b := w.tab(t)
	b.join(e)
	ask[int](b, looksOften)
	b.sees("that everything is in carts", "wave.hidden && document.getElementById('sale').textContent.startsWith('Everything is sold or in carts')")
	f.cancel(t, answer.Order.ID)
	b.sees("that tickets came back", "wave.checkVisibility() && wave.textContent === 'Tickets came back, and the line goes on.' && document.getElementById('sale').hidden")
	w.theirs(t, e, 50)
	b.within(time.Minute, "the turn", "document.querySelector('h1').textContent === 'It is your turn'")
}

// extends: two minutes before the end the order's page warns, and says what going on to
// pay adds; it adds it once, and then the page says so no more.
func (w *world) extends(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), func(e *inventory.Event) { e.PayWithin, e.PayExtension = 2*time.Minute+10*time.Second, 5*time.Minute })
	b := w.tab(t)
	b.goIn(e)
	b.take("A-1")
	b.heading("Pay for your seat")
	until := "Date.parse(document.querySelector('#order time').dateTime)"
	order, before := b.path(), ask[float64](b, until)
	b.sees("what going on to pay adds", "document.querySelector('#order').innerText.includes('Once you go on to pay, you have at least 5 minutes from then.')")
	b.sees("the warning", "warn.checkVisibility() && warn.textContent.includes('If you go on to pay now, you have at least 5 minutes from then.')")
	b.checkout()
	b.open(order)
	b.heading("Pay for your seat")
	if after := ask[float64](b, until); after < before+120_000 {
		t.Errorf("going on to pay moved the end by %.0f s, want two minutes at least", (after-before)/1000)
	}
	if ask[bool](b, "document.querySelector('#order').innerText.includes('at least 5 minutes')") {
		t.Error("the page offers more time again, which there is not")
	}
}

// refundUnknown: the provider answers a refund with nothing that can be understood. The
// order's page says that we are finding out, never that it failed; the seats' codes are
// on paper what they are on the page.
func (w *world) refundUnknown(t *testing.T) {
	t.Parallel()
	b := w.tab(t)
	b.goIn(w.sale(t, stalls(t)))
	b.take("A-1")
	b.pay()
	b.heading("This seat is yours")
	call(b, "paper", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.sees("the code and the seat, and nothing to press", `document.querySelector(".codes svg").checkVisibility() && document.querySelector("table").checkVisibility() &&
		[...document.querySelectorAll("button, header, footer, summary")].every(e => !e.checkVisibility())`)
	call(b, "the screen", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})

	order := uuid.MustParse(b.path()[strings.LastIndex(b.path(), "/")+1:])
	var account string
	if err := w.pool.QueryRow(t.Context(), "SELECT account FROM orders WHERE id = $1", order).Scan(&account); err != nil {
		t.Fatal(err)
	}
	lost := payprov.Script{Path: "/v1/refunds", Operation: "refund:" + order.String() + ":*", Times: 100, Say: payprov.RST}
	if err := w.house.Provider.Play(lost); err != nil {
		t.Fatal(err)
	}
	key := w.key(t, organiser.Key{Organiser: organiser.House, Name: "refunds", Scopes: []organiser.Scope{organiser.RefundsWrite, organiser.LineRead}})
	until(t, "the refund is asked for", func() bool {
		return send(t, "POST", w.house.Admin+"/v1/orders/"+order.String()+"/refunds", key, map[string]any{"line": "A-1", "customer": account}, nil) == 202
	})
	until(t, "it is not known", func() bool {
		var status string
		err := w.pool.QueryRow(t.Context(), "SELECT status FROM refund_operations WHERE order_id = $1", order).Scan(&status)
		return err == nil && status == "unknown"
	})
	b.open(b.path())
	b.sees("that we are finding out", "document.querySelector('.refund.soon').textContent === 'We do not know yet whether your refund of EUR 95.00 has gone through: we are finding out. You need do nothing, and should not ask twice.'")
	b.keep("order-refund-unknown")
}
