package orders_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// row is a stored notice's state.
func (h *till) row(t testing.TB, n orders.ProviderNotice) (status, outcome string, tries int) {
	t.Helper()
	h.Scan(t, `SELECT status, outcome, tries FROM provider_notices WHERE notice_id = $1`, []any{n.ID}, &status, &outcome, &tries)
	return status, outcome, tries
}

// A success that is there before its order waits, and pays when it has come.
func TestNoticeBeforeItsOrder(t *testing.T) {
	h := open(t, 1)
	order := uuid.Must(uuid.NewV7())
	n := success(order, "pi_1")
	h.receive(t, n, orders.UnknownOrder)
	h.retry(t, 0) // not yet
	h.receive(t, n, orders.UnknownOrder)
	h.OrderAs(t, order, "anna", 1)
	h.due(t, n)
	h.retry(t, 1)
	h.retry(t, 0)
	if status, outcome, tries := h.row(t, n); status != "applied" || outcome != "paid" || tries != 2 {
		t.Errorf("notice is %s, %s after %d tries; want applied, paid, 2", status, outcome, tries)
	}
	if s := h.Status(t, order); s != "paid" {
		t.Errorf("the order is %s, want paid", s)
	}
	h.receive(t, n, orders.Paid)
}

// patient gives the inbox a pool that waits for locks longer than production
// does, so that a slow machine does not end what the test is about to cut.
func (h *till) patient(t testing.TB) {
	h.in.Pool = pgtest.Open(t, h.Pool.Config().ConnString(),
		pgtest.Limits(pg.Limits{Conns: 4, Lock: 20 * time.Second, Statement: 20 * time.Second}))
}

// A worker that dies while it holds a waiting notice keeps it from others only
// until then, and has changed nothing.
func TestNoticeOutlivesItsWorker(t *testing.T) {
	h := open(t, 1)
	h.patient(t)
	order := uuid.Must(uuid.NewV7())
	n := success(order, "pi_1")
	h.receive(t, n, orders.UnknownOrder)
	h.OrderAs(t, order, "anna", 1)
	h.due(t, n)
	hold, err := h.Pool.Begin(t.Context())
	must(t, err)
	_, err = hold.Exec(t.Context(), `SELECT FROM orders WHERE id = $1 FOR UPDATE`, order)
	must(t, err)
	died := make(chan error, 1)
	go func() {
		_, err := h.in.RetryWaiting(t.Context())
		died <- err
	}()
	h.waiting(t)
	h.retry(t, 0) // another worker passes it by
	h.cut(t)
	if err := <-died; err == nil {
		t.Error("the worker's connection was cut, yet it says that it is done")
	}
	must(t, hold.Rollback(t.Context()))
	h.retry(t, 1)
	if s := h.Status(t, order); s != "paid" {
		t.Errorf("the order is %s, want paid", s)
	}
}

// due lets a waiting notice's next try come.
func (h *till) due(t testing.TB, n orders.ProviderNotice) {
	t.Helper()
	_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET next_try_at = now()
		WHERE notice_id = $1 AND status = 'waiting'`, n.ID)
	must(t, err)
}

func (h *till) retry(t testing.TB, want int) {
	t.Helper()
	if n, err := h.in.RetryWaiting(t.Context()); n != want || err != nil {
		t.Fatalf("%d notices tried again (%v), want %d", n, err, want)
	}
}

// Money for an order that never comes is a person's after ten minutes, with the
// amount; before that it is tried less and less often.
func TestUnknownOrderBecomesAPersons(t *testing.T) {
	h := open(t, 1)
	h.Order(t, "anna", 1)
	n := success(uuid.New(), "pi_lost")
	h.receive(t, n, orders.UnknownOrder)
	for i := range 4 {
		wait := h.Count(t, `SELECT round(extract(epoch FROM next_try_at - now()))::int FROM provider_notices WHERE notice_id = $1`, n.ID)
		if want := 1 << i; wait < want-1 || wait > want {
			t.Errorf("try %d waits %d s, want %d", i+2, wait, want)
		}
		h.due(t, n)
		h.retry(t, 1)
	}
	_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '10 minutes'`)
	must(t, err)
	h.due(t, n)
	h.retry(t, 1)
	if status, _, _ := h.row(t, n); status != "human" {
		t.Errorf("notice is %s, want human", status)
	}
	var detail string
	h.Scan(t, `SELECT detail FROM human_list WHERE kind = 'unknown_order' AND subject = 'pi_lost'`, nil, &detail)
	t.Log(detail)
	h.due(t, n)
	h.retry(t, 0)
}

// A refund that is told of before its payment's money is heard once that is
// counted, however late: what a person sent back is not sent back again.
func TestARefundToldBeforeItsMoneyIsHeard(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order, payment := h.cart(t, b, "anna")
	n := says(orders.SaysRefunded, order, payment, 0)
	n.Refund = refunds.Told{
		Provider: "stripe", ProviderPayment: payment, ProviderRefund: "re_hand",
		Status: "succeeded", AmountMinor: orderstest.PriceMinor, Currency: orderstest.Currency,
	}
	h.receive(t, n, orders.Outcome(refunds.HeardUnknown))
	_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '1 hour'`)
	must(t, err)
	h.due(t, n)
	h.retry(t, 1)
	b.captured[payment] = true
	_, err = h.Pool.Exec(t.Context(), `UPDATE orders SET pay_by = now() + interval '10 seconds' WHERE id = $1`, order)
	must(t, err)
	h.come(t)
	sweep(t, h.sweeper(b), 1)
	h.retry(t, 1) // at once: whoever asks for a refund now is told what went back
	known := h.Count(t, `SELECT count(*) FROM provider_refunds WHERE id = 're_hand'`)
	if status, outcome, _ := h.row(t, n); known != 1 || outcome != string(refunds.HeardByHand) || h.Status(t, order) != "paid" {
		t.Errorf("the order is %s, the notice %s as %s, %d refunds known; want paid, %s, 1", h.Status(t, order), status, outcome, known, refunds.HeardByHand)
	}
}

// byHand tells of a refund that somebody made at the provider: it carries no name
// of ours, and of its payment only the provider's.
func byHand(providerPayment string) orders.ProviderNotice {
	n := says(orders.SaysRefunded, uuid.Nil, providerPayment, 0)
	n.Kind, n.Object, n.Install = "refund.created", "re_hand", ""
	n.Refund = refunds.Told{
		Provider: "stripe", ProviderPayment: providerPayment, ProviderRefund: "re_hand",
		Status: "succeeded", AmountMinor: orderstest.PriceMinor, Currency: orderstest.Currency,
	}
	return n
}

// nameless enters the holder's payment, and the provider's answer is lost: it has
// the payment under the name that is returned, and our row has none.
func (h *till) nameless(t testing.TB, order uuid.UUID, holder string) (payment uuid.UUID, providerPayment string) {
	t.Helper()
	c := &counter{before: func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{}, errors.New("connection reset")
	}}
	if _, _, err := h.pays(c, 1).Open(t.Context(), order, holder, "a"); !errors.Is(err, orders.ErrProvider) {
		t.Fatal(err)
	}
	h.Scan(t, `SELECT id FROM payments WHERE order_id = $1 AND provider_payment_id IS NULL`, []any{order}, &payment)
	return payment, "pi_" + payment.String()
}

// A refund by hand that is told of while our row has no provider's name of the
// payment looks like another application's. Once the money is counted under that
// name it is heard, however late; before that, nobody is alarmed, and what is
// really another's stays so.
func TestARefundToldBeforeItsPaymentsNameIsHeard(t *testing.T) {
	for what, late := range map[string]bool{"in time": false, "too late": true} {
		t.Run(what, func(t *testing.T) {
			h := open(t, 1)
			order := h.Order(t, "anna", 1)
			payment, name := h.nameless(t, order, "anna")
			n, others, unreadable, ofOurs := byHand(name), byHand("pi_others"), byHand(name), byHand(name)
			unreadable.Says = orders.SaysUnreadable
			ofOurs.Install, ofOurs.Payment = "here", payment // a sum, of a charge that has its payment's tags
			ofOurs.Refund = refunds.Told{Provider: "stripe", ProviderPayment: name, SumMinor: orderstest.PriceMinor, Currency: orderstest.Currency}
			h.receive(t, n, orders.Outcome(refunds.HeardForeign))
			h.receive(t, others, orders.Outcome(refunds.HeardForeign))
			h.receive(t, unreadable, orders.Foreign)
			h.receive(t, ofOurs, orders.Outcome(refunds.HeardUnknown))
			_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '1 hour'`)
			must(t, err)
			h.due(t, ofOurs)
			h.retry(t, 1)
			if items := h.Count(t, `SELECT count(*) FROM human_list`); items != 0 {
				t.Errorf("%d items before anything is known, want none", items)
			}
			if late {
				h.Lapse(t, order)
				h.expire(t, 1)
			}
			money := success(order, name)
			money.Payment = payment
			h.receive(t, money, map[bool]orders.Outcome{false: orders.Paid, true: orders.PaidTooLate}[late])
			h.retry(t, 3)
			for notice, want := range map[*orders.ProviderNotice]string{
				&n: "human refund_by_hand", &others: "ignored refund_foreign", &unreadable: "human unreadable", &ofOurs: "applied refund_sum",
			} {
				if status, outcome, _ := h.row(t, *notice); status+" "+outcome != want {
					t.Errorf("the notice is %s %s, want %s", status, outcome, want)
				}
			}
			var asked string
			h.Scan(t, `SELECT string_agg(kind || ' ' || subject, ', ' ORDER BY kind) FROM human_list WHERE resolved_at IS NULL`, nil, &asked)
			if known := h.Count(t, `SELECT count(*) FROM provider_refunds WHERE payment_id = $1`, payment); known != 1 || asked != "refund_by_hand re_hand, unreadable re_hand" {
				t.Errorf("%d refunds of the payment are known, want 1; a person is asked about %q", known, asked)
			}
			h.receive(t, n, orders.Outcome(refunds.HeardByHand))
			h.retry(t, 0)
		})
	}
}

// The refund is told of and its payment's money is counted at the same instant:
// whichever is first, the refund is known once both are done.
func TestARefundAndItsPaymentsNameAtOneInstant(t *testing.T) {
	const rounds = 30
	h := open(t, rounds)
	h.patient(t)
	for i := range rounds {
		holder := fmt.Sprint("h", i)
		order := h.Order(t, holder, 1)
		payment, name := h.nameless(t, order, holder)
		money, n := success(order, name), byHand(name)
		money.Payment, n.Refund.ProviderRefund = payment, fmt.Sprint("re_", i)
		together(2, func(i int) {
			if _, err := h.in.Receive(t.Context(), body(t, []orders.ProviderNotice{money, n}[i])); err != nil {
				t.Error(err)
			}
		})
		h.due(t, n)
		if _, err := h.in.RetryWaiting(t.Context()); err != nil {
			t.Error(err)
		}
		if status, outcome, _ := h.row(t, n); outcome != string(refunds.HeardByHand) {
			t.Fatalf("round %d: the refund is %s as %s, want %s", i, status, outcome, refunds.HeardByHand)
		}
	}
	if n := h.Count(t, `SELECT count(*) FROM provider_refunds`); n != rounds {
		t.Errorf("%d refunds are known, want %d", n, rounds)
	}
}

// Told of refunds whose money never came, a person is asked; once it has come
// after all, what was told is heard, and nobody is asked about that any more.
func TestMoneyThatComesAfterAllAnswersWhoWasAsked(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	n := byHand("pi_1")
	n.Install = "here"
	h.receive(t, n, orders.Outcome(refunds.HeardUnknown))
	_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '10 minutes'`)
	must(t, err)
	h.due(t, n)
	h.retry(t, 1)
	asked := func(kind string) int {
		return h.Count(t, `SELECT count(*) FROM human_list WHERE kind = $1 AND resolved_at IS NULL`, kind)
	}
	if asked("unknown_order") != 1 {
		t.Error("nobody is asked about refunds of a payment that nobody knows")
	}
	h.receive(t, success(order, "pi_1"), orders.Paid)
	h.retry(t, 1)
	if unknown, hand := asked("unknown_order"), asked("refund_by_hand"); unknown != 0 || hand != 1 {
		t.Errorf("%d asked about money that has come, %d about its refund; want 0 and 1", unknown, hand)
	}
}

// What is told of refunds waits for its payment's money. A person takes the payment off
// the list, as one of which nobody can say what became: nothing waits for it any more,
// and the history has what did, and their words. What is told after that is a person's
// too, in ten minutes, not never. Should the money come after all, all of it is heard.
func TestNothingWaitsForMoneyThatAPersonGaveUp(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	payment := uuid.New()
	_, err := h.Pool.Exec(t.Context(), `INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, unknowns)
		VALUES ($1, $2, 'stripe', 'pi_1', 'open', $3, $4, 10)`, payment, order, orderstest.PriceMinor, orderstest.Currency)
	must(t, err)
	_, err = h.Pool.Exec(t.Context(), `INSERT INTO human_list (kind, subject, order_id, payment_id) VALUES ('payment_unknown', $1::text, $2, $1::uuid)`, payment, order)
	must(t, err)
	told := byHand("pi_1")
	h.receive(t, told, orders.Outcome(refunds.HeardUnknown))
	_, err = h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '1 hour'`)
	must(t, err)
	h.due(t, told)
	h.retry(t, 1)
	if status, _, _ := h.row(t, told); status != "waiting" {
		t.Fatalf("while a person has the payment, what was told of it is %s, want waiting", status)
	}
	var item int64
	h.Scan(t, `SELECT id FROM human_list`, nil, &item)
	v, err := support.Act(t.Context(), h.Pool, support.Deed{Item: item, By: "mia", Do: support.Resolve, Why: "their pages do not have it"})
	if err != nil || v != support.Done {
		t.Fatalf("resolved: %s, %v", v, err)
	}
	status, outcome, _ := h.row(t, told)
	words := h.Count(t, `SELECT count(*) FROM human_notes WHERE item = $1 AND by = 'mia' AND did = 'decided' AND note LIKE '%' || $2 || ': their pages%'`, item, told.ID)
	if status != "human" || outcome != string(refunds.HeardUnknown) || words != 1 {
		t.Errorf("what was told is %s as %s, and its history has her words %d times; want human and once", status, outcome, words)
	}
	later := byHand("pi_1")
	later.Refund.ProviderRefund = "re_later"
	h.receive(t, later, orders.Outcome(refunds.HeardUnknown))
	_, err = h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '1 hour'`)
	must(t, err)
	h.due(t, later)
	h.retry(t, 1)
	if status, _, _ := h.row(t, later); status != "human" {
		t.Errorf("what is told after that is %s, want human", status)
	}
	money := success(order, "pi_1")
	money.Payment = payment
	h.receive(t, money, orders.Paid)
	h.retry(t, 2)
	for _, n := range []orders.ProviderNotice{told, later} {
		if _, outcome, _ := h.row(t, n); outcome != string(refunds.HeardByHand) {
			t.Errorf("the money has come, and what was told of it is %s", outcome)
		}
	}
}

// Told of anew after a person has resolved it, the same is before a person again;
// a copy of what was told is not.
func TestWhatIsToldAnewIsBeforeAPersonAgain(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	resolve := func() {
		t.Helper()
		_, err := h.Pool.Exec(t.Context(), `UPDATE human_list SET resolved_at = now()`)
		must(t, err)
	}
	items := func(what string, want int) {
		t.Helper()
		if n := h.Count(t, `SELECT count(*) FROM human_list WHERE resolved_at IS NULL`); n != want {
			t.Errorf("%s: %d items are open, want %d", what, n, want)
		}
	}
	first, second := says(orders.SaysUnreadable, order, "pi_1", 0), says(orders.SaysUnreadable, order, "pi_1", 0)
	h.receive(t, first, orders.Unreadable)
	resolve()
	h.receive(t, first, orders.Unreadable)
	items("the same notice once more", 0)
	h.receive(t, second, orders.Unreadable)
	items("another notice that cannot be read", 1)
	resolve()

	refund := says(orders.SaysRefunded, order, "pi_9", 0)
	refund.Refund = refunds.Told{Provider: "stripe", ProviderPayment: "pi_9", SumMinor: 100, Currency: orderstest.Currency}
	money := success(uuid.New(), "pi_9")
	for what, n := range map[string]orders.ProviderNotice{"a refund of no known order": refund, "money of no known order": money} {
		_, err := h.in.Receive(t.Context(), body(t, n))
		must(t, err)
		_, err = h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '10 minutes'`)
		must(t, err)
		h.due(t, n)
		h.retry(t, 1)
		items(what, 1)
		resolve()
	}
}

// What is not ours, or means nothing to us, is kept and has no effect.
func TestForeignAndUnknownHaveNoEffect(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	foreign, elsewhere := success(order, "pi_1"), success(order, "pi_2")
	foreign.Install, elsewhere.Install = "", "elsewhere"
	nothing := says(orders.SaysCaptured, order, "pi_3", 0)
	unreadable := says(orders.SaysUnreadable, order, "pi_4", 0)
	for want, notices := range map[orders.Outcome][]orders.ProviderNotice{
		orders.Foreign:      {foreign, elsewhere},
		orders.NoEffect:     {says(orders.SaysNothing, order, "pi_5", 2500)},
		orders.NothingTaken: {nothing},
		orders.Unreadable:   {unreadable},
	} {
		for _, n := range notices {
			h.receive(t, n, want)
			status, outcome, _ := h.row(t, n)
			if rest := map[bool]string{true: "human", false: "ignored"}[want == orders.Unreadable]; status != rest || outcome != string(want) {
				t.Errorf("%s rests as %s, %s", n.Object, status, outcome)
			}
		}
	}
	if s, n := h.Status(t, order), h.Count(t, `SELECT count(*) FROM payments`); s != "pending" || n != 0 {
		t.Errorf("the order is %s with %d payments, want pending and none", s, n)
	}
	if _, err := h.in.Receive(t.Context(), []byte("{")); !errors.Is(err, orders.ErrUnreadable) {
		t.Errorf("no JSON at all: %v", err)
	}
}

// The process dies between the provider's success and our commit: nothing of
// it is left, and the provider's next try pays, or gives back.
func TestDeathBeforeTheCommit(t *testing.T) {
	for name, late := range map[string]bool{"in time": false, "after the end": true} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 1)
			h.patient(t)
			order := h.Order(t, "anna", 1)
			n := success(order, "pi_1")
			hold, err := h.Pool.Begin(t.Context())
			must(t, err)
			_, err = hold.Exec(t.Context(), `SELECT FROM orders WHERE id = $1 FOR UPDATE`, order)
			must(t, err)
			died := make(chan error, 1)
			go func() {
				_, err := h.in.Receive(t.Context(), body(t, n))
				died <- err
			}()
			h.cut(t)
			if err := <-died; err == nil {
				t.Fatal("its connection was cut before the commit, yet it says that it is done")
			}
			must(t, hold.Rollback(t.Context()))
			kept := h.Count(t, `SELECT (SELECT count(*) FROM provider_notices) + (SELECT count(*) FROM payments)`)
			if s := h.Status(t, order); s != "pending" || kept != 0 {
				t.Fatalf("after its death: order %s, %d rows kept; want pending, 0", s, kept)
			}
			want := orders.Paid
			if late {
				h.Lapse(t, order)
				h.expire(t, 1)
				want = orders.PaidTooLate
			}
			h.receive(t, n, want)
		})
	}
}

// cut ends the connection that stands within a notice's transaction and waits
// for the order's lock.
func (h *till) cut(t testing.TB) {
	t.Helper()
	// The client hears of it before the server has let go of what it held: that
	// is gone with the waiting.
	h.blocked(t, `count(pg_terminate_backend(pid, 10000))`)
}

// waiting waits until there is one.
func (h *till) waiting(t testing.TB) {
	t.Helper()
	h.blocked(t, `count(pid)`)
}

func (h *till) blocked(t testing.TB, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for n := 0; n == 0; <-again.C {
		err := h.Pool.QueryRow(ctx, `SELECT `+what+` FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		if err != nil {
			t.Errorf("nobody waits for a lock: %v", err)
			return
		}
	}
}

// A fault while a waiting notice is tried puts it off and leaves the others.
func TestOneBadNoticeHoldsNobodyUp(t *testing.T) {
	h := open(t, 2)
	good, bad := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	first, second := success(bad, "pi_bad"), success(good, "pi_good")
	first.Capture.Currency = "not a currency" // the table's CHECK refuses it
	h.receive(t, first, orders.UnknownOrder)
	h.receive(t, second, orders.UnknownOrder)
	h.OrderAs(t, bad, "anna", 1)
	h.OrderAs(t, good, "ben", 1)
	h.due(t, first)
	h.due(t, second)
	n, err := h.in.RetryWaiting(t.Context())
	if n != 2 || err == nil {
		t.Errorf("%d tried (%v), want 2 and a fault", n, err)
	}
	status, _, tries := h.row(t, first)
	if s := h.Status(t, good); s != "paid" || status != "waiting" || tries != 2 {
		t.Errorf("the good order is %s, the bad notice %s after %d tries; want paid, waiting, 2", s, status, tries)
	}
}
