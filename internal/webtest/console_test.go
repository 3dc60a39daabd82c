package webtest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// An organiser steers a sale in the console: signs in with a key that stays in the
// tab, sets a rate that has to be meant, is told when somebody else changed it, stops
// and resumes, and sees all of it in the record. Axe finds nothing on any of its
// pages, in light and dark, wide and narrow, and nothing comes from anywhere else.
func TestConsole(t *testing.T) {
	w := open(t)
	axe := axe(t)
	key := w.key(t, organiser.Key{Organiser: organiser.House, Name: "desk", Scopes: organiser.Scopes()})
	e := w.queue(t, concertHall(t), 200)
	w.house.Public = w.house.Admin // this person is an organiser
	b := w.tab(t)

	b.open("/console")
	b.heading("Organiser’s console")
	b.typed("#key", "wrk_wrong")
	b.press("Sign in")
	b.sees("that it is no key", "document.querySelector('[role=alert]')")
	b.look("console-signin", axe)
	b.typed("#key", key)
	b.press("Sign in")
	b.sees("the events", "document.body.textContent.includes('Winter concert')")
	b.look("console-events", axe)

	b.open("/console#/e/" + e)
	b.sees("numbers of this second", "document.querySelector('.age:not(.stale)') && document.querySelectorAll('.uplot canvas').length === 6")
	b.sees("what the rate means", "document.querySelector('.meaning').textContent.includes('the last in line waits about')")
	if ask[bool](b, "document.documentElement.outerHTML.includes('"+key+"') || location.href.includes('wrk_')") {
		t.Error("the key stands in the page, or in its address")
	}
	b.typed("#rate", "2")
	b.sees("what the wish would mean", "document.querySelector('.meaning').textContent.includes('2/s')")
	b.press("Set 2/s")
	b.sees("that it has to be meant", "document.querySelector('dialog[open]')")
	b.look("console-confirm", axe)
	b.press("Yes, 2/s")
	b.sees("that it is set", "document.body.textContent.includes('Set to 2/s')")
	w.theirs(t, e, 1.5)
	b.sees("somebody else's rate", "document.body.textContent.includes('you set 1.5/s')")
	b.press("Emergency stop")
	b.sees("stopped", "document.body.textContent.includes('Stopped.')")
	b.sees("paused, with why", "document.querySelector('.standing .badge').textContent === 'Paused (organiser)'")
	b.press("Resume")
	b.sees("resumed", "document.querySelector('.standing .badge').textContent === 'Letting people in'")
	b.sees("all of it in the record", "document.querySelectorAll('section[aria-labelledby=trail-h] tbody tr').length >= 5")
	b.sees("a course", "document.querySelectorAll('.keys b').length > 10")
	b.look("console-event", axe)

	for page, sees := range map[string]string{
		"refunds": "Nothing waits for a person.", "webhooks": "Deliveries", "rehearsal": "waitctl rehearse", "new": "New event",
	} {
		b.open("/console#/" + page)
		b.sees(page, fmt.Sprintf("document.querySelector('main').textContent.includes(%q)", sees))
		b.look("console-"+page, axe)
	}
	if foreign := ask[[]string](b, "performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith(location.origin))"); len(foreign) > 0 {
		t.Errorf("asked elsewhere: %q", foreign)
	}
	b.expect("the server responded with a status of 401")
	b.expect("the server responded with a status of 409") // it has to be meant

	plain := w.tab(t).withoutScript()
	plain.open("/console")
	plain.sees("where to go without a script", "document.body.textContent.includes('These pages work without')")
}

// key is a key that the house knows by now.
func (w *world) key(t *testing.T, k organiser.Key) string {
	t.Helper()
	key, made, err := organiser.Create(t.Context(), w.pool, k)
	if err != nil || made != organiser.Done {
		t.Fatal(made, err)
	}
	until(t, "the key is known", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.house.Admin+"/v1/organiser/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close() //nolint:errcheck // read only
		return res.StatusCode != http.StatusUnauthorized
	})
	return key
}

// theirs is somebody else's rate.
func (w *world) theirs(t *testing.T, event string, rate float64) {
	t.Helper()
	w.revise(t, event, func(_ time.Time, e *inventory.Event) { e.Rate = &rate })
}

// opens has a sale that was to come open now.
func (w *world) opens(t *testing.T, event string) {
	t.Helper()
	w.revise(t, event, func(now time.Time, e *inventory.Event) { e.OpensAt = now })
}

func (w *world) revise(t *testing.T, event string, change func(time.Time, *inventory.Event)) {
	t.Helper()
	_, out, err := inventory.Revise(t.Context(), w.pool, event, inventory.Asker{By: "colleague"}, func(now time.Time, e inventory.Event) (inventory.Event, error) {
		change(now, &e)
		return e, nil
	})
	if err != nil || out != inventory.Changed {
		t.Fatal(out, err)
	}
}

// typed puts text into a field in place of what is there.
func (b *tab) typed(selector, text string) {
	b.t.Helper()
	b.do("type into "+selector, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("(() => { const f = document.querySelector(%q); f.focus(); f.select(); })()", selector)))
	b.key(text)
}
