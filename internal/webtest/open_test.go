package webtest

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"waitroom/internal/inventory"
)

// noLine sells an event to whoever comes.
func noLine(e *inventory.Event) {
	e.Rate, e.Admission, e.Gate = nil, inventory.OpenAll, inventory.GateOff
}

// openByKeyboard: where there is no line, the event's page leads straight to the
// seats, and they are bought by Tab, Enter and Space alone.
func (w *world) openByKeyboard(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), noLine)
	b := w.tab(t)
	b.open("/e/" + e)
	b.sees("no line", "!document.body.innerText.includes('Join the line') && !document.getElementById('line-h')")
	b.tabTo("Choose your seats")
	b.key(kb.Enter)
	b.heading("Choose your seats")
	b.sees("how many", "document.body.innerText.includes('Up to 4 seats. Nothing is yours') && !document.body.innerText.includes('I do not want any')")
	b.tabTo("Stalls 12 free, from EUR 80.00")
	b.key(kb.Enter)
	b.tabTo("Row B: 6 free, EUR 80.00")
	b.key(kb.Enter)
	b.tabTo("3")
	b.key(" ")
	b.tabTo("Take these seats")
	b.key(kb.Enter)
	b.heading("Pay for your seat")
	b.tabTo("Pay EUR 80.00")
	b.key(kb.Enter)
	b.heading("Pay 80.00 EUR")
	b.tabTo("Pay")
	b.key(kb.Enter)
	b.heading("This seat is yours")
	b.open("/e/" + e)
	b.press("See your orders")
	b.press("See your order")
	b.heading("This seat is yours")
}

// openWithoutScript: the same by forms and links; and before it begins nothing is
// taken, and that is said.
func (w *world) openWithoutScript(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), noLine)
	b := w.tab(t).withoutScript()
	b.open("/e/" + e)
	b.leave("Choose your seats")
	b.press("Stalls")
	b.press("Row A")
	b.click("input[value='A-5']")
	b.press("Take these seats")
	b.heading("Pay for your seat")
	early := w.sale(t, stalls(t), noLine, func(e *inventory.Event) { e.OpensAt = time.Now().Add(time.Hour) })
	b.open("/e/" + early)
	b.sees("when it begins", "document.body.innerText.includes('There is no line: seats can be taken from then on.')")
	b.leave("Choose your seats")
	b.press("Stalls")
	b.press("Row A")
	b.click("input[value='A-5']")
	b.leave("Take these seats")
	b.expect("status of 409")
	b.sees("that it is not open", "document.querySelector('[role=alert]').innerText.startsWith('The sale is not open yet')")
}
