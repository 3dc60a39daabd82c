package organiser

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Fresh is how long what a ring read stands for what is: a key that was revoked
// is refused by then, everywhere.
const Fresh = 2 * time.Second

// Ring is every good key and whose event is whose, as last read. It is read once
// a second, so that a request costs the database nothing, however wrong its key.
type Ring struct {
	pool *pgxpool.Pool
	last atomic.Pointer[seen]
}

type seen struct {
	at     time.Time // when it was asked
	keys   map[[32]byte]Key
	events map[string]event
}

type event struct {
	organiser string
	version   int64
}

// NewRing reads through pool. It knows no key before its first Read.
func NewRing(pool *pgxpool.Pool) *Ring {
	r := &Ring{pool: pool}
	r.last.Store(&seen{})
	return r
}

// Read takes in all that there is now. When it fails, what was known grows old.
func (r *Ring) Read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Fresh)
	defer cancel()
	s := seen{at: time.Now(), keys: map[[32]byte]Key{}, events: map[string]event{}}
	var b pgx.Batch
	b.Queue(`
		SELECT hash, organiser, name, scopes, created_at, expires_at FROM organiser_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`).Query(s.takeKeys)
	b.Queue(`SELECT id, organiser, version FROM events`).Query(s.takeEvents)
	if err := r.pool.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("organisers' keys: %w", err)
	}
	r.last.Store(&s)
	return nil
}

func (s *seen) takeKeys(rows pgx.Rows) error {
	var sum []byte
	var k Key
	_, err := pgx.ForEachRow(rows, []any{&sum, &k.Organiser, &k.Name, &k.Scopes, &k.CreatedAt, &k.ExpiresAt}, func() error {
		s.keys[[32]byte(sum)] = k
		k.Scopes = nil // the next row's are its own
		return nil
	})
	return err
}

func (s *seen) takeEvents(rows pgx.Rows) error {
	var id string
	var e event
	_, err := pgx.ForEachRow(rows, []any{&id, &e.organiser, &e.version}, func() error {
		s.events[id] = e
		return nil
	})
	return err
}

// Look is what the ring knew at one instant: one request is judged by one.
type Look struct {
	seen *seen
	now  time.Time
}

// Look looks at the ring.
func (r *Ring) Look(now time.Time) Look { return Look{r.last.Load(), now} }

// Fresh reports whether what it knows is recent enough to open anything. When
// it is not, it may still close: see Key.
func (l Look) Fresh() bool { return l.now.Sub(l.seen.at) <= Fresh }

// Key finds the key that a token is. A look that is not fresh may find one that
// was revoked since: enough to stop a sale by, for whoever still has it can do
// no more than hold up what nobody can judge, and not enough for anything else.
func (l Look) Key(token string) (Key, bool) {
	// A map's lookup by the hash tells an onlooker nothing of the token.
	k, ok := l.seen.keys[hash(token)]
	if !ok || k.ExpiresAt != nil && !k.ExpiresAt.After(l.now) {
		return Key{}, false
	}
	return k, true
}

// Owns reports whether the event is that organiser's. Another's and none are
// the same no.
func (l Look) Owns(organiser, event string) bool {
	e, there := l.seen.events[event]
	return there && e.organiser == organiser
}

// Version is how often the event had been changed.
func (l Look) Version(event string) int64 { return l.seen.events[event].version }

// Events are the ids of the organiser's events, in no order.
func (l Look) Events(organiser string) (ids []string) {
	for id, e := range l.seen.events {
		if e.organiser == organiser {
			ids = append(ids, id)
		}
	}
	return ids
}
