package admission

import (
	"context"
	"errors"
)

// What the line answers instead of doing it. Nothing was done.
var (
	ErrBusy  = errors.New("too much in hand") // at this replica's own bound; ask again
	ErrEarly = errors.New("the lobby is not open yet")
	ErrOver  = errors.New("the sale is over")        // closed to joining, for good
	ErrDoubt = errors.New("the line is not certain") // what must be known is not; ask again
)

// batches hands over in one call whatever came while the call before it was in
// flight. No timer: a timer only adds latency.
type batches[T any] struct {
	waiting chan handed[T]
	most    int // in one call
	ended   chan struct{}
	// send does all items; an item's own failure is in errs at its index, nil
	// errs means that none failed.
	send func(ctx context.Context, items []T) (errs []error)
}

type handed[T any] struct {
	item T
	done chan error
}

// newBatches lets bound items wait; more are refused.
func newBatches[T any](bound, most int, send func(context.Context, []T) []error) *batches[T] {
	return &batches[T]{make(chan handed[T], bound), most, make(chan struct{}), send}
}

// do returns when the item was sent. After ctx's error it may be sent all the
// same; after ErrBusy it is not.
func (b *batches[T]) do(ctx context.Context, item T) error {
	h := handed[T]{item, make(chan error, 1)}
	select {
	case b.waiting <- h:
	default:
		return ErrBusy
	}
	select {
	case err := <-h.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ended:
		return ErrDoubt
	}
}

// run sends until ctx ends. What waits then was not sent; what is in flight is
// sent to its end under work.
func (b *batches[T]) run(ctx, work context.Context) {
	defer close(b.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-b.waiting:
			b.hand(work, b.collect(first))
		}
	}
}

func (b *batches[T]) collect(first handed[T]) []handed[T] {
	batch := []handed[T]{first}
	for len(batch) < b.most {
		select {
		case h := <-b.waiting:
			batch = append(batch, h)
		default:
			return batch
		}
	}
	return batch
}

func (b *batches[T]) hand(ctx context.Context, batch []handed[T]) {
	items := make([]T, len(batch))
	for i, h := range batch {
		items[i] = h.item
	}
	errs := b.send(ctx, items)
	for i, h := range batch {
		if errs == nil {
			h.done <- nil
		} else {
			h.done <- errs[i]
		}
	}
}
