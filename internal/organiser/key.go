// Package organiser owns the keys of those who run sales, and knows whose event
// is whose. A key is 256 random bits, shown once; what is kept is its SHA-256,
// which is enough: nobody guesses 256 bits, however fast they may try.
package organiser

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Scope is one thing that a key may do. None includes another.
type Scope string

const (
	LineRead       Scope = "line:read"       // settings, live numbers, the record of changes
	LineWrite      Scope = "line:write"      // settings, pause, resume, stop, close
	EventsWrite    Scope = "events:write"    // create events, import plans
	RefundsRead    Scope = "refunds:read"    // orders, what became of refunds, what waits for a person
	RefundsWrite   Scope = "refunds:write"   // ask for refunds, of a customer who is named
	RefundsApprove Scope = "refunds:approve" // say yes or no to refunds that others asked for
	HumanWrite     Scope = "human:write"     // take, note, decide what is on the human list
	WebhooksRead   Scope = "webhooks:read"   // endpoints, how they do, what was sent and answered
	WebhooksWrite  Scope = "webhooks:write"  // endpoints, their secrets, tests, replays
	ScansRead      Scope = "scans:read"      // revoked seat codes, scans that conflict
	ScansWrite     Scope = "scans:write"     // tell of seat codes that were shown at a door
)

// Scopes are all that there are.
func Scopes() []Scope {
	return []Scope{LineRead, LineWrite, EventsWrite, RefundsRead, RefundsWrite, RefundsApprove, HumanWrite, WebhooksRead, WebhooksWrite, ScansRead, ScansWrite}
}

// House is whose events are that were given to nobody.
const House = "house"

// Key is leave to act for an organiser. Its name is what the record of changes
// says, and is no other key's ever.
type Key struct {
	Organiser string
	Name      string
	Scopes    []Scope
	CreatedAt time.Time
	ExpiresAt *time.Time // nil: never
	RevokedAt *time.Time // nil: not
}

// May reports whether the key has a scope.
func (k Key) May(s Scope) bool { return slices.Contains(k.Scopes, s) }

// mark begins a key, so that people and secret scanners know one when they see it.
const mark = "wrk_"

// newToken is what a key's bearer carries.
func newToken() string {
	var secret [32]byte
	rand.Read(secret[:]) //nolint:errcheck // it never fails
	return mark + base64.RawURLEncoding.EncodeToString(secret[:])
}

func hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// Made is what became of a wish for a key, or for its end.
type Made string

const (
	Done      Made = "done"
	NameTaken Made = "name_taken" // revoked or not: the record of changes knows it
	NoSuchKey Made = "no_key"
	WasSo     Made = "was_so" // revoked before
)

var (
	organiserName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	keyName       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
)

// CheckName says what is wrong with an organiser's name, if anything is.
func CheckName(organiser string) error {
	if !organiserName.MatchString(organiser) {
		return fmt.Errorf("organiser %q: want a-z, 0-9 and -, not first a -", organiser)
	}
	return nil
}

// Check says what is wrong with a key that is wished for.
func (k Key) Check(now time.Time) error {
	if err := CheckName(k.Organiser); err != nil {
		return err
	}
	switch {
	case !keyName.MatchString(k.Name):
		return fmt.Errorf("name %q: want letters, digits, '.', '_' and '-', 63 at most", k.Name)
	case len(k.Scopes) == 0:
		return errors.New("a key without scopes opens nothing")
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		return errors.New("the key would have expired already")
	}
	for _, s := range k.Scopes {
		if !slices.Contains(Scopes(), s) {
			return fmt.Errorf("scope %q: there are %s", s, list(Scopes()))
		}
	}
	return nil
}

func list(scopes []Scope) string {
	var all []string
	for _, s := range scopes {
		all = append(all, string(s))
	}
	return strings.Join(all, ", ")
}

// Create makes a key and its token, which is not kept and cannot be had again.
func Create(ctx context.Context, pool *pgxpool.Pool, k Key) (token string, made Made, err error) {
	token = newToken()
	sum := hash(token)
	scopes := slices.Clone(k.Scopes)
	slices.Sort(scopes)
	tag, err := pool.Exec(ctx, `
		INSERT INTO organiser_keys (organiser, name, hash, scopes, expires_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (organiser, name) DO NOTHING`,
		k.Organiser, k.Name, sum[:], slices.Compact(scopes), k.ExpiresAt)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("create key: %w", err)
	case tag.RowsAffected() == 0:
		return "", NameTaken, nil
	}
	return token, Done, nil
}

// Revoke ends a key. Every replica refuses it within 2 s.
func Revoke(ctx context.Context, pool *pgxpool.Pool, organiser, name string) (Made, error) {
	tag, err := pool.Exec(ctx, `
		UPDATE organiser_keys SET revoked_at = now() WHERE organiser = $1 AND name = $2 AND revoked_at IS NULL`,
		organiser, name)
	if err != nil {
		return "", fmt.Errorf("revoke key: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return Done, nil
	}
	// Keys are never deleted, so what is read now was true then.
	var there bool
	err = pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM organiser_keys WHERE organiser = $1 AND name = $2)`,
		organiser, name).Scan(&there)
	switch {
	case err != nil:
		return "", fmt.Errorf("revoke key: %w", err)
	case there:
		return WasSo, nil
	}
	return NoSuchKey, nil
}

// Keys are all keys of an organiser, or of everybody if it is empty.
func Keys(ctx context.Context, pool *pgxpool.Pool, organiser string) ([]Key, error) {
	rows, err := pool.Query(ctx, `
		SELECT organiser, name, scopes, created_at, expires_at, revoked_at FROM organiser_keys
		WHERE $1 = '' OR organiser = $1 ORDER BY organiser, created_at, name`, organiser)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Key])
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return keys, nil
}
