package refunds_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
	schema "waitroom/sql"
)

// judged holds the raw rows against the promises on seats and orders.
func (d *desk) judged() {
	d.t.Helper()
	orderstest.Judge(d.t, d.Pool)
	all, err := schema.Audits()
	if err != nil {
		d.t.Fatal(err)
	}
	judged := 0
	for _, promise := range []string{"p1", "p3", "p4", "p6"} {
		names, err := fs.Glob(all, promise+"_*.sql")
		if err != nil {
			d.t.Fatal(err)
		}
		for _, name := range names {
			sql, err := fs.ReadFile(all, name)
			if err != nil {
				d.t.Fatal(err)
			}
			var counted, violations int64
			var examples []string
			d.Scan(d.t, string(sql), []any{d.Event}, &counted, &violations, &examples)
			if violations > 0 {
				d.t.Errorf("%s: %d of %d: %s", name, violations, counted, examples)
			}
			judged++
		}
	}
	if judged < 8 {
		d.t.Errorf("%d audits were run", judged)
	}
}

// wantBack is how many seats an order and its account hold, how often a seat of
// it went back, and how often that was told.
func (d *desk) wantBack(order uuid.UUID, want string) {
	d.t.Helper()
	var status string
	var own, held, lines, counted, returns, told, moved int
	d.Scan(d.t, `SELECT o.status, b.held, o.given_back,
		  (SELECT count(*) FROM seats s WHERE s.order_id = o.id),
		  (SELECT count(*) FROM order_lines l WHERE l.order_id = o.id AND l.given_back_by IS NOT NULL),
		  (SELECT count(*) FROM seat_returns r WHERE r.order_id = o.id),
		  (SELECT count(*) FROM seat_changes c WHERE c.from_order = o.id AND c.to_order IS NULL),
		  (SELECT count(*) FROM notices n WHERE n.subject = o.id::text AND n.kind = 'tickets.returned' AND n.version <= o.version)
		FROM orders o JOIN buyers b USING (event_id, account) WHERE o.id = $1`, []any{order}, &status, &held, &counted, &own, &lines, &returns, &moved, &told)
	got := fmt.Sprintf("%s, holds %d, account %d, back %d", status, own, held, counted)
	if got != want || lines != counted || returns != counted || moved != counted || told != counted {
		d.t.Errorf("the order: %s; %d lines, %d returns, %d changes, told %d times\nwant %s, and as many of each", got, lines, returns, moved, told, want)
	}
}

func (d *desk) counted() inventory.Count {
	d.t.Helper()
	n, err := inventory.Recount(d.t.Context(), d.Pool, d.Event, time.Second)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func toldOf(holder, id, refund string) refunds.Told {
	return refunds.Told{
		Provider: "stripe", ProviderPayment: "pi_" + holder, ProviderRefund: refund, Operation: id,
		Status: "succeeded", AmountMinor: orderstest.PriceMinor, Currency: orderstest.Currency,
	}
}

// Each line's seat goes back with its own refund, whoever confirms it, and the
// next recount shows it: the line is called on again. The last line's refund
// leaves a paid order without seats. What is on its way gives nothing back.
func TestARefundedLineGivesItsSeatBack(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 4)
	if n := d.counted(); n.Free != 36 || n.Sold != 4 {
		t.Fatalf("%d free, %d sold; want 36 and 4", n.Free, n.Sold)
	}
	d.request(order, seats[0])
	d.answer(yes("re_0")) // by the answer
	d.wantBack(order, "paid, holds 3, account 3, back 1")
	d.request(order, seats[1])
	d.answer(says(refunds.TimedOut))
	d.wantBack(order, "paid, holds 3, account 3, back 1")
	d.answer(yes("re_1")) // by a look
	d.wantBack(order, "paid, holds 2, account 2, back 2")
	third, _ := d.request(order, seats[2])
	d.hear(refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_2", Operation: third.ID, Status: "pending", AmountMinor: 2500, Currency: "EUR"})
	d.wantBack(order, "paid, holds 2, account 2, back 2")
	for range 3 {
		d.hear(toldOf("ann", third.ID, "re_2")) // by its notice
		d.wantBack(order, "paid, holds 1, account 1, back 3")
	}
	if n := d.counted(); n.Free != 39 || n.Sold != 1 {
		t.Errorf("%d free, %d sold; want 39 and 1", n.Free, n.Sold)
	}
	last, _ := d.request(order, seats[3])
	d.answer(says(refunds.OtherParameters))
	for _, want := range []refunds.Verdict{refunds.Done, refunds.NotTheirs} { // by a person's word
		d.tx(func(tx pgx.Tx) error {
			v, err := refunds.Refunded(t.Context(), tx, last.ID, "re_3", "mia", "found at the provider")
			if v != want {
				t.Errorf("%s, want %s", v, want)
			}
			return err
		})
		d.wantBack(order, "paid, holds 0, account 0, back 4")
	}
	if n := d.counted(); n.Free != 40 || n.Sold != 0 || n.Bitmap[0] != 0 {
		t.Errorf("%d free, %d sold, bitmap %08b; want 40, none and 0", n.Free, n.Sold, n.Bitmap[0])
	}
	causes := d.Count(t, `SELECT count(*) FROM seat_returns r JOIN refund_operations f ON r.cause = 'refunded:' || f.id AND r.seat_id = f.seat_id`)
	if causes != 4 {
		t.Errorf("%d returns name their refund, want 4", causes)
	}
	d.judged()
}

// The answer and the notice come at the same instant, and a second copy of the
// notice: the seat goes back once.
func TestTwoConfirmationsAtOnceGiveOneSeatBack(t *testing.T) {
	d := openDesk(t)
	const rounds = 100
	for i := range rounds {
		holder := fmt.Sprint("holder-", i)
		order, _, seats := d.paid(holder, 1)
		s, _ := d.request(order, seats[0])
		sent, _ := d.submit()
		sent.Answer = yes("re_" + holder)
		var all sync.WaitGroup
		all.Go(func() { d.insist(func() error { _, err := d.ledger.Settle(t.Context(), sent); return err }) })
		for range 2 {
			all.Go(func() {
				d.insist(func() error {
					return pg.InTx(t.Context(), d.Pool, func(tx pgx.Tx) error {
						_, err := refunds.Heard(t.Context(), tx, toldOf(holder, s.ID, "re_"+holder))
						return err
					})
				})
			})
		}
		all.Wait()
		d.wantBack(order, "paid, holds 0, account 0, back 1")
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
	if n := d.Count(t, `SELECT count(*) FROM seat_returns`); n != rounds {
		t.Errorf("%d returns, want %d", n, rounds)
	}
	d.judged()
}

// insist does it again after a wait for a lock in vain, as its callers do.
func (d *desk) insist(f func() error) {
	for {
		err := f()
		if no := new(pgconn.PgError); errors.As(err, &no) && no.Code == "55P03" {
			continue
		}
		if err != nil {
			d.t.Error(err)
		}
		return
	}
}

// claimer is one that works until the test ends.
func (d *desk) claimer() *inventory.Claimer {
	c := inventory.NewClaimer(d.Pool, inventory.Sizes{Queue: 100, Workers: 2, Batch: 20}, slog.New(slog.NewTextHandler(d.t.Output(), nil)), prometheus.NewRegistry())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(context.WithoutCancel(d.t.Context())) }()
	d.t.Cleanup(func() { c.Stop(); <-done })
	return c
}

func (d *desk) attempt(account string, take int64) inventory.Attempt {
	return inventory.Attempt{
		Event: d.Event, Account: account, Holder: account, Epoch: 1, Place: take, Take: take, Quota: 4,
		Key: fmt.Sprint(account, "-", take), BodyHash: sha256.Sum256([]byte(account)),
	}
}

// Many want the seat while its refund is confirmed, whoever gave it back among
// them: one gets it, by its number or as general admission, and nobody gets
// another's.
func TestClaimsRaceForTheFreedSeat(t *testing.T) {
	for name, general := range map[string]bool{"numbered": false, "general": true} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.exec(`UPDATE seats SET held_back = pos > 3`)
			if general {
				d.exec(`UPDATE seats SET kind = 'general'`)
			}
			c := d.claimer()
			order, _, seats := d.paid("holder-0", 4)
			s, _ := d.request(order, seats[2])
			sent, _ := d.submit()
			sent.Answer = yes("re_1")
			want := func(i int) (a inventory.Attempt) {
				a = d.attempt(fmt.Sprint("holder-", i), int64(1000+i))
				if a.Seats = seats[2:3]; general {
					a.Seats, a.Tier, a.Quantity = nil, "A", 1
				}
				return a
			}
			if a := c.Claim(t.Context(), want(0)); a.Outcome != inventory.OverLimit {
				t.Errorf("a fifth seat of four: %s", a.Outcome)
			}
			var all sync.WaitGroup
			answers := make([]inventory.Answer, 10)
			all.Go(func() { d.insist(func() error { _, err := d.ledger.Settle(t.Context(), sent); return err }) })
			for i := range answers {
				all.Go(func() {
					for range 200 {
						answers[i] = c.Claim(t.Context(), want(i))
						taken := d.Count(t, `SELECT count(*) FROM orders WHERE status = 'pending'`) > 0
						if answers[i].Outcome == inventory.Claimed || taken {
							return
						}
					}
				})
			}
			all.Wait()
			won := 0
			for _, a := range answers {
				if a.Outcome == inventory.Claimed || a.Outcome == inventory.Already {
					won++
				}
			}
			if won == 0 { // all had given up before it was free
				if a := c.Claim(t.Context(), want(99)); a.Outcome != inventory.Claimed {
					t.Errorf("the freed seat: %s", a.Outcome)
				}
				won++
			}
			if n := d.Count(t, `SELECT count(*) FROM orders WHERE status = 'pending'`); n != 1 || won != 1 {
				t.Errorf("%d orders of the freed seat, %d were told so; want one", n, won)
			}
			d.hear(toldOf("holder-0", s.ID, "re_1")) // told again, and the seat is another's
			if n := d.Count(t, `SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id WHERE s.id = $1 AND o.status = 'pending'`, seats[2]); n != 1 {
				t.Error("the seat is not who claimed it's")
			}
			d.judged()
		})
	}
}

// Whoever gave a ticket back may buy again: the account's limit and the pass's
// quota go by what is held.
func TestWhoGaveBackMayBuyAgain(t *testing.T) {
	d := openDesk(t)
	c := d.claimer()
	order, _, seats := d.paid("ann", 4)
	var take int64
	d.Scan(t, `SELECT take FROM orders WHERE id = $1`, []any{order}, &take)
	a := d.attempt("ann", take)
	a.Seats = seats[:1]
	if got := c.Claim(t.Context(), a); got.Outcome != inventory.OverLimit {
		t.Errorf("four are held: %s", got.Outcome)
	}
	d.request(order, seats[0])
	d.answer(yes("re_1"))
	got := c.Claim(t.Context(), a)
	if got.Outcome != inventory.Claimed {
		t.Fatalf("three are held: %s", got.Outcome)
	}
	if o, found, err := inventory.FindOrder(t.Context(), d.Pool, order); !found || err != nil || !o.Seats[0].GivenBack || o.Seats[1].GivenBack {
		t.Errorf("the order's lines: %+v, %v; want the first given back", o.Seats, err)
	}
	d.wantBack(order, "paid, holds 3, account 4, back 1")
	d.judged()
}

// Money that bought nothing frees nothing, nor does a refund of the whole payment
// that somebody made by hand; but a line's operation that comes to it does.
func TestOtherMoneyFreesNothing(t *testing.T) {
	d := openDesk(t)
	order, payment, seats := d.paid("ann", 2)
	second := refunds.Operation{
		Install: "here", Event: d.Event, Order: order, Payment: uuid.New(), Reason: refunds.SecondPayment,
		ProviderPayment: "pi_2", AmountMinor: 5000, ProviderAmount: 5000, Currency: "EUR",
	}
	d.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', 'pi_2', 'captured', 5000, 'EUR', 5000, 'to_refund', now())`, second.Payment, order)
	if _, err := owe(t, d.Pool, second); err != nil {
		t.Fatal(err)
	}
	d.answer(yes("re_2"))
	d.want(second.ID(), "confirmed, 0 pending, 5000 refunded, 0 asked")
	d.wantBack(order, "paid, holds 2, account 2, back 0")
	if h := d.hear(refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_hand", Status: "succeeded", AmountMinor: 5000, Currency: "EUR"}); h != refunds.HeardByHand {
		t.Errorf("by hand: %s", h)
	}
	d.wantBack(order, "paid, holds 2, account 2, back 0")
	s, _ := d.request(order, seats[0])
	d.answer(says(refunds.AlreadyRefunded))
	d.answer(refunds.Answer{Outcome: refunds.ByHand, Refund: "re_hand"})
	d.wantBack(order, "paid, holds 1, account 1, back 1")
	if n := d.Count(t, `SELECT refunded_minor FROM payments WHERE id = $1`, payment); n != 2500 {
		t.Errorf("%s: %d refunded, want 2500", s.ID, n)
	}
}

// A refund that fails days later takes nothing again: the seat is somebody
// else's, the order is not what it was, a person has it; and the next refund of
// the same line gives nothing back a second time.
func TestARefundThatFailsLaterTakesNothingBack(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	s, _ := d.request(order, seats[0])
	d.answer(yes("re_1"))
	d.exec(`UPDATE seats SET held_back = pos > 1 WHERE order_id IS NULL`)
	bens := d.Order(t, "ben", 1)
	told := toldOf("ann", s.ID, "re_1")
	told.Status = "failed"
	if h := d.hear(told); h != refunds.HeardFailed {
		t.Errorf("the failure: %s", h)
	}
	d.want(s.ID, "failed_later, 0 pending, 0 refunded, 1 asked")
	d.wantBack(order, "paid, holds 1, account 1, back 1")
	var next string
	d.tx(func(tx pgx.Tx) (err error) {
		next, _, err = refunds.Renew(t.Context(), tx, s.ID, "mia", "another try", false)
		return err
	})
	d.answer(yes("re_2"))
	d.want(next, "confirmed, 0 pending, 2500 refunded, 0 asked")
	d.wantBack(order, "paid, holds 1, account 1, back 1")
	if n := d.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1 AND id = $2`, bens, seats[0]); n != 1 {
		t.Error("the seat was taken from who had bought it meanwhile")
	}
	d.judged()
}

// A refund that failed before it was ever confirmed gives nothing back; nor does
// one that was refused; their next one does.
func TestOnlyAConfirmedRefundGivesBack(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	for i, a := range []refunds.Answer{{Outcome: refunds.Failed, Refund: "re_1"}, says(refunds.Rejected)} {
		s, _ := d.request(order, seats[i])
		d.answer(a)
		d.wantBack(order, fmt.Sprintf("paid, holds %d, account %d, back %d", 2-i, 2-i, i))
		d.tx(func(tx pgx.Tx) (err error) {
			_, _, err = refunds.Renew(t.Context(), tx, s.ID, "mia", "another try", false)
			return err
		})
		d.answer(yes(fmt.Sprint("re_again_", i)))
		d.wantBack(order, fmt.Sprintf("paid, holds %d, account %d, back %d", 1-i, 1-i, i+1))
	}
	d.judged()
}

// The house withdraws seats at the instant of a refund: the seat is held back or
// free, once, and put on sale it can be had. A sold seat that the house withdraws
// stays withdrawn when it comes back.
func TestASeatComesBackWhileItIsWithdrawn(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	d.request(order, seats[0])
	sent, _ := d.submit()
	sent.Answer = yes("re_1")
	var all sync.WaitGroup
	all.Go(func() { d.insist(func() error { _, err := d.ledger.Settle(t.Context(), sent); return err }) })
	all.Go(func() {
		for range 50 {
			d.insist(func() error {
				_, err := d.Pool.Exec(t.Context(), `UPDATE seats SET held_back = true WHERE id = $1 AND order_id IS NULL`, seats[0])
				return err
			})
		}
	})
	all.Wait()
	d.wantBack(order, "paid, holds 1, account 1, back 1")
	d.exec(`UPDATE seats SET held_back = true WHERE id = $1 AND order_id IS NULL`, seats[0])
	if n := d.counted(); n.Free+n.HeldBack != 39 || n.HeldBack != 1 || n.Sold != 1 {
		t.Errorf("%d free, %d held back, %d sold; want 38, 1 and 1", n.Free, n.HeldBack, n.Sold)
	}
	if n, err := inventory.FreeHeld(t.Context(), d.Pool, d.Event, 10); n != 1 || err != nil {
		t.Errorf("%d freed, %v; want the one", n, err)
	}
	d.judged()
	d.exec(`UPDATE seats SET withdrawn_at = now() WHERE id = $1`, seats[1])
	d.request(order, seats[1])
	d.answer(yes("re_2"))
	d.wantBack(order, "paid, holds 0, account 0, back 2")
	if n := d.counted(); n.Free != 39 || n.HeldBack != 1 {
		t.Errorf("%d free, %d held back; want 39 and 1", n.Free, n.HeldBack)
	}
}

// The COMMIT that confirms a refund is cut off: nothing of it happened, seat and
// money alike, and the answer written down again does all of it, once.
func TestAConfirmationWhoseCommitIsLost(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	s, _ := d.request(order, seats[0])
	d.exec(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`)
	d.exec(`CREATE CONSTRAINT TRIGGER die AFTER INSERT ON seat_returns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`)
	sent, _ := d.submit()
	sent.Answer = yes("re_1")
	if _, err := d.ledger.Settle(t.Context(), sent); !pg.Unknown(err) {
		t.Errorf("%v; want a commit that nobody knows of", err)
	}
	d.want(s.ID, "submitted, 2500 pending, 0 refunded, 0 asked")
	d.wantBack(order, "paid, holds 2, account 2, back 0")
	d.exec(`DROP TRIGGER die ON seat_returns`)
	for range 2 { // the second: it was committed, and the answer to that was lost
		d.settle(sent, sent.Answer)
		d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 0 asked")
		d.wantBack(order, "paid, holds 1, account 1, back 1")
	}
	d.judged()
}

// A line whose seat is not its order's, by whatever fault: the money is back and
// says so, another's seat is not touched, and a person is asked.
func TestAnothersSeatIsNeverTouched(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	bens := d.Order(t, "ben", 1)
	s, _ := d.request(order, seats[0])
	d.exec(`UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE id = $1`, seats[0])
	d.exec(`UPDATE seats SET order_id = $2, claimed_at = now() WHERE id = $1`, seats[0], bens)
	d.answer(yes("re_1"))
	d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 1 asked")
	if n := d.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1 AND id = $2`, bens, seats[0]); n != 1 {
		t.Error("another's seat went back")
	}
	if n := d.Count(t, `SELECT count(*) FROM seat_returns`); n != 0 {
		t.Errorf("%d returns, want none", n)
	}
}

// The database itself refuses what no refund stands for, and a second time.
func TestTheDatabaseGuardsTheReturn(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	s, _ := d.request(order, seats[0])
	const mark = `UPDATE order_lines SET given_back_by = $3 WHERE order_id = $1 AND seat_id = $2`
	refused := func(what, sql string, args ...any) {
		t.Helper()
		if _, err := d.Pool.Exec(t.Context(), sql, args...); err == nil {
			t.Errorf("%s was let through", what)
		}
	}
	refused("a line given back by a refund that is not confirmed", mark, order, seats[0], s.ID)
	d.answer(yes("re_1"))
	refused("a line given back by another's refund", mark, order, seats[1], s.ID)
	refused("a line given back again", mark, order, seats[0], s.ID)
	refused("a line that takes its seat again", mark, order, seats[0], nil)
	refused("a second return of one line", `INSERT INTO seat_returns (seat_id, cause, event_id, order_id) VALUES ($2, 'refunded:x', $3, $1)`, order, seats[0], d.Event)
	refused("more lines back than there are", `UPDATE orders SET given_back = 3 WHERE id = $1`, order)
}

// A seat that a refund gave back is free, and not for its own order: the line there
// stands for the refund. Whoever asks to exchange another seat for it is told so.
func TestNoOrderMovesToASeatThatItGaveBack(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	s, _ := d.request(order, seats[0])
	d.answer(yes("re_1"))
	d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 0 asked")
	var from, back, free string
	d.Scan(t, `SELECT (SELECT guid FROM seats WHERE id = $1), (SELECT guid FROM seats WHERE id = $2),
		(SELECT min(guid) FROM seats WHERE order_id IS NULL AND id <> $2)`, []any{seats[1], seats[0]}, &from, &back, &free)
	for _, c := range []struct {
		to   string
		want inventory.Moving
	}{{back, inventory.MoveBack}, {free, inventory.SeatMoved}} {
		m, err := inventory.MoveSeat(t.Context(), d.Pool, inventory.Asker{By: "desk"}, d.Event, order, from, c.to)
		if err != nil || m.Moving != c.want {
			t.Errorf("%s for %s: %s, %v; want %s", from, c.to, m.Moving, err, c.want)
		}
	}
	d.judged()
}
