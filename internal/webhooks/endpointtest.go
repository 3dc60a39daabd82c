package webhooks

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Test schedules a notice for this endpoint alone, whatever kinds it asks for,
// through the same limits as every other; what it answered stands in its
// delivery. While one test is on its way, that is the test.
func Test(ctx context.Context, pool *pgxpool.Pool, id string, w Asker) (Changed, error) {
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		out := Changed{Answer: Unchanged, Endpoint: e}
		err := tx.QueryRow(ctx, `
			SELECT d.id FROM notices n JOIN deliveries d ON d.notice_id = n.id AND d.endpoint_id = $1
			WHERE n.subject = $1 AND n.kind = 'endpoint.test' AND d.status IN ('waiting', 'sending')
			LIMIT 1`, e.ID).Scan(&out.Delivery)
		if err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return out, err
		}
		out.Answer = Done
		// It is addressed here, and a hint of it is nobody's: the relay has nothing to do.
		err = tx.QueryRow(ctx, `
			WITH told AS (
			  UPDATE endpoints SET told = told + 1 WHERE id = $1 RETURNING id, organiser, told
			), notice AS (
			  INSERT INTO notices (kind, organiser, subject, version, body, addressed, relayed_at)
			  SELECT 'endpoint.test', organiser, id, told, jsonb_build_object('endpoint', id), 1, now() FROM told
			  RETURNING id, subject
			)
			INSERT INTO deliveries (notice_id, endpoint_id) SELECT id, subject FROM notice RETURNING id`, e.ID).Scan(&out.Delivery)
		if err != nil {
			return Changed{}, err
		}
		return out, w.did(ctx, tx, e.ID, "tested", nil, map[string]any{"delivery": out.Delivery})
	})
}
