package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
)

// Door implements admission.Store.
func (s *Store) Door(ctx context.Context, event string) (admission.Door, error) {
	return read(ctx, s, func(tx *bbolt.Tx) (admission.Door, error) {
		b, err := line(tx, event)
		if err != nil {
			return admission.Door{}, err
		}
		return door(b)
	})
}

// Acquire implements admission.Store.
func (s *Store) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	return s.move(ctx, seen.Event, seen.Epoch, func(d admission.Door) (admission.Door, bool) {
		return d.Acquire(seen, owner)
	})
}

// Refill implements admission.Store.
func (s *Store) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	r.Doc = bytes.Clone(r.Doc) // the caller may leave before it is kept
	return s.move(ctx, r.Event, r.Epoch, func(d admission.Door) (admission.Door, bool) {
		return d.Refill(r)
	})
}

// Take implements admission.Store.
func (s *Store) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	if k < 1 {
		return admission.Door{}, false, fmt.Errorf("take %d credits: want at least 1", k)
	}
	return s.move(ctx, event, epoch, func(d admission.Door) (admission.Door, bool) {
		return d.Take(epoch, k)
	})
}

// move applies one of the door's transitions.
func (s *Store) move(ctx context.Context, event string, epoch int64, to func(admission.Door) (admission.Door, bool)) (admission.Door, bool, error) {
	type answer struct {
		door  admission.Door
		moved bool
	}
	a, err := write(ctx, s, s.door, func(c *change) (a answer, err error) {
		b, err := line(c.Tx, event)
		if err != nil {
			return a, err
		}
		if a.door, err = door(b); err != nil {
			return a, err
		}
		if a.door.Epoch != epoch {
			return a, admission.ErrEpoch
		}
		if a.door, a.moved = to(a.door); !a.moved {
			return a, nil
		}
		return a, putDoor(c, b, a.door)
	})
	return a.door, a.moved, err
}

func door(b *bbolt.Bucket) (d admission.Door, err error) {
	if err = json.Unmarshal(b.Get([]byte(doorKey)), &d); err != nil {
		return d, fmt.Errorf("the door's record: %w", err)
	}
	return d, nil
}

func putDoor(c *change, b *bbolt.Bucket, d admission.Door) error {
	v, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return c.put(b, doorKey, v)
}
