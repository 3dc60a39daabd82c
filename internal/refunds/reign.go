package refunds

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/outlet"
	"waitroom/internal/pg"
)

// Contender wants the outlet. Of any number, one has it: an advisory lock, held
// by a connection of its own over which every call is committed before it is
// made, so that whoever has lost the lock cannot commit one. The lock of a
// process that is stopped, but not dead, stays its own.
type Contender struct {
	db     *pgx.ConnConfig
	holder string
	conn   *pgx.Conn // kept while another has the lock, to ask again
}

// NewContender names itself holder in the quota's row. Nothing is opened yet.
func NewContender(pool *pgxpool.Pool, holder string) *Contender {
	return &Contender{db: pg.Apart(pool, "waitroom refunder outlet", 2*time.Second), holder: holder}
}

// Try takes the outlet if nobody has it; nil if somebody has. Who has got it
// raises the epoch, and waits a whole call's limit before anything starts, its
// predecessors' where that is longer: what they sent may be under way that long.
func (c *Contender) Try(ctx context.Context, limits outlet.Limits) (_ *Reign, err error) {
	defer func() {
		if err != nil {
			c.Close(ctx)
		}
	}()
	if c.conn == nil {
		if c.conn, err = pgx.ConnectConfig(ctx, c.db); err != nil {
			return nil, fmt.Errorf("outlet: %w", err)
		}
	}
	var held bool
	err = c.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext('waitroom refund outlet'))`).Scan(&held)
	if err != nil || !held {
		return nil, wrap("outlet: lock", err)
	}
	r := &Reign{conn: c.conn, limits: limits}
	err = c.conn.QueryRow(ctx, `
		UPDATE outlet_quota SET epoch = epoch + 1, holder = $1, taken_at = clock_timestamp(),
		  call_limit = greatest(call_limit, $2),
		  next_start = greatest(clock_timestamp() + greatest(call_limit, $2),
		    least(next_start, clock_timestamp() + greatest(call_limit, $2) + $3::interval))
		RETURNING epoch`, c.holder, limits.Call, r.ahead()).Scan(&r.Epoch)
	if err != nil {
		return nil, fmt.Errorf("outlet: take the quota: %w", err)
	}
	c.conn = nil
	return r, nil
}

// Close lets go of the connection that asks.
func (c *Contender) Close(ctx context.Context) {
	if c.conn != nil {
		c.conn.Close(ctx) //nolint:errcheck // the server frees the lock however it ends
	}
	c.conn = nil
}

// Reign is the time in which the outlet is ours.
type Reign struct {
	Epoch  int64
	limits outlet.Limits

	mu   sync.Mutex // the connection does one thing at a time
	conn *pgx.Conn
}

// ahead is how far starts are reserved ahead at most, beside the wait of whoever
// took over. What stands further ahead was reserved by a clock that was set back
// since.
func (r *Reign) ahead() time.Duration { return time.Duration(r.limits.InFlight) * r.limits.Apart }

// ErrLost: the outlet is not ours any more.
var ErrLost = errors.New("refunds: the outlet is another's")

// End lets the lock go.
func (r *Reign) End(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Close(ctx) //nolint:errcheck // the server frees the lock however it ends
}

// Ours asks whether the lock and the quota are still ours.
func (r *Reign) Ours(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ours bool
	err := r.conn.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted)
		   AND EXISTS (SELECT FROM outlet_quota WHERE epoch = $1)`, r.Epoch).Scan(&ours)
	if err == nil && !ours {
		err = ErrLost
	}
	return wrap("outlet", err)
}

// Recover takes over what a predecessor left in the middle: whatever was
// submitted may have had its effect, and is looked up. A late look that was under way
// has no answer, and counts as any other without one.
func (r *Reign) Recover(ctx context.Context, pool *pgxpool.Pool) (left int64, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := as(ctx, tx, "outlet"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE refund_calls SET outcome = 'lost', finished_at = clock_timestamp()
			WHERE finished_at IS NULL AND epoch < $1`, r.Epoch)
		if err != nil {
			return fmt.Errorf("calls left: %w", err)
		}
		tag, err := tx.Exec(ctx, `
			UPDATE refund_operations SET call = NULL,
			  status = CASE WHEN status = 'submitted' THEN 'unknown' ELSE status END,
			  doubt = doubt OR status = 'submitted',
			  outcome = CASE WHEN status = 'submitted' THEN 'lost' ELSE outcome END,
			  next_at = clock_timestamp() + CASE status WHEN 'submitted' THEN $1::interval WHEN 'confirmed' THEN $2::interval ELSE interval '0' END,
			  late_look_over_at = CASE WHEN status = 'confirmed' AND late_looks >= $3 THEN clock_timestamp() ELSE late_look_over_at END
			WHERE call IS NOT NULL`, Case{}.untilLook(), untilLateLook, MostLateLooks)
		if err != nil {
			return fmt.Errorf("operations left: %w", err)
		}
		left = tag.RowsAffected()
		// Whoever begins anew tries whether the key is accepted by now.
		_, err = tx.Exec(ctx, `UPDATE human_list SET resolved_at = now() WHERE kind = $1 AND resolved_at IS NULL`, keyRefused)
		return err
	})
	return left, wrap("outlet: recover", err)
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
