package availability

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"waitroom/internal/inventory"
)

// state is a hall's seats at an instant. It is the same whichever replica counted
// them, and so is its name.
type state struct {
	name     string // 16 hex digits
	bitmap   []byte
	sections []section
	blocks   map[string]int
}

type section struct {
	Section string `json:"section"`
	Tier    string `json:"tier"`
	Free    int64  `json:"free"`
	Pending int64  `json:"pending"`
	Sold    int64  `json:"sold"`
	Kept    int64  `json:"kept,omitempty"` // free, for presale codes alone
}

func (s *state) cursor() string { return s.name[:3] }

func (b *Board) stateOf(n inventory.Count) (*state, error) {
	s := &state{bitmap: n.Bitmap, sections: make([]section, 0, len(n.Sections))}
	for _, c := range n.Sections {
		s.sections = append(s.sections, section{c.Section, c.Tier, c.Free, c.Pending, c.Sold, c.Kept})
	}
	free := b.hall.NoneFree()
	for seat, pos := range b.pos {
		if at(n.Bitmap, pos) == 0 {
			free.Let(seat)
		}
	}
	s.blocks = b.hall.Sections(free)
	text, err := json.Marshal([]any{b.event, b.plan, s.sections, s.bitmap})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	s.name = hex.EncodeToString(sum[:8])
	return s, nil
}

// at is a seat's two bits; what was not counted is gone.
func at(bitmap []byte, pos int) byte {
	if pos/4 >= len(bitmap) {
		return 2
	}
	return bitmap[pos/4] >> (pos % 4 * 2) & 3
}
