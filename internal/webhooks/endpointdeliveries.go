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
)

// Delivery is one notice for one endpoint, and how far it came.
type Delivery struct {
	ID       int64
	Endpoint string
	Gone     bool // its endpoint was deleted
	Notice   int64
	Kind     string
	Event    string // empty: of no event
	Subject  string
	Version  int64
	At       time.Time // when it became true
	Status   string    // waiting, sending, delivered, dead
	Go       int       // raised by a replay
	Attempts int       // of this go
	DueAt    time.Time
	Reason   string // why it is dead
	EndedAt  *time.Time
}

// CanReplay says whether it may be begun anew: it has ended, and its endpoint is
// there.
func (d Delivery) CanReplay() bool { return (d.Status == "delivered" || d.Status == "dead") && !d.Gone }

// Try is one attempt of a delivery, with what was answered.
type Try struct {
	Go, Attempt int
	StartedAt   time.Time
	FinishedAt  *time.Time // nil: it is under way
	Status      int        // 0: no answer came, or none yet
	Error       string
	Answer      []byte // the beginning of it
}

// Which are the deliveries that are looked for. Empty members ask nothing.
type Which struct {
	Organiser string // empty: everybody's
	Endpoint  string
	Status    string
	Kind      string
	About     string    // an order, or whatever the notice's subject is
	Since     time.Time // of what became true since then
	Before    int64     // only deliveries that come after this one, which ended a page
	Most      int
}

const deliveryColumns = `d.id, d.endpoint_id, e.deleted_at IS NOT NULL, d.notice_id, n.kind, coalesce(n.event_id, ''), n.subject, n.version, n.at,
	d.status, d.go, d.attempts, d.due_at, coalesce(d.reason, ''), d.ended_at`

// ofStatus and ofKind are conditions, written out: plans are made once for all
// values, and only of what it reads does Postgres know that an index of the dead
// alone, or of one kind, will do.
func ofStatus(status string) string {
	if !slices.Contains([]string{"waiting", "sending", "delivered", "dead"}, status) {
		return "$3 = ''"
	}
	return "$3 <> '' AND d.status = '" + status + "'"
}

func ofKind(kind string) string {
	if kind == "" {
		return "$4 = ''"
	}
	return "d.notice_kind = $4"
}

// older are those that come after the page that ended with a delivery; after none,
// all do.
const older = `(d.notice_at, d.id) < (coalesce((SELECT b.notice_at FROM deliveries b WHERE b.id = $6), 'infinity'), $6)`

// Deliveries are those of endpoints, also of ones that were deleted; what became
// true last comes first.
func Deliveries(ctx context.Context, pool *pgxpool.Pool, w Which) ([]Delivery, error) {
	sql, args := w.ofEndpoints()
	if w.About != "" {
		sql, args = w.ofNotices()
	}
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Delivery])
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return all, nil
}

// ofEndpoints reads each endpoint's by an index of their own, no more than are
// asked for, as many as there may be.
func (w Which) ofEndpoints() (sql string, args []any) {
	return `
		SELECT ` + deliveryColumns + `
		FROM endpoints e, LATERAL (
		  SELECT d.id, d.endpoint_id, d.notice_id, d.notice_at, d.status, d.go, d.attempts, d.due_at, d.reason, d.ended_at
		  FROM deliveries d
		  WHERE d.endpoint_id = e.id AND ` + ofStatus(w.Status) + ` AND ` + ofKind(w.Kind) + `
		    AND d.notice_at >= coalesce($5::timestamptz, '-infinity') AND ` + older + `
		  ORDER BY d.notice_at DESC, d.id DESC LIMIT $7
		) d JOIN notices n ON n.id = d.notice_id
		WHERE ($1 = '' OR e.organiser = $1) AND ($2 = '' OR e.id = $2)
		ORDER BY d.notice_at DESC, d.id DESC LIMIT $7`, w.args()
}

// ofNotices begins at the notices, which are few: a refund is about its order too.
func (w Which) ofNotices() (sql string, args []any) {
	return `
		SELECT ` + deliveryColumns + `
		FROM notices n JOIN deliveries d ON d.notice_id = n.id JOIN endpoints e ON e.id = d.endpoint_id
		WHERE n.subject IN (SELECT $8::text UNION SELECT o.id FROM refund_operations o
		    WHERE o.order_id = CASE WHEN $8 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN $8::uuid END)
		  AND ($1 = '' OR e.organiser = $1) AND ($2 = '' OR e.id = $2) AND ($3 = '' OR d.status = $3) AND ($4 = '' OR n.kind = $4)
		  AND d.notice_at >= coalesce($5::timestamptz, '-infinity') AND ` + older + `
		ORDER BY d.notice_at DESC, d.id DESC LIMIT $7`, append(w.args(), w.About)
}

func (w Which) args() []any {
	return []any{w.Organiser, w.Endpoint, w.Status, w.Kind, since(w.Since), w.Before, w.Most}
}

func since(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// FindDelivery is a delivery with its body as it is sent, and its attempts,
// the latest first. Another organiser's is none.
func FindDelivery(ctx context.Context, pool *pgxpool.Pool, organiser string, id int64) (d Delivery, body []byte, tries []Try, found bool, err error) {
	var raw json.RawMessage
	err = pool.QueryRow(ctx, `
		SELECT `+deliveryColumns+`, n.body
		FROM deliveries d JOIN notices n ON n.id = d.notice_id JOIN endpoints e ON e.id = d.endpoint_id
		WHERE d.id = $1 AND ($2 = '' OR e.organiser = $2)`, id, organiser).
		Scan(&d.ID, &d.Endpoint, &d.Gone, &d.Notice, &d.Kind, &d.Event, &d.Subject, &d.Version, &d.At,
			&d.Status, &d.Go, &d.Attempts, &d.DueAt, &d.Reason, &d.EndedAt, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, nil, nil, false, nil
	}
	if err == nil {
		body, err = Payload(Message{d.Notice, d.Kind, d.Event, d.Subject, d.Version, d.At, raw})
	}
	if err == nil {
		tries, err = triesOf(ctx, pool, id)
	}
	if err != nil {
		return d, nil, nil, false, fmt.Errorf("delivery %d: %w", id, err)
	}
	return d, body, tries, true, nil
}

// triesMost bounds what one look reads: replays may have added many.
const triesMost = 100

func triesOf(ctx context.Context, pool *pgxpool.Pool, delivery int64) ([]Try, error) {
	rows, err := pool.Query(ctx, `
		SELECT go, attempt_no, started_at, finished_at, coalesce(status, 0), error, answer FROM delivery_attempts
		WHERE delivery_id = $1 ORDER BY go DESC, attempt_no DESC LIMIT $2`, delivery, triesMost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Try])
}
