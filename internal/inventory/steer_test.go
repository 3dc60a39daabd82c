package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"waitroom/internal/inventory"
	"waitroom/internal/pgtest"
)

// An attempt's name stands for one wish: the same again, at once or later, is
// answered as it was and changes nothing, and another under its name is
// refused. A no is not remembered.
func TestAnAttemptIsOneWish(t *testing.T) {
	pool := pgtest.New(t)
	ctx := t.Context()
	created(t, pool, "gala")
	by := func(attempt string, request byte) inventory.Asker {
		return inventory.Asker{By: "desk", Organiser: "house", Attempt: attempt, Request: [32]byte{request}}
	}
	want := func(what string, got inventory.Steered, err error, change inventory.Change, version int64) {
		t.Helper()
		if err != nil || got.Change != change || got.Version != version {
			t.Errorf("%s: %+v, %v; want %s, version %d", what, got, err, change, version)
		}
	}
	steer := func(to inventory.Control, who inventory.Asker) (inventory.Steered, error) {
		return inventory.Steer(ctx, pool, "gala", to, who)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, err := steer(inventory.Paused, by("a", 1))
			want("eight at once", got, err, inventory.Changed, 2)
		})
	}
	all.Wait()
	got, err := steer(inventory.Running, by("b", 2))
	want("resume", got, err, inventory.Changed, 3)
	got, err = steer(inventory.Paused, by("a", 1))
	want("the pause again, later", got, err, inventory.Changed, 2)
	got, err = steer(inventory.Paused, by("b", 1))
	want("another wish by its name", got, err, inventory.AttemptReused, 0)
	got, err = inventory.Steer(ctx, pool, "nowhere", inventory.Paused, by("c", 3))
	want("no event", got, err, inventory.NoSuchEvent, 0)
	got, err = steer(inventory.Paused, by("c", 1))
	want("the name of what was refused", got, err, inventory.Changed, 4)
	var told int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM notices WHERE kind = 'event.paused'`).Scan(&told); err != nil || told != 2 {
		t.Errorf("%d notices of 2 pauses, %v", told, err)
	}
}

// Every change leaves who made it, what was and what became of it, whichever
// way it came; what changes nothing leaves nothing.
func TestEveryChangeSaysWho(t *testing.T) {
	pool := pgtest.New(t)
	ctx := t.Context()
	created(t, pool, "gala")
	fast := func(rate float64, window time.Duration) func(time.Time, inventory.Event) (inventory.Event, error) {
		return func(_ time.Time, e inventory.Event) (inventory.Event, error) {
			e.Rate, e.CallWindow = &rate, window
			return e, nil
		}
	}
	who := inventory.Asker{By: "desk"}
	for _, change := range []inventory.Change{inventory.Changed, inventory.Unchanged} {
		e, out, err := inventory.Revise(ctx, pool, "gala", who, fast(50, time.Minute))
		if err != nil || out != change || e.Version != 2 || *e.Rate != 50 {
			t.Fatalf("revise: %s %+v, %v; want %s", out, e, err, change)
		}
	}
	no := errors.New("no")
	if _, _, err := inventory.Revise(ctx, pool, "gala", who, func(time.Time, inventory.Event) (inventory.Event, error) { return inventory.Event{}, no }); !errors.Is(err, no) {
		t.Errorf("a refusal came back as %v", err)
	}
	if _, out, err := inventory.Revise(ctx, pool, "nowhere", who, fast(1, time.Minute)); err != nil || out != inventory.NoSuchEvent {
		t.Errorf("no event: %s, %v", out, err)
	}
	if _, err := inventory.SetRate(ctx, pool, "gala", 80); err != nil {
		t.Fatal(err)
	}
	if _, err := inventory.Steer(ctx, pool, "gala", inventory.Paused, inventory.Asker{By: "night-shift"}); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `UPDATE events SET version = version + 1 WHERE id = 'gala'`); err != nil {
		t.Fatal(err)
	}
	type row struct {
		By      string
		Version int64
		Control inventory.Control
		Changed map[string]string
	}
	read := func(before int64, most int) (list []row, last int64) {
		changes, err := inventory.EventChanges(ctx, pool, "gala", before, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			said := map[string]string{}
			for k, v := range c.Changed {
				said[k] = fmt.Sprintf("%s to %s", v[0], v[1])
			}
			list, last = append(list, row{c.By, c.Version, c.Control, said}), c.ID
		}
		return list, last
	}
	want := []row{
		{"(test)", 5, "paused", map[string]string{}},
		{"night-shift", 4, "paused", map[string]string{"control": `"run" to "paused"`}},
		{"(test)", 3, "run", map[string]string{"release_rate": "50 to 80"}},
		{"desk", 2, "run", map[string]string{"release_rate": "null to 50", "call_window": "120.000000 to 60.000000"}},
		{"(test)", 1, "run", map[string]string{}},
	}
	all, _ := read(0, 10)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	page, last := read(0, 2)
	rest, _ := read(last, 10)
	if diff := cmp.Diff(want, append(page, rest...)); diff != "" {
		t.Errorf("in two pages (-want +got):\n%s", diff)
	}
}

// A revision has the event for itself: of two that read the same, the second
// sees what the first wrote.
func TestRevisionsTakeTurns(t *testing.T) {
	pool := pgtest.New(t)
	created(t, pool, "gala")
	more := func(_ time.Time, e inventory.Event) (inventory.Event, error) {
		e.LineCap++
		return e, nil
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, out, err := inventory.Revise(context.WithoutCancel(t.Context()), pool, "gala", inventory.Asker{}, more); err != nil || out != inventory.Changed {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	all.Wait()
	if e, err := inventory.Events(t.Context(), pool, "gala"); err != nil || e[0].LineCap != 2_000_020 {
		t.Errorf("20 raised it by one each, from 2000000 to %d (%v)", e[0].LineCap, err)
	}
}
