package notice

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// address writes the deliveries of the next notices and how many each has, in one
// transaction that ends with the notice that makes them many: a notice is for all of its endpoints or not addressed yet. It is
// for those of its organiser that are not deleted and want its kind, whatever
// their state; to an endpoint that was disabled, that is not told. Deliveries get
// ids in the order of the notices, which is each subject's version order.
//
// An endpoint that is deleted at the same instant may still get one; the courier
// ends it.
func address(ctx context.Context, conn *pgx.Conn) (notices, deliveries int, err error) {
	err = conn.QueryRow(ctx, `
		WITH next AS MATERIALIZED (
		  SELECT n.id, n.kind, n.subject, n.at, coalesce(n.organiser, e.organiser) AS organiser
		  FROM notices n LEFT JOIN events e ON e.id = n.event_id
		  WHERE n.addressed IS NULL ORDER BY n.id LIMIT $1
		), has AS MATERIALIZED (
		  SELECT o.organiser, (SELECT count(*) FROM endpoints p WHERE p.organiser = o.organiser AND p.deleted_at IS NULL) AS endpoints
		  FROM (SELECT DISTINCT organiser FROM next) o
		), due AS MATERIALIZED (
		  SELECT id, kind, subject, at, organiser FROM (
		    SELECT n.id, n.kind, n.subject, n.at, n.organiser, coalesce(sum(h.endpoints) OVER (ORDER BY n.id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), 0) AS before
		    FROM next n LEFT JOIN has h ON h.organiser = n.organiser
		  ) n WHERE before < $2
		), written AS (
		  INSERT INTO deliveries (notice_id, endpoint_id, notice_kind, notice_at)
		  SELECT d.id, p.id, d.kind, d.at FROM due d JOIN endpoints p ON p.organiser = d.organiser
		  WHERE p.deleted_at IS NULL AND (p.kinds = '{}' OR d.kind = ANY(p.kinds))
		    AND NOT (d.kind = 'endpoint.disabled' AND d.subject = p.id)
		  ORDER BY d.id, p.id
		  RETURNING notice_id
		), counted AS (
		  SELECT notice_id, count(*) AS n FROM written GROUP BY notice_id
		), addressed AS (
		  UPDATE notices n SET addressed = coalesce(c.n, 0)
		  FROM due d LEFT JOIN counted c ON c.notice_id = d.id
		  WHERE n.id = d.id AND n.addressed IS NULL
		  RETURNING n.addressed
		)
		SELECT count(*), coalesce(sum(addressed), 0) FROM addressed`, batch, writtenAtOnce).Scan(&notices, &deliveries)
	if err != nil {
		return 0, 0, fmt.Errorf("relay: address: %w", err)
	}
	return notices, deliveries, nil
}
