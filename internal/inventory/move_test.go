package inventory

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pgtest"
)

// A withdrawn seat is sold to nobody: a free one and one that is held back at
// once, one in a cart when it comes back; a sold one is refused. Nothing but
// Restore puts it back.
func TestAWithdrawnSeatIsSoldToNobody(t *testing.T) {
	s := openSale(t, pgtest.New(t), 8, 0, "")
	s.exec(`UPDATE seats SET held_back = true WHERE event_id = $1 AND pos = 1`, s.event)
	c := s.claimer(usual)
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("cart", "k", s.seats[2])), c.Claim(t.Context(), s.attempt("paid", "k", s.seats[3]))}, map[string]int{"claimed": 2})
	s.pay("paid")
	by := Asker{By: "desk", Organiser: "house", Attempt: "w1"}
	for range 2 { // asked again it is answered the same
		w, err := Withdraw(t.Context(), s.pool, by, s.event, []string{"seat-0", "seat-1", "seat-2", "seat-3", "seat-99"})
		if got := fmt.Sprint(w); err != nil || got != "{[seat-0 seat-1] [seat-2] [seat-3] [seat-99]}" {
			t.Errorf("%s, %v", got, err)
		}
	}
	if _, err := Withdraw(t.Context(), s.pool, Asker{Organiser: "house", Attempt: "w1", Request: [32]byte{1}}, s.event, []string{"seat-5"}); err == nil {
		t.Error("the name of another wish was taken")
	}
	if n, err := FreeHeld(t.Context(), s.pool, s.event, 10); n != 0 || err != nil {
		t.Errorf("%d withdrawn seats were freed (%v)", n, err)
	}
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k", s.seats[0])), c.Claim(t.Context(), s.attempt("b", "k", s.seats[1]))}, map[string]int{"taken": 2})
	s.lapse("cart")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("c", "k", s.seats[2])), c.Claim(t.Context(), s.attempt("d", "k", s.seats[4], s.seats[2]))}, map[string]int{"taken": 2})
	if w, err := Withdrawn(t.Context(), s.pool, s.event); err != nil || len(w.Off) != 3 || len(w.InCart)+len(w.Sold) != 0 {
		t.Errorf("withdrawn %+v, %v; want three that are off", w, err)
	}
	if back, err := Restore(t.Context(), s.pool, Asker{}, s.event, []string{"seat-0", "seat-4"}); err != nil || fmt.Sprint(back) != "[seat-0]" {
		t.Errorf("restored %v, %v", back, err)
	}
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("e", "k", s.seats[0]))}, map[string]int{"claimed": 1})
}

// Somebody claims a seat while it is withdrawn: it is in a cart, which nobody has
// paid for, and off once it comes back.
func TestASeatIsWithdrawnWhileItIsClaimed(t *testing.T) {
	s := openSale(t, pgtest.New(t), 2, 0, "")
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it is committed by then
	// The statements of claim, the last one's commit apart.
	var b pgx.Batch
	var won []int
	carts := []*asked{s.inHand(s.attempt("cart", "k", s.seats[0]), new(Answer))}
	makeAccounts(&b, carts)
	lockAccounts(&b, carts, nil)
	grant(&b, carts, &won)
	if err := tx.SendBatch(t.Context(), &b).Close(); err != nil || len(won) != 1 {
		t.Fatalf("%d claimed, %v", len(won), err)
	}
	told := make(chan string, 1)
	go func() {
		w, err := Withdraw(t.Context(), s.pool, Asker{By: "desk"}, s.event, []string{"seat-0"})
		told <- fmt.Sprint(w, err)
	}()
	s.until("the withdrawal waits for the claim", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`, 1)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "{[] [seat-0] [] []} <nil>" {
		t.Errorf("withdrawn: %s, want it in a cart", got)
	}
	s.lapse("cart")
	wantTally(t, []Answer{s.claimer(usual).Claim(t.Context(), s.attempt("next", "k", s.seats[0]))}, map[string]int{"taken": 1})
}

// A paid order's seat is exchanged for one that costs as much or more, and for no
// other; the price stays, the order and its organiser are told, and what it left
// is free, or off where it is withdrawn.
func TestASeatIsMoved(t *testing.T) {
	s := openSale(t, pgtest.New(t), 8, 1, "")
	c := s.claimer(usual)
	a := c.Claim(t.Context(), s.attempt("a", "k", s.seats[0], s.seats[1]))
	b := c.Claim(t.Context(), s.attempt("b", "k", s.seats[2]))
	s.pay("a")
	move := func(order uuid.UUID, from, to string) Move {
		t.Helper()
		m, err := MoveSeat(t.Context(), s.pool, Asker{By: "desk"}, s.event, order, from, to)
		if err != nil {
			t.Error(err)
		}
		return m
	}
	s.exec(`UPDATE seats SET withdrawn_at = now() WHERE event_id = $1 AND pos = 1`, s.event)
	s.exec(`UPDATE seats SET held_back = true WHERE event_id = $1 AND pos = 6`, s.event)
	for _, m := range []struct {
		order    uuid.UUID
		from, to string
		want     Moving
	}{
		{uuid.New(), "seat-0", "seat-5", MoveNoOrder},
		{b.Order, "seat-2", "seat-5", MoveNotPaid},
		{a.Order, "seat-2", "seat-5", MoveNoLine},
		{a.Order, "seat-0", "seat-77", MoveNoSeat},
		{a.Order, "seat-0", "seat-2", MoveTaken},
		{a.Order, "seat-0", "seat-0", MoveTaken},
		{a.Order, "seat-0", "seat-8", MoveCheaper},
		{a.Order, "seat-0", "seat-5", SeatMoved},
		{a.Order, "seat-1", "seat-6", SeatMoved},
		{a.Order, "seat-5", "seat-0", SeatMoved},
	} {
		if got := move(m.order, m.from, m.to); got.Moving != m.want {
			t.Errorf("%s to %s: %s, want %s", m.from, m.to, got.Moving, m.want)
		}
	}
	o, _, err := FindOrder(t.Context(), s.pool, a.Order)
	if err != nil || o.Version != 5 || o.AmountMinor != 10000 || fmt.Sprint(s.positions(a)) != "[0 6]" || o.Seats[0].AmountMinor != 5000 {
		t.Errorf("%+v, %v; want seats 0 and 6 of 10000 in version 5", o, err)
	}
	if n := s.count(`SELECT count(*) FROM notices WHERE subject = $1 AND kind = 'order.moved'`, a.Order.String()); n != 3 {
		t.Errorf("%d moves were told, want 3", n)
	}
	if n := s.count(`SELECT count(*) FROM notices WHERE subject = $1 AND kind = 'tickets.returned'`, a.Order.String()); n != 2 {
		t.Errorf("%d returns were told, want 2: the third seat is withdrawn", n)
	}
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("c", "k", s.seats[5])), c.Claim(t.Context(), s.attempt("d", "k", s.seats[1]))},
		map[string]int{"claimed": 1, "taken": 1})
}

// Two who move to the same seat, with a claim for it: one has it.
func TestOneSeatIsMovedToOnce(t *testing.T) {
	s := openSale(t, patientPool(t, 12), 8, 0, "")
	c := s.claimer(usual)
	var orders []uuid.UUID
	for i := range 4 {
		orders = append(orders, c.Claim(t.Context(), s.attempt(fan(i), "k", s.seats[i])).Order)
	}
	s.pay("%")
	moved := make([]Move, 4)
	var all sync.WaitGroup
	for i := range moved {
		all.Go(func() {
			var err error
			if moved[i], err = MoveSeat(t.Context(), s.pool, Asker{By: "desk"}, s.event, orders[i], fmt.Sprint("seat-", i), "seat-7"); err != nil {
				t.Error(err)
			}
		})
	}
	claimed := c.Claim(t.Context(), s.attempt("z", "k", s.seats[7]))
	all.Wait()
	have := 0
	for _, m := range moved {
		if m.Moving == SeatMoved {
			have++
		}
	}
	if claimed.Outcome == Claimed {
		have++
	}
	if have != 1 {
		t.Errorf("%d have the seat (%v, claim %s), want 1", have, moved, claimed.Outcome)
	}
}
