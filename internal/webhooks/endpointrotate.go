package webhooks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// How long the key before it signs beside a new one.
const (
	UsualOverlap   = 24 * time.Hour
	LongestOverlap = 7 * 24 * time.Hour
)

// Rotation is a wish for another secret.
type Rotation struct {
	// Overlap is how long the present one signs too. 0: from now on only the new one
	// does, for what signs now is known to somebody who should not know it.
	Overlap time.Duration
	// Replace makes yet another secret in the place of the present one, which got
	// lost before any receiver had it, and leaves the old one its time.
	Replace bool
}

// Check finds the flaw.
func (r Rotation) Check() *Flaw {
	if r.Overlap < 0 || r.Overlap > LongestOverlap {
		return &Flaw{"overlap_s", "0 to 604800 seconds"}
	}
	return nil
}

// Rotate makes a new secret, which signs from now on. No more than two sign: while
// the one before the present one does, another rotation is refused as Rotating,
// because it would cut off receivers that still go by that one. Replace and an
// overlap of 0 say which is to be dropped.
func Rotate(ctx context.Context, pool *pgxpool.Pool, id string, r Rotation, w Asker) (Changed, error) {
	if flaw := r.Check(); flaw != nil {
		return Changed{}, flaw
	}
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		if e.OldSecretUntil != nil && r.Overlap > 0 && !r.Replace {
			return Changed{Answer: Rotating, Endpoint: e}, nil
		}
		keep := r.Replace && e.OldSecretUntil != nil && r.Overlap > 0
		secret, shown := newSecret()
		was := e.OldSecretUntil
		err := tx.QueryRow(ctx, `
			UPDATE endpoints SET secret = $2, version = version + 1,
			  old_secret = CASE WHEN $3 THEN old_secret WHEN $4 > interval '0' THEN secret END,
			  old_secret_until = CASE WHEN $3 THEN old_secret_until WHEN $4 > interval '0' THEN now() + $4 END
			WHERE id = $1 AND version = $5 RETURNING version, old_secret_until`,
			e.ID, secret, keep, r.Overlap, e.Version).Scan(&e.Version, &e.OldSecretUntil)
		if err != nil {
			return Changed{}, err
		}
		return Changed{Answer: Done, Endpoint: e, Secret: shown},
			w.did(ctx, tx, e.ID, "rotated", map[string]any{"old_secret_until": was}, map[string]any{"old_secret_until": e.OldSecretUntil})
	})
}
