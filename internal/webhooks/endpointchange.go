package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
)

// Asker is whose wish a change is.
type Asker struct {
	Organiser string // whose endpoints it may touch; empty at the command line: everybody's
	By        string // as the record names them
	// Attempt names the wish, Request is its hash: the same again is answered the
	// same and does nothing more. Empty: it is not remembered.
	Attempt string
	Request [32]byte
}

// Answer is what became of a wish.
type Answer string

// The answers.
const (
	Done       Answer = "done"
	Unchanged  Answer = "unchanged"   // it was so already
	NoEndpoint Answer = "no_endpoint" // or it is another organiser's, or deleted
	NoDelivery Answer = "no_delivery" // or it is another organiser's
	IDTaken    Answer = "id_taken"
	TooMany    Answer = "too_many" // as many endpoints as an organiser may have
	Edited     Answer = "edited"   // by somebody else since it was read
	Rotating   Answer = "rotating" // the key before the last rotation still signs
	NotEnded   Answer = "not_ended"
	KeyReused  Answer = "key_reused" // the attempt was another wish
)

// Changed is what became of a change.
type Changed struct {
	Answer   Answer
	Endpoint Endpoint // as it is now
	// Secret is what notices are signed with from now on, if this very call made
	// it. It is kept, for notices are signed with it, and never shown again.
	Secret string
	// Delivery is the one that a test or a replay schedules.
	Delivery int64
	// Ended are the waiting deliveries that a deletion made dead.
	Ended int
}

// errNo takes a transaction back whose answer is a no; a no is not remembered.
var errNo = errors.New("no")

// change runs one change of an endpoint in a transaction, once under its
// attempt's name. The endpoint is locked meanwhile.
func change(ctx context.Context, pool *pgxpool.Pool, id string, w Asker, do func(pgx.Tx, Endpoint) (Changed, error)) (out Changed, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		before, err := w.asks(ctx, tx)
		if err != nil {
			return err
		}
		e, found, err := lock(ctx, tx, w.Organiser, id)
		switch {
		case err != nil:
			return err
		case !found:
			out = Changed{Answer: NoEndpoint}
			return errNo
		case before != nil:
			out = before.changed(e)
			return errNo // there is nothing to write
		}
		if out, err = do(tx, e); err != nil {
			return err
		}
		if out.Answer != Done && out.Answer != Unchanged {
			return errNo
		}
		return w.attempt().End(ctx, tx, remembered{out.Answer, e.ID, out.Delivery})
	})
	if err != nil && !errors.Is(err, errNo) {
		return Changed{}, fmt.Errorf("endpoint %s: %w", id, err)
	}
	return out, nil
}

// remembered is what an attempt was answered. A secret is not in it.
type remembered struct {
	Answer   Answer `json:"answer"`
	Endpoint string `json:"endpoint"`
	Delivery int64  `json:"delivery,omitempty"`
}

func (r remembered) changed(e Endpoint) Changed {
	return Changed{Answer: r.Answer, Endpoint: e, Delivery: r.Delivery}
}

// asks begins the attempt. One that was there gets its answer.
func (w Asker) asks(ctx context.Context, tx pgx.Tx) (before *remembered, err error) {
	b, err := w.attempt().Begin(ctx, tx)
	switch {
	case err != nil || !b.Known:
		return nil, err
	case b.Reused:
		return &remembered{Answer: KeyReused}, nil
	}
	err = json.Unmarshal(b.Answer, &before)
	return before, err
}

func (w Asker) attempt() organiser.Attempt {
	return organiser.Attempt{Organiser: w.Organiser, Key: w.Attempt, Request: w.Request}
}

// did adds to the endpoint's record, in the transaction of what was done.
func (w Asker) did(ctx context.Context, tx pgx.Tx, endpoint, did string, old, now any) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO endpoint_changes (endpoint_id, at, by, did, old, new) VALUES ($1, clock_timestamp(), $2, $3, $4, $5)`,
		endpoint, w.By, did, old, now)
	return err
}

// deltas are the members that differ, before and after.
func deltas(old, now map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for k, v := range now {
		if fmt.Sprint(old[k]) != fmt.Sprint(v) {
			was[k], is[k] = old[k], v
		}
	}
	return was, is
}
