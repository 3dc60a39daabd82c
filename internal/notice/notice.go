// Package notice tells others what became true. A notice is written in the
// transaction that makes its fact, so that neither exists without the other. One
// relay writes down afterwards whom it is for, and publishes a hint of it. NATS is
// told, never asked: wiped, down or doubled, it changes nothing that is true, and
// no organiser is told a moment later.
package notice

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Notice is a fact about one subject (an order, an event, a refund operation, an
// endpoint).
// Version is the subject's own count, raised under the subject's row lock; so
// the notices of one subject get ids in the order of their versions.
type Notice struct {
	Kind      string // as in the catalogue: "order.paid"
	Event     string // whose organiser is told
	Organiser string // who is told of what is of no event; else empty
	Subject   string
	Version   int64
	Body      any // marshalled as JSON; carries no personal data
}

// Write puts notices into the outbox of tx, in the order given. The caller
// holds the row lock of every subject. A doubled notice (same subject, version
// and kind) is a transition that ran twice: it fails the transaction.
func Write(ctx context.Context, tx pgx.Tx, notices ...Notice) error {
	if len(notices) == 0 {
		return nil
	}
	var kinds, events, organisers, subjects, bodies []string
	var versions []int64
	for _, n := range notices {
		body, err := json.Marshal(n.Body)
		if err != nil {
			return fmt.Errorf("notice %s of %s: %w", n.Kind, n.Subject, err)
		}
		kinds, events, organisers = append(kinds, n.Kind), append(events, n.Event), append(organisers, n.Organiser)
		subjects, bodies = append(subjects, n.Subject), append(bodies, string(body))
		versions = append(versions, n.Version)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO notices (kind, event_id, organiser, subject, version, body)
		SELECT kind, nullif(event_id, ''), nullif(organiser, ''), subject, version, body::jsonb
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
		  WITH ORDINALITY AS n (kind, event_id, organiser, subject, version, body, nth)
		ORDER BY nth`, kinds, events, organisers, subjects, versions, bodies)
	if err != nil {
		return fmt.Errorf("write notices: %w", err)
	}
	return nil
}
