package organiser

import "sync"

// Halts are the events that were stopped by hand and of which it is not known
// yet that the stop was written down. A stop acts here before anything is
// asked, and holds until the event has changed since: written down as a stop,
// or resumed after that.
type Halts struct {
	mu sync.Mutex
	at map[string]int64 // the version of the event's settings when it was halted
}

// NewHalts halts nothing.
func NewHalts() *Halts { return &Halts{at: map[string]int64{}} }

// Halt halts an event whose settings are at that version, or were lately.
func (h *Halts) Halt(event string, version int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at[event] = max(version, h.at[event])
}

// Holds reports whether the event is halted while its settings are at that
// version. Whoever asks reads the version first and the settings after it.
func (h *Halts) Holds(event string, version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, halted := h.at[event]
	if halted && version > at {
		delete(h.at, event)
		return false
	}
	return halted
}
