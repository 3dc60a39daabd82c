package inventory_test

import (
	"bytes"
	"testing"

	"waitroom/internal/inventory"
	"waitroom/internal/pgtest"
)

// Importing again changes how often a code may be used and adds no second one;
// a code is one event's.
func TestCodesAreOneEventsAndOnce(t *testing.T) {
	pool := pgtest.New(t)
	for _, id := range []string{"gala", "other"} {
		if c, err := inventory.CreateEvent(t.Context(), pool, gala(id), nil); err != nil || c != inventory.Changed {
			t.Fatal(c, err)
		}
	}
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	imported := func(event string, uses int, want inventory.Change, hashes ...[]byte) {
		t.Helper()
		if c, err := inventory.ImportCodes(t.Context(), pool, event, inventory.AccessCodes{Hashes: hashes, Uses: uses}); err != nil || c != want {
			t.Errorf("imported into %s: %s, %v; want %s", event, c, err, want)
		}
	}
	uses := func(event string, hash []byte, want int64) {
		t.Helper()
		if n, err := inventory.CodeUses(t.Context(), pool, event, [32]byte(hash)); err != nil || n != want {
			t.Errorf("uses of %s's code: %d, %v; want %d", event, n, err, want)
		}
	}
	imported("gala", 2, inventory.Changed, one, one, two)
	imported("gala", 2, inventory.Unchanged, two)
	imported("gala", 5, inventory.Changed, one)
	imported("nobody", 5, inventory.NoSuchEvent, one)
	uses("gala", one, 5)
	uses("gala", two, 2)
	uses("other", one, 0)
	if codes, all, err := inventory.CodesOf(t.Context(), pool, "gala"); err != nil || codes != 2 || all != 7 {
		t.Errorf("%d codes for %d, %v; want 2 for 7", codes, all, err)
	}
}
