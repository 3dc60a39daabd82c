package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// hint publishes a batch and marks it. It is published again when the relay dies,
// or NATS does, between the publishing and the mark; otherwise once.
func (r *Relay) hint(ctx context.Context) (published int, err error) {
	if !r.nats.IsConnected() || time.Now().Before(r.mute) {
		return 0, ErrNoHints
	}
	hints, err := r.unrelayed(ctx)
	if err != nil || len(hints) == 0 {
		return 0, err
	}
	if err := r.publish(ctx, hints); err != nil {
		r.mute = time.Now().Add(rest)
		return 0, err
	}
	return len(hints), r.mark(ctx, hints)
}

// unrelayed reads in id order, which is each subject's version order: see Notice.
func (r *Relay) unrelayed(ctx context.Context) ([]Hint, error) {
	rows, err := r.conn.Query(ctx, `
		SELECT id, kind, coalesce(event_id, ''), coalesce(organiser, ''), subject, version, at, body
		FROM notices WHERE relayed_at IS NULL ORDER BY id LIMIT $1`, batch)
	if err != nil {
		return nil, fmt.Errorf("relay: read: %w", err)
	}
	hints, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hint])
	if err != nil {
		return nil, fmt.Errorf("relay: read: %w", err)
	}
	return hints, nil
}

func (r *Relay) publish(ctx context.Context, hints []Hint) error {
	for _, h := range hints {
		data, err := json.Marshal(h)
		if err != nil {
			return fmt.Errorf("relay: notice %d: %w", h.ID, err)
		}
		if err := r.nats.Publish(prefix+h.Kind, data); err != nil {
			return fmt.Errorf("%w: %w", ErrNoHints, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	if err := r.nats.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("%w: flush: %w", ErrNoHints, err)
	}
	return nil
}

func (r *Relay) mark(ctx context.Context, hints []Hint) error {
	ids := make([]int64, len(hints))
	for i, h := range hints {
		ids[i] = h.ID
	}
	_, err := r.conn.Exec(ctx, `UPDATE notices SET relayed_at = now()
		WHERE id = ANY($1) AND relayed_at IS NULL`, ids)
	if err != nil {
		return fmt.Errorf("relay: mark: %w", err)
	}
	return nil
}
