package webtest

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"waitroom/internal/draw"
	"waitroom/internal/inventory"
)

// drawn is a sale with a lobby that closes so long from now, and opens an hour
// later.
func drawn(closes time.Duration, beacon string) func(*inventory.Event) {
	return func(e *inventory.Event) {
		now := time.Now()
		e.OpensAt = now.Add(closes + time.Hour)
		e.Draw = &inventory.Draw{LobbyOpensAt: now.Add(-time.Second), LobbyClosesAt: now.Add(closes), Beacon: beacon}
	}
}

// lobby: who looks on while the lobby is drawn is shown the number by itself,
// and the browser works out the same one from what was published.
func (w *world) lobby(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), drawn(12*time.Second, "the weather at noon"))
	for range 9 {
		w.joined(t, e)
	}
	b := w.tab(t)
	b.join(e)
	b.heading("You are in the lobby")
	index := ask[int](b, "Number(document.querySelector('#lobby b').textContent)")
	until(t, "the lobby has closed", func() bool {
		change, err := inventory.SetBeacon(t.Context(), w.pool, e, "fair, 12 °C")
		if err != nil {
			t.Fatal(err)
		}
		return change == inventory.Changed
	})
	b.within(30*time.Second, "the number", "document.querySelector('h1').textContent.trim() === 'You are in the line'")

	var doc struct {
		Draw struct {
			Seed, Value string
			Count       int64
		}
	}
	w.api(t, "GET", "/v1/public/events/"+e+"/status", "", nil, &doc)
	var seed draw.Seed
	if _, err := hex.Decode(seed[:], []byte(doc.Draw.Seed)); err != nil {
		t.Fatal(err)
	}
	want := draw.New(seed.Mix("fair, 12 °C"), doc.Draw.Count).Number(int64(index))
	if got := ask[int](b, "Number(document.getElementById('place').dataset.number)"); int64(got) != want || doc.Draw.Count != 10 {
		t.Errorf("index %d of %d is shown number %d, want %d of 10", index, doc.Draw.Count, got, want)
	}
	b.open("/e/" + e + "/draw")
	b.do("the index", chromedp.SetValue(chromedp.CSS("#index"), fmt.Sprint(index)))
	b.press("Check it here")
	b.sees("the same number", fmt.Sprintf("document.getElementById('verdict').textContent.includes('Index %d has number %d,')", index, want))
}
