package webtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"waitroom/internal/audience"
	"waitroom/internal/crowd"
	"waitroom/internal/inventory"
)

// waits: while one waits the progress never goes back, nor does the place, and
// what is spoken is spoken politely, at most once in 30 s; then it is one's turn.
func (w *world) waits(t *testing.T) {
	t.Parallel()
	// Nobody ahead comes when called, so the front moves as call windows end.
	e := w.sale(t, concertHall(t), func(e *inventory.Event) {
		rate := 4.0
		e.Rate, e.CallWindow = &rate, 5*time.Second
	})
	for range 150 {
		w.joined(t, e)
	}
	b := w.tab(t)
	b.join(e)
	b.heading("You are in the line")
	ask[bool](b, `(() => {
		const seen = window.seen = {progress: [], ahead: [], said: []};
		const look = () => {
			seen.progress.push(progress.value / progress.max);
			seen.ahead.push(Number(document.querySelector("#people b").textContent.replace(/,/g, "")));
		};
		look();
		new MutationObserver(look).observe(document.getElementById("wait"), {subtree: true, childList: true, attributes: true, characterData: true});
		const say = document.getElementById("say");
		if (say.textContent) seen.said.push([0, say.textContent]); // since when is not known here
		new MutationObserver(() => seen.said.push([performance.now(), say.textContent])).observe(say, {childList: true, characterData: true, subtree: true});
		return say.getAttribute("aria-live") === "polite" && say.getAttribute("role") === "status" })()`)
	b.within(90*time.Second, "the turn, and the word of it", `window.seen.said.some(s => s[1].startsWith("It is your turn"))`)
	if title := b.title(); title != "It is your turn" {
		t.Errorf("the heading is %q", title)
	}
	type seen struct {
		Progress, Ahead []float64
		Said            [][2]any
	}
	s := ask[seen](b, "window.seen")
	for i := 1; i < len(s.Progress); i++ {
		if s.Progress[i] < s.Progress[i-1] || s.Ahead[i] > s.Ahead[i-1] {
			t.Errorf("back from %v (%v ahead) to %v (%v ahead)", s.Progress[i-1], s.Ahead[i-1], s.Progress[i], s.Ahead[i])
		}
	}
	for i := 1; i < len(s.Said); i++ {
		if apart := s.Said[i][0].(float64) - s.Said[i-1][0].(float64); apart < 29_900 {
			t.Errorf("%q was said %.0f ms after %q, want 30 s", s.Said[i][1], apart, s.Said[i-1][1])
		}
	}
	t.Logf("%d looks at the progress, %d announcements", len(s.Progress), len(s.Said))
}

// besideFans: the event's page shows a sale as it goes, and one can buy by hand
// among the fans.
func (w *world) besideFans(t *testing.T) {
	t.Parallel()
	e := w.sale(t, concertHall(t))
	coming, home := context.WithCancel(t.Context())
	fans := crowd.New(crowd.Config{
		URLs: []string{w.house.Public}, Event: e, Conns: 200,
		Audience: audience.Audience{
			Fans: 500, Arrive: audience.Rush(0, 5*time.Second), Share: 1, Seats: 2.5, MaxSeat: 4,
			Think: 2 * time.Second, Pay: 4 * time.Second, Seed: 1,
		},
	})
	done := make(chan error, 1)
	go func() { done <- fans.Run(coming) }()
	b := w.tab(t)
	b.open("/e/" + e)
	b.within(60*time.Second, "a good part of the hall is sold", "Number(document.querySelector('dd[data-f=sold]').textContent.replace(',', '')) > 200")
	b.keep("live-event")
	w.among(t, e)
	sum := ask[int](b, "['free','pending','sold'].reduce((n, f) => n + Number(document.querySelector(`dd[data-f=${f}]`).textContent.replace(',', '')), 0)")
	if sum != 1756 {
		t.Errorf("the page adds up to %d seats, want 1756", sum)
	}
	b.do("the window", chromedp.EmulateViewport(360, 740))
	home()
	if err := <-done; err != nil {
		t.Error(err)
	}
	var doc struct{ Seats struct{ Sold, Pending int64 } }
	until(t, "the page shows what is so", func() bool {
		w.api(t, "GET", "/v1/public/events/"+e+"/status", "", nil, &doc)
		shown := ask[[]int64](b, "['sold','pending'].map(f => Number(document.querySelector(`dd[data-f=${f}]`).textContent.replace(',', '')))")
		return shown[0] == doc.Seats.Sold && shown[1] == doc.Seats.Pending
	})
}

// begins: what everybody presses when the sale begins does not move then, and
// the page is not taken from under the finger.
func (w *world) begins(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), func(e *inventory.Event) { e.OpensAt = time.Now().Add(14 * time.Second) })
	b := w.tab(t)
	b.open("/e/" + e)
	where := "[window.mine = window.mine || Math.random(), document.querySelector('#join button').getBoundingClientRect().top]"
	b.sees("the sale is to come", "sale.textContent === 'The sale has not begun yet.' && !document.getElementById('opens').hidden")
	before := ask[[]float64](b, where)
	b.sees("it has begun", "sale.textContent === 'The sale is open.' && document.getElementById('opens').hidden")
	if after := ask[[]float64](b, where); !slices.Equal(before, after) {
		t.Errorf("page and button were %v, are %v", before, after)
	}
}

// among buys what is free, while fans take one seat after the other.
func (w *world) among(t *testing.T, event string) {
	b := w.tab(t)
	b.do("the window", chromedp.EmulateViewport(820, 900))
	b.goIn(event)
	b.sees("the map", "document.querySelector('canvas').drawn")
	until(t, "two seats are ours", func() bool {
		if strings.Contains(b.path(), "/orders/") {
			return true
		}
		ask[bool](b, `(() => {
			const free = [...document.querySelectorAll("input[name=seat]:enabled")], at = Math.floor(free.length / 2);
			for (const box of document.querySelectorAll("input[name=seat]:checked")) box.click();
			free.slice(at, at + 2).forEach(box => box.click());
			scrollTo(0, 0);
			return true })()`)
		b.keep("live-seats")
		b.leave("Take these seats")
		return false
	})
	b.pay()
	b.expect("status of 409") // some of them were gone
}

// comesBack: a seat that is given back gets its box beside the list, without a
// reload; one that goes loses its.
func (w *world) comesBack(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	f := w.inside(t, e)
	order := f.claim(t, "A-3")
	until(t, "the seat is seen to be taken", func() bool { return w.free(t, e) == 11 })
	b := w.tab(t)
	b.goIn(e)
	if ask[bool](b, "!!document.querySelector('input[value=A-3]')") {
		t.Error("a seat in a cart is offered")
	}
	f.cancel(t, order)
	b.sees("the seat is back", "document.querySelector('#back:not([hidden]) input[value=A-3]:not(:disabled)')")
	b.click("#back input")
	w.inside(t, e).claim(t, "A-3")
	b.sees("it is gone again, and said so", "document.querySelector('#back input').disabled && chosen.textContent.includes('Stalls, row A, seat 3 has just gone')")
}
