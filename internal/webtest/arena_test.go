package webtest

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"waitroom/examples"
	"waitroom/internal/inventory"
)

func arenaHall(t *testing.T) inventory.Hall {
	t.Helper()
	data, err := examples.Arena()
	if err != nil {
		t.Fatal(err)
	}
	return hall(t, data, nil)
}

// arena: of 20,560 seats one is chosen by keyboard on the map, and one from the
// list, whose sections are fetched as they are opened; without a script as well.
// What it costs is printed: the page, its first picture, and a picture while it is
// moved.
func (w *world) arena(t *testing.T) {
	t.Parallel()
	e := w.sale(t, arenaHall(t))
	b := w.tab(t)
	b.do("a phone", chromedp.EmulateViewport(360, 740))
	b.goIn(e)
	b.sees("the map", "document.querySelector('canvas').drawn")
	type figures struct {
		Page, Map, First, Frame, Near float64
		Seats, Boxes                  int
	}
	f := ask[figures](b, `(() => {
		const page = performance.getEntriesByType("navigation")[0], hall = document.querySelector(".hall").hall;
		const map = performance.getEntriesByType("resource").find((r) => r.name.includes("seatmap"));
		const frame = () => {
			const times = [];
			for (let i = 0; i < 15; i++) {
				const began = performance.now();
				hall.draw();
				document.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1); // it is painted by then
				times.push(performance.now() - began);
			}
			return times.sort((a, b) => a - b)[7];
		};
		const far = frame();
		hall.enlarge(4);
		const near = frame();
		hall.enlarge(0.01);
		return {page: page.encodedBodySize, map: map.encodedBodySize, first: document.querySelector("canvas").drawn - page.responseEnd, frame: far, near,
			seats: hall.seats.length, boxes: document.querySelectorAll("input[name=seat]").length} })()`)
	t.Logf("BENCH seat map: %d seats: page %.0f bytes, map %.0f; first picture %.0f ms after the page, a frame of all %.1f ms, of a quarter's width %.1f ms",
		f.Seats, f.Page, f.Map, f.First, f.Frame, f.Near)
	if f.Seats != 20560 || f.Boxes != 0 || f.Page > 20_000 {
		t.Errorf("%d seats, %d boxes, %.0f bytes; want 20560, 0 and 20,000 at most", f.Seats, f.Boxes, f.Page)
	}
	b.expect("willReadFrequently")
	if sideways := ask[int](b, "document.documentElement.scrollWidth - innerWidth"); sideways > 0 {
		t.Errorf("%d px too wide", sideways)
	}
	b.tabTo("Map of the hall")
	b.key(kb.ArrowRight)
	b.sees("a seat is said", "document.querySelector('.tip').textContent.includes(': free')")
	first := ask[string](b, "document.querySelector('.tip').textContent")
	b.key(kb.ArrowRight)
	b.sees("another one", "document.querySelector('.tip').textContent !== "+strconv.Quote(first))
	b.key(" ")
	b.sees("it is chosen", "document.querySelectorAll('#picked input:checked').length === 1 && chosen.textContent.includes('EUR')")
	b.press("Block 105")
	b.sees("its rows", "document.querySelectorAll('details[open] > details').length > 3")
	b.keep("arena-360")
	ask[bool](b, "(document.querySelector('details > details input[name=seat]:not(:disabled)').click(), true)")
	b.sees("two are chosen", "chosen.textContent.includes(';')")
	b.press("Take these seats")
	b.heading("Pay for your seats")

	c := w.tab(t).withoutScript()
	c.goIn(e)
	c.press("Block 105")
	c.leave("Show these seats")
	c.sees("its rows", "document.querySelectorAll('details[open] > details input[name=seat]').length > 100")
	c.press("Row")
	c.click("details[open] input[name=seat]")
	c.press("Take these seats")
	c.heading("Pay for your seat")
}
