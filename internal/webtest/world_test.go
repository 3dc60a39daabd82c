package webtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/examples"
	"waitroom/internal/demo"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/seating"
)

// world is a house with a browser in front of it. Each test makes events and
// tabs of its own in it.
type world struct {
	house   *demo.House
	pool    *pgxpool.Pool
	browser context.Context
	sales   atomic.Int64

	creating sync.Mutex
}

// browserPath finds Chromium, or says why nothing can be tested.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser on this machine: apt-get install -y chromium, or make test, which does so")
	return ""
}

func open(t *testing.T) *world {
	path := browserPath(t)
	w := &world{}
	w.openHouse(t, 0)
	w.openBrowser(t, path)
	return w
}

// openHouse opens it with so many waiting rooms that are processes of their own; 0: one,
// in this process.
func (w *world) openHouse(t *testing.T, replicas int) {
	logs, err := os.Create(filepath.Join(t.TempDir(), "processes.log"))
	if err != nil {
		t.Fatal(err)
	}
	w.house, err = demo.Open(t.Context(), demo.Build{
		Line: "local", Addr: "127.0.0.1:0", Dir: t.TempDir(), Logs: logs, OpensIn: time.Second,
		Event: event("hall", "Winter concert"), Hall: concertHall(t), Disorder: payprov.Disorder{Doubled: 0.2, Seed: 1}, Replicas: replicas,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.house.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			tellLogs(t, logs)
		}
	})
	if w.pool, err = pg.Open(t.Context(), w.house.DatabaseURL, "webtest", pg.Limits{Conns: 2, Statement: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
}

// tellLogs prints the end of what the processes said.
func tellLogs(t *testing.T, logs *os.File) {
	size, err := logs.Seek(0, io.SeekEnd)
	if err != nil {
		return
	}
	end := make([]byte, min(size, 8<<10))
	n, _ := logs.ReadAt(end, size-int64(len(end)))
	t.Logf("processes said at the end:\n%s", end[:n])
}

// openBrowser starts one browser; each tab has a profile of its own in it, with
// its own cookies.
func (w *world) openBrowser(t *testing.T, path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("headless", "new"),
		chromedp.Flag("allow-pre-commit-input", true), // else a click on a page that was not painted yet is lost
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-gpu", true),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, quit := chromedp.NewContext(allocator)
	t.Cleanup(func() { quit(); end() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal("the browser does not start: ", err)
	}
	w.browser = ctx
}

// event is what a sale is unless its test says otherwise.
func event(id, title string) inventory.Event {
	rate := 50.0
	return inventory.Event{
		ID: id, Title: title, Venue: "The old town hall", Currency: "EUR", Rate: &rate, LineCap: 100_000,
		OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		PayWithin: 10 * time.Minute, PayExtension: 5 * time.Minute, StockSlack: 0.5,
	}
}

// sale opens another event in the house and waits until it can be joined.
func (w *world) sale(t *testing.T, hall inventory.Hall, change ...func(*inventory.Event)) string {
	t.Helper()
	e := event(fmt.Sprintf("sale-%d", w.sales.Add(1)), "Evening of songs")
	e.OpensAt = time.Now()
	for _, c := range change {
		c(&e)
	}
	w.creating.Lock() // each new hall is analysed, one at a time
	out, err := inventory.CreateEvent(t.Context(), w.pool, e, &hall)
	w.creating.Unlock()
	if err != nil || out != inventory.Changed {
		t.Fatalf("event %s: %s, %v", e.ID, out, err)
	}
	until(t, "the event "+e.ID+" is served", func() bool {
		return w.api(t, "GET", "/v1/public/events/"+e.ID+"/status", "", nil, nil) == 200 &&
			w.api(t, "GET", "/v1/public/events/"+e.ID+"/availability", "", nil, nil) == 200
	})
	return e.ID
}

func concertHall(t *testing.T) inventory.Hall {
	return hall(t, examples.ConcertHall, nil)
}

// stalls are two rows of six seats.
func stalls(t *testing.T) inventory.Hall {
	plan := `{"name":"Small hall","categories":[{"name":"Front","color":"#c0392b"},{"name":"Back","color":"#2980b9"}],"zones":[{"name":"Stalls","position":{"x":100,"y":100},"rows":[`
	for r, row := range []string{"A", "B"} {
		if r > 0 {
			plan += ","
		}
		plan += fmt.Sprintf(`{"row_number":%q,"position":{"x":0,"y":%d},"seats":[`, row, r*30)
		for i := range 6 {
			if i > 0 {
				plan += ","
			}
			plan += fmt.Sprintf(`{"seat_guid":"%s-%d","seat_number":"%d","position":{"x":%d,"y":0},"category":%q}`,
				row, i+1, i+1, i*26, []string{"Front", "Back"}[r])
		}
		plan += "]}"
	}
	return hall(t, []byte(plan+"]}]}"), nil)
}

// standing is a room without seats.
func standing(t *testing.T, places int) inventory.Hall {
	return hall(t, nil, []seating.Admission{{Section: "Floor", Category: "Standing", Count: places}})
}

func hall(t *testing.T, data []byte, admissions []seating.Admission) inventory.Hall {
	t.Helper()
	var plan seating.Plan
	var err error
	if data != nil {
		if plan, err = seating.Parse("plan.json", data); err != nil {
			t.Fatal(err)
		}
	}
	var prices []seating.Price
	for i, c := range plan.Categories {
		prices = append(prices, seating.Price{Category: c.Name, AmountMinor: int64(9500 - 1500*i)})
	}
	if len(admissions) > 0 {
		prices = append(prices, seating.Price{Category: "Standing", AmountMinor: 3500})
	}
	sold, err := seating.Sell(plan, seating.Offer{File: "plan.json", Currency: "EUR", Prices: prices, Admissions: admissions})
	if err != nil {
		t.Fatal(err)
	}
	return kept(sold)
}

// kept is a hall in the seats table's terms.
func kept(h seating.Hall) (k inventory.Hall) {
	k.Seatmap, k.Hash = h.Seatmap()
	for _, t := range h.Tiers {
		k.Tiers = append(k.Tiers, inventory.Tier{ID: t.ID, AmountMinor: t.AmountMinor, Color: t.Color})
	}
	for pos, s := range h.Plan.Seats {
		k.Seats = append(k.Seats, inventory.HallSeat{
			GUID: s.GUID, Kind: string(s.Kind), Section: s.Section, Row: s.Row, Number: s.Number,
			X: s.X, Y: s.Y, Tier: h.Tiers[h.TierOf[pos]].ID, HeldBack: h.HeldBack[pos],
		})
	}
	return k
}

// until waits for what comes by itself, and fails when it does not.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-t.Context().Done():
			t.Fatal("ended while waiting until ", what)
		case <-end.C:
			t.Fatal("not within 30 s: ", what)
		case <-again.C:
		}
	}
}
