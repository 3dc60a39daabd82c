package orders_test

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// expire ends what is due and wants that many.
func (h *till) expire(t testing.TB, want int) {
	t.Helper()
	if n, err := orders.ExpireDue(t.Context(), h.Pool, 200); n != want || err != nil {
		t.Fatalf("%d orders expired (%v), want %d", n, err, want)
	}
}

// Anna's order expires, Ben takes the seat and pays, then Anna's money comes:
// Ben keeps the seat, Anna's order stays as it was, her money goes back once.
func TestLateMoneyTakesNoSeat(t *testing.T) {
	h := open(t, 1)
	anna := h.Order(t, "anna", 1)
	h.Lapse(t, anna)
	h.expire(t, 1)
	ben := h.Order(t, "ben", 1)
	h.receive(t, success(ben, "pi_ben"), orders.Paid)
	changes := h.Count(t, `SELECT count(*) FROM order_changes WHERE order_id = $1`, anna)
	for range 2 {
		h.receive(t, success(anna, "pi_anna"), orders.PaidTooLate)
	}
	if n := h.Count(t, `SELECT count(*) FROM order_changes WHERE order_id = $1`, anna); n != changes {
		t.Errorf("late money changed the order's row %d times", n-changes)
	}
	if n := h.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1`, ben); n != 1 {
		t.Errorf("Ben holds %d seats, want 1", n)
	}
	if n := h.Count(t, `SELECT count(*) FROM refund_operations WHERE order_id = $1 AND reason = 'late'`, anna); n != 1 {
		t.Errorf("%d refunds of Anna's money, want 1", n)
	}
}

// A success a second after the end, told three times, by copies and by notices
// of their own, at once: three answers, one refund.
func TestSuccessAfterExpiryThreeTimes(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	h.Lapse(t, order)
	h.expire(t, 1)
	same := success(order, "pi_1")
	var answers atomic.Int32
	together(3, func(i int) {
		n := same
		if i == 2 {
			n.ID += "-other"
		}
		if outcome, err := h.in.Receive(t.Context(), body(t, n)); outcome == orders.PaidTooLate && err == nil {
			answers.Add(1)
		}
	})
	ops := h.Count(t, `SELECT count(*) FROM refund_operations`)
	pending := h.Count(t, `SELECT refund_pending_minor FROM payments`)
	if answers.Load() != 3 || ops != 1 || pending != orderstest.PriceMinor {
		t.Errorf("%d answers, %d refunds, %d pending; want 3, 1, %d", answers.Load(), ops, pending, orderstest.PriceMinor)
	}
}

// Money and the end of time at the same instant: one of them, never both.
func TestPaidOrExpiredNeverBoth(t *testing.T) {
	const rounds = 60
	h := open(t, rounds)
	var paid, late int
	for i, holder := range orderstest.Holders(rounds) {
		order := h.Order(t, holder, 1)
		h.Lapse(t, order)
		var outcome orders.Outcome
		var ended atomic.Int32
		together(3, func(who int) {
			if who == 0 {
				var err error
				outcome, err = h.in.Receive(t.Context(), body(t, success(order, "pi_"+holder)))
				if err != nil {
					t.Error(err)
				}
				return
			}
			n, err := orders.ExpireDue(t.Context(), h.Pool, 200)
			if err != nil {
				t.Error(err)
			}
			ended.Add(int32(n))
		})
		switch {
		case outcome == orders.Paid && ended.Load() == 0:
			paid++
		case outcome == orders.PaidTooLate && ended.Load() == 1:
			late++
		default:
			t.Fatalf("round %d: outcome %s, expired %d times", i, outcome, ended.Load())
		}
	}
	t.Logf("%d paid, %d too late, of %d", paid, late, rounds)
}

// Two expirers at work: orders of 3 and 2 seats and many more end once each,
// and every seat comes back once.
func TestTwoExpirersEndOnce(t *testing.T) {
	const n = 60
	h := open(t, 5*n)
	for i, holder := range orderstest.Holders(2 * n) {
		h.Lapse(t, h.Order(t, holder, 2+i%2))
	}
	var ended atomic.Int32
	together(2, func(int) {
		got, err := orders.ExpireDue(t.Context(), h.Pool, 7)
		if err != nil {
			t.Error(err)
		}
		ended.Add(int32(got))
	})
	back := h.Count(t, `SELECT count(*) FROM seat_returns`)
	told := h.Count(t, `SELECT count(*) FROM notices WHERE kind = 'tickets.returned'`)
	free := h.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NULL`)
	if ended.Load() != 2*n || back != 5*n || free != 5*n || told != 2*n {
		t.Errorf("%d ended, %d seats back, %d free, %d told; want %d, %d, %d, %d",
			ended.Load(), back, free, told, 2*n, 5*n, 5*n, 2*n)
	}
}

// One order that cannot be ended keeps no other's seats.
func TestOneBadOrderHoldsNobodyUp(t *testing.T) {
	pool := pgtest.New(t)
	h := &till{Hall: orderstest.NewHall(t, pool, 9)}
	var bad uuid.UUID
	for i, holder := range orderstest.Holders(9) {
		order := h.Order(t, holder, 1)
		h.Lapse(t, order)
		if i == 4 {
			bad = order
		}
	}
	// Its account's count is short, so that giving back would make it negative.
	_, err := pool.Exec(t.Context(), `UPDATE buyers SET held = 0 WHERE account = 'holder-4'`)
	must(t, err)
	n, err := orders.ExpireDue(t.Context(), pool, 200)
	if n != 8 || err == nil {
		t.Errorf("%d expired (%v), want 8 and the bad one's fault", n, err)
	}
	if s := h.Status(t, bad); s != "pending" {
		t.Errorf("the bad order is %s, want pending", s)
	}
}

// The buyer cancels: once, only what is theirs, and only while it is pending.
func TestCancel(t *testing.T) {
	h := open(t, 3)
	pending, paid, lapsed := h.Order(t, "anna", 1), h.Order(t, "ben", 1), h.Order(t, "cleo", 1)
	h.receive(t, success(paid, "pi_ben"), orders.Paid)
	h.Lapse(t, lapsed)
	h.expire(t, 1)
	for _, c := range []struct {
		order  uuid.UUID
		holder string
		want   orders.Cancelling
	}{
		{pending, "ben", orders.NotYours},
		{uuid.New(), "anna", orders.NotYours},
		{pending, "anna", orders.Cancelled},
		{pending, "anna", orders.AlreadyCancelled},
		{paid, "ben", orders.CancelledPaid},
		{lapsed, "cleo", orders.CancelledExpired},
	} {
		if got, err := orders.Cancel(t.Context(), h.Pool, c.order, c.holder); got != c.want || err != nil {
			t.Errorf("%s cancels: %s (%v), want %s", c.holder, got, err, c.want)
		}
	}
	h.receive(t, success(pending, "pi_anna"), orders.PaidTooLate)
}

// Neither the database's time zone nor the program's moves a deadline. A
// program has one zone, from its start, so each pair is a run of its own.
func TestTimeZonesMoveNoDeadline(t *testing.T) {
	if database := os.Getenv("DATABASE_ZONE"); database != "" {
		keepsDeadline(t, database)
		return
	}
	server, err := url.Parse(pgtest.URL(t))
	must(t, err)
	server.Path = "/postgres"
	for program, database := range map[string]string{
		"America/Los_Angeles": "Pacific/Kiritimati", "Asia/Tokyo": "Etc/GMT+12", "UTC": "Asia/Taipei",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTimeZonesMoveNoDeadline$", "-test.v")
		cmd.Env = append(os.Environ(), "TZ="+program, "DATABASE_ZONE="+database, "WAITROOM_TEST_POSTGRES="+server.String())
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "program in "+program) {
			t.Errorf("program in %s, database in %s: %v\n%s", program, database, err, out)
		}
	}
}

func keepsDeadline(t *testing.T, database string) {
	h := open(t, 1)
	cfg := h.Pool.Config()
	cfg.ConnConfig.RuntimeParams["timezone"] = database
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	must(t, err)
	t.Cleanup(pool.Close)
	far := &till{Hall: &orderstest.Hall{Pool: pool, Event: h.Event}}
	order := far.Order(t, "anna", 1)
	far.expire(t, 0)
	left := time.Until(far.PayBy(t, order))
	if left < 9*time.Minute || left > 11*time.Minute {
		t.Errorf("%s left to pay, want about 10 min", left)
	}
	program := os.Getenv("TZ")
	if _, offset := time.Now().Zone(); program != "UTC" && offset == 0 {
		t.Errorf("the program is not in %s", program)
	}
	t.Logf("program in %s, database in %s: %s left", program, database, left)
	far.Lapse(t, order)
	far.expire(t, 1)
}
