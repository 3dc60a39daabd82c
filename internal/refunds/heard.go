package refunds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
)

// Told is what a provider notice says of a refund, or of all refunds of a
// payment together.
type Told struct {
	Provider        string
	ProviderPayment string
	ProviderRefund  string // "" in a telling of the sum
	Operation       string // metadata.operation: "" of refunds that others made
	Status          string // the provider's: pending, succeeded, failed, …
	AmountMinor     int64
	Currency        string
	SumMinor        int64     // in a telling of the sum: all that was refunded so far, and did not fail before
	SaidAt          time.Time // by the provider's clock; zero: not known
}

// saidAt is nil where it is not known when the provider said it, or where that is no
// time that the database has.
func (t Told) saidAt() *time.Time {
	if t.SaidAt.Unix() <= 0 || t.SaidAt.Year() > 9999 {
		return nil
	}
	return &t.SaidAt
}

// Hearing is what became of a telling.
type Hearing string

// What a telling can do.
const (
	HeardConfirmed Hearing = "refund_confirmed"
	HeardFailed    Hearing = "refund_failed"
	HeardOnItsWay  Hearing = "refund_pending"
	HeardAgain     Hearing = "refund_known"    // nothing new, or older than what is known
	HeardSum       Hearing = "refund_sum"      // the sum refunded of a payment
	HeardByHand    Hearing = "refund_by_hand"  // somebody else's refund of a payment of ours: a person is told
	HeardDiffers   Hearing = "refund_differs"  // what our ledger rules out: a person is told
	HeardUnknown   Hearing = "refund_too_soon" // of a payment whose money was not counted yet: nothing was changed
	HeardForeign   Hearing = "refund_foreign"  // of a payment that is none of ours
)

// Heard applies what the provider told of refunds, in the transaction of its
// notice. Any number of tellings, in any order, come to the same: a refund is
// one row under the provider's name, its state only goes forward, and an
// operation is confirmed once, whoever says so first.
func Heard(ctx context.Context, tx pgx.Tx, t Told) (Hearing, error) {
	if t.Operation != "" && t.stands() == "succeeded" {
		if err := inventory.LockToGiveBack(ctx, tx, t.Operation); err != nil {
			return "", err
		}
	}
	var p payment
	err := tx.QueryRow(ctx, `SELECT id, status = 'captured', captured_minor, currency FROM payments
		WHERE provider = $1 AND provider_payment_id = $2 FOR NO KEY UPDATE`, t.Provider, t.ProviderPayment).
		Scan(&p.id, &p.counted, &p.capturedMinor, &p.currency)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return t.unnamed(ctx, tx)
	case err != nil:
		return "", fmt.Errorf("payment %s: %w", t.ProviderPayment, err)
	case !p.counted:
		return HeardUnknown, nil
	}
	h, err := t.hear(ctx, tx, p)
	if err != nil {
		return "", err
	}
	return h, holdBesideHand(ctx, tx, p.id)
}

// hear hears of a sum, or of one refund.
func (t Told) hear(ctx context.Context, tx pgx.Tx, p payment) (Hearing, error) {
	if t.ProviderRefund == "" {
		return t.sum(ctx, tx, p)
	}
	h, err := t.single(ctx, tx, p)
	if err != nil {
		return "", err
	}
	return h, sumIsNamed(ctx, tx, p.id)
}

// unnamed is what is told of a payment that nobody here knows by that name, unless
// its money was counted at this instant.
func (t Told) unnamed(ctx context.Context, tx pgx.Tx) (Hearing, error) {
	if err := TakeTurns(ctx, tx, t.Provider, t.ProviderPayment); err != nil {
		return "", err
	}
	var counted bool
	err := tx.QueryRow(ctx, `SELECT status = 'captured' FROM payments WHERE provider = $1 AND provider_payment_id = $2`,
		t.Provider, t.ProviderPayment).Scan(&counted)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return HeardForeign, nil
	case err != nil:
		return "", fmt.Errorf("payment %s: %w", t.ProviderPayment, err)
	case counted:
		return Heard(ctx, tx, t)
	}
	return HeardUnknown, nil // its row may be locked by who waits for our turn
}

// TakeTurns is for whoever counts a payment's money, and for whoever calls what is
// told of it foreign: the second sees what the first has written. Of a payment
// whose opening is not answered yet only the provider knows the name.
func TakeTurns(ctx context.Context, tx pgx.Tx, provider, providerPayment string) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('refunds of ' || $1 || ' ' || $2, 0))`, provider, providerPayment)
	return wrap("take turns on "+providerPayment, err)
}

// payment is the money that a telling is about; its row is locked.
type payment struct {
	id            uuid.UUID
	counted       bool
	capturedMinor int64
	currency      string
}

// cannotBe holds for an amount that no refund of the payment has.
func (p payment) cannotBe(amountMinor int64, currency string) bool {
	return amountMinor < 0 || amountMinor > p.capturedMinor || currency != p.currency
}

// single hears of one refund.
func (t Told) single(ctx context.Context, tx pgx.Tx, p payment) (Hearing, error) {
	e, err := lockEntry(ctx, tx, t.Operation)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", err
	}
	if err != nil || e.payment != p.id {
		t.Operation = ""
	}
	impossible := p.cannotBe(t.AmountMinor, t.Currency)
	if t.AmountMinor >= 0 { // else there is no row that it could be
		if err := t.keep(ctx, tx, p.id); err != nil {
			return "", err
		}
		if again, err := t.isThereAgain(ctx, tx, p.id); again || err != nil {
			return HeardDiffers, err
		}
	}
	switch {
	case impossible && t.Operation == "":
		return HeardDiffers, t.disbelieve(ctx, tx, p, t.ProviderRefund, fmt.Sprintf(
			"%s tells of refund %s of %d %s, %s", t.Provider, t.ProviderRefund, t.AmountMinor, t.Currency, t.Status))
	case impossible:
		return HeardDiffers, e.differ(ctx, tx, t)
	case t.Operation == "":
		return t.byHand(ctx, tx, p.id)
	}
	return t.apply(ctx, tx, e)
}

// disbelieve tells a person of what no refund of the payment can be, and of the
// operation that came to it: its money is not back. Nothing of it is counted; told
// again in the same words it is the same item, also after a person has resolved it.
func (t Told) disbelieve(ctx context.Context, tx pgx.Tx, p payment, subject, says string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO human_list AS h (kind, subject, operation, order_id, payment_id, detail)
		SELECT $1, $2, (SELECT id FROM refund_operations WHERE provider_refund_id = $2), order_id, id, left($4, 1000)
		FROM payments WHERE id = $3
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail,
		  operation = coalesce(excluded.operation, h.operation)
		WHERE h.resolved_at IS NOT NULL AND h.detail <> excluded.detail`, differs, subject, p.id,
		fmt.Sprintf("%s; %d %s were captured by %s: nothing of it was counted", says, p.capturedMinor, p.currency, t.ProviderPayment))
	if err != nil {
		return fmt.Errorf("human list: %s: %w", subject, err)
	}
	return nil
}

// apply moves the operation that the refund is, by the same guarded moves as an
// answer does.
func (t Told) apply(ctx context.Context, tx pgx.Tx, e entry) (Hearing, error) {
	a := Answer{Outcome: OnItsWay, Refund: t.ProviderRefund, Detail: "the provider's notice says " + t.Status}
	hearing := HeardOnItsWay
	switch t.stands() {
	case "succeeded":
		a.Outcome, hearing = Succeeded, HeardConfirmed
	case "failed":
		a.Outcome, hearing = Failed, HeardFailed
	}
	if e.rulesOut(t) {
		return HeardDiffers, e.differ(ctx, tx, t)
	}
	if !e.hears(a.Outcome) {
		return HeardAgain, nil
	}
	step, err := e.named(ctx, tx, e.hearing(a))
	if err != nil {
		return "", err
	}
	if step.Status == Manual {
		hearing = HeardDiffers
	}
	return hearing, e.record(ctx, tx, step, false)
}

// rulesOut holds for a refund that the operation cannot be, as our ledger has it.
func (e entry) rulesOut(t Told) bool {
	return t.AmountMinor != e.amount || t.Currency != e.currency || e.refund != "" && e.refund != t.ProviderRefund ||
		e.Status == RejectedFor && t.stands() != "failed"
}

// differ tells a person of it, and holds back what would send that money again.
// Where another operation ended as that refund, it is listed too: its money may
// not be back.
func (e entry) differ(ctx context.Context, tx pgx.Tx, t Told) error {
	other, err := owner(ctx, tx, t.ProviderRefund)
	if err != nil {
		return err
	}
	if other != "" && other != e.id {
		err = list(ctx, tx, item{differs, t.ProviderRefund + " of " + other, other, fmt.Sprintf(
			"it ended as refund %s, and %s says that this is %s", t.ProviderRefund, t.Provider, e.id)})
		if err != nil {
			return err
		}
	}
	err = list(ctx, tx, item{differs, t.ProviderRefund, e.id, fmt.Sprintf(
		"%s tells of refund %s of %d %s, %s; the operation is %d %s, %s, as refund %q",
		t.Provider, t.ProviderRefund, t.AmountMinor, t.Currency, t.Status, e.amount, e.currency, e.Status, e.refund)})
	if err != nil {
		return err
	}
	return e.holdBack(ctx, tx)
}

// hears says whether a word of the provider's moves the operation.
func (c Case) hears(o Outcome) bool {
	switch c.Status {
	case RejectedFor, FailedLater:
		return false
	case Confirmed:
		return o == Failed
	case Pending:
		return o == Succeeded || o == Failed
	}
	return o == Succeeded || o == Failed || o == OnItsWay || o == ByHand
}

// hearing is the step that such a word makes. A call under way goes on, and its
// answer is then only written down.
func (e entry) hearing(a Answer) Step {
	s := Step{Doubt: e.Doubt, Outcome: a.Outcome, Refund: a.Refund, Detail: a.Detail, Wait: e.untilNews(e.now)}
	s.told(a.Outcome)
	return s
}

// stands is the provider's status in the three words that we keep.
func (t Told) stands() string {
	switch t.Status {
	case "succeeded":
		return "succeeded"
	case "failed", "canceled":
		return "failed"
	}
	return "pending"
}

// keep writes the refund down under the provider's name. Its state goes from
// pending to succeeded to failed, and never back: what is older changes nothing. Of
// its failure the earliest telling counts. One that a person has called failed, because
// the provider did not know it, is as it is told of after that.
func (t Told) keep(ctx context.Context, tx pgx.Tx, payment uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO provider_refunds AS r (provider, id, payment_id, operation, amount_minor, currency, status, failed_at)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, CASE WHEN $7::text = 'failed' THEN $8::timestamptz END)
		ON CONFLICT (provider, id) DO UPDATE SET status = excluded.status, changed_at = now(),
		  operation = coalesce(r.operation, excluded.operation), failed_at = CASE WHEN excluded.status = 'failed' THEN least(r.failed_at, excluded.failed_at) END,
		  disowned = false
		WHERE r.disowned OR array_position('{pending,succeeded,failed}', excluded.status) > array_position('{pending,succeeded,failed}', r.status)
		  OR excluded.failed_at < coalesce(r.failed_at, 'infinity')`,
		t.Provider, t.ProviderRefund, payment, t.Operation, t.AmountMinor, t.Currency, t.stands(), t.saidAt())
	if err != nil {
		return fmt.Errorf("refund %s of %s: %w", t.ProviderRefund, t.Provider, err)
	}
	return nil
}

// isThereAgain holds for a refund that the provider had denied, tells of now as one
// that did not fail, and that a person has ended meanwhile: it is theirs again, and what
// would send that money once more is held back. Where nobody has, it is not denied any more.
func (t Told) isThereAgain(ctx context.Context, tx pgx.Tx, payment uuid.UUID) (bool, error) {
	if t.stands() == "failed" {
		return false, nil
	}
	var id string
	err := tx.QueryRow(ctx, `UPDATE refund_operations SET denied_at = NULL
		WHERE provider_refund_id = $1 AND payment_id = $2 AND denied_at IS NOT NULL RETURNING id`, t.ProviderRefund, payment).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("refund %s, which was denied: %w", t.ProviderRefund, err)
	}
	e, err := lockEntry(ctx, tx, id)
	if err != nil || e.Status != FailedLater {
		return false, err
	}
	return true, e.differ(ctx, tx, t)
}

// sum keeps each, and when it was last said: sums that arrive late are smaller, and the
// same once more, after a refund has failed, is of another refund. One that cannot be
// of this payment is a person's. So is what no single refund explains, in a while
// (see GiveUp).
func (t Told) sum(ctx context.Context, tx pgx.Tx, p payment) (Hearing, error) {
	if p.cannotBe(t.SumMinor, t.Currency) {
		return HeardDiffers, t.disbelieve(ctx, tx, p, t.ProviderPayment, fmt.Sprintf(
			"%s says that %d %s were refunded of it", t.Provider, t.SumMinor, t.Currency))
	}
	_, err := tx.Exec(ctx, `
		WITH news AS (
		  INSERT INTO provider_sums AS s (payment_id, minor, said_at)
		  SELECT $1, $2::bigint, coalesce($3::timestamptz, '-infinity') WHERE $2::bigint > 0
		  ON CONFLICT (payment_id, minor) DO UPDATE SET said_at = excluded.said_at, told_at = clock_timestamp()
		  WHERE s.said_at < excluded.said_at RETURNING minor)
		UPDATE payments SET told_refunded_minor = greatest(told_refunded_minor, minor), told_at = clock_timestamp()
		FROM news WHERE id = $1`, p.id, t.SumMinor, t.saidAt())
	if err != nil {
		return "", fmt.Errorf("sum refunded of %s: %w", t.ProviderPayment, err)
	}
	return HeardSum, nil
}

// byHand hears of a refund that carries no operation's name. Where one came to
// it all the same, by a look or a person's word, it is held against that one;
// else a person is told that somebody refunded by hand, and once more if that
// failed after they had looked.
func (t Told) byHand(ctx context.Context, tx pgx.Tx, payment uuid.UUID) (Hearing, error) {
	id, err := owner(ctx, tx, t.ProviderRefund)
	if err != nil {
		return "", err
	}
	if id != "" {
		return t.ofOwner(ctx, tx, payment, id)
	}
	_, err = tx.Exec(ctx, `
		WITH failed AS ( -- while it is open: whoever has read the item finds it in the history
		  INSERT INTO human_notes (item, by, did, note)
		  SELECT id, said_by(), 'noted', $4 FROM human_list
		  WHERE $5 AND kind = $1 AND subject = $2 AND resolved_at IS NULL AND detail <> $4)
		INSERT INTO human_list AS h (kind, subject, order_id, payment_id, detail)
		SELECT $1, $2, order_id, id, $4 FROM payments WHERE id = $3
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, detail = excluded.detail,
		  opened_at = CASE WHEN h.resolved_at IS NULL THEN h.opened_at ELSE now() END
		WHERE $5 AND h.detail <> excluded.detail`, madeByHand, t.ProviderRefund, payment,
		fmt.Sprintf("%s has a refund of %d %s, %s, that we did not ask for", t.Provider, t.AmountMinor, t.Currency, t.stands()),
		t.stands() == "failed")
	if err != nil {
		return "", fmt.Errorf("human list: refund %s: %w", t.ProviderRefund, err)
	}
	return HeardByHand, nil
}

// GoneBack is what the provider has said to have refunded of a payment, told
// singly or as a sum, in any order.
func GoneBack(ctx context.Context, tx pgx.Tx, payment uuid.UUID) (minor int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT greatest(p.told_refunded_minor, (SELECT coalesce(sum(r.amount_minor), 0) FROM provider_refunds r
		  WHERE r.payment_id = p.id AND r.status = 'succeeded' AND r.currency = p.currency AND r.amount_minor <= p.captured_minor))
		FROM payments p WHERE p.id = $1`, payment).Scan(&minor)
	if err != nil {
		return 0, fmt.Errorf("gone back of payment %s: %w", payment, err)
	}
	return minor, nil
}
