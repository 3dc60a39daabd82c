package availability

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"waitroom/examples"
	"waitroom/internal/block"
	"waitroom/internal/document"
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

// house is a hall whose seats the test sells as it likes.
type house struct {
	t     testing.TB
	board *Board
	seats []seating.Seat
	is    []byte // by pos
	at    time.Time
}

func arena(t testing.TB) *house {
	t.Helper()
	data, err := examples.Arena()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := seating.Parse("arena.json", data)
	if err != nil {
		t.Fatal(err)
	}
	return hallOf(t, plan.Seats)
}

func hallOf(t testing.TB, seats []seating.Seat) *house {
	t.Helper()
	h := &house{t: t, seats: seats, is: make([]byte, len(seats)), at: time.UnixMilli(1_800_000_000_000)}
	h.board = h.replica()
	return h
}

// replica is another process that counts the same seats.
func (h *house) replica() *Board {
	var numbered []block.Seat
	var pos []int
	for i, s := range h.seats {
		if s.Kind == seating.General {
			continue
		}
		numbered = append(numbered, block.Seat{
			Section: s.Section, Row: s.Row, Number: s.Number, X: s.X, Y: s.Y, Accessible: s.Kind == seating.Accessible,
		})
		pos = append(pos, i)
	}
	return New("gala", "plan", block.NewHall(numbered, block.Ahead(numbered)), pos)
}

// counted is a second later.
func (h *house) counted() inventory.Count {
	h.at = h.at.Add(time.Second)
	n := inventory.Count{At: h.at, Bitmap: make([]byte, (len(h.is)+3)/4)}
	rows := map[[2]string]*inventory.SectionCount{}
	for i, is := range h.is {
		n.Bitmap[i/4] |= is << (i % 4 * 2)
		key := [2]string{h.seats[i].Section, h.seats[i].Category}
		if rows[key] == nil {
			rows[key] = &inventory.SectionCount{Section: key[0], Tier: key[1]}
		}
		switch row := rows[key]; is {
		case 0:
			row.Free++
		case 1:
			row.Pending++
		case 3:
			row.Kept++
		default:
			row.Sold++
		}
	}
	for _, row := range rows {
		n.Sections = append(n.Sections, *row)
	}
	slices.SortFunc(n.Sections, func(a, b inventory.SectionCount) int {
		return slices.Compare([]string{a.Section, a.Tier}, []string{b.Section, b.Tier})
	})
	return n
}

func (h *house) show(boards ...*Board) {
	h.t.Helper()
	n := h.counted()
	for _, b := range append(boards, h.board) {
		if err := b.Show(n); err != nil {
			h.t.Fatal(err)
		}
	}
}

// asked is what somebody gets for a cursor.
func (h *house) asked(b *Board, cursor string) (document.Document, answer) {
	h.t.Helper()
	doc, counted := b.Since(cursor)
	if !counted {
		h.t.Fatal("nothing was counted")
	}
	var a answer
	if err := json.Unmarshal(doc.Body, &a); err != nil {
		h.t.Fatal(err)
	}
	return doc, a
}

// answer is either document.
type answer struct {
	State, Cursor, Since string
	Version              int64
	AsOf                 time.Time `json:"as_of"`
	Sections             []section
	Blocks               map[string]int
	Bitmap               []byte
	Changes              *moved
}

// reader holds what a page holds, and follows what it is told.
type reader struct {
	state, cursor string
	bitmap        []byte
	sections      map[[2]string]section
	blocks        map[string]int
}

// take is false where the answer is to be applied to something else: then the
// whole is asked for.
func (r *reader) take(a answer) bool {
	switch {
	case a.Changes == nil:
		*r = reader{bitmap: slices.Clone(a.Bitmap), sections: map[[2]string]section{}, blocks: map[string]int{}}
	case a.Since != r.state:
		r.cursor = ""
		return false
	default:
		for is, some := range [][]int{a.Changes.Free, a.Changes.Pending, a.Changes.Gone, a.Changes.Kept} {
			for _, pos := range some {
				r.bitmap[pos/4] = r.bitmap[pos/4]&^(3<<(pos%4*2)) | byte(is)<<(pos%4*2)
			}
		}
	}
	for _, row := range a.Sections {
		r.sections[[2]string{row.Section, row.Tier}] = row
	}
	for name, most := range a.Blocks {
		r.blocks[name] = most
	}
	r.state, r.cursor = a.State, a.Cursor
	return true
}
