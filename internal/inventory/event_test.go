package inventory_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"waitroom/internal/inventory"
	"waitroom/internal/pgtest"
)

func TestAnEventIsKeptAsItWasGiven(t *testing.T) {
	pool := pgtest.New(t)
	full := gala("full")
	closes, rate, share, tickets := full.OpensAt.Add(time.Hour), 0.4, 0.25, 2.5
	full.ClosesAt, full.Rate, full.SharePrior, full.TicketsPrior = &closes, &rate, &share, &tickets
	most, quota := int64(500), 2.5
	full.MaxInside, full.PaymentQuota, full.Late = &most, &quota, inventory.LateReclaim
	full.Venue, full.Organiser, full.PayExtension, full.StockSlack = "Hall 音樂廳", "acme", 0, 0
	full.LapseLimit, full.CoolDown, full.TierLimits = 5, 0, inventory.TierLimits{"Front": 2}
	full.Presales = []inventory.Presale{
		{Name: "fans", Tiers: []string{"Front"}, Sections: []string{}, Until: &closes}, {Name: "house", Tiers: []string{}, Sections: []string{"Box"}},
	}
	full.Accounts, full.Codes = inventory.Required, inventory.Required
	full.Admission, full.Gate = inventory.ByLine, inventory.GateOff
	for _, e := range []inventory.Event{gala("least"), full} {
		if c, err := inventory.CreateEvent(t.Context(), pool, e, nil); err != nil || c != inventory.Changed {
			t.Fatalf("%s: %s, %v", e.ID, c, err)
		}
		e.Control, e.Version = "run", 1
		if e.LapseLimit == 0 {
			e.LapseLimit, e.CoolDown = 3, 10*time.Minute
		}
		if e.Organiser == "" {
			e.Organiser, e.Accounts, e.Codes, e.Late = "house", inventory.NotAsked, inventory.NotAsked, inventory.LateRefund
			e.Admission, e.Gate = inventory.ByLine, inventory.GateOff
		}
		got, err := inventory.Events(t.Context(), pool, e.ID)
		if diff := cmp.Diff([]inventory.Event{e}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if all, err := inventory.Events(t.Context(), pool, ""); err != nil || len(all) != 2 {
		t.Errorf("%d events, %v; want 2", len(all), err)
	}
}

// The same id again is refused, and neither the event nor its hall is touched.
func TestAnEventIsCreatedOnce(t *testing.T) {
	pool := pgtest.New(t)
	first := block(40)
	if c, err := inventory.CreateEvent(t.Context(), pool, gala("gala"), &first); err != nil || c != inventory.Changed {
		t.Fatalf("%s, %v", c, err)
	}
	again, other := gala("gala"), block(80)
	again.Title = "Other"
	if c, err := inventory.CreateEvent(t.Context(), pool, again, &other); err != nil || c != inventory.EventExists {
		t.Fatalf("%s, %v; want %s", c, err, inventory.EventExists)
	}
	wantKept(t, pool, "gala", 40, 1, true)
	if got, err := inventory.Events(t.Context(), pool, "gala"); err != nil || got[0].Title != "Gala" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every change says what happened, and each that changes something is one
// version; asked twice it changes nothing.
func TestControlChangesAreOneVersionEach(t *testing.T) {
	pool := pgtest.New(t)
	ctx := t.Context()
	created(t, pool, "gala")
	setRate := func(event string, rate float64) func() (inventory.Change, error) {
		return func() (inventory.Change, error) { return inventory.SetRate(ctx, pool, event, rate) }
	}
	pause := func() (inventory.Change, error) { return inventory.Pause(ctx, pool, "gala") }
	resume := func() (inventory.Change, error) { return inventory.Resume(ctx, pool, "gala") }
	closeSale := func() (inventory.Change, error) { return inventory.CloseSale(ctx, pool, "gala") }
	for i, step := range []struct {
		do      func() (inventory.Change, error)
		want    inventory.Change
		control string
		version int64
	}{
		{setRate("gala", 50), inventory.Changed, "run", 2},
		{setRate("gala", 50), inventory.Unchanged, "run", 2},
		{setRate("gala", 0), inventory.Senseless, "run", 2},
		{setRate("gala", -1), inventory.Senseless, "run", 2},
		{setRate("gala", math.NaN()), inventory.Senseless, "run", 2},
		{setRate("gala", math.Inf(1)), inventory.Senseless, "run", 2},
		{setRate("gala", 10_001), inventory.Senseless, "run", 2},
		{setRate("other", 50), inventory.NoSuchEvent, "run", 2},
		{resume, inventory.Unchanged, "run", 2},
		{pause, inventory.Changed, "paused", 3},
		{pause, inventory.Unchanged, "paused", 3},
		{setRate("gala", 10), inventory.Changed, "paused", 4},
		{resume, inventory.Changed, "run", 5},
		{pause, inventory.Changed, "paused", 6},
		{closeSale, inventory.Changed, "closed", 7},
		{closeSale, inventory.Unchanged, "closed", 7},
		{pause, inventory.EventClosed, "closed", 7},
		{resume, inventory.EventClosed, "closed", 7},
		{setRate("gala", 50), inventory.EventClosed, "closed", 7},
	} {
		got, err := step.do()
		if err != nil || got != step.want {
			t.Fatalf("step %d: %s, %v; want %s", i, got, err, step.want)
		}
		events, err := inventory.Events(ctx, pool, "gala")
		if err != nil || events[0].Control != step.control || events[0].Version != step.version {
			t.Fatalf("step %d: %s, version %d, %v; want %s, version %d", i, events[0].Control, events[0].Version, err, step.control, step.version)
		}
	}
	var told int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM notices WHERE kind = 'event.paused' AND subject = 'gala'`).Scan(&told); err != nil || told != 2 {
		t.Errorf("%d notices of 2 pauses, %v", told, err)
	}
}
