package orders_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
)

// wish is an extension of the hall's orders by ten minutes.
func (h *till) wish(attempt string) orders.Extension {
	return orders.Extension{Event: h.Event, Organiser: "house", Attempt: attempt, By: "desk", ExtendBy: 10 * time.Minute, Reason: "the provider is down"}
}

func (h *till) extend(t testing.TB, e orders.Extension, want orders.Extending, count int) orders.Extended {
	t.Helper()
	x, err := orders.Extend(t.Context(), h.Pool, e)
	if err != nil || x.Extending != want || x.Orders != count {
		t.Fatalf("extended: %+v, %v; want %s, %d orders", x, err, want, count)
	}
	return x
}

// Pending orders whose time is not over get more of it, once in their lives,
// however often and by whomever it is asked; the others are left as they are, and
// the record says who gave how many orders how much, and why.
func TestAnOutageExtendsEachOrderOnce(t *testing.T) {
	h := open(t, 5)
	pending, paid, lapsed, given := h.Order(t, "anna", 1), h.Order(t, "ben", 1), h.Order(t, "cleo", 1), h.Order(t, "dora", 1)
	h.receive(t, success(paid, "pi_1"), orders.Paid)
	h.Lapse(t, lapsed)
	if got, err := orders.Cancel(t.Context(), h.Pool, given, "dora"); err != nil || got != orders.Cancelled {
		t.Fatalf("%s, %v", got, err)
	}
	before := map[uuid.UUID]time.Time{}
	for _, order := range []uuid.UUID{pending, paid, lapsed, given} {
		before[order] = h.PayBy(t, order)
	}
	h.extend(t, h.wish("a"), orders.OrdersExtended, 1)
	h.extend(t, h.wish("a"), orders.OrdersExtended, 1) // the same: the same answer
	h.extend(t, h.wish("b"), orders.OrdersExtended, 0) // another: nothing is left to extend
	for order, was := range before {
		want := time.Duration(0)
		if order == pending {
			want = 10 * time.Minute
		}
		if moved := h.PayBy(t, order).Sub(was); moved != want {
			t.Errorf("the %s order's deadline moved by %s, want %s", h.Status(t, order), moved, want)
		}
	}
	// Entering payment still moves it too, once, and never makes it shorter.
	payBy := h.PayBy(t, pending)
	wantOpening(t, h.pays(&counter{}, 1), pending, "anna", "a", orders.Opened)
	if after := h.PayBy(t, pending); !after.Equal(payBy) {
		t.Errorf("entering payment moved the deadline by %s", after.Sub(payBy))
	}
	var record string
	h.Scan(t, `SELECT string_agg(concat_ws(' ', by, extend_by, orders, reason, done_at IS NOT NULL), '; ' ORDER BY id) FROM order_extensions`, nil, &record)
	if want := "desk 00:10:00 1 the provider is down t; desk 00:10:00 0 the provider is down t"; record != want {
		t.Errorf("the record says %q, want %q", record, want)
	}
}

// An order claimed after the extension was declared has its whole time anyway:
// the same attempt, made again, leaves it alone.
func TestAnExtensionIsForThoseWhoWaitedThen(t *testing.T) {
	h := open(t, 2)
	h.Order(t, "anna", 1)
	h.extend(t, h.wish("a"), orders.OrdersExtended, 1)
	later := h.Order(t, "ben", 1)
	was := h.PayBy(t, later)
	h.extend(t, h.wish("a"), orders.OrdersExtended, 1)
	if !h.PayBy(t, later).Equal(was) {
		t.Error("an order that came later was extended")
	}
}

// Many more orders than one transaction takes, extended twice over at the same
// instant while some are paid: each once, and no transaction changes more than
// its bound.
func TestExtensionsGoInBoundedSteps(t *testing.T) {
	const n, paid = 450, 30
	h := open(t, n)
	var all []uuid.UUID
	for _, holder := range orderstest.Holders(n) {
		all = append(all, h.Order(t, holder, 1))
	}
	var extended atomic.Int32
	together(3, func(i int) {
		if i == 2 {
			for _, order := range all[:paid] {
				if _, err := h.in.Receive(t.Context(), body(t, success(order, "pi_"+order.String()))); err != nil {
					t.Error(err)
				}
			}
			return
		}
		x, err := orders.Extend(t.Context(), h.Pool, h.wish(fmt.Sprint("attempt-", i)))
		var no *pgconn.PgError
		for errors.As(err, &no) && no.Code == "55P03" { // behind the other for too long: the same again goes on with it
			x, err = orders.Extend(t.Context(), h.Pool, h.wish(fmt.Sprint("attempt-", i)))
		}
		if err != nil {
			t.Error(err)
		}
		extended.Add(int32(x.Orders))
	})
	moved := h.Count(t, `SELECT count(*) FROM orders WHERE extension IS NOT NULL`)
	twice := h.Count(t, `SELECT count(*) FROM (SELECT order_id FROM order_changes GROUP BY order_id HAVING count(DISTINCT pay_by) > 2) AS t`)
	most := h.Count(t, `SELECT max(n) FROM (SELECT count(*) AS n FROM order_changes WHERE from_status = 'pending' AND to_status = 'pending' GROUP BY txid) AS t`)
	if int(extended.Load()) != moved || moved < n-paid || moved > n || twice != 0 || most > 200 {
		t.Errorf("%d told, %d moved (of %d, %d paid), %d twice, %d in one transaction; want all pending ones, 0, at most 200",
			extended.Load(), moved, n, paid, twice, most)
	}
}

// What no extension can be, and whose it is not.
func TestExtensionsRefused(t *testing.T) {
	h := open(t, 1)
	h.Order(t, "anna", 1)
	h.extend(t, h.wish("a"), orders.OrdersExtended, 1)
	for want, change := range map[orders.Extending]func(*orders.Extension){
		orders.ExtendNoEvent:   func(e *orders.Extension) { e.Event, e.Attempt = "nowhere", "b" },
		orders.ExtendKeyReused: func(e *orders.Extension) { e.ExtendBy = time.Minute },
		orders.ExtendSenseless: func(e *orders.Extension) { e.ExtendBy = time.Hour + 1 },
	} {
		e := h.wish("a")
		change(&e)
		h.extend(t, e, want, 0)
	}
	long := h.wish("c")
	long.Reason = strings.Repeat("長", 501)
	h.extend(t, long, orders.ExtendSenseless, 0)
}
