package dynamo

import (
	"context"
	"fmt"

	"waitroom/internal/admission"
)

// Open implements admission.Store. It starts the tail before the door, so that
// whoever sees a door in an epoch can allot numbers in it. Between the two the
// old line refuses numbers with ErrEpoch; repeating Open mends it.
func (s *Store) Open(ctx context.Context, event string, epoch int64) (admission.Door, error) {
	tail := tailKey(event)
	tail["epoch"], tail["tail"] = num(epoch), num(0)
	for _, it := range []item{tail, doorItem(admission.Door{Event: event, Epoch: epoch})} {
		refused, err := s.put(ctx, it, `attribute_not_exists(pk) OR epoch < :epoch`, item{":epoch": num(epoch)})
		if err != nil && !refused {
			return admission.Door{}, fmt.Errorf("dynamo: open: %w", err)
		}
	}
	return s.doorIn(ctx, event, epoch)
}

// Allot implements admission.Store.
func (s *Store) Allot(ctx context.Context, event string, epoch, n, limit int64) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("allot %d numbers: want at least 1", n)
	}
	it, refused, err := s.update(ctx, s.once, tailKey(event),
		`SET tail = tail + :n`,
		`epoch = :epoch AND tail <= :room`,
		item{":n": num(n), ":epoch": num(epoch), ":room": num(limit - n)})
	if refused {
		return 0, s.whyNone(ctx, event, epoch)
	}
	if err != nil {
		return 0, fmt.Errorf("dynamo: allot: %w", err)
	}
	_, next, err := toTail(it)
	return next - n, err
}

// whyNone reads why no numbers were allotted. What it finds is still the
// reason: an epoch and its tail only grow.
func (s *Store) whyNone(ctx context.Context, event string, epoch int64) error {
	it, err := s.get(ctx, tailKey(event))
	if err != nil {
		return fmt.Errorf("dynamo: allot: %w", err)
	}
	if it == nil {
		return admission.ErrNoEvent
	}
	at, _, err := toTail(it)
	if err != nil {
		return err
	}
	if at != epoch {
		return admission.ErrEpoch
	}
	return admission.ErrFull
}

// Tail implements admission.Store.
func (s *Store) Tail(ctx context.Context, event string) (int64, error) {
	it, err := s.get(ctx, tailKey(event))
	if err != nil {
		return 0, fmt.Errorf("dynamo: tail: %w", err)
	}
	if it == nil {
		return 0, admission.ErrNoEvent
	}
	_, next, err := toTail(it)
	return next, err
}

func toTail(it item) (epoch, next int64, err error) {
	r := reader{item: it}
	epoch, next = r.num("epoch"), r.num("tail")
	return epoch, next, r.err
}
