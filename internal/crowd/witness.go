package crowd

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// told is one answer, as the fan got it. The audit reads these.
type told struct {
	At      time.Time `json:"at"`
	Asked   time.Time `json:"asked,omitzero"` // door, claim: when the request was sent
	Late    bool      `json:"late,omitempty"` // door: it stood in the latecomers' lane
	Op      string    `json:"op"`             // join lobby drawn place door pass claim order
	Event   string    `json:"event"`
	Holder  string    `json:"holder"`
	Epoch   int64     `json:"epoch,omitempty"`
	Number  int64     `json:"number"`
	Index   int64     `json:"index,omitempty"` // lobby, drawn: in the order of joining
	Ahead   int64     `json:"ahead,omitempty"`
	New     bool      `json:"new,omitempty"`
	Take    int64     `json:"take,omitempty"`
	Attempt string    `json:"attempt,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
	Order   string    `json:"order,omitempty"`
	Status  string    `json:"status,omitempty"`
	Seats   []string  `json:"seats,omitempty"`
	Wish    *want     `json:"wish,omitempty"`  // claim: what was asked for
	Taken   []string  `json:"taken,omitempty"` // claim: the seats that were refused
}

// witness writes the log. A fan never waits for a disk: it is buffered, and
// whole once flushed.
type witness struct {
	mu  sync.Mutex
	buf *bufio.Writer
	enc *json.Encoder
	err error
}

func newWitness(w io.Writer) *witness {
	if w == nil {
		w = io.Discard
	}
	buf := bufio.NewWriterSize(w, 1<<18)
	return &witness{buf: buf, enc: json.NewEncoder(buf)}
}

func (w *witness) write(t told) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.enc.Encode(t); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *witness) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.buf.Flush(); err != nil {
		return err
	}
	return w.err
}
