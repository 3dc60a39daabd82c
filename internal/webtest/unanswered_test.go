package webtest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// unanswered: a cache that goes on with its last copy, and one that has none left,
// is believed for half a minute; then the page says that the sale is paused, until
// somebody answers again. A browser that is cut off itself says nothing of the sale.
func (w *world) unanswered(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	const open, paused = "sale.textContent === 'The sale is open.'", "sale.textContent.startsWith('Paused for a moment') && sale.className === 'badge paused'"
	b := w.tab(t)
	b.open("/e/" + e)
	b.sees("the sale", open)
	b.do("a cache that stands between", chromedp.Evaluate[chromedp.Void](`(() => {
		const real = window.fetch, now = Date.now.bind(Date);
		let ahead = 0, last = null, how = "answered";
		Date.now = () => now() + ahead;
		window.edge = (is, later = 0) => { how = is; ahead += later; window.asked = 0; };
		window.fetch = async (url, ...rest) => {
			if (!String(url).includes("/status")) return real(url, ...rest);
			window.asked++;
			if (how === "cut off") throw new TypeError("Failed to fetch");
			if (how === "gone") return new Response("", { status: 502 });
			if (how === "stale" && last) return new Response(last, { headers: { ETag: '"old"', "Content-Type": "application/json" } });
			const res = await real(url);
			if (res.status === 200) last = await res.clone().text();
			return res;
		};
		window.edge("answered");
	})()`))
	b.sees("an answer through it", "window.asked > 1")
	for _, how := range []string{"stale", "gone"} {
		b.do(how+" for a moment", chromedp.Evaluate[chromedp.Void](`window.edge("`+how+`")`))
		b.sees("such an answer, and the sale is open still", "window.asked > 1 && "+open)
		b.do(how+" for half a minute", chromedp.Evaluate[chromedp.Void](`window.edge("`+how+`", 31000)`))
		b.sees("the sale is paused", paused)
		b.do("an answer", chromedp.Evaluate[chromedp.Void](`window.edge("answered")`))
		b.sees("the sale is open again", open)
	}
	b.do("cut off", chromedp.Evaluate[chromedp.Void](`window.edge("cut off", 31000)`))
	b.sees("nobody answers, and the sale is not said to be paused", "document.getElementById('asof').textContent.startsWith('No answer since') && "+open)
}
