package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
)

// Books are the provider's: what its payments are now. Its promises are a
// Provider's, and:
//   - PaymentStands changes nothing;
//   - CancelPayment ends a payment that did not succeed, so that it cannot any
//     more, and says what the payment is after that. nth tells our calls on one
//     payment apart, so that none gets the answer of an earlier one;
//   - FindPayment changes nothing, and finds what was opened without an answer,
//     by our name of it. No name of the provider's: it has none, or one that is
//     younger than searchSettles.
type Books interface {
	Provider
	PaymentStands(ctx context.Context, providerPayment string) (Standing, error)
	CancelPayment(ctx context.Context, providerPayment string, nth int) (Standing, error)
	FindPayment(ctx context.Context, p NewPayment) (AtProvider, error)
}

// Standing is a payment as the provider has it.
type Standing struct {
	Says           Says // SaysCaptured or SaysCancelled; SaysNothing: it may still become either
	AmountMinor    int64
	ProviderAmount int64
	Currency       string
	Throttled      bool // nothing was sent: our share of the account's calls is used up
}

const (
	// lostAfter is when an answer that was not recorded is taken for lost: more
	// than the longest call takes, and the buyer's own next tries.
	lostAfter = 2 * time.Minute
	// lastLook is how long before the end of its time an order's open payments
	// are looked at: money whose notice was lost still pays then.
	lastLook = 15 * time.Second
	// reclaimGrace is how long an expired order's payments are let be where
	// late money may take the seats again.
	reclaimGrace = 2 * time.Minute
	// keyLife is how long the same opening is the same payment: the provider's
	// 24 hours, less a margin.
	keyLife = 23 * time.Hour
	// searchAfter is how soon a payment that was lost is searched for, and again;
	// searchSettles is when what is not found is not there. A provider's search
	// lags by a minute where all is well; what it then has shows nobody a page.
	searchAfter   = 30 * time.Second
	searchSettles = 10 * time.Minute
	// mostUnknown bounds the looks after an order's end that settle nothing; with
	// the waits between them that is a little more than an hour.
	mostUnknown = 10
	// slowestLook bounds the doubling of these waits from ten seconds.
	slowestLook = 30 * time.Minute
	// supersededLook is how soon a payment that was given up for a later one is
	// cancelled again where that settled nothing: it takes up room until then.
	supersededLook = 10 * time.Second
)

// step is what is done about a payment that is due.
type step string

const (
	wait      step = "wait"   // there is nothing to ask yet
	forget    step = "forget" // nor ever
	reopen    step = "reopen" // its answer was lost: the same opening gets it again
	look      step = "look"
	find      step = "find"   // it has no answer and never will: what the provider has of it is cancelled
	cancel    step = "cancel" // its order has ended, or it failed and the buyer has opened another
	askHumans step = "human"  // it cannot be found out
)

// due is a payment that was taken up, and what stood about its order.
type due struct {
	NewPayment
	name      string // the provider's; empty: not known
	status    string
	looks     int
	unknowns  int
	createdAt time.Time
	lostAt    *time.Time // no answer will come
	lookAt    time.Time  // when it became due
	later     bool       // its order has a later payment

	order   string // its status
	payBy   time.Time
	endedAt *time.Time
	late    inventory.Late
	now     time.Time // by the database
}

func (d due) ended() bool { return d.order != "pending" }

// superseded: it failed, and its buyer has gone on to another. The last one is
// let be, so that what is open in the buyer's window can still be paid.
func (d due) superseded() bool { return d.status == "failed" && d.later }

// next decides; a wait says until when.
func (d due) next() (step, time.Time) {
	switch {
	case d.name == "" && d.status == "failed":
		return forget, time.Time{}
	case d.unknowns >= mostUnknown || d.name == "" && d.lostAt == nil && d.now.Sub(d.createdAt) > keyLife:
		return askHumans, time.Time{}
	case d.name == "" && d.lostAt != nil:
		return find, time.Time{}
	case d.name == "":
		return reopen, time.Time{}
	case d.ended() && d.order == "expired" && d.late == inventory.LateReclaim && d.endedAt != nil &&
		d.now.Before(d.endedAt.Add(reclaimGrace)):
		return wait, d.endedAt.Add(reclaimGrace)
	case d.ended() || d.superseded():
		return cancel, time.Time{}
	case d.now.Before(d.payBy.Add(-lastLook)):
		return wait, d.payBy.Add(-lastLook)
	case d.now.Before(d.payBy):
		return look, time.Time{}
	}
	return wait, d.now.Add(2 * time.Second) // whatever ends it has not come by yet
}

// undecided is when a payment is asked about again whose last look settled
// nothing. Only what is asked after the order's end counts towards its bound.
func (d due) undecided() (unknowns int, after time.Duration) {
	switch end := max(2*time.Second, d.payBy.Add(time.Second).Sub(d.now)); {
	case !d.ended() && d.superseded():
		return d.unknowns, min(supersededLook, end)
	case !d.ended() && d.lostAt != nil:
		return d.unknowns, min(searchAfter, end)
	case !d.ended():
		return d.unknowns, end
	}
	return d.unknowns + 1, min(10*time.Second<<min(d.unknowns, 20), slowestLook)
}

// lookNow has the order's payments looked at that may still succeed.
func lookNow(ctx context.Context, tx pgx.Tx, order uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		UPDATE payments SET look_at = CASE WHEN look_at IS NOT NULL THEN now() END
		WHERE order_id = $1 AND status IN ('opening', 'open', 'failed')`, order)
	if err != nil {
		return fmt.Errorf("payments of order %s: %w", order, err)
	}
	return nil
}
