package inventory_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/pgtest"
)

// gala is an event as a file with nothing but the needed would give it.
func gala(id string) inventory.Event {
	return inventory.Event{
		ID: id, Title: "Gala", Currency: "EUR", OpensAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		LineCap: 2_000_000, OrderLimit: 4, AccountLimit: 4, PassQuota: 4,
		PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		PayWithin: 10 * time.Minute, PayExtension: 5 * time.Minute, StockSlack: 0.5,
	}
}

// block is a hall of n numbered seats, forty in a row.
func block(n int) inventory.Hall {
	h := inventory.Hall{Tiers: []inventory.Tier{{ID: "A", AmountMinor: 4900, Color: "#123456"}}, Seatmap: fmt.Appendf(nil, "%d seats", n)}
	sum := sha256.Sum256(h.Seatmap)
	h.Hash = hex.EncodeToString(sum[:])
	for i := range n {
		h.Seats = append(h.Seats, inventory.HallSeat{
			GUID: fmt.Sprintf("s-%d", i), Kind: "numbered", Section: "Block", Row: fmt.Sprint(i / 40), Number: fmt.Sprint(i%40 + 1),
			X: float64(i%40) * 26, Y: float64(i/40) * 34, Tier: "A",
		})
	}
	return h
}

func created(t testing.TB, pool *pgxpool.Pool, id string) {
	t.Helper()
	if c, err := inventory.CreateEvent(t.Context(), pool, gala(id), nil); err != nil || c != inventory.Changed {
		t.Fatalf("create %s: %s, %v", id, c, err)
	}
}

func wantImport(t testing.TB, pool *pgxpool.Pool, id string, hall inventory.Hall, replace bool, want inventory.Import) (detail string) {
	t.Helper()
	got, detail, err := inventory.ImportHall(t.Context(), pool, id, hall, replace)
	if err != nil || got != want {
		t.Fatalf("import for %s: %s (%s), %v; want %s", id, got, detail, err, want)
	}
	return detail
}

// kept counts what the database has of a hall.
func kept(t testing.TB, pool *pgxpool.Pool, id string) (seats, tiers int, planned bool) {
	t.Helper()
	// After a test has cancelled its own context the rows are still looked at.
	err := pool.QueryRow(context.WithoutCancel(t.Context()), `
		SELECT (SELECT count(*) FROM seats WHERE event_id = $1), (SELECT count(*) FROM price_tiers WHERE event_id = $1),
		  coalesce((SELECT plan_hash IS NOT NULL FROM events WHERE id = $1), false)`, id).Scan(&seats, &tiers, &planned)
	if err != nil {
		t.Fatal(err)
	}
	return seats, tiers, planned
}

func wantKept(t testing.TB, pool *pgxpool.Pool, id string, seats, tiers int, planned bool) {
	t.Helper()
	if s, n, p := kept(t, pool, id); s != seats || n != tiers || p != planned {
		t.Errorf("%s has %d seats, %d tiers, a plan: %t; want %d, %d, %t", id, s, n, p, seats, tiers, planned)
	}
}

func TestAHallIsKeptAsItWasGiven(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	hall := block(80)
	hall.Tiers = append(hall.Tiers, inventory.Tier{ID: "Stehplätze 站席", AmountMinor: 1})
	hall.Seats[3].HeldBack, hall.Seats[4].Kind = true, "accessible"
	hall.Seats[79] = inventory.HallSeat{GUID: "ga-1-1", Kind: "general", Section: "Floor", Number: "1", Tier: "Stehplätze 站席"}
	wantImport(t, pool, "gala", hall, false, inventory.Imported)

	var got []inventory.HallSeat
	rows, err := pool.Query(t.Context(), `
		SELECT guid, kind, section, row, number, x, y, price_tier, held_back, pos FROM seats WHERE event_id = 'gala' ORDER BY pos`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var s inventory.HallSeat
		var pos int
		if err := rows.Scan(&s.GUID, &s.Kind, &s.Section, &s.Row, &s.Number, &s.X, &s.Y, &s.Tier, &s.HeldBack, &pos); err != nil {
			t.Fatal(err)
		}
		if pos != len(got) {
			t.Fatalf("seat %s has pos %d, stands at %d", s.GUID, pos, len(got))
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(hall.Seats, got); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
	tiers, err := inventory.Tiers(t.Context(), pool, "gala")
	if diff := cmp.Diff(hall.Tiers, tiers); err != nil || diff != "" {
		t.Errorf("%v; tiers (-want +got):\n%s", err, diff)
	}
	var seatmap []byte
	var version int
	err = pool.QueryRow(t.Context(), `SELECT seatmap, version FROM events WHERE id = 'gala' AND plan_hash = $1`, hall.Hash).Scan(&seatmap, &version)
	if err != nil || string(seatmap) != string(hall.Seatmap) || version != 2 {
		t.Errorf("seat map %q, version %d, %v", seatmap, version, err)
	}
}

// An arena of 20,560 seats comes in while its organiser watches: about a second
// on two busy cores. The bound is far off, so that only another way of writing
// seats can break it.
func TestAnArenaIsImportedAtOnce(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "arena")
	hall := block(20_560)
	start := time.Now()
	wantImport(t, pool, "arena", hall, false, inventory.Imported)
	took := time.Since(start)
	t.Logf("20,560 seats in %s", took.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("20,560 seats took %s, want about 1 s", took)
	}
	wantKept(t, pool, "arena", 20_560, 1, true)
}

// A hall that fails at its last seat leaves nothing behind, nor does the event
// that was to come with it.
func TestNothingIsHalfImported(t *testing.T) {
	pool := pgtest.New(t)
	for name, spoil := range map[string]func(*inventory.Hall){
		"a kind that is none":    func(h *inventory.Hall) { h.Seats[len(h.Seats)-1].Kind = "vip" },
		"a guid twice":           func(h *inventory.Hall) { h.Seats[len(h.Seats)-1].GUID = "s-0" },
		"a tier that is missing": func(h *inventory.Hall) { h.Seats[len(h.Seats)-1].Tier = "B" },
		"a hash that is none":    func(h *inventory.Hall) { h.Hash = "?" },
	} {
		t.Run(name, func(t *testing.T) {
			id := strings.ReplaceAll(name, " ", "-")
			hall := block(1000)
			spoil(&hall)
			if c, err := inventory.CreateEvent(t.Context(), pool, gala(id), &hall); err == nil {
				t.Errorf("created: %s", c)
			}
			if events, err := inventory.Events(t.Context(), pool, id); err != nil || len(events) != 0 {
				t.Errorf("%d events left behind, %v", len(events), err)
			}
			created(t, pool, id)
			if got, _, err := inventory.ImportHall(t.Context(), pool, id, hall, false); err == nil {
				t.Errorf("imported: %s", got)
			}
			wantKept(t, pool, id, 0, 0, false)
		})
	}
}

// An import that ends in the middle of its COPY leaves the old hall whole,
// whichever end it was that went away.
func TestAnImportThatIsCutOffChangesNothing(t *testing.T) {
	for name, cut := range map[string]func(pool *pgxpool.Pool, cancel func(), backend int){
		"server": func(pool *pgxpool.Pool, _ func(), backend int) {
			if _, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, backend); err != nil {
				t.Error(err)
			}
		},
		"caller": func(_ *pgxpool.Pool, cancel func(), _ int) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			pool := pgtest.New(t)
			created(t, pool, name)
			wantImport(t, pool, name, block(40), false, inventory.Imported)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, _, err := inventory.ImportHall(ctx, pool, name, block(200_000), true)
				ended <- err
			}()
			cut(pool, cancel, copying(t, pool))
			if err := <-ended; err == nil {
				t.Fatal("the import was done before it was cut off")
			}
			cancel()
			wantKept(t, pool, name, 40, 1, true)
		})
	}
}

// copying waits for a COPY into seats to be under way and names its backend.
func copying(t testing.TB, pool *pgxpool.Pool) (backend int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		err := pool.QueryRow(t.Context(), `
			SELECT coalesce(max(pid), 0) FROM pg_stat_progress_copy
			WHERE relid = 'seats'::regclass AND datname = current_database() AND tuples_processed > 1000`).Scan(&backend)
		if err != nil {
			t.Fatal(err)
		}
		if backend > 0 {
			return backend
		}
	}
	t.Fatal("no COPY of seats was seen in 30 s")
	return 0
}

// From the first order on the hall is what was sold.
func TestAHallWithOrdersStays(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	wantImport(t, pool, "gala", block(40), false, inventory.Imported)
	ordered(t, pool, "gala")
	wantImport(t, pool, "gala", block(80), true, inventory.HasOrders)
	wantImport(t, pool, "gala", block(80), false, inventory.HasOrders)
	wantKept(t, pool, "gala", 40, 1, true)
}

// ordered makes an order that is over: even so, its lines name seats.
func ordered(t testing.TB, pool *pgxpool.Pool, event string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `
		WITH buyer AS (INSERT INTO buyers (event_id, account, seat_limit) VALUES ($1, 'ann', 4) RETURNING account)
		INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, status,
		  seat_count, amount_minor, currency, pay_by, ended_at)
		SELECT gen_random_uuid(), $1, account, 'h', 1, 0, 1, 'k', decode(repeat('00', 32), 'hex'), 'expired',
		  1, 4900, 'EUR', now(), now() FROM buyer`, event)
	if err != nil {
		t.Fatal(err)
	}
}

func TestAHallIsReplacedOnlyWhenAsked(t *testing.T) {
	pool := pgtest.New(t)
	wantImport(t, pool, "gala", block(40), false, inventory.ImportNoEvent)
	created(t, pool, "gala")
	wantImport(t, pool, "gala", block(40), false, inventory.Imported)
	wantImport(t, pool, "gala", block(80), false, inventory.HasPlan)
	wantKept(t, pool, "gala", 40, 1, true)
	wantImport(t, pool, "gala", block(80), true, inventory.Imported)
	wantKept(t, pool, "gala", 80, 1, true)
	if c, err := inventory.CloseSale(t.Context(), pool, "gala"); err != nil || c != inventory.Changed {
		t.Fatalf("close: %s, %v", c, err)
	}
	wantImport(t, pool, "gala", block(40), true, inventory.ImportClosed)
	wantKept(t, pool, "gala", 80, 1, true)
}

// A seat that is held back is promised to somebody; a new plan keeps it or says
// that it cannot.
func TestHoldsOutliveTheirPlan(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	hall := block(80)
	hall.Seats[7].HeldBack, hall.Seats[60].HeldBack = true, true
	wantImport(t, pool, "gala", hall, false, inventory.Imported)
	if lost := wantImport(t, pool, "gala", block(40), true, inventory.HoldsLost); lost != "s-60" {
		t.Errorf("lost: %q, want s-60", lost)
	}
	wantKept(t, pool, "gala", 80, 1, true)
	next := block(120)
	wantImport(t, pool, "gala", next, true, inventory.Imported)
	if next.Seats[7].HeldBack {
		t.Error("the caller's hall was changed")
	}
	var held []string
	if err := pool.QueryRow(t.Context(), `SELECT array_agg(guid ORDER BY pos) FROM seats WHERE held_back`).Scan(&held); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s-7", "s-60"}, held); diff != "" {
		t.Errorf("held back (-want +got):\n%s", diff)
	}
}

// An order and an import at the same instant: never both.
func TestAnOrderAndAnImportExclude(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	wantImport(t, pool, "gala", block(40), false, inventory.Imported)
	order, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer order.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // committed below
	if _, err := order.Exec(t.Context(), `INSERT INTO buyers (event_id, account, seat_limit) VALUES ('gala', 'ann', 4)`); err != nil {
		t.Fatal(err)
	}
	if got, _, err := inventory.ImportHall(t.Context(), pool, "gala", block(80), true); err == nil {
		t.Errorf("imported beside a claim that was under way: %s", got)
	}
	if err := order.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantKept(t, pool, "gala", 40, 1, true)
}

// A withdrawn seat is broken in the new hall too: nothing but Restore sells it.
func TestAWithdrawnSeatOutlivesItsPlan(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	hall := block(4)
	hall.Seats[1].HeldBack = true
	wantImport(t, pool, "gala", hall, false, inventory.Imported)
	off, err := inventory.Withdraw(t.Context(), pool, inventory.Asker{By: "desk"}, "gala", []string{"s-0"})
	if err != nil || len(off.Off) != 1 {
		t.Fatal(off, err)
	}
	wantImport(t, pool, "gala", block(4), true, inventory.Imported)
	if w, err := inventory.Withdrawn(t.Context(), pool, "gala"); err != nil || fmt.Sprint(w.Off) != "[s-0]" {
		t.Errorf("withdrawn after the import: %+v, %v; want s-0", w, err)
	}
	if n, err := inventory.FreeHeld(t.Context(), pool, "gala", 10); n != 1 || err != nil {
		t.Errorf("%d freed of what the house holds, %v; want the one that is not withdrawn", n, err)
	}
	if back, err := inventory.Restore(t.Context(), pool, inventory.Asker{By: "desk"}, "gala", []string{"s-0"}); err != nil || fmt.Sprint(back) != "[s-0]" {
		t.Errorf("restored %v, %v", back, err)
	}
}
