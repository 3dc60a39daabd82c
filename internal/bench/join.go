package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/stack"
)

// crowd is n joins by as many at once: how many a second are done.
func crowd(callers, n int, join func(i int64) error) (float64, error) {
	var next atomic.Int64
	failed := make([]error, callers)
	var all sync.WaitGroup
	began := time.Now()
	for c := range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n) && failed[c] == nil; i = next.Add(1) {
				failed[c] = join(i)
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds(), errors.Join(failed...)
}

// fan is somebody whom no other round has.
func fan(seq *atomic.Int64) string { return admission.HolderOf(fmt.Sprint("fan ", seq.Add(1))) }

// joins: people a second who get a place on the store of one node, against one
// synced commit for each, of as many at once.
func joins(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	r, err := open(ctx, file(dir, "joins"), start{opens: time.Hour, rate: 50})
	if err != nil {
		return nil, err
	}
	defer r.end()
	db, err := bbolt.Open(file(dir, "increments"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // it is removed with its folder
	var seq atomic.Int64
	rate, err := turns(min(e.Rounds, 3),
		func() (float64, error) {
			return crowd(e.Callers, e.Joins, func(int64) error { return joinLine(ctx, r.Line, fan(&seq)) })
		},
		func() (float64, error) {
			return crowd(e.Callers, max(1, e.Joins/8), func(int64) error { return increment(db, fan(&seq)) })
		})
	if err != nil {
		return nil, err
	}
	return []Figure{times("joins_vs_increment", "joins/s", rate[0], rate[1])}, nil
}

func joinLine(ctx context.Context, l *admission.Line, holder string) error {
	_, err := l.Join(ctx, holder, admission.Ticket{})
	for errors.Is(err, admission.ErrBusy) && ctx.Err() == nil {
		_, err = l.Join(ctx, holder, admission.Ticket{})
	}
	return err
}

// increment is the line that everybody would write first: a counter, and a row
// that bears its number.
func increment(db *bbolt.DB, holder string) error {
	return db.Update(func(tx *bbolt.Tx) error {
		places, err := tx.CreateBucketIfNotExists([]byte("places"))
		if err != nil || places.Get([]byte(holder)) != nil {
			return err
		}
		number, err := places.NextSequence()
		if err != nil {
			return err
		}
		return places.Put([]byte(holder), binary.BigEndian.AppendUint64(nil, number))
	})
}

// joinsOverDynalite: the same on DynamoDB's stand-in, one Node process, which
// says nothing of AWS: every call costs it the same, and no item is hot.
func joinsOverDynalite(ctx context.Context, _ string, e Effort, out io.Writer) (all []Figure, err error) {
	server, err := stack.Dynalite(ctx)
	if err != nil {
		fmt.Fprintln(out, "no figure over DynamoDB's stand-in:", err) //nolint:errcheck // as above
		return nil, nil
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	store, err := dynamo.New(ctx, dynamo.Config{Table: "bench", Endpoint: server.URL, Timeout: time.Second, Conns: 128})
	if err != nil {
		return nil, err
	}
	if err := store.EnsureTable(ctx); err != nil {
		return nil, err
	}
	l, end, err := run(ctx, store, start{opens: time.Hour, rate: 50})
	if err != nil {
		return nil, err
	}
	defer end()
	var seq atomic.Int64
	rate, err := turns(min(e.Rounds, 3),
		func() (float64, error) {
			return crowd(admission.JoinsAtOnce, max(1, e.Joins/16), func(int64) error { return joinLine(ctx, l, fan(&seq)) })
		},
		func() (float64, error) {
			return crowd(admission.JoinsAtOnce, max(1, e.Joins/16), func(int64) error { return incrementItem(ctx, store, fan(&seq)) })
		})
	if err != nil {
		return nil, err
	}
	return []Figure{times("joins_vs_increment_on_stand_in", "joins/s", rate[0], rate[1])}, nil
}

// incrementItem looks, increments and writes, each join for itself.
func incrementItem(ctx context.Context, s admission.Store, holder string) error {
	if _, err := s.Place(ctx, event, 1, holder); !errors.Is(err, admission.ErrNoPlace) {
		return err
	}
	number, err := s.Allot(ctx, event, 1, 1, 1<<40)
	if err != nil {
		return err
	}
	now := time.Now()
	_, err = s.Join(ctx, admission.Place{Event: event, Epoch: 1, Holder: holder, Index: number, State: admission.Waiting, JoinedAt: now}, now)
	return err
}
