package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// hook is a part's own word in the drain.
type hook struct {
	name string
	do   func(context.Context) error
}

// closeLimit bounds the closing of one part; nothing is in hand by then.
const closeLimit = 3 * time.Second

// OnStop adds what stops work from coming in: a listener's shutdown, the end
// of a subscription. All are called at once.
func (p *Process) OnStop(name string, f func(context.Context) error) {
	p.stop = append(p.stop, hook{name, f})
}

// OnFinish adds what waits for work in hand. All are called at once, after
// every OnStop returned, and beside the parts of Go and Every.
func (p *Process) OnFinish(name string, f func(context.Context) error) {
	p.finish = append(p.finish, hook{name, f})
}

// OnClose adds what gives back a connection, a pool, a file. They are called
// one by one, the last added first, when all work is finished or given up.
func (p *Process) OnClose(name string, f func(context.Context) error) {
	p.close = append(p.close, hook{name, f})
}

// drain ends the process in order, and says what could not finish.
func (p *Process) drain() error {
	began := time.Now()
	p.state.Store(int32(draining))
	p.Log.Info("draining", "grace", p.ops.DrainGrace.String(), "limit", p.ops.DrainLimit.String())
	<-time.After(p.ops.DrainGrace)

	limit, cancel := context.WithTimeout(p.work, p.ops.DrainLimit)
	defer cancel()
	p.stopTaking()
	err := atOnce(limit, "stop", p.stop)
	parts := hook{"parts", func(context.Context) error { p.running.Wait(); return nil }}
	err = errors.Join(err, atOnce(limit, "finish", append(slices.Clone(p.finish), parts)))
	p.endWork()
	err = errors.Join(p.faults.all(), err)
	for _, h := range slices.Backward(p.close) {
		err = errors.Join(err, p.closeOne(h))
	}
	p.Log.Info("drained", "seconds", time.Since(began).Seconds(), "error", err)
	return err
}

func (p *Process) closeOne(h hook) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.work), closeLimit)
	defer cancel()
	return atOnce(ctx, "close", []hook{h})
}

// atOnce calls all hooks and waits for them until ctx ends, also for one that
// does not mind its context: that one is named and left behind.
func atOnce(ctx context.Context, phase string, hooks []hook) error {
	answers := make([]chan error, len(hooks))
	for i, h := range hooks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- h.do(ctx) }()
	}
	var all error
	for i, h := range hooks {
		var err error
		select {
		case err = <-answers[i]:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s %s: %w", phase, h.name, err))
		}
	}
	return all
}
