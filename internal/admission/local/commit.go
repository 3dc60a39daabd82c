package local

import (
	"context"
	"errors"

	"go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"
)

// batchMost bounds a transaction, and so what a refill waits: the commit in
// flight and its own. 256 joins take some 10 ms; four times as many save a
// sixth of that for each.
const batchMost = 256

// step is one caller's change on its way into a transaction.
type step struct {
	ctx  context.Context
	do   func(*change) error // an error refuses: it changed nothing
	done chan error
}

// change is the transaction that a step writes to.
type change struct {
	*bbolt.Tx
	wrote bool
}

func (c *change) put(b *bbolt.Bucket, key string, value []byte) error {
	c.wrote = true
	return b.Put([]byte(key), value)
}

func (c *change) drop(b *bbolt.Bucket, key string) error {
	c.wrote = true
	return b.Delete([]byte(key))
}

var errNothing = errors.New("every step was refused")

// commit is the only writer.
func (s *Store) commit() {
	defer close(s.ended)
	for {
		select {
		case first := <-s.door:
			s.keep(s.gather(first))
		case first := <-s.crowd:
			s.keep(s.gather(first))
		case <-s.closing:
			return
		}
	}
}

// gather takes everybody who is waiting now. There is no timer: it would only
// add latency.
func (s *Store) gather(first step) []step {
	batch := []step{first}
	for len(batch) < batchMost {
		next, found := s.waiting()
		if !found {
			break
		}
		batch = append(batch, next)
	}
	return batch
}

func (s *Store) waiting() (step, bool) {
	select {
	case next := <-s.door:
		return next, true
	default:
	}
	select {
	case next := <-s.crowd:
		return next, true
	default:
		return step{}, false
	}
}

// keep applies a batch in one transaction. All of it shares the commit's fate,
// refusals too: they may rest on what another step of the batch wrote.
func (s *Store) keep(batch []step) {
	answers := make([]error, len(batch))
	err := s.db.Update(func(tx *bbolt.Tx) error {
		c := &change{Tx: tx}
		for i, st := range batch {
			if answers[i] = s.fit(st.ctx); answers[i] == nil {
				answers[i] = st.do(c)
			}
		}
		if !c.wrote {
			return errNothing // spares two syncs
		}
		return nil
	})
	switch {
	case err == nil:
		s.commits.Add(1)
	case !errors.Is(err, errNothing):
		s.broken.CompareAndSwap(nil, &err)
	}
	for i, st := range batch {
		if err != nil && !errors.Is(err, errNothing) {
			answers[i] = err
		}
		st.done <- answers[i]
	}
}

// write has do applied by the committer, in its lane's turn, and returns when
// it is on the disk. A caller that leaves earlier does not know whether it was.
func write[T any](ctx context.Context, s *Store, lane chan<- step, do func(*change) (T, error)) (T, error) {
	var got, none T
	st := step{ctx: ctx, done: make(chan error, 1), do: func(c *change) (err error) {
		got, err = do(c)
		return err
	}}
	select {
	case lane <- st:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-s.closing:
		return none, ErrClosed
	}
	select {
	case err := <-st.done:
		if err != nil {
			return none, err
		}
		return got, nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// read sees every change that was acknowledged, and none that was not kept.
func read[T any](ctx context.Context, s *Store, look func(*bbolt.Tx) (T, error)) (got T, err error) {
	if err := s.fit(ctx); err != nil {
		return got, err
	}
	err = s.db.View(func(tx *bbolt.Tx) (err error) {
		got, err = look(tx)
		return err
	})
	if errors.Is(err, bolterr.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	return got, err
}
