package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"waitroom/internal/block"
	"waitroom/internal/inventory"
)

// Hall is one event's seats as this process serves them: the plan, which does
// not change, and the availability, which is worked out once a second and
// served from memory to any number of people.
type Hall struct {
	event    string
	plan     inventory.SeatPlan
	index    map[string]int // guid to pos
	tiers    map[string]bool
	rows     *block.Hall
	numbered map[string]int // guid to a seat of rows
	best     offered
	free     atomic.Pointer[Document]
	last     atomic.Pointer[inventory.Count]
	drawing  *drawing // nil: it has no seats to draw and to choose one by one
	picker   atomic.Pointer[picker]
}

// Document is bytes that are the same for everyone, with their strong ETag.
type Document struct {
	Body []byte
	ETag string
}

func newDocument(body []byte) *Document {
	sum := sha256.Sum256(body)
	return &Document{Body: body, ETag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// NewHall indexes an event's seats.
func NewHall(event string, plan inventory.SeatPlan) *Hall {
	h := &Hall{event: event, plan: plan, index: make(map[string]int, len(plan.Seats)), tiers: map[string]bool{}}
	for i, s := range plan.Seats {
		h.index[s.GUID] = i
		if s.Kind == "general" {
			h.tiers[s.Tier] = true
		}
	}
	h.seat(plan)
	h.drawing = drawingOf(plan)
	return h
}

// PlanHash names the plan that the hall was made from.
func (h *Hall) PlanHash() string { return h.plan.Hash }

type sectionBody struct {
	Section string `json:"section"`
	Tier    string `json:"tier"`
	Free    int64  `json:"free"`
	Pending int64  `json:"pending"`
	Sold    int64  `json:"sold"`
}

type availabilityBody struct {
	Event    string        `json:"event"`
	Plan     string        `json:"plan"`
	Version  int64         `json:"version"`
	AsOf     time.Time     `json:"as_of"`
	Sections []sectionBody `json:"sections"`
	Bitmap   string        `json:"bitmap"`
}

// Count publishes a recount.
func (h *Hall) Count(n inventory.Count) error {
	b := availabilityBody{
		Event: h.event, Plan: h.plan.Hash, Version: n.At.UnixMilli(), AsOf: n.At.UTC().Truncate(time.Millisecond),
		Sections: make([]sectionBody, 0, len(n.Sections)), Bitmap: base64.StdEncoding.EncodeToString(n.Bitmap),
	}
	for _, s := range n.Sections {
		b.Sections = append(b.Sections, sectionBody{s.Section, s.Tier, s.Free, s.Pending, s.Sold})
	}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	h.last.Store(&n)
	h.free.Store(newDocument(body))
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
