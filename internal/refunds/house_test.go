package refunds_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/outlet"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
)

// desk is a hall whose late money is to go back, and the outlet in our hands.
type desk struct {
	*orderstest.Hall
	t      *testing.T
	ledger refunds.Ledger
	reign  *refunds.Reign
	call   time.Duration // the limit of a call of whoever contends
}

func openDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Hall: orderstest.NewHall(t, pgtest.New(t), 40), t: t, call: time.Millisecond} // nobody's calls are under way
	d.ledger = refunds.Ledger{Pool: d.Pool, Chance: func() float64 { return 0 }}
	d.reign = d.contend()
	if d.reign == nil {
		t.Fatal("the outlet of a new database is somebody's")
	}
	return d
}

// contend tries to take the outlet; nil: somebody has it.
func (d *desk) contend() *refunds.Reign {
	d.t.Helper()
	c := refunds.NewContender(d.Pool, "test")
	l := outlet.Account()
	l.Call = d.call
	r, err := c.Try(d.t.Context(), l)
	for range 5 { // a machine that is overrun does not connect in 3 s
		if err == nil {
			break
		}
		r, err = c.Try(d.t.Context(), l)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	end := context.WithoutCancel(d.t.Context())
	d.t.Cleanup(func() {
		c.Close(end)
		if r != nil {
			r.End(end)
		}
	})
	return r
}

// succeed takes the outlet of one that is going.
func (d *desk) succeed() *refunds.Reign {
	d.t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 2000 {
		if r := d.contend(); r != nil {
			return r
		}
		<-again.C
	}
	d.t.Fatal("nobody can take the outlet of one that is gone")
	return nil
}

// owed queues the refund of a holder's late money.
func (d *desk) owed(holder string) string {
	d.t.Helper()
	o := late(d.t, d.Hall, holder)
	if _, err := owe(d.t, d.Pool, o); err != nil {
		d.t.Fatal(err)
	}
	return o.ID()
}

func (d *desk) tx(f func(pgx.Tx) error) {
	d.t.Helper()
	if err := pg.InTx(d.t.Context(), d.Pool, f); err != nil {
		d.t.Fatal(err)
	}
}

// next is the due job of either group.
func (d *desk) next() *refunds.Job {
	d.t.Helper()
	due, err := d.ledger.Due(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	if due.First != nil {
		return due.First
	}
	return due.Rest
}

// hurry makes everything that waits due.
func (d *desk) hurry() {
	d.t.Helper()
	if _, err := d.Pool.Exec(d.t.Context(), `UPDATE refund_operations SET next_at = now() WHERE ended_at IS NULL`); err != nil {
		d.t.Fatal(err)
	}
}

// submit commits the next call of whatever is due, and settle writes an answer.
func (d *desk) submit() (refunds.Sent, refunds.Kind) {
	d.t.Helper()
	d.hurry()
	j := d.next()
	if j == nil {
		d.t.Fatal("nothing is due")
	}
	v := j.Verb(j.Now)
	id, _, ok, err := d.reign.Submit(d.t.Context(), *j, v)
	if err != nil || !ok {
		d.t.Fatalf("submit %s: taken %t, %v", j.Ask.Operation, ok, err)
	}
	return refunds.Sent{ID: id, Operation: j.Ask.Operation, Verb: v, Start: outlet.Start{At: time.Now(), InFlight: 1, Wrote: 1}}, j.Kind(v)
}

func (d *desk) settle(s refunds.Sent, a refunds.Answer) refunds.Step {
	d.t.Helper()
	s.Answer = a
	step, err := d.ledger.Settle(d.t.Context(), s)
	if err != nil {
		d.t.Fatal(err)
	}
	return step
}

// answer makes the next call and has it answered.
func (d *desk) answer(a refunds.Answer) refunds.Step {
	d.t.Helper()
	s, _ := d.submit()
	return d.settle(s, a)
}

// stands is an operation as its row has it, and its payment's money.
func (d *desk) stands(id string) string {
	d.t.Helper()
	var status refunds.Status
	var pending, refunded, asked int64
	d.Scan(d.t, `SELECT f.status, p.refund_pending_minor, p.refunded_minor,
		  (SELECT count(*) FROM human_list h WHERE h.operation = f.id AND h.resolved_at IS NULL)
		FROM refund_operations f JOIN payments p ON p.id = f.payment_id WHERE f.id = $1`, []any{id}, &status, &pending, &refunded, &asked)
	return fmt.Sprintf("%s, %d pending, %d refunded, %d asked", status, pending, refunded, asked)
}

func (d *desk) want(id, want string) {
	d.t.Helper()
	if got := d.stands(id); got != want {
		d.t.Errorf("the operation stands: %s\nwant: %s", got, want)
	}
}

// told is how often each notice of an operation was written.
func (d *desk) told(id, kind string) int {
	d.t.Helper()
	return d.Count(d.t, `SELECT count(*) FROM notices WHERE subject = $1 AND kind = $2`, id, kind)
}

func (d *desk) hear(t refunds.Told) (h refunds.Hearing) {
	d.t.Helper()
	t.Provider = "stripe"
	d.tx(func(tx pgx.Tx) (err error) { h, err = refunds.Heard(d.t.Context(), tx, t); return err })
	return h
}

// paid is an order of n seats that was paid, and its payment.
func (d *desk) paid(holder string, n int) (order, payment uuid.UUID, seats []int64) {
	d.t.Helper()
	order, payment = d.Order(d.t, holder, n), uuid.New()
	d.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', $4, 'EUR', $4, 'on_order', now())`, payment, order, "pi_"+holder, int64(n)*orderstest.PriceMinor)
	d.exec(`UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now(), version = 2 WHERE id = $1`, order, payment)
	d.exec(`INSERT INTO notices (kind, event_id, subject, version, body) VALUES ('order.paid', $1, $2, 2, '{}')`, d.Event, order.String())
	rows, err := d.Pool.Query(d.t.Context(), `SELECT seat_id FROM order_lines WHERE order_id = $1 ORDER BY 1`, order)
	if err != nil {
		d.t.Fatal(err)
	}
	if seats, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		d.t.Fatal(err)
	}
	return order, payment, seats
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.Pool.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

func (d *desk) request(order uuid.UUID, seat int64) (s refunds.Standing, a refunds.Asking) {
	d.t.Helper()
	d.tx(func(tx pgx.Tx) (err error) { s, a, err = ask(d.t.Context(), tx, order, seat); return err })
	return s, a
}

func ask(ctx context.Context, tx pgx.Tx, order uuid.UUID, seat int64) (refunds.Standing, refunds.Asking, error) {
	return refunds.Request(ctx, tx, refunds.Requesting{
		Install: "here", Order: order, Seat: seat, By: "support",
		ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil },
	})
}

func requestAtOnce(t *testing.T, pool *pgxpool.Pool, order uuid.UUID, seat int64, callers int) []refunds.Standing {
	t.Helper()
	got := make(chan refunds.Standing, callers)
	for range callers {
		go func() {
			var s refunds.Standing
			for {
				err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) (err error) {
					s, _, err = ask(t.Context(), tx, order, seat)
					return err
				})
				var no *pgconn.PgError
				if errors.As(err, &no) && no.Code == "55P03" { // behind the others for too long: they ask again
					continue
				}
				if err != nil {
					t.Error(err)
				}
				break
			}
			got <- s
		}()
	}
	var all []refunds.Standing
	for range callers {
		all = append(all, <-got)
	}
	return all
}
