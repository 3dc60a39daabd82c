package availability

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"waitroom/internal/document"
)

// What both documents say of themselves.
type head struct {
	Event   string    `json:"event"`
	Plan    string    `json:"plan"`
	Version int64     `json:"version"`
	AsOf    time.Time `json:"as_of"`
	State   string    `json:"state"`
	Cursor  string    `json:"cursor"`
}

func (b *Board) head(s *showing) head {
	now := s.past[0]
	return head{b.event, b.plan, s.at.UnixMilli(), s.at.UTC().Truncate(time.Millisecond), now.name, now.cursor()}
}

// whole is everything. The bitmap comes last, as a part of its own: three seats
// are one letter of it, and the letters of all else would make those longer.
func (b *Board) whole(s *showing) (document.Document, error) {
	now := s.past[0]
	text, err := json.Marshal(struct {
		head
		Sections []section      `json:"sections"`
		Blocks   map[string]int `json:"blocks"`
		Bitmap   []byte         `json:"bitmap"`
	}{b.head(s), now.sections, now.blocks, now.bitmap})
	if err != nil {
		return document.Document{}, err
	}
	cut := len(text) - base64.StdEncoding.EncodedLen(len(now.bitmap)) - len(`"}`)
	return document.New(text[:cut], text[cut:])
}

// moved are seats by what they have become.
type moved struct {
	Free    []int `json:"free"`
	Pending []int `json:"pending"`
	Gone    []int `json:"gone"`
	Kept    []int `json:"kept,omitempty"`
}

// change is how a state became the one that is shown: the rows of sections and
// the blocks that differ, and the seats.
func (b *Board) change(s *showing, from *state) (document.Document, error) {
	now := s.past[0]
	was := make(map[section]bool, len(from.sections))
	for _, row := range from.sections {
		was[row] = true
	}
	rows, blocks := []section{}, map[string]int{}
	for _, row := range now.sections {
		if !was[row] {
			rows = append(rows, row)
		}
	}
	for name, most := range now.blocks {
		if from.blocks[name] != most {
			blocks[name] = most
		}
	}
	text, err := json.Marshal(struct {
		head
		Since    string         `json:"since"`
		Sections []section      `json:"sections"`
		Blocks   map[string]int `json:"blocks"`
		Changes  moved          `json:"changes"`
	}{b.head(s), from.name, rows, blocks, moves(from.bitmap, now.bitmap)})
	if err != nil {
		return document.Document{}, err
	}
	return document.New(text)
}

func moves(from, to []byte) moved {
	m := moved{Free: []int{}, Pending: []int{}, Gone: []int{}}
	for i := range max(len(from), len(to)) * 4 {
		is := at(to, i)
		if at(from, i) == is {
			continue
		}
		switch is {
		case 0:
			m.Free = append(m.Free, i)
		case 1:
			m.Pending = append(m.Pending, i)
		case 3:
			m.Kept = append(m.Kept, i)
		default:
			m.Gone = append(m.Gone, i)
		}
	}
	return m
}
