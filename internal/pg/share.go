package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Share is what the replicas of one process may take of Postgres together.
type Share struct {
	Process  string
	Replicas int
	Uses     []Use // of each replica
}

// Use is one pool, or one connection that is no pool's.
type Use struct {
	Name  string
	Conns int
}

// Conns are one replica's.
func (s Share) Conns() (n int) {
	for _, u := range s.Uses {
		n += u.Conns
	}
	return n
}

func (s Share) uses() string {
	var all []string
	for _, u := range s.Uses {
		all = append(all, fmt.Sprintf("%s %d", u.Name, u.Conns))
	}
	return strings.Join(all, " + ")
}

const (
	// mostShared is how much of what Postgres takes may be declared. The rest is
	// for people, backups, and the replicas of a deployment's overlap.
	mostShared = 0.8
	// shareStands is how long a declaration stands that nobody renews.
	shareStands = 10 * time.Minute
)

// Declare writes down what a process may take, and refuses it if all that is
// declared would be more than Postgres has to give: connections that are
// refused under load take down whoever happens to come last. What is refused is
// not written down.
func Declare(ctx context.Context, pool *pgxpool.Pool, s Share) error {
	return InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := declare(ctx, tx, s); err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
		most, of, err := limit(ctx, tx)
		if err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
		sum, spelt, err := declared(ctx, tx)
		if err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
		if float64(sum) > mostShared*float64(most) {
			return fmt.Errorf("postgres: all processes together may take %s = %d connections, more than 80 %% of %d (%s); raise that, or lower the pools or REPLICAS",
				spelt, sum, most, of)
		}
		return nil
	})
}

// Renew keeps a declaration standing while its process runs. It judges nothing.
func Renew(ctx context.Context, pool *pgxpool.Pool, s Share) error {
	return InTx(ctx, pool, func(tx pgx.Tx) error { return declare(ctx, tx, s) })
}

// declare writes a share down. Declarations take turns, so that each is judged
// with those before it.
func declare(ctx context.Context, tx pgx.Tx, s Share) error {
	if s.Replicas < 1 || s.Conns() < 1 {
		return errors.New("a share of no replicas or no connections")
	}
	// Whoever starts waits for its turn, as long as others start at the same moment
	// on a machine that is busy with it.
	if err := Longer(ctx, tx, 10*time.Second); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `SELECT set_config('lock_timeout', '10s', true)`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('waitroom connection shares'))`); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO connection_shares (process, replicas, conns, uses, at) VALUES ($1, $2, $3, $4, clock_timestamp())
		ON CONFLICT (process) DO UPDATE SET replicas = $2, conns = $3, uses = $4, at = clock_timestamp()`,
		s.Process, s.Replicas, s.Conns(), s.uses())
	return err
}

// limit is the least of what the server, this database and this role may have.
func limit(ctx context.Context, tx pgx.Tx) (most int, of string, err error) {
	err = tx.QueryRow(ctx, `
		SELECT n, of FROM (
		  SELECT current_setting('max_connections')::int AS n, 'max_connections' AS of
		  UNION ALL SELECT datconnlimit, 'the limit of database ' || datname FROM pg_database WHERE datname = current_database()
		  UNION ALL SELECT rolconnlimit, 'the limit of role ' || rolname FROM pg_roles WHERE rolname = current_user
		) limits WHERE n >= 0 ORDER BY n, of LIMIT 1`).Scan(&most, &of)
	return most, of, err
}

// declared is the sum of all shares that stand, and how it came about.
func declared(ctx context.Context, tx pgx.Tx) (sum int, spelt string, err error) {
	rows, err := tx.Query(ctx, `
		SELECT process, replicas, conns, uses FROM connection_shares
		WHERE at > clock_timestamp() - $1::interval ORDER BY process`, shareStands)
	if err != nil {
		return 0, "", err
	}
	var process, uses string
	var replicas, conns int
	var all []string
	_, err = pgx.ForEachRow(rows, []any{&process, &replicas, &conns, &uses}, func() error {
		sum += replicas * conns
		all = append(all, fmt.Sprintf("%s %d × (%s)", process, replicas, uses))
		return nil
	})
	return sum, strings.Join(all, " + "), err
}
