package webtest

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"waitroom/internal/inventory"
)

// behind is a slow sale of 12 seats, 400 more held back, with so many people in
// its line that they want more than the 12.
func (w *world) behind(t *testing.T) string {
	t.Helper()
	h := standing(t, 412)
	for i := 12; i < len(h.Seats); i++ {
		h.Seats[i].HeldBack = true
	}
	return w.queue(t, h, 100)
}

const offered = "You can stay on standby"

// stays: who is behind the stock is told so, stays on standby by keyboard, has
// the same place, and is told when there is something again.
func (w *world) stays(t *testing.T) {
	t.Parallel()
	e := w.behind(t)
	b := w.tab(t)
	b.join(e)
	b.sees("the offer", "!standby.hidden && standby.innerText.includes('"+offered+"') && verdict.innerText.startsWith('The queue ahead already exceeds the remaining tickets')")
	b.sees("how far what is left goes", "reach.innerText.startsWith('What is left may do for about the first ')")
	number := ask[int](b, "Number(place.dataset.number)")
	b.tabTo("Stay on standby")
	b.key(kb.Enter)
	b.sees("it is taken", "document.readyState === 'complete' && standby.innerText.includes('You are on standby')")
	if now := ask[int](b, "Number(place.dataset.number)"); now != number {
		t.Errorf("on standby the place is %d, was %d", now, number)
	}
	if freed, err := inventory.FreeHeld(t.Context(), w.pool, e, 400); err != nil || freed != 400 {
		t.Fatal(freed, err)
	}
	ask[int](b, looksOften)
	b.within(time.Minute, "the word that there may be tickets", "standby.hidden && again.checkVisibility() && again.innerText === 'There may be tickets for you again.' && document.title.startsWith(again.innerText)")
	b.within(time.Minute, "and it is spoken", "document.getElementById('say').textContent.startsWith('There may be tickets for you again.')")
}

// staysWithoutScript: the flag is a form, and the way back too.
func (w *world) staysWithoutScript(t *testing.T) {
	t.Parallel()
	e := w.behind(t)
	b := w.tab(t).withoutScript()
	b.join(e)
	b.leave("Stay on standby")
	b.sees("it is taken", "document.body.innerText.includes('You are on standby')")
	b.leave("Check as often as before")
	b.sees("it is taken back", "document.body.innerText.includes('"+offered+"')")
	if f := w.joined(t, e); f.ticket == "" {
		t.Error("nobody else can join")
	}
}

// late opens a sale, is called, and does not come within the call window.
func (b *tab) late(t *testing.T, w *world) string {
	t.Helper()
	e := w.sale(t, stalls(t), func(e *inventory.Event) { e.CallWindow = 5 * time.Second })
	b.join(e)
	b.called()
	until(t, "the call window is over", func() bool {
		b.open("/e/" + e + "/place")
		return ask[bool](b, "!!document.querySelector('#late:not([hidden])')")
	})
	return e
}

// comesLate: a latecomer is told what that means, and gets in.
func (w *world) comesLate(t *testing.T) {
	t.Parallel()
	b := w.tab(t)
	b.late(t, w)
	b.sees("what it means", "late.innerText.startsWith('You were called a while ago. Your place is kept')")
	b.tabTo("Go in")
	b.key(kb.Enter)
	b.heading("Choose your seats")
}

// comesBackInTime: who is first at the door comes again as the server says, within
// 0.3 s after each hold; were it later, credit would run out of a slow sale's door.
func (w *world) comesBackInTime(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), func(e *inventory.Event) { *e.Rate = 0.001 })
	b := w.tab(t)
	b.join(e)
	b.called()
	// What awaits a timer gives it the browser's own function.
	ask[int](b, `(() => { const wait = setTimeout; window.waits = []; window.setTimeout = (f, ms) => { if (String(f).includes("[native code]")) waits.push(ms); return wait(f, ms) }; return 0 })()`)
	b.press("Go in")
	b.within(time.Minute, "two waits between holds", "waits.length >= 2")
	if late := ask[int](b, "waits.filter((ms) => ms > 300).length"); late > 0 {
		t.Errorf("%d waits of more than 0.3 s", late)
	}
}
