package local

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
)

// record is a place as it stands in the file, under its holder; times are
// milliseconds since 1970, 0 for none.
type record struct {
	Epoch     int64           `json:"epoch"`
	Index     int64           `json:"index"`
	State     admission.State `json:"state"`
	JoinedAt  int64           `json:"joined"`
	Take      int64           `json:"take,omitempty"`
	TakenAt   int64           `json:"taken,omitempty"`
	PassUntil int64           `json:"until,omitempty"`
}

// Join implements admission.Store.
func (s *Store) Join(ctx context.Context, p admission.Place, now time.Time) (admission.Place, error) {
	p.State = admission.Waiting
	return s.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		if found && old.Live(p.Epoch, now) {
			return old, nil
		}
		return p, nil
	})
}

// Pass implements admission.Store.
func (s *Store) Pass(ctx context.Context, p admission.Place) (admission.Place, error) {
	p.State = admission.Passed
	return s.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		switch {
		case !found || old.Index < p.Index && !old.Bars(p):
			return p, nil
		case old.Index != p.Index || old.State == admission.Left:
			return old, admission.ErrNoPlace
		case old.State == admission.Waiting:
			p.JoinedAt = old.JoinedAt
			return p, nil
		}
		return old, nil
	})
}

// Leave implements admission.Store.
func (s *Store) Leave(ctx context.Context, p admission.Place) (admission.Place, error) {
	p.State, p.Take, p.TakenAt, p.PassUntil = admission.Left, 0, time.Time{}, time.Time{}
	return s.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		switch {
		case !found || old.Index < p.Index:
			return p, nil
		case old.Index != p.Index:
			return old, admission.ErrNoPlace
		case old.State == admission.Waiting:
			old.State = admission.Left
		}
		return old, nil
	})
}

// settle shows to what the holder has in p's epoch and keeps what to makes of
// it.
func (s *Store) settle(ctx context.Context, p admission.Place, to func(old admission.Place, found bool) (admission.Place, error)) (admission.Place, error) {
	return write(ctx, s, s.crowd, func(c *change) (admission.Place, error) {
		b, err := line(c.Tx, p.Event)
		if err != nil {
			return admission.Place{}, err
		}
		old, found, err := place(b, p.Event, p.Holder)
		if err != nil {
			return old, err
		}
		if found && old.Epoch > p.Epoch {
			return old, admission.ErrEpoch
		}
		next, err := to(old, found && old.Epoch == p.Epoch)
		if err != nil || found && next == old {
			return next, err
		}
		return putPlace(c, b, next)
	})
}

// Place implements admission.Store.
func (s *Store) Place(ctx context.Context, event string, epoch int64, holder string) (admission.Place, error) {
	return read(ctx, s, func(tx *bbolt.Tx) (admission.Place, error) {
		b, err := line(tx, event)
		if err != nil {
			return admission.Place{}, err
		}
		p, found, err := place(b, event, holder)
		if err == nil && (!found || p.Epoch != epoch) {
			return admission.Place{}, admission.ErrNoPlace
		}
		return p, err
	})
}

func place(b *bbolt.Bucket, event, holder string) (p admission.Place, found bool, err error) {
	v := b.Bucket(places).Get([]byte(holder))
	if v == nil {
		return p, false, nil
	}
	p, err = decode(v, event, holder)
	return p, true, err
}

// putPlace returns the place as it will be read: to the millisecond.
func putPlace(c *change, b *bbolt.Bucket, p admission.Place) (admission.Place, error) {
	v, err := json.Marshal(record{
		Epoch: p.Epoch, Index: p.Index, State: p.State, Take: p.Take,
		JoinedAt: millis(p.JoinedAt), TakenAt: millis(p.TakenAt), PassUntil: millis(p.PassUntil),
	})
	if err != nil {
		return p, err
	}
	if err := c.put(b.Bucket(places), p.Holder, v); err != nil {
		return p, err
	}
	return decode(v, p.Event, p.Holder)
}

func decode(v []byte, event, holder string) (admission.Place, error) {
	var r record
	if err := json.Unmarshal(v, &r); err != nil {
		return admission.Place{}, fmt.Errorf("the record of holder %s: %w", holder, err)
	}
	return admission.Place{
		Event: event, Epoch: r.Epoch, Holder: holder, Index: r.Index, State: r.State, Take: r.Take,
		JoinedAt: instant(r.JoinedAt), TakenAt: instant(r.TakenAt), PassUntil: instant(r.PassUntil),
	}, nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
