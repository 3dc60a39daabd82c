package ordeal

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/demo"
	"waitroom/internal/stack"
)

// point is a place inside a process's transaction.
type point struct {
	lock    int    // that it waits for
	app     string // whose sessions do
	trigger string // where
}

// Points. One that is at the commit is deferred: the transaction has done all that
// it does, and waits in its COMMIT.
var (
	claimerSeats   = point{1, "waitroom claimer", `TRIGGER %s AFTER UPDATE ON seats FOR EACH STATEMENT`}
	claimerCommit  = point{2, "waitroom claimer", `CONSTRAINT TRIGGER %s AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW`}
	expirerCommit  = point{3, "waitroom expirer", `CONSTRAINT TRIGGER %s AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'expired')`}
	paidCommit     = point{4, "waitroom paycallback", `CONSTRAINT TRIGGER %s AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'paid')`}
	refunderCommit = point{5, "waitroom refunder", `CONSTRAINT TRIGGER %s AFTER UPDATE ON refund_operations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'confirmed')`}
	courierCommit  = point{6, "waitroom courier", `CONSTRAINT TRIGGER %s AFTER UPDATE ON deliveries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'delivered')`}
)

var points = [...]point{claimerSeats, claimerCommit, expirerCommit, paidCommit, refunderCommit, courierCommit}

// lay puts the points into the run's database. Who comes past one shares its lock,
// and waits while we hold it.
func (b *bench) lay(ctx context.Context) error {
	return pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			CREATE SCHEMA ordeal;
			CREATE FUNCTION ordeal.stand() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
			BEGIN
			  IF starts_with(current_setting('application_name'), TG_ARGV[1]) THEN
			    PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint);
			  END IF;
			  RETURN NULL;
			END $$`)
		for _, p := range points {
			if err == nil {
				_, err = tx.Exec(ctx, "CREATE "+fmt.Sprintf(p.trigger, fmt.Sprintf("ordeal_%d", p.lock))+
					fmt.Sprintf(" EXECUTE FUNCTION ordeal.stand('%d', '%s')", p.lock, p.app))
			}
		}
		return err
	})
}

// stood is a process that stands still, in the middle of a transaction.
type stood struct {
	session int32  // of the server's
	xid     string // of the transaction
	lock    *pgx.Conn
	point   point
}

// reach has the process stand still at the point: its transaction waits for our
// lock, it is stopped, and it is seen that the transaction still waited then.
func (b *bench) reach(ctx context.Context, p *demo.Program, at point) (s *stood, err error) {
	s = &stood{point: at}
	if s.lock, err = pgx.ConnectConfig(ctx, b.db.Config().ConnConfig.Copy()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.lock.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it holds nothing that is waited for then
		}
	}()
	if _, err := s.lock.Exec(ctx, `SELECT pg_advisory_lock($1)`, at.lock); err != nil {
		return nil, err
	}
	return s, stack.Until(ctx, p.Name+" comes to the point", healed, func() (bool, error) {
		if there, err := s.waits(ctx); err != nil || !there {
			return false, err
		}
		session, xid := s.session, s.xid
		if err := p.Stop(); err != nil {
			return false, err
		}
		there, err := s.waits(ctx)
		if err == nil && there && session == s.session && xid == s.xid {
			return true, nil
		}
		return false, errors.Join(err, p.GoOn()) // the server had ended it before we came
	})
}

// waits finds who waits for the lock.
func (s *stood) waits(ctx context.Context) (bool, error) {
	err := s.lock.QueryRow(ctx, `
		SELECT a.pid, coalesce(a.backend_xid::text, '') FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND NOT l.granted AND l.classid = 0 AND l.objid = $1::int::oid
		ORDER BY a.pid LIMIT 1`, s.point.lock).Scan(&s.session, &s.xid)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil && s.xid != "", err
}

// letGo gives the lock back: the server may end the transaction as it can.
func (s *stood) letGo(ctx context.Context) error { return s.lock.Close(ctx) }

// end is what became of the transaction. The server may just have been crashed.
func (b *bench) end(ctx context.Context, s *stood) (fate string, err error) {
	var last error
	err = stack.Until(ctx, "transaction "+s.xid+" has an end", healed, func() (bool, error) {
		last = b.db.QueryRow(ctx, `SELECT pg_xact_status($1::text::xid8)`, s.xid).Scan(&fate)
		return last == nil && fate != "in progress", nil
	})
	if err != nil {
		err = errors.Join(err, last)
	}
	return fate, err
}
