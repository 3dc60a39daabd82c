package admission

import "encoding/json"

// Figures is what the holder publishes in Door.Doc for all replicas, and what
// its successor goes on from. Shares are 0..1, durations seconds.
type Figures struct {
	At     int64     `json:"at"` // Unix ms
	State  SaleState `json:"state"`
	Reason Reason    `json:"reason,omitempty"`
	Rate   float64   `json:"rate"` // in force: 0 while nobody is let in
	Wave   int64     `json:"wave"`

	Waiting    int64 `json:"waiting"` // not called yet, and not known to have left
	Coming     int64 `json:"coming"`  // called lately, expected, not come yet
	AtDoor     int64 `json:"at_door"` // come, and waiting for a credit
	Inside     int64 `json:"inside"`  // let in, not claimed, not known to be gone
	LastMinute int64 `json:"last_minute"`

	Share   float64 `json:"share"`   // of those let in, who want to buy
	Tickets float64 `json:"tickets"` // that each of these wants
	Turn    float64 `json:"turn"`    // of those called, who come
	Come    float64 `json:"come"`    // seconds from called to come

	// What the learnt figures rest on.
	Called int64 `json:"n_called"` // places behind Turn
	Wanted int64 `json:"n_wanted"`
	Asked  int64 `json:"n_asked"` // tickets that they wanted
	Gone   int64 `json:"n_gone"`
}

// Published reads the figures of a door. False: nothing was published yet, or
// nothing that can be read.
func Published(door Door) (Figures, bool) {
	var f Figures
	if len(door.Doc) == 0 || json.Unmarshal(door.Doc, &f) != nil {
		return Figures{}, false
	}
	return f, true
}
