package availability

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/seating"
)

// small has 24 rows of n seats and five places to stand, some of them gone: a
// change of it is smaller than the whole.
func small(t testing.TB, n int) *house {
	var seats []seating.Seat
	for i := range 24 * n {
		seats = append(seats, seating.Seat{Section: "Stalls", Row: string(rune('A' + i/n)), Number: fmt.Sprint(i%n + 1), Category: "Front", X: float64(26 * (i % n)), Y: float64(40 * (i / n))})
	}
	for i := range 5 {
		seats = append(seats, seating.Seat{Section: "Lawn", Number: fmt.Sprint(i + 1), Category: "Standing", Kind: seating.General})
	}
	h := hallOf(t, seats)
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same hall each time
	for i := range h.is {
		h.is[i] = byte(r.IntN(3))
	}
	return h
}

// Whoever follows the changes, asking as seldom as they like, of whichever
// replica, holds what the whole says: seats, counts and blocks.
func TestChangesLeadToTheWhole(t *testing.T) {
	followed := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := small(t, 20)
		other := h.replica()
		h.show(other)
		boards := []*Board{h.board, other}
		readers := make([]reader, 3)
		for range rapid.IntRange(1, 12).Draw(rt, "seconds") {
			for range rapid.IntRange(0, 3).Draw(rt, "moves") {
				h.is[rapid.IntRange(0, len(h.is)-1).Draw(rt, "seat")] = byte(rapid.IntRange(0, 3).Draw(rt, "is"))
			}
			// A replica may miss a count: its states are then not the other's.
			if rapid.Bool().Draw(rt, "both") {
				h.show(other)
			} else {
				h.show()
			}
			for i := range readers {
				if !rapid.Bool().Draw(rt, "asks") {
					continue
				}
				r, b := &readers[i], boards[rapid.IntRange(0, 1).Draw(rt, "replica")]
				_, a := h.asked(b, r.cursor)
				if a.Changes != nil {
					followed++
				}
				if !r.take(a) {
					_, a = h.asked(b, "")
					r.take(a)
				}
				_, whole := h.asked(b, "")
				var want reader
				want.take(whole)
				if !bytes.Equal(r.bitmap, want.bitmap) || !maps.Equal(r.sections, want.sections) || !maps.Equal(r.blocks, want.blocks) || r.state != want.state {
					rt.Fatalf("followed to %+v, the whole is %+v", r, want)
				}
			}
		}
	})
	if followed == 0 {
		t.Error("nobody was told a change")
	}
}

// A cursor that is not known, or not one at all, gets the whole; one that is too
// old as well; and what is shown is told to who has it as no change.
func TestACursorThatIsNotKnownGetsTheWhole(t *testing.T) {
	h := small(t, 40)
	if _, counted := h.board.Since(""); counted {
		t.Error("there is an answer before the first count")
	}
	h.show()
	whole, first := h.asked(h.board, "")
	for _, cursor := range []string{"", "zzz", "0000", first.State, "%00", "' OR 1"} {
		if doc, a := h.asked(h.board, cursor); !bytes.Equal(doc.Body, whole.Body) || a.Changes != nil {
			t.Errorf("since=%q: %s, want the whole", cursor, doc.Body)
		}
	}
	if _, a := h.asked(h.board, first.Cursor); a.Since != first.State || a.State != first.State || len(a.Changes.Free)+len(a.Changes.Pending)+len(a.Changes.Gone)+len(a.Sections)+len(a.Blocks) > 0 {
		t.Errorf("since what is shown: %+v, want no change", a)
	}
	for i := range remembered + 8 {
		h.is[i%len(h.is)]++
		h.is[i%len(h.is)] %= 3
		h.show()
		_, a := h.asked(h.board, first.Cursor)
		if known := a.Changes != nil && a.Since == first.State; i < remembered-9 && !known || i >= remembered-1 && known {
			t.Errorf("%d states later the first is known: %t", i+1, known)
		}
	}
}

// While nothing moves the bytes stay the same, so that caches and pages are told
// so; but no longer than ten seconds, so that who reads as_of knows whether
// anybody counts.
func TestWhatDoesNotMoveKeepsItsName(t *testing.T) {
	h := small(t, 40)
	h.show()
	first, a := h.asked(h.board, "")
	for range 9 {
		h.show()
		if doc, _ := h.asked(h.board, ""); doc.ETag != first.ETag {
			t.Fatalf("nothing moved, and %s became %s", first.ETag, doc.ETag)
		}
	}
	h.show()
	doc, later := h.asked(h.board, "")
	if doc.ETag == first.ETag || later.State != a.State || later.AsOf.Sub(a.AsOf) != restated {
		t.Errorf("after ten seconds as_of is %s and was %s", later.AsOf, a.AsOf)
	}
	if doc.ETag == doc.GzipETag {
		t.Error("two representations have one ETag")
	}
	h.is[3] = (h.is[3] + 1) % 3
	h.show()
	if moved, _ := h.asked(h.board, ""); moved.ETag == doc.ETag {
		t.Error("a seat moved, and the ETag stayed")
	}
}

// Two replicas that counted the same seats name them alike: a cursor from one is
// good at the other.
func TestReplicasNameAStateAlike(t *testing.T) {
	h := small(t, 40)
	other := h.replica()
	h.show(other)
	h.is[1] = 2
	h.show(other)
	_, mine := h.asked(h.board, "")
	_, theirs := h.asked(other, "")
	if mine.State != theirs.State {
		t.Errorf("%s and %s", mine.State, theirs.State)
	}
	h.is[2] = 2
	h.show(other)
	if _, a := h.asked(other, mine.Cursor); a.Since != mine.State || !slices.Equal(a.Changes.Gone, []int{2}) {
		t.Errorf("since the other's cursor: %+v, want seat 2", a)
	}
}

// Many ask for the same change at once while the next is put up: it is made
// once, and nobody gets a part of one.
func TestAChangeIsMadeOnce(t *testing.T) {
	h := arena(t)
	h.show()
	_, first := h.asked(h.board, "")
	h.is[7] = 1
	h.show()
	var asking sync.WaitGroup
	bodies := make([]*byte, 64)
	for i := range bodies {
		asking.Go(func() {
			doc, _ := h.board.Since(first.Cursor)
			bodies[i] = &doc.Body[0]
		})
	}
	asking.Wait()
	for i, at := range bodies {
		if at != bodies[0] {
			t.Fatalf("answer %d was made for itself", i)
		}
	}
}

// An arena's availability is 4 kB compressed at most, whatever part of it is
// sold, with up to every twentieth seat in a cart. The worst that there is, a
// third of each state at random, is more: nothing says it in less than log2(3)
// bits a seat, which alone are 4,073 bytes. What is sent is at most a fifth more
// than the seats take at the least, and the counts.
func TestAvailabilityIsSmall(t *testing.T) {
	seats := arena(t).seats
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same hall each time
	for _, c := range []struct {
		name        string
		carts, gone float64
		most        int
	}{
		{"all free", 0, 0, 1000},
		{"half gone", 0, .5, 4000},
		{"a twentieth in carts, half gone", .05, .5, 4000},
		{"a tenth in carts, half gone", .1, .5, 4400},
		{"nine tenths gone", .02, .9, 4000},
		{"a third of each", 1. / 3, 1. / 3, 5000},
	} {
		h := hallOf(t, seats)
		h.show()
		_, before := h.asked(h.board, "")
		for i := range h.is {
			switch p := r.Float64(); {
			case p < c.carts:
				h.is[i] = 1
			case p < c.carts+c.gone:
				h.is[i] = 2
			}
		}
		h.show()
		doc, a := h.asked(h.board, "")
		for i := range h.is { // one second of a fast sale
			if r.Float64() < 50./float64(len(h.is)) {
				h.is[i] = (h.is[i] + 1) % 3
			}
		}
		h.show()
		change, _ := h.asked(h.board, a.Cursor)
		t.Logf("%s: %d seats, %d bytes, %d compressed (%.0f for the seats at the least); a second of 50 seats: %d compressed; since all were free: %d",
			c.name, len(h.is), len(doc.Body), len(doc.Gzip), least(c.carts, c.gone)*float64(len(h.is))/8, len(change.Gzip), len(sinceOf(h, before.Cursor)))
		if len(doc.Gzip) > c.most {
			t.Errorf("%s: %d bytes compressed, want at most %d", c.name, len(doc.Gzip), c.most)
		}
		if len(change.Gzip) > 1000 {
			t.Errorf("%s: what 50 seats did is %d bytes compressed, want at most 1,000", c.name, len(change.Gzip))
		}
	}
}

func sinceOf(h *house, cursor string) []byte {
	doc, _ := h.board.Since(cursor)
	return doc.Gzip
}

// least is the entropy of a seat, in bits.
func least(shares ...float64) (bits float64) {
	rest := 1.0
	for _, p := range shares {
		rest -= p
	}
	for _, p := range append(shares, rest) {
		if p > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// What a count of an arena costs a replica once a second: putting it up, and a
// page's question.
func BenchmarkArena(b *testing.B) {
	h := arena(b)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same hall each time
	for i := range h.is {
		h.is[i] = byte(r.IntN(3))
	}
	h.show()
	b.Run("show", func(b *testing.B) {
		for b.Loop() {
			h.is[0] = (h.is[0] + 1) % 3
			h.show()
		}
	})
	b.Run("ask", func(b *testing.B) {
		_, a := h.asked(h.board, "")
		b.ReportAllocs()
		for b.Loop() {
			h.board.Since(a.Cursor)
		}
	})
}
