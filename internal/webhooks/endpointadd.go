package webhooks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// newSecret is 256 random bits, and how they are shown.
func newSecret() (secret []byte, shown string) {
	secret = make([]byte, 32)
	rand.Read(secret) //nolint:errcheck // it never fails
	return secret, Secret(secret)
}

// Addition is a wish for an endpoint.
type Addition struct {
	ID       string // empty: one is made that nobody guesses
	Settings Settings
	Most     int  // endpoints that an organiser may have
	Loopback bool // as in Settings.Check
}

// Check finds the first flaw.
func (a Addition) Check() *Flaw {
	if a.ID != "" && !endpointID.MatchString(a.ID) {
		return &Flaw{"id", "a-z, 0-9, - and _, 63 at most, first a letter or a digit"}
	}
	return a.Settings.Check(a.Loopback)
}

// Add makes an endpoint of the asker's organiser, which it names, and its secret.
// The same attempt again is answered with the endpoint that it made, and without
// the secret: whoever lost that rotates it.
func Add(ctx context.Context, pool *pgxpool.Pool, w Asker, a Addition) (out Changed, err error) {
	if flaw := a.Check(); flaw != nil {
		return Changed{}, flaw
	}
	if a.ID == "" {
		a.ID = "ep_" + strings.ToLower(rand.Text())
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		before, err := w.asks(ctx, tx)
		if err != nil {
			return err
		}
		if before != nil {
			out, err = w.addedBefore(ctx, tx, *before)
			return errors.Join(err, errNo)
		}
		if out, err = w.add(ctx, tx, a); err != nil {
			return err
		}
		if out.Answer != Done {
			return errNo
		}
		return w.attempt().End(ctx, tx, remembered{Answer: Done, Endpoint: a.ID})
	})
	if err != nil && !errors.Is(err, errNo) {
		return Changed{}, fmt.Errorf("add endpoint of %s: %w", w.Organiser, err)
	}
	return out, nil
}

func (w Asker) addedBefore(ctx context.Context, tx pgx.Tx, r remembered) (Changed, error) {
	if r.Answer == KeyReused {
		return Changed{Answer: KeyReused}, nil
	}
	e, found, err := Find(ctx, tx, w.Organiser, r.Endpoint)
	if err != nil || !found {
		return Changed{Answer: NoEndpoint}, err
	}
	return r.changed(e), nil
}

// add writes the endpoint down unless there are as many as may be. One
// organiser's additions take turns, so that the count is right.
func (w Asker) add(ctx context.Context, tx pgx.Tx, a Addition) (Changed, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('endpoints of ' || $1, 0))`, w.Organiser); err != nil {
		return Changed{}, err
	}
	secret, shown := newSecret()
	s := a.Settings.tidy()
	tag, err := tx.Exec(ctx, `
		INSERT INTO endpoints (id, organiser, url, kinds, max_attempts, backoff_base, dispatch_gap, min_interval, per_minute, in_flight, secret)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
		WHERE (SELECT count(*) FROM endpoints WHERE organiser = $2 AND deleted_at IS NULL) < $12
		ON CONFLICT (id) DO NOTHING`,
		a.ID, w.Organiser, s.URL, s.Kinds, s.MaxAttempts, s.BackoffBase, s.DispatchGap, s.MinInterval, s.PerMinute, s.InFlight, secret, a.Most)
	if err != nil {
		return Changed{}, err
	}
	if tag.RowsAffected() == 0 {
		return w.notAdded(ctx, tx, a.ID)
	}
	if err := w.did(ctx, tx, a.ID, "added", nil, s.record()); err != nil {
		return Changed{}, err
	}
	e, _, err := Find(ctx, tx, w.Organiser, a.ID)
	return Changed{Answer: Done, Endpoint: e, Secret: shown}, err
}

// notAdded says why. Ids are never free again, so what is read now was so then.
func (w Asker) notAdded(ctx context.Context, tx pgx.Tx, id string) (Changed, error) {
	var taken bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM endpoints WHERE id = $1)`, id).Scan(&taken)
	if taken {
		return Changed{Answer: IDTaken}, err
	}
	return Changed{Answer: TooMany}, err
}
