package httpapi

import (
	"sync"
	"sync/atomic"

	"waitroom/internal/availability"
	"waitroom/internal/block"
	"waitroom/internal/document"
	"waitroom/internal/inventory"
)

// Hall is one event's seats as this process serves them: the plan, which does
// not change, and what is free of it, which is counted once a second and served
// from memory to any number of people.
type Hall struct {
	event    string
	plan     inventory.SeatPlan
	first    int64          // the least id of a seat
	index    map[string]int // guid to pos
	tiers    map[string]bool
	rows     *block.Hall
	numbered map[string]int // guid to a seat of rows
	best     offered
	seatmap  document.Document
	board    *availability.Board
	last     atomic.Pointer[inventory.Count]
	drawing  *drawing // nil: it has no seats to draw and to choose one by one
	pickers  sync.Map // by language
}

// NewHall indexes an event's seats, and compresses its seat map, once.
func NewHall(event string, plan inventory.SeatPlan) (*Hall, error) {
	h := &Hall{event: event, plan: plan, index: make(map[string]int, len(plan.Seats)), tiers: map[string]bool{}}
	for i, s := range plan.Seats {
		h.index[s.GUID] = i
		if i == 0 || s.ID < h.first {
			h.first = s.ID
		}
		if s.Kind == "general" {
			h.tiers[s.Tier] = true
		}
	}
	bits := h.seat(plan)
	h.board = availability.New(event, plan.Hash, h.rows, bits)
	h.drawing = drawingOf(plan)
	var err error
	h.seatmap, err = document.Named(plan.Hash, plan.Seatmap)
	return h, err
}

// Counted says that a count is of this hall's seats. The hash alone does not: the
// same plan imported again has seats with other ids, and those of before are
// nobody's to claim.
func (h *Hall) Counted(n inventory.Count) bool { return n.Plan == h.plan.Hash && n.First == h.first }

// Count publishes a recount.
func (h *Hall) Count(n inventory.Count) error {
	if err := h.board.Show(n); err != nil {
		return err
	}
	h.last.Store(&n)
	return nil
}

// pick turns what a caller names into ids. The names that there are not come
// back in unknown.
func (h *Hall) pick(guids []string) (ids []int64, unknown []string) {
	for _, g := range guids {
		if i, ok := h.index[g]; ok {
			ids = append(ids, h.plan.Seats[i].ID)
		} else {
			unknown = append(unknown, g)
		}
	}
	return ids, unknown
}

// names turns ids that pick gave back into what the caller called them.
func (h *Hall) names(guids []string, ids []int64) []string {
	taken := make(map[int64]bool, len(ids))
	for _, id := range ids {
		taken[id] = true
	}
	out := []string{}
	for _, g := range guids {
		if i, ok := h.index[g]; ok && taken[h.plan.Seats[i].ID] {
			out = append(out, g)
		}
	}
	return out
}

// Halls are the halls of all events that this process serves.
type Halls struct{ byEvent sync.Map }

// Put makes h the hall of its event.
func (hs *Halls) Put(h *Hall) { hs.byEvent.Store(h.event, h) }

// Get finds an event's hall.
func (hs *Halls) Get(event string) (*Hall, bool) {
	h, ok := hs.byEvent.Load(event)
	if !ok {
		return nil, false
	}
	return h.(*Hall), true
}
