package webtest

import (
	"testing"
	"time"

	"waitroom/internal/inventory"
)

// leftElsewhere: whoever gives a place up in one tab is told so in every other,
// by itself; and whoever then joins again has one in all of them, also by the
// browser's way back.
func (w *world) leftElsewhere(t *testing.T) {
	t.Parallel()
	e := w.behind(t)
	b := w.tab(t)
	b.join(e)
	other := b.second()
	other.open("/e/" + e + "/place")
	other.sees("the same place", "document.readyState === 'complete' && document.getElementById('place')")
	const gone = "document.readyState === 'complete' && document.querySelector('h1').textContent === 'You gave your place up' && !document.getElementById('place')"
	b.leave("Give my place up")
	b.sees("that it is given up", gone)
	other.sees("that it is given up", gone)
	b.open("/e/" + e + "/place")
	b.sees("that it is given up, loaded anew", gone)
	b.leave("Join the line again")
	b.sees("a place", "document.readyState === 'complete' && document.getElementById('place')")
	other.open("/e/" + e + "/place")
	other.sees("it too", "document.readyState === 'complete' && document.getElementById('place')")
	ask[bool](b, "history.back() === undefined")
	b.sees("it by the way back", "document.readyState === 'complete' && document.getElementById('place')")
}

// overElsewhere: of two tabs whose turn it is, one goes in, and its pass runs out;
// who then goes in by the other is told that, and may join again.
func (w *world) overElsewhere(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), func(e *inventory.Event) { e.PassLife = 10 * time.Second })
	const turn = "document.readyState === 'complete' && document.querySelector('h1').textContent === 'It is your turn'"
	b := w.tab(t)
	b.open("/e/" + e)
	b.leave("Join")
	b.sees("the turn", turn)
	other := b.second()
	other.open("/e/" + e + "/place")
	other.sees("the turn", turn)
	b.press("Go in")
	b.sees("that the pass ran out", "location.pathname.endsWith('/place') && !document.getElementById('place')")
	b.expect("status of 401") // its last sign of life may have come just then
	other.press("Go in")
	other.sees("that it ran out", "document.readyState === 'complete' && !document.getElementById('place') && [...document.querySelectorAll('button')].some((b) => b.textContent.startsWith('Join'))")
}
