package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// fault is what a claim that failed left behind.
type fault int

const (
	none    fault = iota // it did not fail
	poison               // nothing, and it would fail again
	crowded              // nothing; a lock was not had in time, or the server was not ready for it
	clash                // nothing; two waited for each other and this one gave way
	unsent               // nothing: the server was not reached
	silent               // perhaps everything: no answer came
)

// errUnsent is that there was no connection to claim on.
var errUnsent = errors.New("no connection")

func faultOf(err error) fault {
	var said *pgconn.PgError
	switch {
	case err == nil:
		return none
	case errors.Is(err, errUnsent) || pgconn.SafeToRetry(err):
		return unsent
	case !errors.As(err, &said):
		return silent
	case said.SeverityUnlocalized != "ERROR":
		return silent // the session ended; what it had committed stands
	}
	switch said.Code[:2] {
	case "0A", "25", "26", "53", "55", "57":
		return crowded
	case "40":
		return clash
	}
	return poison
}

func codeOf(f fault, err error) string {
	var said *pgconn.PgError
	switch {
	case errors.As(err, &said):
		return said.Code
	case f == unsent:
		return "unsent"
	}
	return "silent"
}

// failed deals with a claim that failed. What it leaves untold may be tried
// again, because the truth about it is known; for that it hands the error back.
func (c *Claimer) failed(ctx context.Context, batch, claimants []*asked, session uint32, err error) error {
	f := faultOf(err)
	c.meter.faults.WithLabelValues(codeOf(f, err)).Inc()
	switch {
	case f == silent:
		c.resolve(ctx, claimants, session, err)
		return nil
	case f == unsent:
		return err
	case len(claimants) > 1:
		// One of them may spoil it for all: halved until it stands alone.
		c.serve(ctx, batch[:len(batch)/2])
		c.serve(ctx, batch[len(batch)/2:])
		return nil
	case f != poison:
		return err
	}
	a := claimants[0]
	c.log.Error("claim failed", "event", a.Event, "place", a.Place, "attempt", a.Key, "error", err)
	c.answer(a, Answer{Outcome: Failed})
	return nil
}

// resolve finds out what a claim did whose answer was lost. A granted attempt
// is told so; the others were not granted, and will not be by that claim.
func (c *Claimer) resolve(ctx context.Context, claimants []*asked, session uint32, lost error) {
	made, err := c.made(ctx, claimants, session)
	c.log.Error("a claim's answer was lost", "attempts", len(claimants), "first", claimants[0].Key,
		"granted", len(made), "lost", lost, "error", err)
	for _, a := range claimants {
		switch {
		case err != nil:
			c.answer(a, Answer{Outcome: Unknown})
		case made[a.order]:
			c.answer(a, Answer{Outcome: Claimed, Order: a.order})
		}
	}
}

// made reads which of the attempts became orders. The lost session is ended
// first, so that it cannot do later what it had not done yet; if it does not
// end in time it holds the accounts, and we wait for these.
func (c *Claimer) made(ctx context.Context, attempts []*asked, session uint32) (map[uuid.UUID]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, `
		SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
		WHERE pid = $1 AND pid <> pg_backend_pid() AND datname = current_database()
		  AND usename = current_user AND application_name = current_setting('application_name')`, int32(session))
	if err != nil {
		return nil, fmt.Errorf("end the lost session: %w", err)
	}
	made := map[uuid.UUID]bool{}
	var b pgx.Batch
	lockAccounts(&b, attempts, nil)
	b.Queue(`SELECT id FROM orders WHERE id = ANY($1)`, columnsOf(attempts).order).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		for _, id := range found {
			made[id] = true
		}
		return err
	})
	return made, conn.SendBatch(ctx, &b).Close()
}
