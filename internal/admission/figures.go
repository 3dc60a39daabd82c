package admission

import (
	"encoding/json"
	"math"
	"time"
)

// Figures is what the holder publishes in Door.Doc for all replicas, and what
// its successor goes on from. Shares are 0..1, durations seconds.
type Figures struct {
	At     int64     `json:"at"` // Unix ms
	State  SaleState `json:"state"`
	Reason Reason    `json:"reason,omitempty"`
	Rate   float64   `json:"rate"` // in force whenever people are let in; 0: none that makes sense
	By     Limit     `json:"by"`   // what bounds it
	Wave   int64     `json:"wave"`
	Opens  int64     `json:"opens"` // Unix ms

	Waiting    int64 `json:"waiting"` // not called yet, and not known to have left
	Coming     int64 `json:"coming"`  // called lately, expected, not come yet
	AtDoor     int64 `json:"at_door"` // come, and waiting for a credit
	Inside     int64 `json:"inside"`  // let in, not claimed, not known to be gone
	LastMinute int64 `json:"last_minute"`
	Late       int64 `json:"late,omitempty"` // of those at the door, in the grace lane
	Room       int64 `json:"room,omitempty"` // people who may still come in by the organiser's cap, if there is one

	Pace float64 `json:"pace,omitempty"` // people a second that such a cap lets in once it is reached, or a slow store; 0: there is neither
	Stay float64 `json:"stay,omitempty"` // seconds that somebody is inside, as it counts

	Ceiling float64 `json:"ceiling,omitempty"` // people a second that are borne, as measured; 0: what is asked for
	Burden  burden  `json:"burden,omitzero"`   // and what that rests on

	Share   float64 `json:"share"`   // of those let in, who want to buy
	Tickets float64 `json:"tickets"` // that each of these wants
	Seen    int64   `json:"seen"`    // people that both are learnt from
	Turn    float64 `json:"turn"`    // of those called, who come
	Come    float64 `json:"come"`    // seconds from called to come
	Called  int64   `json:"called"`  // places that Turn was learnt from

	Left   int64 `json:"left,omitempty"`    // places given up before their call, that is to come
	LeftTo int64 `json:"left_to,omitempty"` // all of them are below this number

	// Unsure: of the places below this number nobody knows how many were given up, or
	// never were: the line's store was lost. Until the front is there Waiting is the
	// most that it can be.
	Unsure int64 `json:"unsure,omitempty"`
}

// Published reads the figures of a door. False: nothing was published yet, or
// nothing that can be read. Figures without a time are those of a line that was
// begun again after a loss: nobody has released it yet.
func Published(door Door) (Figures, bool) {
	var f Figures
	if len(door.Doc) == 0 || json.Unmarshal(door.Doc, &f) != nil {
		return Figures{}, false
	}
	return f, true
}

// Waiters are how many wait; nil: nobody knows.
func (f Figures) Waiters() *int64 {
	if f.Unsure > 0 {
		return nil
	}
	return &f.Waiting
}

// figures are what the holder knows now.
func (r *Release) figures(now time.Time, tail, atDoor int64) Figures {
	share, tickets := r.expects()
	f := Figures{
		At: now.UnixMilli(), State: r.state, Reason: r.reason, Wave: r.wave,
		Opens:   r.sale.OpensAt.UnixMilli(),
		Waiting: max(0, tail-r.called-r.front.empty(r.called)),
		Left:    r.front.empty(r.called), LeftTo: r.front.last, Unsure: r.front.unsureFrom(r.called),
		Coming: int64(math.Round(r.coming(now))),
		AtDoor: atDoor, Late: r.late, Room: r.space,
		Inside:     int64(math.Ceil(r.people)),
		LastMinute: r.minute.since(r.taken),
		Share:      short(share), Tickets: short(tickets),
		Turn: short(r.front.turn), Come: short(r.front.come().Seconds()),
		Seen: r.before.Seen + r.learnt.seen(), Called: r.front.seen,
		Rate: r.rate, By: r.by, Pace: short(r.slowest()), Stay: short(r.stay()), Ceiling: short(r.capacity.ceiling), Burden: r.capacity.burden(),
	}
	return f
}

// coming is who was called and is expected, as it is told: whoever lapsed is not,
// however patient the release itself is.
func (r *Release) coming(now time.Time) float64 {
	within := r.front.patience()
	if r.sale.CallWindow > 0 {
		within = min(within, r.sale.CallWindow)
	}
	return r.front.comingWithin(now, within)
}

// short keeps the document small.
func short(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// minute counts the people let in during the last minute, to the second.
type minute struct {
	marks []mark
}

type mark struct {
	at    time.Time
	taken int64
}

func (m *minute) note(now time.Time, taken int64) {
	if n := len(m.marks); n > 0 && now.Sub(m.marks[n-1].at) < time.Second {
		return
	}
	for len(m.marks) > 1 && now.Sub(m.marks[1].at) >= time.Minute {
		m.marks = m.marks[1:]
	}
	m.marks = append(m.marks, mark{now, taken})
}

func (m *minute) since(taken int64) int64 {
	if len(m.marks) == 0 {
		return 0
	}
	return taken - m.marks[0].taken
}
