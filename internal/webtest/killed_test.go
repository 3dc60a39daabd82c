package webtest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/process"
)

// TestMain lets a test run the waiting room as a process of its own, which can be
// killed: the house starts it by "process waitroom", and sets it by its environment.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "process" {
		os.Args = os.Args[:1]
		var c daemon.WaitroomConfig
		process.Parse(&c, "waitroom", "The waiting room of a test.")
		if err := daemon.Waitroom(process.Signals(context.Background()), c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// looksOften has a page ask at twice a second, as if it were shown anew each time: by
// its own schedule it would be a minute.
const looksOften = "setInterval(() => document.dispatchEvent(new Event('visibilitychange')), 500)"

// A fan waits while the server is killed: the page says that nobody answers, keeps
// what it showed, and goes on by itself when the server is back; the place is the same,
// also in a page that is loaded anew, and it is let in.
func TestTheServerIsKilledWhileAFanWaits(t *testing.T) {
	path := browserPath(t)
	w := &world{}
	w.openHouse(t, 1)
	w.openBrowser(t, path)
	e := w.sale(t, stalls(t), soon)
	for range 3 {
		w.joined(t, e)
	}
	b := w.tab(t)
	b.join(e)
	ask[int](b, looksOften)
	const shown = "[place.dataset.number, document.querySelector('#people b').textContent].join()"
	b.sees("it asks", "asof.textContent.startsWith('As of')")
	was := ask[string](b, shown)

	room := w.house.Programs()[0]
	if err := room.Kill(); err != nil {
		t.Fatal(err)
	}
	b.sees("that nobody answers", "asof.textContent.startsWith('No answer since') && asof.textContent.includes('Places are kept')")
	if now := ask[string](b, shown); now != was || b.title() != "You are in the line" {
		t.Errorf("cut off, place and people ahead are %s on %q, were %s", now, b.title(), was)
	}
	if err := room.Start(); err != nil {
		t.Fatal(err)
	}
	if err := room.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.within(time.Minute, "it goes on by itself", "asof.textContent.startsWith('As of')")
	b.open("/e/" + e + "/place")
	b.heading("You are in the line")
	if now := ask[string](b, shown); now != was {
		t.Errorf("after the server was killed place and people ahead are %s, were %s", now, was)
	}
	ask[int](b, looksOften)
	w.opens(t, e)
	b.within(time.Minute, "the turn", "document.querySelector('h1').textContent === 'It is your turn'")
	b.press("Go in")
	b.heading("Choose your seats")
	b.expect("net::ERR_") // nobody was there
	b.expect("status of 5")
}
