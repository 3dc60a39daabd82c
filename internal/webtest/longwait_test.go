package webtest

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// virtual gives a page a clock of ours, an hour wrong, and a line of 1,200 that
// moves by one a second of it. What it asks for is counted.
const virtual = `(() => {
	const real = {fetch: window.fetch.bind(window), later: window.setTimeout.bind(window)};
	const v = window.virtual = {now: 0, asked: 0, cut: false, timers: [], last: 0};
	const add = (fn, ms, every) => { v.timers.push({id: ++v.last, at: v.now + Math.max(0, ms || 0), fn, every}); return v.last; };
	window.setTimeout = (fn, ms) => add(fn, ms, 0);
	window.setInterval = (fn, ms) => add(fn, ms, ms);
	window.clearTimeout = window.clearInterval = (id) => { v.timers = v.timers.filter((t) => t.id !== id); };
	performance.now = () => v.now;
	const began = Date.now();
	Date.now = () => began + 3600000 + v.now;
	window.fetch = async (url, ...rest) => {
		if (!String(url).includes("/status")) return real.fetch(url, ...rest);
		v.asked++;
		if (v.cut) throw new TypeError("Failed to fetch");
		v.base ||= await (await real.fetch(url)).json();
		const doc = {...v.base, state: "open", version: v.base.version + v.asked, front: Math.floor(v.now / 1000), rate: 1, turn: 1, turn_seen: 1000,
			as_of: new Date(began + v.now).toISOString(), opens_at: v.base.as_of, eta_s_per_100: {p50: 100, p90: 120}};
		return new Response(JSON.stringify(doc), {status: 200, headers: {ETag: '"' + v.asked + '"', "Content-Type": "application/json"}});
	};
	const settle = async () => { for (let i = 0; i < 3; i++) await new Promise((r) => real.later(r, 0)); };
	v.run = async (seconds) => {
		const end = v.now + 1000 * seconds;
		for (let quiet = false;;) {
			if (!quiet || v.timers.every((t) => t.every)) await settle();
			v.timers.sort((a, b) => a.at - b.at);
			const t = v.timers[0];
			if (!t || t.at > end) break;
			v.now = Math.max(v.now, t.at);
			quiet = t.every > 0;
			if (t.every) t.at += t.every; else v.timers.shift();
			t.fn();
		}
		v.now = end;
		return v.asked;
	};
	v.hide = (is) => {
		Object.defineProperty(document, "hidden", {value: is, configurable: true});
		document.dispatchEvent(new Event("visibilitychange"));
	};
	v.ahead = () => Number(document.querySelector("#people b").textContent.replace(/\D/g, ""));
	document.addEventListener("readystatechange", () => {
		const place = document.getElementById("place"), bar = document.getElementById("progress");
		if (document.readyState === "interactive" && place) { place.dataset.number = 1200; bar.max = 1200; bar.value = 0; }
	});
})()`

// longWait: twenty minutes in the line, by the page's own schedule, whose clock is
// an hour wrong. A hidden tab asks for nothing; a connection that is lost for five
// minutes costs nobody the place.
func (w *world) longWait(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), soon)
	b := w.tab(t)
	b.join(e)
	call(b, "a clock of ours", page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: virtual})
	b.open("/e/" + e + "/place")
	b.sees("the page asks", "window.virtual && virtual.asked === 1 && virtual.ahead() === 1200")
	runs := func(seconds string) int {
		t.Helper()
		return ask[int](b, "virtual.run("+seconds+")", chromedp.EvalAwaitPromise)
	}
	asked := runs("60")
	ask[bool](b, "(virtual.hide(true), true)")
	if hidden := runs("240"); hidden != asked {
		t.Errorf("a hidden tab asked %d times in 4 minutes", hidden-asked)
	}
	ask[bool](b, "(virtual.hide(false), true)")
	runs("1")
	if ahead := ask[int](b, "virtual.ahead()"); ahead > 1200-290 {
		t.Errorf("shown again, the tab says %d ahead, want what it is by now", ahead)
	}
	was := ask[int](b, "virtual.ahead()")
	ask[bool](b, "(virtual.cut = true)")
	runs("299")
	if ahead := ask[int](b, "virtual.ahead()"); ahead != was {
		t.Errorf("cut off, %d ahead became %d", was, ahead)
	}
	b.sees("it says so", "asof.textContent.startsWith('No answer since')")
	ask[bool](b, "(virtual.cut = false)")
	runs("600")
	if still := b.title(); still != "You are in the line" && still != "It is your turn" {
		t.Errorf("after 20 minutes the page says %q", still)
	}
	runs("10")
	b.heading("It is your turn")
	b.sees("its title", "document.title.startsWith('It is your turn')")

	b.open("/e/" + e + "/place")
	b.sees("the page asks", "window.virtual && virtual.asked === 1 && virtual.ahead() === 1200")
	whole := runs("1200")
	others := ask[int](b, "performance.getEntriesByType('resource').filter((r) => !r.name.includes('/status')).length") + 1
	t.Logf("%d requests in 20 minutes: %d of the status, %d of the page", whole+others, whole, others)
	if whole+others > 60 {
		t.Errorf("%d requests in 20 minutes, want 60 at most", whole+others)
	}
}

// light: what one waits on comes in 14 kB, styles and scripts and all.
func (w *world) light(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), soon)
	for _, language := range []string{"", "/ja"} {
		b := w.tab(t)
		b.join(e)
		b.open("/e/" + e + language + "/place")
		b.sees("it asks", "asof.textContent")
		type sizes struct{ Page, Styles, Scripts, Other float64 }
		s := ask[sizes](b, `(async () => {
			const all = performance.getEntriesByType("resource").filter((r) => !r.name.includes("/status"));
			const sum = (like) => all.filter((r) => like.test(r.name)).reduce((n, r) => n + r.encodedBodySize, 0);
			const page = performance.getEntriesByType("navigation")[0];
			return {page: page.encodedBodySize, styles: sum(/\.css$/), scripts: sum(/\.js$/), other: all.filter((r) => !/\.(css|js)$/.test(r.name)).reduce((n, r) => n + r.encodedBodySize, 0)};
		})()`, chromedp.EvalAwaitPromise)
		total := s.Page + s.Styles + s.Scripts + s.Other
		t.Logf("waiting page%s: %.0f bytes compressed (page %.0f, styles %.0f, scripts %.0f, else %.0f)", language, total, s.Page, s.Styles, s.Scripts, s.Other)
		if total > 14*1024 || s.Styles == 0 || s.Scripts == 0 {
			t.Errorf("%.0f bytes, want 14 kB at most", total)
		}
	}
}
