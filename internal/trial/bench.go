package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// What is sold, and given back.
const (
	event       = "trial"
	currency    = "EUR"
	amountMinor = 2500
	secretKey   = "sk_trial"
)

// bench is everything that the trial needs, at work.
type bench struct {
	Setting
	db       *pgx.Conn
	provider *program
	old, new *program // refunders: the one that has the outlet, and the one that is to follow
	all      []*program
	phases   []phase
	began    time.Time // of the phase that is on
	stood    stood
	killed   []string // the operations in whose middle the refunder was killed
}

func open(ctx context.Context, s Setting) (_ *bench, err error) {
	b := &bench{Setting: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close(ctx, err))
		}
	}()
	if err := pg.Migrate(ctx, s.DatabaseURL); err != nil {
		return nil, err
	}
	if b.db, err = pgx.Connect(ctx, s.DatabaseURL); err != nil {
		return nil, err
	}
	if b.provider, err = b.start(ctx, "payprov", "LISTEN=127.0.0.1:0", "SECRET_KEY="+secretKey); err != nil {
		return nil, err
	}
	if b.old, err = b.refunder(ctx); err != nil {
		return nil, err
	}
	_, err = b.db.Exec(ctx, `INSERT INTO events (id, title, currency, opens_at) VALUES ($1, 'Trial', $2, now())`, event, currency)
	return b, err
}

func (b *bench) start(ctx context.Context, name string, env ...string) (*program, error) {
	p, err := start(ctx, b.Bin, name, append(env, "OPS_ADDR=127.0.0.1:0", "DRAIN_GRACE=0s")...)
	if err == nil {
		b.all = append(b.all, p)
	}
	return p, err
}

func (b *bench) refunder(ctx context.Context) (*program, error) {
	return b.start(ctx, "refunder", "DATABASE_URL="+b.DatabaseURL, "PROVIDER_URL="+b.provider.at, "PROVIDER_KEY="+secretKey,
		"REFUND_CALL_LIMIT="+b.CallLimit.String())
}

// close ends all programs; why is what the trial broke off with.
func (b *bench) close(ctx context.Context, why error) error {
	var errs []error
	for i := len(b.all) - 1; i >= 0; i-- {
		p := b.all[i]
		if why != nil {
			errs = append(errs, fmt.Errorf("the end of the log of %s:\n%s", p.name, p.log.end()))
		}
		errs = append(errs, p.End(20*time.Second))
	}
	if b.db != nil {
		errs = append(errs, b.db.Close(context.WithoutCancel(ctx)))
	}
	return errors.Join(errs...)
}

// admin does something at the provider that only a trial does.
func (b *bench) admin(ctx context.Context, method, what, form string) error {
	req, err := http.NewRequestWithContext(ctx, method, b.provider.at+"/_admin/"+what, strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing is read
	if res.StatusCode >= 300 {
		return fmt.Errorf("provider: %s %s %s: %s", method, what, form, res.Status)
	}
	return nil
}

// behave takes all scripts back and gives these.
func (b *bench) behave(ctx context.Context, scripts ...string) error {
	err := b.admin(ctx, http.MethodDelete, "scripts", "")
	for _, s := range scripts {
		err = errors.Join(err, b.admin(ctx, http.MethodPost, "scripts", "path=/v1/refunds&"+s))
	}
	return err
}

// captured is a payment at the provider whose money came.
func (b *bench) captured(ctx context.Context) (id string, err error) {
	form := url.Values{
		"amount": {fmt.Sprint(amountMinor)}, "currency": {strings.ToLower(currency)},
		"confirm": {"true"}, "payment_method": {"pm_card_visa"}, "metadata[event]": {event},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.provider.at+"/v1/payment_intents", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+secretKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	var in struct{ ID, Status string }
	if err := json.NewDecoder(res.Body).Decode(&in); err != nil || in.Status != "succeeded" {
		return "", fmt.Errorf("a payment of the provider's is %+v, %w", in, err)
	}
	return in.ID, nil
}

// owe has n payments captured whose orders had expired, and their refunds
// queued, in one transaction: they are due at one instant.
func (b *bench) owe(ctx context.Context, n int) (ids []string, err error) {
	var ops []refunds.Operation
	for range n {
		at, err := b.captured(ctx)
		if err != nil {
			return nil, err
		}
		ops = append(ops, refunds.Operation{
			Install: "trial", Event: event, Order: uuid.New(), Payment: uuid.New(), Reason: refunds.Late,
			ProviderPayment: at, AmountMinor: amountMinor, ProviderAmount: amountMinor, Currency: currency,
		})
	}
	return ids, pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		for _, o := range ops {
			if err := late(ctx, tx, o); err != nil {
				return err
			}
			ids = append(ids, o.ID())
		}
		return nil
	})
}

// late is an order whose money came after its end.
func late(ctx context.Context, tx pgx.Tx, o refunds.Operation) error {
	_, err := tx.Exec(ctx, `INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, 0, 1)`, event, o.Order.String())
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency,
		  status, pay_by, ended_at)
		VALUES ($1::uuid, $2, $1::uuid::text, $1::uuid::text, 1, 0, 1, 'a', sha256('b'), 1, $3, $4, 'expired', now(), now())`,
		o.Order, event, amountMinor, currency)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', $4, $5, $4, 'to_refund', now())`,
		o.Payment, o.Order, o.ProviderPayment, amountMinor, currency)
	if err != nil {
		return err
	}
	_, err = refunds.Owe(ctx, tx, o)
	return err
}

// count is the one number that a query tells.
func (b *bench) count(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = b.db.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// hurry makes what waits for its next call due, as if its time were over.
func (b *bench) hurry(ctx context.Context) error {
	_, err := b.db.Exec(ctx, `UPDATE refund_operations SET next_at = now() WHERE ended_at IS NULL
		AND status IN ('queued', 'unknown') AND call IS NULL AND next_at > now() + interval '200 milliseconds'`)
	return err
}
