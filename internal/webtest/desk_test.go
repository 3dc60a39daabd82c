package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"waitroom/internal/audience"
	"waitroom/internal/organiser"
	"waitroom/internal/rehearsal"
	"waitroom/internal/seating"
)

// desk is an organiser's browser, which knows the key: what the console does, as one
// person does it.
func (w *world) desk(t *testing.T) *tab {
	t.Helper()
	key := w.key(t, organiser.Key{Organiser: organiser.House, Name: "desk", Scopes: organiser.Scopes()})
	w.house.Public = w.house.Admin // this person is an organiser
	b := w.tab(t)
	b.open("/console")
	b.tabTo("Your key")
	b.key(key + kb.Enter)
	b.sees("the events", "document.querySelector('.events')")
	return b
}

// upload chooses a file of this machine.
func (b *tab) upload(selector, name string, text []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.do("choose "+name, chromedp.SetUploadFiles(chromedp.CSS(selector), []string{file}))
}

// A sale is steered by the keyboard alone, and wherever the focus goes it is seen. On
// paper there is nothing to press. What is known grows old before the eyes: it is grey,
// and says so, until there are numbers again.
func TestConsoleByKeyboardOnPaperAndStale(t *testing.T) {
	w := open(t)
	w.queue(t, concertHall(t), 100)
	b := w.desk(t)
	b.tabTo("Evening of songs")
	b.key(kb.Enter)
	b.sees("its numbers", "document.querySelector('.age:not(.stale)') && document.querySelector('.figures')")
	b.tabTo("People let in a second")
	b.key(kb.Delete) // the field is chosen whole
	ask[bool](b, "(document.activeElement.select(), true)")
	b.key("0.02")
	b.tabTo("Set 0.02/s")
	b.key(kb.Enter)
	b.sees("it is set, or has to be meant", "document.querySelector('dialog[open]') || document.body.textContent.includes('Set to 0.02/s')")
	if ask[bool](b, "!!document.querySelector('dialog[open]')") {
		b.tabTo("Yes, 0.02/s")
		b.key(kb.Enter)
	}
	b.sees("it is set", "document.body.textContent.includes('Set to 0.02/s')")
	b.tabTo("Emergency stop")
	b.key(kb.Enter)
	b.sees("stopped", "document.body.textContent.includes('Stopped.')")
	if n := w.count(t, "SELECT count(*) FROM events WHERE control = 'paused'"); n != 1 {
		t.Errorf("%d sales are paused, want the one", n)
	}

	call(b, "paper", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.sees("the figures and the charts, and nothing to press", `document.querySelector(".figures").checkVisibility() && document.querySelector(".chart").checkVisibility() &&
		[...document.querySelectorAll("header, button, input[type=range], summary")].every(e => !e.checkVisibility())`)
	call(b, "the screen", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})

	const grey = "getComputedStyle(document.querySelector('.known .figures dd')).color"
	fresh := ask[string](b, grey)
	b.do("nobody answers", chromedp.Evaluate[chromedp.Void](`(() => {
		const real = window.fetch;
		window.heard = () => { window.fetch = real; };
		window.fetch = () => Promise.reject(new TypeError("cut off"));
	})()`))
	b.sees("that they are old", "document.querySelector('.known.stale') && document.querySelector('.age.stale')?.textContent.startsWith('Stale: these numbers are')")
	if now := ask[string](b, grey); now == fresh {
		t.Errorf("old numbers are %s, as new ones are", now)
	}
	b.keep("console-stale")
	b.do("somebody answers", chromedp.Evaluate[chromedp.Void]("window.heard()"))
	b.sees("that they are of now", "!document.querySelector('.known.stale') && document.querySelector('.age:not(.stale)')")
	b.expect("status of 409") // a rate has to be meant
}

// An event is made in the console: its plan is read, shown and priced, then it is sold;
// a flaw is named by its line. Another plan takes the hall's place while nobody bought.
func TestConsoleMakesAnEvent(t *testing.T) {
	w := open(t)
	b := w.desk(t)
	b.open("/console#/new")
	b.heading("New event")
	plan := func(rows ...string) []byte {
		text := "guid,section,row,number,x,y,category\n"
		for r, row := range rows {
			for i := range 4 {
				text += fmt.Sprintf("%s-%d,Stalls,%s,%d,%d,%d,Front\n", row, i+1, row, i+1, 26*i, 30*r)
			}
		}
		return []byte(text)
	}
	b.upload("#plan", "broken.csv", []byte("guid,section,row,number,x,y,category\nA-1,Stalls,A,1,zero,0,Front\n"))
	b.sees("where it is wrong", "document.querySelector('[role=alert]')?.textContent.includes('broken.csv:2')")
	b.upload("#plan", "small.csv", plan("A"))
	b.sees("the hall", "document.querySelector('.priced canvas') && document.querySelector('.priced').textContent.includes('4 seats in 1 section')")
	b.typed("#title", "Spring recital")
	b.typed("#id", "recital")
	b.typed("#price-0", "24.50")
	b.press("Create the event")
	b.sees("the event", "location.hash === '#/e/recital' && document.querySelector('h1').textContent === 'Spring recital' && document.querySelector('.age:not(.stale)')")
	b.press("Seating plan")
	b.upload("#import", "larger.csv", plan("A", "B"))
	b.sees("the other hall", "document.querySelector('.priced').textContent.includes('8 seats')")
	b.click("details.panel input[type=checkbox]")
	b.press("Import this plan")
	b.sees("it is imported", "document.querySelector('details.panel').textContent.includes('8 seats are imported')")
	b.keep("console-imported")
	if n := w.count(t, "SELECT count(*) FROM seats WHERE event_id = 'recital'"); n != 8 {
		t.Errorf("%d seats are on sale, want those of the other hall", n)
	}
	b.expect("the server responded with a status of 4") // the broken plan
}

// A rehearsal's report, as waitctl writes it, is drawn, from this machine alone; a file
// that is none is refused by its name.
func TestConsoleDrawsARehearsal(t *testing.T) {
	w := open(t)
	axe := axe(t)
	setting := rehearsal.Of(seating.EventFile{
		ID: "gala", Title: "Gala", Rate: 20, OpensAt: time.Now(), OrderLimit: 4, PassQuota: 4, AccountLimit: 4, LineCap: 10_000, PassLife: 10 * time.Minute, PayWithin: 10 * time.Minute, CallWindow: 2 * time.Minute, StockSlack: 0.5,
	}, 300, audience.Audience{Fans: 1000, Arrive: audience.Rush(0, 30*time.Second), Share: 0.5, Seats: 2, Think: 20 * time.Second, Browse: 10 * time.Second, Pay: 30 * time.Second, Seed: 1})
	report, err := rehearsal.Run(t.Context(), setting)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	b := w.desk(t)
	b.open("/console#/rehearsal")
	b.heading("Rehearsal")
	b.upload("#report", "holiday.json", []byte(`{"photos": 12}`))
	b.sees("that it is none", "document.querySelector('[role=alert]')?.textContent.startsWith('holiday.json is no report')")
	b.upload("#report", "rehearsal.json", text)
	b.sees("what became of it", fmt.Sprintf("document.querySelector('h2').textContent.startsWith('Gala: 300 seats, 1,000 people') && document.querySelector('.figures').textContent.includes('Sold%d')", report.Sold))
	b.sees("its course", "document.querySelectorAll('.uplot canvas').length === 4 && [...document.querySelectorAll('.uplot canvas')].every(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v))")
	b.look("console-rehearsed", axe)
	if asked := ask[[]string](b, "performance.getEntriesByType('resource').map(r => r.name).filter(n => n.includes('rehears'))"); len(asked) > 0 {
		t.Errorf("the report was told to %s", strings.Join(asked, ", "))
	}
}
