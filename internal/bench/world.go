package bench

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
	"waitroom/internal/admission/local"
	"waitroom/internal/stack"
)

// room is one event's line in one replica, with a store of its own. What stands
// around it (seats, claimers, the ledger) is well and costs nothing.
type room struct {
	*admission.Line
	store *counted
	end   func()
}

// start is how a room is found.
type start struct {
	tail, front int64 // people in the line, and called already
	opens       time.Duration
	rate        float64
	hold        time.Duration // 0: as in production
}

// open runs a room until its end is called, and waits until it takes people.
func open(ctx context.Context, path string, s start) (r room, err error) {
	kept, err := local.Open(path)
	if err != nil {
		return r, err
	}
	r.store = &counted{Store: kept}
	if _, err = kept.Open(ctx, admission.Door{Event: event, Epoch: 1, Front: s.front}, admission.Tail{Next: s.tail}); err == nil {
		r.Line, r.end, err = run(ctx, r.store, s)
	}
	if err != nil {
		return r, fmt.Errorf("room: %w, %w", err, kept.Close())
	}
	live := r.end
	r.end = func() {
		live()
		kept.Close() //nolint:errcheck // it is removed with its folder
	}
	return r, nil
}

// run lives the line's life over any store.
func run(ctx context.Context, store admission.Store, s start) (l *admission.Line, end func(), err error) {
	cfg := admission.Config{
		Replica: "bench", Store: store, Books: wellKept(), Hold: s.hold, Recount: plenty,
		Log: slog.New(slog.DiscardHandler), Metrics: admission.NewMetrics(prometheus.NewRegistry()),
	}
	if cfg.Tickets, err = ticketKeys(); err != nil {
		return nil, nil, err
	}
	if cfg.Passes, _, err = passKeys(); err != nil {
		return nil, nil, err
	}
	sale := admission.Sale{
		Event: event, Epoch: 1, Title: "A hall", Control: admission.Run, OpensAt: time.Now().Add(s.opens),
		Rate: s.rate, OrderLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		LineCap: 100_000_000, SharePrior: 0.5, TicketsPrior: 2, Slack: 0.5,
	}
	lines := admission.NewLines(cfg, func(context.Context) ([]admission.Sale, error) {
		sale := sale
		sale.ReadAt = time.Now()
		return []admission.Sale{sale}, nil
	})
	life, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines.Run(life)
	}()
	end = func() { stop(); <-ended }
	err = until(ctx, "the line is open", func() bool {
		var there bool
		l, there = lines.Line(event)
		return there && lines.Ready(ctx) == nil
	})
	if err != nil {
		end()
	}
	return l, end, err
}

func plenty(context.Context, string, time.Duration) (admission.Stock, error) {
	return admission.Stock{Free: 500_000}, nil
}

// wellKept are books with nothing in them, and claimers who are well.
func wellKept() admission.Books {
	none := func(context.Context, string, int64) ([]admission.Entry, error) { return nil, nil }
	return admission.Books{
		LetIn:  func(context.Context, admission.Entry) error { return nil },
		Inside: none,
		After:  func(context.Context, string, int64, int64) ([]admission.Entry, error) { return nil, nil },
		Bought: func(context.Context, string, int64, time.Time) ([]admission.Bought, error) { return nil, nil },
		PassOf: func(context.Context, string, int64, int64) (e admission.Entry, found bool, err error) { return },
		Keep:   func(context.Context, admission.Checkpoint) error { return nil },
		Recall: func(context.Context, string, int64) (c admission.Checkpoint, err error) { return },
		Load: func(context.Context) (admission.Load, error) {
			return admission.Load{At: time.Now(), Mark: time.Now().UnixMicro()}, nil
		},
		Paying:   func(context.Context, string) (p admission.Paying, err error) { return },
		Within:   func(context.Context, string, int64, int64, int64) (w admission.Within, err error) { return },
		Evidence: func(admission.Evidence) {},
	}
}

// counted is a store that counts what the one who releases writes.
type counted struct {
	admission.Store
	writes atomic.Int64
}

func (c *counted) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	c.writes.Add(1)
	return c.Store.Acquire(ctx, seen, owner)
}

func (c *counted) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	c.writes.Add(1)
	return c.Store.Refill(ctx, r)
}

func (c *counted) PutReport(ctx context.Context, event, replica string, body []byte) error {
	c.writes.Add(1)
	return c.Store.PutReport(ctx, event, replica, body)
}

// until looks every few milliseconds whether it is so.
func until(ctx context.Context, what string, so func() bool) error {
	return stack.Until(ctx, what, time.Minute, func() (bool, error) { return so(), nil })
}

// file is a new one in the folder.
func file(dir, name string) string { return filepath.Join(dir, name+".db") }
