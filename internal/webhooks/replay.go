package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
)

// Replay begins a delivery anew that was delivered or is dead: due now, with all
// of its attempts before it, through the same limits, under the same webhook-id.
// Its ledger goes on. The same attempt again is the same replay.
func Replay(ctx context.Context, pool *pgxpool.Pool, delivery int64, w Asker) (Changed, error) {
	endpoint, found, err := endpointOf(ctx, pool, w.Organiser, delivery)
	if err != nil || !found {
		return Changed{Answer: NoDelivery}, err
	}
	return change(ctx, pool, endpoint, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		var again int
		err := tx.QueryRow(ctx, `
			UPDATE deliveries SET status = 'waiting', go = go + 1, attempts = 0, due_at = now(), reason = NULL, ended_at = NULL
			WHERE id = $1 AND status IN ('delivered', 'dead') RETURNING go`, delivery).Scan(&again)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // deliveries are never deleted: it waits, or is being sent
			return Changed{Answer: NotEnded, Endpoint: e, Delivery: delivery}, nil
		case err != nil:
			return Changed{}, err
		}
		return Changed{Answer: Done, Endpoint: e, Delivery: delivery},
			w.did(ctx, tx, e.ID, "replayed", nil, map[string]any{"delivery": delivery, "go": again})
	})
}

// endpointOf is whose delivery it is; that never changes.
func endpointOf(ctx context.Context, pool *pgxpool.Pool, organiser string, delivery int64) (endpoint string, found bool, err error) {
	err = pool.QueryRow(ctx, `
		SELECT e.id FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id
		WHERE d.id = $1 AND ($2 = '' OR e.organiser = $2)`, delivery, organiser).Scan(&endpoint)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return endpoint, err == nil, err
}

// replayAtOnce bounds the deliveries that are looked at while the endpoint is locked.
const replayAtOnce = 500

// Replaying is a wish to begin anew all that ended of what became true since
// then, or only what is dead. Its attempt has a name: under it, it is done once,
// and goes on where it broke off.
type Replaying struct {
	Since time.Time
	Only  string // dead, delivered, or empty: both
}

// Check finds the flaw.
func (r Replaying) Check() *Flaw {
	if !slices.Contains([]string{"", "dead", "delivered"}, r.Only) {
		return &Flaw{"only", "dead or delivered; nothing means both"}
	}
	if y := r.Since.UTC().Year(); y < 0 || y > 9999 { // no record of it could be written
		return &Flaw{"since", "a time in a year from 0 to 9999 in UTC"}
	}
	return nil
}

// Replayed is how far a replay of many came.
type Replayed struct {
	Answer   Answer
	Replayed int
	Whole    bool // nothing is left of those that there were when it was asked
}

// progress is a replay of many as its attempt remembers it: those after the first
// number, up to the second, are still to be looked at.
type progress struct {
	Endpoint string `json:"endpoint"`
	After    int64  `json:"after"`
	UpTo     int64  `json:"up_to"`
	Replayed int    `json:"replayed"`
}

func (p progress) whole() bool { return p.After >= p.UpTo }

// ReplaySince replays many, some at a time, until all are, or it is told to stop
// by more(). What it did stays done.
func ReplaySince(ctx context.Context, pool *pgxpool.Pool, endpoint string, r Replaying, w Asker, more func() bool) (out Replayed, err error) {
	if flaw := r.Check(); flaw != nil {
		return Replayed{}, flaw
	}
	if w.Attempt == "" {
		return Replayed{}, errors.New("replay: an attempt without a name could not go on")
	}
	e, found, err := Find(ctx, pool, w.Organiser, endpoint)
	if err != nil || !found {
		return Replayed{Answer: NoEndpoint}, err
	}
	w.Organiser = e.Organiser // whose the attempt is
	for first := true; first || !out.Whole && out.Answer == Done && more(); first = false {
		if out, err = r.some(ctx, pool, endpoint, w); err != nil {
			return out, fmt.Errorf("replay of endpoint %s: %w", endpoint, err)
		}
	}
	return out, nil
}

// some looks at the next few, and writes down how far it came, in one
// transaction that has the attempt's row first: two under one name take turns.
func (r Replaying) some(ctx context.Context, pool *pgxpool.Pool, endpoint string, w Asker) (out Replayed, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		before, err := w.attempt().Begin(ctx, tx)
		if err != nil {
			return err
		}
		if before.Reused {
			out = Replayed{Answer: KeyReused}
			return errNo
		}
		e, found, err := lock(ctx, tx, w.Organiser, endpoint)
		if err != nil {
			return err
		}
		if !found {
			out = Replayed{Answer: NoEndpoint}
			return errNo
		}
		p, err := r.begin(ctx, tx, e, w, before)
		if err != nil {
			return err
		}
		if !p.whole() {
			if err := r.next(ctx, tx, &p); err != nil {
				return err
			}
		}
		out = Replayed{Answer: Done, Replayed: p.Replayed, Whole: p.whole()}
		return w.attempt().End(ctx, tx, p)
	})
	if err != nil && !errors.Is(err, errNo) {
		return Replayed{}, err
	}
	return out, nil
}

// begin finds how far it came; the first time it sees how far it has to go.
func (r Replaying) begin(ctx context.Context, tx pgx.Tx, e Endpoint, w Asker, before organiser.Before) (p progress, err error) {
	if !before.Known {
		p.Endpoint = e.ID
		err := tx.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM deliveries WHERE endpoint_id = $1`, e.ID).Scan(&p.UpTo)
		if err != nil {
			return p, err
		}
		return p, w.did(ctx, tx, e.ID, "replayed", nil, map[string]any{"since": r.Since.UTC(), "only": r.Only, "attempt": w.Attempt})
	}
	err = json.Unmarshal(before.Answer, &p)
	return p, err
}

// next replays what is to be replayed of the next few, in the order of their ids.
func (r Replaying) next(ctx context.Context, tx pgx.Tx, p *progress) error {
	var seen, again int
	var last int64
	err := tx.QueryRow(ctx, `
		WITH few AS MATERIALIZED (
		  SELECT d.id, d.notice_id, d.status FROM deliveries d
		  WHERE d.endpoint_id = $1 AND d.id > $2 AND d.id <= $3 ORDER BY d.id LIMIT $4
		), again AS (
		  UPDATE deliveries d SET status = 'waiting', go = d.go + 1, attempts = 0, due_at = now(), reason = NULL, ended_at = NULL
		  FROM few JOIN notices n ON n.id = few.notice_id
		  WHERE d.id = few.id AND n.at >= $5 AND d.status IN ('delivered', 'dead') AND ($6 = '' OR d.status = $6)
		  RETURNING d.id
		)
		SELECT (SELECT count(*) FROM few), (SELECT coalesce(max(id), 0) FROM few), (SELECT count(*) FROM again)`,
		p.Endpoint, p.After, p.UpTo, replayAtOnce, r.Since, r.Only).Scan(&seen, &last, &again)
	if err != nil {
		return err
	}
	p.Replayed += again
	if p.After = last; seen < replayAtOnce {
		p.After = p.UpTo
	}
	return nil
}
