package orders_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/orders"
	"waitroom/internal/orders/ordersmodel"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// The statements do what the model does: walks through its states, and tries to claim
// what it gives nobody, played on a database, come to the same seats, orders, returns
// and money after each step. So what was shown of all its states is shown of ours.
func TestTheDatabaseWalksAsTheModelDoes(t *testing.T) {
	const walks, length = 24, 30
	till := open(t, 0)
	claimer := inventory.NewClaimer(till.Pool, inventory.Sizes{Queue: 10, Workers: 1, Batch: 10}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var running sync.WaitGroup
	running.Go(func() { claimer.Run(t.Context()) })
	t.Cleanup(func() { claimer.Stop(); running.Wait() })
	played, became := map[ordersmodel.Do]int{}, map[orders.Outcome]int{}
	refused := 0
	for seed := range uint64(walks) {
		rules := ordersmodel.Rules{Orders: ordersmodel.Orders, Payments: ordersmodel.Payments, Reclaim: seed%2 == 0}
		w := newWalk(t, till, claimer, rules)
		w.became = became
		random := rand.New(rand.NewPCG(seed, 1))
		for range length {
			step, to, more := w.choose(random)
			if !more {
				break
			}
			if w.fresh() < rules.Orders {
				refused += w.refused()
			}
			played[step.Do]++
			w.steps = append(w.steps, step.String())
			w.play(step)
			if w.state = to; t.Failed() || !w.agrees() {
				t.Fatalf("walk %d:\n  %s", seed, strings.Join(w.steps, "\n  "))
			}
		}
	}
	t.Logf("%v, money %v, and %d claims refused", played, became, refused)
	for _, outcome := range []orders.Outcome{orders.Paid, orders.Reclaimed, orders.AlreadyPaid, orders.PaidTwice, orders.PaidTooLate} {
		if became[outcome] == 0 {
			t.Errorf("no money was %s", outcome)
		}
	}
	for _, do := range []ordersmodel.Do{
		ordersmodel.Claim, ordersmodel.Again, ordersmodel.Lapse, ordersmodel.List, ordersmodel.Death, ordersmodel.Expire, ordersmodel.Cancel,
		ordersmodel.Open, ordersmodel.Capture, ordersmodel.Tell, ordersmodel.Refund,
	} {
		if played[do] == 0 {
			t.Errorf("it was never played: %s", do)
		}
	}
	if refused == 0 {
		t.Error("no claim was refused")
	}
}

// walk is a way through the model's states, and a hall that goes it too.
type walk struct {
	t       *testing.T
	in      orders.Inbox
	hall    *orderstest.Hall
	claimer *inventory.Claimer
	rules   ordersmodel.Rules
	state   ordersmodel.State
	steps   []string
	seats   []int64
	order   [ordersmodel.Orders]uuid.UUID
	became  map[orders.Outcome]int // what money did
}

func newWalk(t *testing.T, in *till, claimer *inventory.Claimer, rules ordersmodel.Rules) *walk {
	w := &walk{t: t, in: in.in, hall: orderstest.NewHall(t, in.Pool, ordersmodel.Seats), claimer: claimer, rules: rules}
	if rules.Reclaim {
		w.hall.Late(t, "reclaim")
	}
	w.exec(`UPDATE events SET lapse_limit = 100, account_limit = 100, pass_quota = 100 WHERE id = $1`, w.hall.Event)
	w.exec(`INSERT INTO passes (event_id, epoch, take, place, holder, quota, taken_at, expires_at)
		SELECT $1, 1, n, n, 'buyer-' || n - 1, 100, now(), now() + interval '1 hour' FROM generate_series(1, $2::int) n`, w.hall.Event, ordersmodel.Buyers)
	rows, err := in.Pool.Query(t.Context(), `SELECT id FROM seats WHERE event_id = $1 ORDER BY pos`, w.hall.Event)
	must(t, err)
	w.seats, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	must(t, err)
	return w
}

func (w *walk) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.hall.Pool.Exec(w.t.Context(), sql, args...)
	must(w.t, err)
}

// often says how much more often than others a kind of step is drawn: money has to be
// asked for before anybody gives up. Every other walk is one of late money.
func often(do ordersmodel.Do, late bool) int {
	switch do {
	case ordersmodel.Claim, ordersmodel.Tell:
		return 3
	case ordersmodel.Open:
		return 8
	case ordersmodel.Capture:
		if !late {
			return 6
		}
	case ordersmodel.Lapse, ordersmodel.List, ordersmodel.Expire:
		if late {
			return 8
		}
	}
	return 1
}

// choose draws a kind of step first: there are many more of some than of others.
func (w *walk) choose(random *rand.Rand) (ordersmodel.Step, ordersmodel.State, bool) {
	type next struct {
		step ordersmodel.Step
		to   ordersmodel.State
	}
	var kinds []ordersmodel.Do
	all := map[ordersmodel.Do][]next{}
	w.rules.Next(w.state, func(step ordersmodel.Step, to ordersmodel.State) {
		if all[step.Do] == nil {
			kinds = append(kinds, step.Do)
		}
		all[step.Do] = append(all[step.Do], next{step, to})
	})
	if len(kinds) == 0 {
		return ordersmodel.Step{}, w.state, false
	}
	var draw []ordersmodel.Do
	for _, kind := range kinds {
		draw = append(draw, slices.Repeat([]ordersmodel.Do{kind}, often(kind, w.rules.Reclaim))...)
	}
	kind := draw[random.IntN(len(draw))]
	of := all[kind]
	n := of[random.IntN(len(of))]
	return n.step, n.to, true
}

func (w *walk) fresh() int {
	return slices.IndexFunc(append(w.state.Order[:], ordersmodel.Order{}), func(o ordersmodel.Order) bool { return o.Status == ordersmodel.None })
}

// refused tries every claim that the model does not know from here.
func (w *walk) refused() (n int) {
	var may [ordersmodel.Buyers][1 << ordersmodel.Seats]bool
	w.rules.Next(w.state, func(step ordersmodel.Step, _ ordersmodel.State) {
		if step.Do == ordersmodel.Claim {
			may[step.Buyer][step.Seats] = true
		}
	})
	for buyer := range ordersmodel.Buyers {
		for seats := uint8(1); seats < 1<<ordersmodel.Seats; seats++ {
			if may[buyer][seats] {
				continue
			}
			n++
			if a := w.claim(buyer, seats, uuid.NewString()); a.Outcome == inventory.Claimed {
				w.t.Errorf("buyer %d was given seats %02b", buyer, seats)
			}
		}
	}
	return n
}

func (w *walk) claim(buyer int, seats uint8, key string) inventory.Answer {
	var wanted []int64
	for i, id := range w.seats {
		if seats&(1<<i) != 0 {
			wanted = append(wanted, id)
		}
	}
	account := fmt.Sprint("buyer-", buyer)
	return w.claimer.Claim(w.t.Context(), inventory.Attempt{
		Event: w.hall.Event, Account: account, Holder: account, Epoch: 1, Place: int64(buyer + 1), Take: int64(buyer + 1), Quota: 100,
		Key: key, BodyHash: sha256.Sum256([]byte(key)), Seats: wanted,
	})
}

func (w *walk) play(s ordersmodel.Step) {
	t, id := w.t, w.order[s.Order]
	o := w.state.Order[s.Order]
	name := fmt.Sprintf("pi_%s_%d", id, s.Payment)
	switch s.Do {
	case ordersmodel.Claim:
		a := w.claim(s.Buyer, s.Seats, fmt.Sprint("order-", s.Order))
		if a.Outcome != inventory.Claimed {
			t.Errorf("claim: %s", a.Outcome)
		}
		w.order[s.Order] = a.Order
	case ordersmodel.Again:
		if a := w.claim(int(o.Buyer), o.Wants, fmt.Sprint("order-", s.Order)); a.Order != id {
			t.Errorf("the same attempt is %s, and was %s", a.Order, id)
		}
	case ordersmodel.Lapse:
		w.hall.Lapse(t, id)
	case ordersmodel.Expire:
		must(t, pg.InTx(t.Context(), w.hall.Pool, func(tx pgx.Tx) error {
			_, err := inventory.End(t.Context(), tx, []uuid.UUID{id}, inventory.Expired)
			return err
		}))
	case ordersmodel.Cancel:
		if got, err := orders.Cancel(t.Context(), w.hall.Pool, id, fmt.Sprint("buyer-", o.Buyer)); err != nil || got != orders.Cancelled {
			t.Errorf("cancel: %s %v", got, err)
		}
	case ordersmodel.Tell:
		n := success(id, name)
		n.Capture.AmountMinor *= int64(len(w.lines(id)))
		n.Capture.ProviderAmount = n.Capture.AmountMinor
		outcome, err := w.in.Receive(t.Context(), body(t, n))
		must(t, err)
		w.became[outcome]++
	case ordersmodel.Refund:
		w.refund(id, name)
	}
}

func (w *walk) lines(order uuid.UUID) (seats []int64) {
	rows, err := w.hall.Pool.Query(w.t.Context(), `SELECT seat_id FROM order_lines WHERE order_id = $1`, order)
	must(w.t, err)
	seats, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	must(w.t, err)
	return seats
}

// refund has the provider tell that it gave a payment back, as we asked it to.
func (w *walk) refund(order uuid.UUID, name string) {
	told := refunds.Told{Provider: "stripe", ProviderPayment: name, ProviderRefund: "re_" + name, Status: "succeeded", Currency: orderstest.Currency}
	w.hall.Scan(w.t, `UPDATE refund_operations r SET sends = 1, first_sent_at = now()
		FROM payments p WHERE p.id = r.payment_id AND p.provider_payment_id = $1 RETURNING r.id, r.amount_minor`, []any{name}, &told.Operation, &told.AmountMinor)
	n := says(orders.SaysRefunded, order, name, 0)
	n.Refund = told
	_, err := w.in.Receive(w.t.Context(), body(w.t, n))
	must(w.t, err)
}

// agrees holds the hall against the model's state.
func (w *walk) agrees() bool {
	ours := w.state
	for i := range ours.Seat {
		var of *uuid.UUID
		w.hall.Scan(w.t, `SELECT order_id FROM seats WHERE id = $1`, []any{w.seats[i]}, &of)
		if ours.Seat[i] = 0; of != nil {
			ours.Seat[i] = uint8(slices.Index(w.order[:], *of) + 1)
		}
	}
	status := map[string]ordersmodel.Status{"pending": ordersmodel.Pending, "paid": ordersmodel.Paid, "expired": ordersmodel.Expired, "cancelled": ordersmodel.Cancelled}
	for i, id := range w.order[:w.fresh()] {
		o := &ours.Order[i]
		var is string
		var lapsed bool
		var returned []int64
		w.hall.Scan(w.t, `SELECT status, pay_by <= now(), ARRAY(SELECT DISTINCT seat_id FROM seat_returns WHERE order_id = o.id) FROM orders o WHERE id = $1`,
			[]any{id}, &is, &lapsed, &returned)
		o.Status, o.Lapsed, ours.Returned[i] = status[is], lapsed, 0
		for _, seat := range returned {
			ours.Returned[i] |= 1 << slices.Index(w.seats, seat)
		}
		for n := range o.Payments {
			w.money(id, n, o)
		}
	}
	if ours != w.state {
		w.t.Errorf("ours  %+v\nmodel %+v", ours, w.state)
	}
	return ours == w.state
}

// money reads what we know of a payment; what the provider knows is not ours.
func (w *walk) money(order uuid.UUID, n int, o *ordersmodel.Order) {
	stands := map[string]ordersmodel.Standing{"": ordersmodel.Uncounted, "on_order": ordersmodel.OnOrder, "to_refund": ordersmodel.ToRefund}
	operation := map[string]ordersmodel.Operation{"": ordersmodel.NoOperation, "queued": ordersmodel.Owed, "confirmed": ordersmodel.Confirmed}
	var stood, asked string
	var pays bool
	w.hall.Scan(w.t, `SELECT coalesce(max(p.stands), ''), coalesce(max(r.status), ''), coalesce(bool_or(o.payment_id = p.id), false)
		FROM payments p JOIN orders o ON o.id = p.order_id LEFT JOIN refund_operations r ON r.payment_id = p.id
		WHERE p.provider_payment_id = $1`, []any{fmt.Sprintf("pi_%s_%d", order, n)}, &stood, &asked, &pays)
	o.Payments[n].Stands, o.Payments[n].Refund = stands[stood], operation[asked]
	if pays {
		o.PaidBy = uint8(n + 1)
	}
}
