package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// CallShare is what the replicas of one process may ask of the provider
// together.
type CallShare struct {
	Process   string
	Replicas  int
	PerSecond float64 // of each replica
	// Account is what the provider's account may be asked a second, in all.
	Account float64
}

// callShareStands is how long a declaration stands that nobody renews.
const callShareStands = 10 * time.Minute

// DeclareCalls writes down what a process may ask of the provider, and refuses
// it if all that is declared would be more than the account may be asked: then
// the provider would turn calls away, and nobody could say whose. What is refused
// is not written down. Of accounts that the processes disagree about, the
// smallest counts.
func DeclareCalls(ctx context.Context, pool *pgxpool.Pool, s CallShare) error {
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := s.declare(ctx, tx); err != nil {
			return err
		}
		sum, account, spelt, err := declaredCalls(ctx, tx)
		if err != nil {
			return err
		}
		if sum > account*(1+1e-9) {
			return fmt.Errorf("all processes together may make %s = %g calls a second, more than the account's %g (PROVIDER_ACCOUNT_RATE); lower a share, or REPLICAS",
				spelt, sum, account)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("payment provider: %w", err)
	}
	return nil
}

// RenewCalls keeps a declaration standing while its process runs. It judges
// nothing.
func RenewCalls(ctx context.Context, pool *pgxpool.Pool, s CallShare) error {
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error { return s.declare(ctx, tx) })
}

// declare writes a share down. Declarations take turns, so that each is judged
// with those before it.
func (s CallShare) declare(ctx context.Context, tx pgx.Tx) error {
	if s.Replicas < 1 || !(s.PerSecond > 0) || !(s.Account > 0) {
		return errors.New("a share of no replicas or no calls")
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('waitroom provider shares'))`); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO provider_shares (process, replicas, calls_per_s, account_per_s, at) VALUES ($1, $2, $3, $4, clock_timestamp())
		ON CONFLICT (process) DO UPDATE SET replicas = $2, calls_per_s = $3, account_per_s = $4, at = clock_timestamp()`,
		s.Process, s.Replicas, s.PerSecond, s.Account)
	return err
}

// declaredCalls is the sum of all shares that stand, and how it came about.
func declaredCalls(ctx context.Context, tx pgx.Tx) (sum, account float64, spelt string, err error) {
	rows, err := tx.Query(ctx, `
		SELECT process, replicas, calls_per_s, min(account_per_s) OVER () FROM provider_shares
		WHERE at > clock_timestamp() - $1::interval ORDER BY process`, callShareStands)
	if err != nil {
		return 0, 0, "", err
	}
	var process string
	var replicas int
	var each float64
	var all []string
	_, err = pgx.ForEachRow(rows, []any{&process, &replicas, &each, &account}, func() error {
		sum += float64(replicas) * each
		all = append(all, fmt.Sprintf("%s %d × %g", process, replicas, each))
		return nil
	})
	return sum, account, strings.Join(all, " + "), err
}
