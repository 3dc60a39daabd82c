package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Look is how an event's pages look. The zero one is the house's own.
type Look struct {
	By     string `json:"by"`     // whose event it is, as its pages say
	Accent string `json:"accent"` // #rrggbb; "": the house's
	Note   string `json:"note"`   // what the organiser says on the event's page
}

// LookOf reads an event's look.
func LookOf(ctx context.Context, pool *pgxpool.Pool, event string) (l Look, err error) {
	err = pool.QueryRow(ctx, `SELECT by_name, accent, note FROM event_looks WHERE event_id = $1`, event).Scan(&l.By, &l.Accent, &l.Note)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Look{}, fmt.Errorf("look of %s: %w", event, err)
	}
	return l, nil
}

// SetLook makes l the look of an event, which is there.
func SetLook(ctx context.Context, pool *pgxpool.Pool, event string, l Look, by string) error {
	_, err := pool.Exec(ctx, `
		INSERT INTO event_looks (event_id, by_name, accent, note, set_by) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (event_id) DO UPDATE SET by_name = $2, accent = $3, note = $4, set_by = $5, set_at = now()`,
		event, l.By, l.Accent, l.Note, by)
	if err != nil {
		return fmt.Errorf("look of %s: %w", event, err)
	}
	return nil
}
