package bench

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"waitroom/internal/admission"
	"waitroom/internal/admission/local"
)

// table is a store as DynamoDB would be: each call takes 4 ms, an item takes 1,000
// writes a second, and the table as many as it says. What is asked for beyond waits.
// Places and numbers are in memory; the door and the rest are the store's beneath.
type table struct {
	admission.Store
	writes *rate.Limiter // the table's
	tail   *rate.Limiter // the counter's

	mu     sync.Mutex
	next   int64
	places map[string]admission.Place
}

const (
	callTakes   = 4 * time.Millisecond
	itemWrites  = 1000 // a second
	tableWrites = 4000
)

func aTable(beneath admission.Store) *table {
	return &table{
		Store: beneath, writes: rate.NewLimiter(tableWrites, tableWrites/100), tail: rate.NewLimiter(itemWrites, itemWrites/100),
		places: map[string]admission.Place{},
	}
}

// call takes its time, after those that the limits let before it.
func (t *table) call(ctx context.Context, limits ...*rate.Limiter) error {
	wait := callTakes
	for _, limit := range limits {
		wait = max(wait, callTakes+limit.Reserve().Delay())
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *table) Allot(ctx context.Context, _ string, _, n, most int64) (int64, error) {
	if err := t.call(ctx, t.tail, t.writes); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next+n > most {
		return 0, admission.ErrFull
	}
	t.next += n
	return t.next - n, nil
}

func (t *table) Tail(ctx context.Context, event string) (admission.Tail, error) {
	tail, err := t.Store.Tail(ctx, event)
	t.mu.Lock()
	defer t.mu.Unlock()
	tail.Next = max(tail.Next, t.next)
	return tail, err
}

func (t *table) Join(ctx context.Context, p admission.Place, _ time.Time) (admission.Place, error) {
	if err := t.call(ctx, t.writes); err != nil {
		return p, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if was, there := t.places[p.Holder]; there {
		return was, nil
	}
	t.places[p.Holder] = p
	return p, nil
}

func (t *table) Place(ctx context.Context, _ string, _ int64, holder string) (admission.Place, error) {
	if err := t.call(ctx); err != nil {
		return admission.Place{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, there := t.places[holder]
	if !there {
		return p, admission.ErrNoPlace
	}
	return p, nil
}

// joinsOfATable: people a second who get a place, against what the table's writes
// allow; and the numbers a second that its one counter gives in blocks, each for as
// many as join at once, against one for each.
func joinsOfATable(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	joined, err := e.joinsOfTable(ctx, dir)
	if err != nil {
		return nil, err
	}
	numbers := func(each int64) func() (float64, error) {
		return func() (float64, error) {
			counter := aTable(nil)
			blocks, err := crowd(admission.JoinsAtOnce, e.Joins/4, func(int64) error {
				_, err := counter.Allot(ctx, event, 1, each, 1<<40)
				return err
			})
			return blocks * float64(each), err
		}
	}
	n, err := turns(min(e.Rounds, 3), numbers(admission.JoinsAtOnce), numbers(1))
	if err != nil {
		return nil, err
	}
	return []Figure{times("joins_vs_table_limit", "joins/s", joined, tableWrites), times("allot_vs_increment", "numbers/s", n[0], n[1])}, nil
}

func (e Effort) joinsOfTable(ctx context.Context, dir string) (float64, error) {
	beneath, err := local.Open(file(dir, "beneath"))
	if err != nil {
		return 0, err
	}
	defer beneath.Close() //nolint:errcheck // it is removed with its folder
	l, end, err := run(ctx, aTable(beneath), start{opens: time.Hour, rate: 50})
	if err != nil {
		return 0, err
	}
	defer end()
	var seq atomic.Int64
	return crowd(e.Callers, 4*e.Joins, func(int64) error { return joinLine(ctx, l, fan(&seq)) })
}
