package refunds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"waitroom/internal/outlet"
)

// Book is what the dispatcher needs of the ledger while the outlet is its own.
// Reading may be behind: Submit is where an operation is taken, and it takes
// one only as it was read.
type Book interface {
	Due(ctx context.Context) (Due, error)
	// Submit commits a call before a byte of it leaves. After ErrNotTaken there
	// is none; after any other error there may be one, and the outlet may be
	// another's.
	Submit(ctx context.Context, j Job, v Verb) (call int64, wait time.Duration, ok bool, err error)
	// Settle writes down what a call came to. Again, it changes nothing.
	Settle(ctx context.Context, s Sent) (Step, error)
}

// Dispatcher is the one goroutine that decides which call is next. It makes a
// start after the other, each when the outlet lets it out; answers are waited
// for beside it.
type Dispatcher struct {
	Book     Book
	Outlet   *outlet.Outlet
	Provider Provider
	Log      *slog.Logger
	// Seen, unless nil, hears of each call after it is settled.
	Seen func(k Kind, s Sent, to Step)

	wasFirst bool // who had the last turn
}

// Run makes calls until taking ends, or the outlet is lost. Calls under way then
// have until work ends to be answered and written down; Run returns after the
// last of them.
func (d *Dispatcher) Run(taking, work context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	for taking.Err() == nil {
		wait, err := d.step(taking, work, &under)
		if err != nil {
			return err
		}
		pause(taking, wait)
	}
	return nil
}

// step makes one call, or says how long there is nothing to do.
func (d *Dispatcher) step(taking, work context.Context, under *sync.WaitGroup) (time.Duration, error) {
	turn, err := d.Outlet.Turn(taking)
	if err != nil {
		return 0, nil // told to take no more
	}
	job, idle, err := d.next(taking)
	if err != nil || job == nil {
		turn.GiveBack()
		return idle, err
	}
	verb := job.Verb(job.Now)
	call, wait, ok, err := d.Book.Submit(work, *job, verb)
	if err != nil || !ok {
		turn.GiveBack()
		if errors.Is(err, ErrNotTaken) {
			d.Log.Error("a refund's call is not taken", "operation", job.Ask.Operation, "error", err)
			return time.Second, nil // the other group has the next turn
		}
		return 0, err
	}
	turn.Sure()
	under.Go(func() {
		pause(work, wait)
		d.call(work, turn, *job, verb, call)
	})
	select { // the next is chosen when this one is out, not before
	case <-turn.Started():
	case <-work.Done():
	}
	return 0, nil
}

// next is the job whose turn it is.
func (d *Dispatcher) next(ctx context.Context) (*Job, time.Duration, error) {
	due, err := d.Book.Due(ctx)
	if err != nil {
		d.Log.Error("due refunds cannot be read", "error", err)
		return nil, time.Second, nil // the outlet is still ours, and nothing was taken
	}
	takeFirst, any := Pick(due.First != nil, due.Rest != nil, d.wasFirst)
	switch {
	case due.Stopped, !any && due.Late == nil:
		return nil, max(due.Next, 5*time.Millisecond), nil
	case !any:
		return due.Late, 0, nil
	}
	d.wasFirst = takeFirst
	if takeFirst {
		return due.First, 0, nil
	}
	return due.Rest, 0, nil
}

// call makes the call and writes down what came of it.
func (d *Dispatcher) call(ctx context.Context, turn *outlet.Turn, j Job, v Verb, id int64) {
	j.Ask.Verb = v
	answer := d.Provider.Call(turn.With(ctx), j.Ask)
	turn.GiveBack() // where it never came to a start
	sent := Sent{ID: id, Operation: j.Ask.Operation, Verb: v, Start: turn.Start(), Answer: answer}
	step, err := d.settle(ctx, sent)
	kind := j.Kind(v)
	d.Log.InfoContext(ctx, "refund call", "operation", j.Ask.Operation, "call", id, "kind", kind, "verb", v,
		"outcome", answer.Outcome, "http", answer.HTTP, "request", answer.RequestID, "status", step.Status,
		"seconds", sent.Start.Ago().Seconds(), "detail", answer.Detail, "error", err)
	if d.Seen != nil && err == nil {
		d.Seen(kind, sent, step)
	}
}

// settle keeps trying while the database is away: an answer that is lost costs a
// look. No call starts meanwhile, because none can be committed.
func (d *Dispatcher) settle(ctx context.Context, s Sent) (step Step, err error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		if step, err = d.Book.Settle(ctx, s); err == nil {
			return step, nil
		}
		d.Log.Error("an answer cannot be written down", "operation", s.Operation, "call", s.ID, "error", err)
		if !pause(ctx, wait) {
			return step, fmt.Errorf("%w (given up: %w)", err, ctx.Err())
		}
	}
}

// pause is true when the time is over, false when ctx is.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
