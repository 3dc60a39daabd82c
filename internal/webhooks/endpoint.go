package webhooks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// State is what an endpoint's organiser, or the courier, made of it. Only Active
// is sent to; the deliveries of the others wait.
type State string

// The states.
const (
	Active   State = "active"
	Draining State = "draining" // no new attempt begins; one that is under way ends
	Disabled State = "disabled"
)

// States are all that there are.
func States() []State { return []State{Active, Draining, Disabled} }

// Kinds are the notices that an endpoint may ask for. A test comes unasked.
func Kinds() []string {
	return []string{
		"order.paid", "order.expired", "order.cancelled", "order.moved", "tickets.returned",
		"event.exhausted", "event.reopened", "event.paused",
		"refund.queued", "refund.confirmed", "refund.needs_attention", "endpoint.disabled",
	}
}

// Settings are what an organiser sets of an endpoint. The nth attempt of a delivery
// begins max(MinInterval, min(DispatchGap, BackoffBase × factor^(n−1))) after the end
// of the one before at the earliest.
type Settings struct {
	URL         string
	Kinds       []string // none: all, also those that there will be
	MaxAttempts int      // of a delivery; then it is dead
	BackoffBase time.Duration
	DispatchGap time.Duration
	MinInterval time.Duration
	PerMinute   int // attempts that begin
	InFlight    int // attempts under way
}

// DefaultSettings are those of an endpoint that says only where it is: twelve
// attempts within about four hours.
func DefaultSettings(url string) Settings {
	return Settings{
		URL: url, MaxAttempts: 12, BackoffBase: 5 * time.Second, DispatchGap: time.Hour, MinInterval: time.Second,
		PerMinute: 6000, InFlight: 4,
	}
}

// Flaw is a setting that no endpoint can have, and what it could be.
type Flaw struct{ Setting, Want string }

func (f *Flaw) Error() string { return f.Setting + ": want " + f.Want }

// Check finds the first flaw. loopback: plain http to this machine itself will do,
// for tests and the demo.
func (s Settings) Check(loopback bool) *Flaw {
	within := func(d time.Duration) bool { return d >= 0 && d <= 24*time.Hour }
	if err := CheckURL(s.URL, loopback); err != nil {
		return &Flaw{"url", err.Error()}
	}
	for _, k := range s.Kinds {
		if !slices.Contains(Kinds(), k) {
			return &Flaw{"kinds", "of " + strings.Join(Kinds(), ", ") + "; none means all"}
		}
	}
	switch {
	case s.MaxAttempts < 1 || s.MaxAttempts > 100:
		return &Flaw{"max_attempts", "1 to 100"}
	case !within(s.BackoffBase):
		return &Flaw{"backoff_base_s", "0 to 86400 seconds"}
	case !within(s.DispatchGap):
		return &Flaw{"dispatch_gap_s", "0 to 86400 seconds"}
	case !within(s.MinInterval):
		return &Flaw{"min_interval_s", "0 to 86400 seconds"}
	case s.PerMinute < 1 || s.PerMinute > 60_000:
		return &Flaw{"per_minute", "1 to 60000"}
	case s.InFlight < 1 || s.InFlight > 100:
		return &Flaw{"in_flight", "1 to 100"}
	}
	return nil
}

// tidy is the same settings in the one form that they are kept in.
func (s Settings) tidy() Settings {
	s.Kinds = slices.Clone(s.Kinds)
	slices.Sort(s.Kinds)
	s.Kinds = slices.Compact(s.Kinds)
	if s.Kinds == nil {
		s.Kinds = []string{}
	}
	for _, d := range []*time.Duration{&s.BackoffBase, &s.DispatchGap, &s.MinInterval} {
		*d = d.Round(time.Microsecond) // as Postgres keeps them
	}
	return s
}

// record is how the record of changes has them: in seconds.
func (s Settings) record() map[string]any {
	return map[string]any{
		"url": s.URL, "kinds": s.Kinds, "max_attempts": s.MaxAttempts, "backoff_base_s": s.BackoffBase.Seconds(),
		"dispatch_gap_s": s.DispatchGap.Seconds(), "min_interval_s": s.MinInterval.Seconds(),
		"per_minute": s.PerMinute, "in_flight": s.InFlight,
	}
}

// Endpoint is where an organiser is told. What it is signed with is not in it.
type Endpoint struct {
	ID        string
	Organiser string
	Settings
	State   State
	Reason  string // why it is not active: asked, gone, failing; else ""
	Version int64  // raised by every change that an organiser makes
	// The key before this one signs too until then; nil: only one signs.
	OldSecretUntil *time.Time
	Failures       int // attempts that failed one after the other, over all deliveries
	FailingSince   *time.Time
	CreatedAt      time.Time
	DeletedAt      *time.Time
}

// columns are an Endpoint's, in its order, of a table that is named e.
const columns = `e.id, e.organiser, e.url, e.kinds, e.max_attempts, e.backoff_base, e.dispatch_gap, e.min_interval,
	e.per_minute, e.in_flight, e.state, coalesce(e.reason, ''), e.version,
	CASE WHEN e.old_secret_until > now() THEN e.old_secret_until END,
	e.failures, e.failing_since, e.created_at, e.deleted_at`

func scanEndpoint(row pgx.CollectableRow) (e Endpoint, err error) {
	err = row.Scan(&e.ID, &e.Organiser, &e.URL, &e.Kinds, &e.MaxAttempts, &e.BackoffBase, &e.DispatchGap, &e.MinInterval,
		&e.PerMinute, &e.InFlight, &e.State, &e.Reason, &e.Version, &e.OldSecretUntil,
		&e.Failures, &e.FailingSince, &e.CreatedAt, &e.DeletedAt)
	return e, err
}

var endpointID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// reader is a pool or a transaction.
type reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Endpoints are an organiser's, or everybody's if it is empty; those that were
// deleted only if they are asked for.
func Endpoints(ctx context.Context, pool *pgxpool.Pool, organiser string, deleted bool) ([]Endpoint, error) {
	rows, err := pool.Query(ctx, `
		SELECT `+columns+` FROM endpoints e
		WHERE ($1 = '' OR e.organiser = $1) AND ($2 OR e.deleted_at IS NULL)
		ORDER BY e.organiser, e.created_at, e.id`, organiser, deleted)
	if err != nil {
		return nil, fmt.Errorf("endpoints: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanEndpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoints: %w", err)
	}
	return all, nil
}

// Find finds an endpoint that was not deleted. Another organiser's is none; an
// empty organiser may see everybody's.
func Find(ctx context.Context, db reader, organiser, id string) (e Endpoint, found bool, err error) {
	return find(ctx, db, organiser, id, "AND e.deleted_at IS NULL")
}

// lock is Find, and nobody changes the endpoint, nor takes a delivery of it,
// before the transaction ends. Endpoints are locked before their deliveries.
func lock(ctx context.Context, tx pgx.Tx, organiser, id string) (e Endpoint, found bool, err error) {
	return find(ctx, tx, organiser, id, "AND e.deleted_at IS NULL FOR NO KEY UPDATE")
}

func find(ctx context.Context, db reader, organiser, id, also string) (e Endpoint, found bool, err error) {
	rows, err := db.Query(ctx, `
		SELECT `+columns+` FROM endpoints e WHERE e.id = $1 AND ($2 = '' OR e.organiser = $2) `+also, id, organiser)
	if err != nil {
		return e, false, fmt.Errorf("endpoint %s: %w", id, err)
	}
	e, err = pgx.CollectExactlyOneRow(rows, scanEndpoint)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return e, false, nil
	case err != nil:
		return e, false, fmt.Errorf("endpoint %s: %w", id, err)
	}
	return e, true, nil
}
