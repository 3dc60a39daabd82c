package local

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// One bucket per event, and in it what stands below. The tail has a record of
// its own, so that joins do not rewrite the door and its document.
var (
	events  = []byte("events")
	places  = []byte("places")
	reports = []byte("reports")
)

const (
	doorKey  = "door"
	tailKey  = "tail"
	lobbyKey = "lobby"
)

// line finds the event's bucket.
func line(tx *bbolt.Tx, event string) (*bbolt.Bucket, error) {
	b := tx.Bucket(events).Bucket([]byte(event))
	if b == nil {
		return nil, admission.ErrNoEvent
	}
	return b, nil
}

// Open implements admission.Store.
func (s *Store) Open(ctx context.Context, from admission.Door, end admission.Tail) (admission.Door, error) {
	return write(ctx, s, s.door, func(c *change) (admission.Door, error) {
		b, err := c.Bucket(events).CreateBucketIfNotExists([]byte(from.Event))
		if err != nil {
			return admission.Door{}, err
		}
		if b.Get([]byte(doorKey)) == nil {
			return anew(c, b, from, end)
		}
		d, err := door(b)
		switch {
		case err != nil:
			return d, err
		case d.Epoch > from.Epoch:
			return d, admission.ErrEpoch
		case d.Epoch < from.Epoch:
			return anew(c, b, from, end)
		}
		return d, nil
	})
}

// anew starts a line. Places of an older epoch stay where they are: whoever
// joins again replaces his own, and audits may want the rest.
func anew(c *change, b *bbolt.Bucket, from admission.Door, end admission.Tail) (admission.Door, error) {
	for _, name := range [][]byte{places, reports} {
		if _, err := b.CreateBucketIfNotExists(name); err != nil {
			return admission.Door{}, err
		}
	}
	if err := putTail(c, b, from.Epoch, end.Next); err != nil {
		return admission.Door{}, err
	}
	if err := putLobby(c, b, end); err != nil {
		return admission.Door{}, err
	}
	return from, putDoor(c, b, from)
}

// Raise implements admission.Store.
func (s *Store) Raise(ctx context.Context, to admission.Door, end admission.Tail) (admission.Door, error) {
	return write(ctx, s, s.door, func(c *change) (admission.Door, error) {
		b, err := line(c.Tx, to.Event)
		if err != nil {
			return admission.Door{}, err
		}
		d, err := door(b)
		if err == nil && d.Epoch != to.Epoch {
			err = admission.ErrEpoch
		}
		if err != nil {
			return admission.Door{}, err
		}
		if _, next := tail(b); next < end.Next {
			if err := errors.Join(putTail(c, b, to.Epoch, end.Next), putLobby(c, b, end)); err != nil {
				return admission.Door{}, err
			}
		}
		if d.Beat >= to.Beat {
			return d, nil
		}
		return to, putDoor(c, b, to)
	})
}

// Allot implements admission.Store.
func (s *Store) Allot(ctx context.Context, event string, epoch, n, limit int64) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("allot %d numbers: want at least 1", n)
	}
	return write(ctx, s, s.crowd, func(c *change) (int64, error) {
		b, err := line(c.Tx, event)
		if err != nil {
			return 0, err
		}
		at, first := tail(b)
		switch {
		case at != epoch:
			return 0, admission.ErrEpoch
		case first > limit-n:
			return 0, admission.ErrFull
		}
		return first, putTail(c, b, epoch, first+n)
	})
}

// Tail implements admission.Store.
func (s *Store) Tail(ctx context.Context, event string) (admission.Tail, error) {
	return read(ctx, s, func(tx *bbolt.Tx) (admission.Tail, error) {
		b, err := line(tx, event)
		if err != nil {
			return admission.Tail{}, err
		}
		_, t, err := lobby(b)
		return t, err
	})
}

// CloseLobby implements admission.Store.
func (s *Store) CloseLobby(ctx context.Context, event string, epoch int64) (admission.Tail, error) {
	return s.settleLobby(ctx, event, epoch, func(t *admission.Tail) error {
		if !t.Closed {
			t.Closed, t.Lobby = true, t.Next
		}
		return nil
	})
}

// Draw implements admission.Store.
func (s *Store) Draw(ctx context.Context, event string, epoch int64, seed draw.Seed, beacon string) (admission.Tail, error) {
	return s.settleLobby(ctx, event, epoch, func(t *admission.Tail) error {
		switch {
		case !t.Closed:
			return admission.ErrLobby
		case !t.Drawn:
			t.Drawn, t.Seed, t.Beacon = true, seed, beacon
		}
		return nil
	})
}

// settleLobby does one step of the lobby's life, unless it was done.
func (s *Store) settleLobby(ctx context.Context, event string, epoch int64, step func(*admission.Tail) error) (admission.Tail, error) {
	return write(ctx, s, s.crowd, func(c *change) (admission.Tail, error) {
		b, err := line(c.Tx, event)
		if err != nil {
			return admission.Tail{}, err
		}
		at, t, err := lobby(b)
		if err == nil && at != epoch {
			err = admission.ErrEpoch
		}
		if err != nil {
			return admission.Tail{}, err
		}
		before := t
		if err := step(&t); err != nil || t == before {
			return t, err
		}
		return t, putLobby(c, b, t)
	})
}

func putLobby(c *change, b *bbolt.Bucket, t admission.Tail) error {
	if !t.Closed {
		return b.Delete([]byte(lobbyKey))
	}
	v, err := json.Marshal(drawn{t.Lobby, t.Drawn, t.Seed[:], t.Beacon})
	if err != nil {
		return err
	}
	return c.put(b, lobbyKey, v)
}

// drawn is a closed lobby as it stands in the file.
type drawn struct {
	Count  int64  `json:"count"`
	Drawn  bool   `json:"drawn"`
	Seed   []byte `json:"seed"`
	Beacon string `json:"beacon"`
}

// lobby is the tail with what became of the lobby.
func lobby(b *bbolt.Bucket) (epoch int64, t admission.Tail, err error) {
	epoch, t.Next = tail(b)
	v := b.Get([]byte(lobbyKey))
	if v == nil {
		return epoch, t, nil
	}
	var d drawn
	if err := json.Unmarshal(v, &d); err != nil || len(d.Seed) != len(t.Seed) {
		return epoch, t, fmt.Errorf("the lobby's record %q: %w", v, err)
	}
	t.Closed, t.Lobby, t.Drawn, t.Beacon = true, d.Count, d.Drawn, d.Beacon
	copy(t.Seed[:], d.Seed)
	return epoch, t, nil
}

func tail(b *bbolt.Bucket) (epoch, next int64) {
	v := b.Get([]byte(tailKey))
	return int64(binary.BigEndian.Uint64(v)), int64(binary.BigEndian.Uint64(v[8:]))
}

func putTail(c *change, b *bbolt.Bucket, epoch, next int64) error {
	v := binary.BigEndian.AppendUint64(nil, uint64(epoch))
	return c.put(b, tailKey, binary.BigEndian.AppendUint64(v, uint64(next)))
}
