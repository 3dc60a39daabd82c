package inventory

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/block"
)

// seating is a hall as blocks are chosen in it. It does not change: with
// other settings there is another.
type seating struct {
	version int64 // of the event's settings, its plan's among them
	hall    *block.Hall
	ids     []int64       // of each seat of the hall
	at      map[int32]int // of each pos: which seat of the hall
	tiers   []string
	strict  bool
}

// halls are the seatings that were chosen in lately.
type halls struct {
	mu    sync.Mutex
	known map[string]*seating // by event
}

// hallsKept bounds what is remembered: a stadium takes some 10 MB. Any other
// hall's seats are read again.
const hallsKept = 32

// seating is the event's, read anew when anything that is set may be another.
func (h *halls) seating(ctx context.Context, tx pgx.Tx, event string, version int64) (*seating, error) {
	h.mu.Lock()
	known := h.known[event]
	h.mu.Unlock()
	if known != nil && known.version == version {
		return known, nil
	}
	read, err := readSeating(ctx, tx, event, version)
	if err != nil {
		return nil, fmt.Errorf("seats of %s: %w", event, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) >= hallsKept {
		clear(h.known)
	}
	if h.known == nil {
		h.known = map[string]*seating{}
	}
	h.known[event] = read
	return read, nil
}

func readSeating(ctx context.Context, tx pgx.Tx, event string, version int64) (*seating, error) {
	s := &seating{version: version, at: map[int32]int{}}
	var focusX, focusY *float32
	var orphans string
	err := tx.QueryRow(ctx, `SELECT focus_x, focus_y, orphans FROM events WHERE id = $1`, event).Scan(&focusX, &focusY, &orphans)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT id, pos, section, row, number, x, y, price_tier, kind = 'accessible'
		FROM seats WHERE event_id = $1 AND kind <> 'general' ORDER BY pos`, event)
	if err != nil {
		return nil, err
	}
	var seats []block.Seat
	var id int64
	var pos int32
	var x, y float32
	var one block.Seat
	var tier string
	tiers := map[string]int{}
	_, err = pgx.ForEachRow(rows, []any{&id, &pos, &one.Section, &one.Row, &one.Number, &x, &y, &tier, &one.Accessible}, func() error {
		n, known := tiers[tier]
		if !known {
			n = len(s.tiers)
			tiers[tier] = n
			s.tiers = append(s.tiers, tier)
		}
		one.X, one.Y, one.Tier = float64(x), float64(y), n
		s.at[pos] = len(seats)
		s.ids = append(s.ids, id)
		seats = append(seats, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	focus := block.Ahead(seats)
	if focusX != nil {
		focus = block.Point{X: float64(*focusX), Y: float64(*focusY)}
	}
	s.hall, s.strict = block.NewHall(seats, focus), Orphans(orphans) == Strict
	return s, nil
}
