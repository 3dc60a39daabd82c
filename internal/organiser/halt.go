package organiser

import (
	"sync"
	"time"
)

// HeardFor is how long a stop that another process told of holds, whatever
// changes meanwhile: it says so each second until it has written the stop down.
const HeardFor = 3 * time.Second

// Halts are the stops made by hand of which it is not known yet that they were
// written down. A stop acts here before anything is asked, and ends once the
// settings are read that know of it: they say paused, or were resumed after
// that. Any other change meanwhile ends nothing.
//
// A word of a stop may come late, even after the resumption that followed it.
// Then it holds for HeardFor, and no longer.
type Halts struct {
	mu sync.Mutex
	at map[Stop]halt
}

// Stop is one emergency stop of an event. Its name is unlike any other's.
type Stop struct{ Event, Name string }

type halt struct {
	version int64     // settings up to this one do not know of the stop
	ours    bool      // it was made here and is still to be written down
	until   time.Time // told by another process: it holds till then, whatever is read
}

// NewHalts halts nothing.
func NewHalts() *Halts { return &Halts{at: map[Stop]halt{}} }

// Halt halts an event until the stop was Written. Its settings were at that
// version when the stop was made.
func (h *Halts) Halt(s Stop, version int64) { h.set(s, halt{version: version, ours: true}) }

// Heard halts an event that another process has stopped at that version.
func (h *Halts) Heard(s Stop, version int64, now time.Time) {
	h.set(s, halt{version: version, until: now.Add(HeardFor)})
}

// Written says that the settings of that version, and all later ones, know of
// the stop.
func (h *Halts) Written(s Stop, version int64) { h.set(s, halt{version: version - 1}) }

func (h *Halts) set(s Stop, to halt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at[s] = to
}

// Holds reports whether the event is halted while its settings are at that
// version. Whoever asks reads the version first and the settings after it.
func (h *Halts) Holds(event string, version int64, now time.Time) (held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, at := range h.at {
		switch {
		case s.Event != event:
		case version <= at.version || at.ours || now.Before(at.until):
			held = true
		default:
			delete(h.at, s)
		}
	}
	return held
}
