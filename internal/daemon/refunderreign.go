package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
)

// throne is where one refunder of any number sits.
type throne struct {
	limits     outlet.Limits
	log        *slog.Logger
	pool       *pgxpool.Pool
	contender  *refunds.Contender
	ledger     refunds.Ledger
	dispatcher refunds.Dispatcher // of each reign, but for its book

	mu      sync.Mutex
	now     *refunds.Reign // nil: the outlet is not ours
	opens   bool           // calls can start: the wait after the taking is over
	stepOff context.CancelFunc
	stopped bool // the provider refuses our key
}

// book is the ledger while the outlet is ours.
type book struct {
	refunds.Ledger
	*refunds.Reign
}

var (
	errWaits   = errors.New("another refunder has the outlet")
	errOpens   = errors.New("the outlet was just taken; calls of the one before may be under way")
	errStopped = errors.New("the provider refuses our key; the outlet stands until a person says to go on")
)

// contendEvery is how soon a waiting refunder takes over from one that ended.
const contendEvery = 500 * time.Millisecond

// reign takes the outlet whenever it is free, and makes calls for as long as it
// is ours.
func (t *throne) reign(taking, work context.Context) error {
	for taking.Err() == nil {
		r, err := t.contender.Try(taking, t.limits)
		if err != nil && taking.Err() == nil {
			t.log.Error("the outlet cannot be asked for", "error", err)
		}
		if r != nil {
			t.sit(taking, work, r)
		}
		wait(taking, contendEvery)
	}
	return nil
}

// sit is one reign, from the taking to the end of the last call.
func (t *throne) sit(taking, work context.Context, r *refunds.Reign) {
	taking, off := context.WithCancel(taking)
	defer off()
	t.set(r, off)
	defer func() {
		t.set(nil, nil)
		r.End(context.WithoutCancel(work))
	}()
	t.log.Info("the outlet is ours", "epoch", r.Epoch)
	wait(taking, t.limits.Call)
	left, err := r.Recover(work, t.pool)
	if err == nil && taking.Err() == nil {
		t.open()
		d := t.dispatcher
		d.Book = book{t.ledger, r}
		err = d.Run(taking, work)
	}
	t.log.Info("the outlet is given up", "epoch", r.Epoch, "left_unknown", left, "error", err)
}

func (t *throne) set(r *refunds.Reign, off context.CancelFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.stepOff, t.opens = r, off, false
}

func (t *throne) open() { t.mu.Lock(); defer t.mu.Unlock(); t.opens = true }

func (t *throne) stop(stopped bool) { t.mu.Lock(); defer t.mu.Unlock(); t.stopped = stopped }

func (t *throne) state() (r *refunds.Reign, off context.CancelFunc, opens, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now, t.stepOff, t.opens, t.stopped
}

// ours is asked by the outlet before a start.
func (t *throne) ours(ctx context.Context) error {
	r, _, opens, _ := t.state()
	if r == nil || !opens {
		return errWaits
	}
	return r.Ours(ctx)
}

// held ends a reign whose lock is gone, also when there is nothing to send.
func (t *throne) held(ctx context.Context) error {
	r, off, _, _ := t.state()
	if r == nil {
		return nil
	}
	err := r.Ours(ctx)
	if err != nil {
		off()
	}
	return err
}

// ready is whether refunds go out here.
func (t *throne) ready(context.Context) error {
	r, _, opens, stopped := t.state()
	switch {
	case r == nil:
		return errWaits
	case !opens:
		return errOpens
	case stopped:
		return errStopped
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
