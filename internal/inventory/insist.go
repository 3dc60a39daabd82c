package inventory

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience is how long an insisting claim waits for a lock: a claim of somebody
// else's is over in a few milliseconds.
const patience = "200ms"

// insist claims for attempts that got nothing though nothing stood in their
// way. What a claim at once leaves to others it does itself, in the same
// transaction: it ends the lapsed orders that hold what is wanted, so that a
// slow expirer never makes a false "sold out", and waits for units that others
// are taking.
//
// The seats of the lapsed orders are locked before those that are claimed, and
// so out of id order. Nobody waits for them: while their order is pending,
// whoever changes them holds its account, as we do.
//
// It is also how seats are claimed that we choose: chosen and claimed in one.
func (c *Claimer) insist(ctx context.Context, conn *pgxpool.Conn, attempts []*asked, lapsed []uuid.UUID, again bool) (won []int, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var b pgx.Batch
		makeAccounts(&b, attempts)
		lockAccounts(&b, attempts, lapsed)
		lockCodes(&b, attempts, lapsed...)
		if leavesChoice(attempts) {
			oneChooser(&b, attempts)
		}
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		if _, err := End(ctx, tx, lapsed, Expired); err != nil {
			return err
		}
		if leavesChoice(attempts) {
			if err := c.choose(ctx, tx, attempts); err != nil {
				return err
			}
		}
		b = pgx.Batch{}
		if again {
			awaitUnits(&b, attempts, patience)
		}
		grant(&b, attempts, &won)
		return tx.SendBatch(ctx, &b).Close()
	})
	return won, err
}
