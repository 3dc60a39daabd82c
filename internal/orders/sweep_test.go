package orders_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
	"waitroom/internal/support"
)

// books are a provider whose payments come to what a test says.
type books struct {
	counter
	mu        sync.Mutex
	captured  map[string]bool  // by the provider's name
	cancelled map[string][]int // the nth of each cancellation
	looked    map[string]int
	has       map[uuid.UUID]string // what it has of payments that it never answered for
	searched  int
	busy      map[string]int // calls under way on one payment
	most      int            // the most that there were
	during    func(ctx context.Context) (orders.Standing, error)
}

func newBooks() *books {
	return &books{captured: map[string]bool{}, cancelled: map[string][]int{}, looked: map[string]int{}, busy: map[string]int{}}
}

func (b *books) enter(name string) func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy[name]++
	b.most = max(b.most, b.busy[name])
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy[name]--
	}
}

func (b *books) standing(ctx context.Context, name string) (orders.Standing, error) {
	if b.during != nil {
		if is, err := b.during(ctx); err != nil || is.Throttled {
			return is, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.captured[name]:
		return orders.Standing{Says: orders.SaysCaptured, AmountMinor: orderstest.PriceMinor, ProviderAmount: orderstest.PriceMinor, Currency: orderstest.Currency}, nil
	case len(b.cancelled[name]) > 0:
		return orders.Standing{Says: orders.SaysCancelled}, nil
	}
	return orders.Standing{}, nil
}

func (b *books) PaymentStands(ctx context.Context, name string) (orders.Standing, error) {
	defer b.enter(name)()
	b.mu.Lock()
	b.looked[name]++
	b.mu.Unlock()
	return b.standing(ctx, name)
}

func (b *books) FindPayment(_ context.Context, p orders.NewPayment) (orders.AtProvider, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.searched++
	return orders.AtProvider{ProviderPayment: b.has[p.Payment]}, nil
}

func (b *books) CancelPayment(ctx context.Context, name string, nth int) (orders.Standing, error) {
	defer b.enter(name)()
	b.mu.Lock()
	if !b.captured[name] {
		b.cancelled[name] = append(b.cancelled[name], nth)
	}
	b.mu.Unlock()
	return b.standing(ctx, name)
}

func (h *till) sweeper(b orders.Books) *orders.Sweeper {
	return &orders.Sweeper{Pool: h.Pool, Books: b, Name: "stripe", Install: "here", InFlight: 4, Lease: time.Minute}
}

func sweep(t testing.TB, s *orders.Sweeper, want int) {
	t.Helper()
	if n, err := s.Sweep(t.Context()); n != want || err != nil {
		t.Fatalf("%d payments asked about (%v), want %d", n, err, want)
	}
}

// come lets the next look at every payment that waits for one come.
func (h *till) come(t testing.TB) {
	t.Helper()
	_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET look_at = now() WHERE look_at IS NOT NULL`)
	must(t, err)
}

// cart is a pending order with an open payment, and the provider's name of it.
func (h *till) cart(t testing.TB, b *books, holder string) (order uuid.UUID, payment string) {
	t.Helper()
	order = h.Order(t, holder, 1)
	return order, "pi_" + wantOpening(t, h.pays(&b.counter, 4), order, holder, "a", orders.Opened).ID.String()
}

// Payments that may still succeed are cancelled when their order is paid by
// another, is given back or has run out; those of a pending order are let be.
func TestEndedOrdersPaymentsAreCancelled(t *testing.T) {
	h, b := open(t, 4), newBooks()
	paid, twin := h.cart(t, b, "anna")
	given, second := h.cart(t, b, "ben")
	lapsed, third := h.cart(t, b, "cleo")
	_, alive := h.cart(t, b, "dora")
	s := h.sweeper(b)
	h.come(t)
	sweep(t, s, 0) // all are pending, and have time
	h.receive(t, success(paid, "pi_other"), orders.Paid)
	if got, err := orders.Cancel(t.Context(), h.Pool, given, "ben"); err != nil || got != orders.Cancelled {
		t.Fatalf("%s, %v", got, err)
	}
	h.lapse(t, lapsed)
	h.receive(t, says(orders.SaysFailed, given, second, 0), orders.PaymentFailed) // it may still succeed
	sweep(t, s, 2)                                                                // at once, where the end was told of
	h.come(t)
	sweep(t, s, 1)
	h.come(t)
	sweep(t, s, 0)
	for _, name := range []string{twin, second, third} {
		if len(b.cancelled[name]) != 1 {
			t.Errorf("%s was cancelled %d times, want once", name, len(b.cancelled[name]))
		}
	}
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE status = 'cancelled' AND look_at IS NULL`); n != 3 || len(b.cancelled[alive]) != 0 {
		t.Errorf("%d payments are cancelled, the pending order's %d times; want 3 and 0", n, len(b.cancelled[alive]))
	}
}

// An order that ends while the provider is asked to open a payment of it: its
// buyer is told so and gets no page to pay on, and that payment is cancelled at
// once, and not only when the order's time would have been over.
func TestAPaymentThatOpensAfterTheEndIsCancelledAtOnce(t *testing.T) {
	for how, c := range map[string]struct {
		end  func(*testing.T, *till, uuid.UUID)
		told orders.Opening
	}{
		"paid": {func(t *testing.T, h *till, order uuid.UUID) { h.receive(t, success(order, "pi_other"), orders.Paid) }, orders.OrderPaid},
		"cancelled": {func(t *testing.T, h *till, order uuid.UUID) {
			if got, err := orders.Cancel(t.Context(), h.Pool, order, "anna"); err != nil || got != orders.Cancelled {
				t.Fatal(got, err)
			}
		}, orders.OrderEnded},
		"expired": {func(t *testing.T, h *till, order uuid.UUID) { h.lapse(t, order) }, orders.OrderEnded},
	} {
		t.Run(how, func(t *testing.T) {
			h, b := open(t, 1), newBooks()
			order := h.Order(t, "anna", 1)
			b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
				c.end(t, h, order)
				return orders.AtProvider{}, nil
			}
			if payment := wantOpening(t, h.pays(&b.counter, 1), order, "anna", "a", c.told); payment != (orders.Payment{}) {
				t.Errorf("it is told where to pay: %+v", payment)
			}
			sweep(t, h.sweeper(b), 1)
			var name string
			h.Scan(t, `SELECT provider_payment_id FROM payments WHERE attempt = 'a'`, nil, &name)
			if n := len(b.cancelled[name]); n != 1 {
				t.Errorf("the order is %s, its payment cancelled %d times, want once", h.Status(t, order), n)
			}
		})
	}
}

// The end comes between the provider's answer and its record: whichever is
// first, the payment is due at once.
func TestAnEndBesideTheRecordLeavesNoPaymentBehind(t *testing.T) {
	const n = 20
	h, b := open(t, n), newBooks()
	holders := orderstest.Holders(n)
	all := make([]uuid.UUID, n)
	for i, holder := range holders {
		all[i] = h.Order(t, holder, 1)
	}
	p := h.pays(&b.counter, 1)
	for i := range n {
		answered, ended := make(chan struct{}), make(chan struct{})
		b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
			close(answered)
			return orders.AtProvider{}, nil
		}
		go func() {
			defer close(ended)
			<-answered
			got, err := orders.Cancel(t.Context(), h.Pool, all[i], holders[i])
			var no *pgconn.PgError
			for errors.As(err, &no) && no.Code == "55P03" { // behind the record for too long: its buyer presses again
				got, err = orders.Cancel(t.Context(), h.Pool, all[i], holders[i])
			}
			if err != nil || got != orders.Cancelled {
				t.Error(got, err)
			}
		}()
		got, _, err := p.Open(t.Context(), all[i], holders[i], "a")
		if err != nil || got != orders.Opened && got != orders.OrderEnded {
			t.Errorf("opening %q (%v), want opened or ended", got, err)
		}
		<-ended
	}
	if late := h.Count(t, `SELECT count(*) FROM payments WHERE look_at > now()`); late != 0 {
		t.Errorf("%d of %d payments are not due, though their orders have ended", late, n)
	}
}

// The provider took the money and every notice of it was lost: looked at before
// the order's time is over it pays; after that it goes back, or takes the seats
// again where the event wants that. Nothing stays in payment.
func TestMoneyThatNobodyToldOfIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		late   bool
		want   orders.Outcome
		status string
	}{
		"before the end":              {"refund", false, orders.Paid, "paid"},
		"after the end":               {"refund", true, orders.PaidTooLate, "expired"},
		"after the end, seats wanted": {"reclaim", true, orders.Reclaimed, "paid"},
	} {
		t.Run(name, func(t *testing.T) {
			h, b := open(t, 1), newBooks()
			h.Late(t, c.policy)
			order, payment := h.cart(t, b, "anna")
			b.captured[payment] = true
			if c.late {
				h.lapse(t, order)
				_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET ended_at = ended_at - interval '2 minutes'`)
				must(t, err)
			} else {
				_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET pay_by = now() + interval '14 seconds'`)
				must(t, err)
			}
			var seen []orders.Looked
			s := h.sweeper(b)
			s.InFlight, s.Seen = 1, func(l orders.Looked) { seen = append(seen, l) }
			h.come(t)
			sweep(t, s, 1)
			if len(seen) != 1 || seen[0].Outcome != c.want || seen[0].Order != order || h.Status(t, order) != c.status {
				t.Errorf("seen %+v, the order %s; want %s, %s", seen, h.Status(t, order), c.want, c.status)
			}
			h.come(t)
			sweep(t, s, 0)
		})
	}
}

// Where late money may take the seats again, its payment is let be for a while
// after the order's end, and then cancelled too.
func TestWhereSeatsMayBeReclaimedThereIsAGrace(t *testing.T) {
	h, b := open(t, 1), newBooks()
	h.Late(t, "reclaim")
	order, payment := h.cart(t, b, "anna")
	h.lapse(t, order)
	h.come(t)
	sweep(t, h.sweeper(b), 0)
	_, err := h.Pool.Exec(t.Context(), `UPDATE orders SET ended_at = ended_at - interval '2 minutes'`)
	must(t, err)
	h.come(t)
	sweep(t, h.sweeper(b), 1)
	if len(b.cancelled[payment]) != 1 {
		t.Errorf("cancelled %d times, want once", len(b.cancelled[payment]))
	}
}

// An opening whose answer was lost is asked for again with the same words, and
// is the same payment: open while its order is pending, cancelled once it ended.
func TestLostOpeningsAreFoundAgain(t *testing.T) {
	h, b := open(t, 2), newBooks()
	lost := errors.New("connection reset")
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) { return orders.AtProvider{}, lost }
	pending, ended := h.Order(t, "anna", 1), h.Order(t, "ben", 1)
	for order, holder := range map[uuid.UUID]string{pending: "anna", ended: "ben"} {
		if _, _, err := h.pays(&b.counter, 1).Open(t.Context(), order, holder, "a"); !errors.Is(err, lost) {
			t.Fatal(err)
		}
	}
	b.before = nil
	sweep(t, h.sweeper(b), 0) // their own callers may still be at it
	h.lapse(t, ended)
	h.come(t)
	sweep(t, h.sweeper(b), 3) // two found again, and one of them cancelled
	for payment, asked := range b.asked {
		if len(asked) != 2 || asked[0] != asked[1] {
			t.Errorf("payment %s was asked for as %+v", payment, asked)
		}
	}
	var standing string
	h.Scan(t, `SELECT string_agg(status || ' ' || (looking_until IS NULL), ', ' ORDER BY status) FROM payments`, nil, &standing)
	if want := "cancelled false, open true"; standing != want || len(b.asked) != 2 {
		t.Errorf("payments stand %q, %d at the provider; want %q and 2", standing, len(b.asked), want)
	}
}

// What the provider does not say is asked less and less often, ten times after
// the order's end, and then a person's; the order's own end is held up by none of
// it. Should the money be told of after all, it counts.
func TestUnknownPaymentsBecomeAPersons(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order, payment := h.cart(t, b, "anna")
	h.lapse(t, order)
	lost := errors.New("connection reset")
	b.during = func(context.Context) (orders.Standing, error) { return orders.Standing{}, lost }
	s := h.sweeper(b)
	var waits []int
	for range 10 {
		h.come(t)
		if n, err := s.Sweep(t.Context()); n != 1 || !errors.Is(err, lost) {
			t.Fatalf("%d asked, %v", n, err)
		}
		waits = append(waits, h.Count(t, `SELECT round(extract(epoch FROM look_at - now()))::int FROM payments`))
	}
	for i, want := range []int{10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800} {
		if waits[i] < want-5 || waits[i] > want {
			t.Errorf("waits %v s, want the %d. to be %d", waits, i+1, want)
		}
	}
	if open, oldest, unknown, err := orders.PastEnd(t.Context(), h.Pool); open != 1 || oldest <= 0 || unknown != 0 || err != nil {
		t.Errorf("past the end: %d, oldest %s, unknown %d, %v", open, oldest, unknown, err)
	}
	h.come(t)
	sweep(t, s, 1)
	h.come(t)
	sweep(t, s, 0)
	if open, _, unknown, err := orders.PastEnd(t.Context(), h.Pool); open != 0 || unknown != 1 || err != nil {
		t.Errorf("past the end: %d, unknown %d, %v; want 0 and 1", open, unknown, err)
	}
	var nth []int
	nth = append(nth, b.cancelled[payment]...)
	for i := 1; i < len(nth); i++ {
		if nth[i] <= nth[i-1] {
			t.Errorf("cancellations are named %v: two would get one answer", nth)
		}
	}
	h.receive(t, success(order, payment), orders.PaidTooLate)
}

// What a person was asked about a payment of which nobody could say what became
// is answered once that is known, whoever tells: the item resolves itself, and
// says so in its history. A try that failed settles nothing.
func TestAPaymentThatIsFoundOutIsNobodysQuestionAnyMore(t *testing.T) {
	for what, c := range map[string]struct {
		says orders.Says
		want orders.Outcome
		open int
	}{
		"captured after all": {orders.SaysCaptured, orders.PaidTooLate, 0},
		"cancelled":          {orders.SaysCancelled, orders.PaymentCancelled, 0},
		"failed once":        {orders.SaysFailed, orders.PaymentFailed, 1},
	} {
		t.Run(what, func(t *testing.T) {
			h, b := open(t, 1), newBooks()
			order, payment := h.cart(t, b, "anna")
			h.lapse(t, order)
			_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET unknowns = 10, look_at = now()`)
			must(t, err)
			sweep(t, h.sweeper(b), 1)
			const asked = `SELECT count(*) FROM human_list WHERE kind = 'payment_unknown' AND resolved_at IS NULL`
			if n := h.Count(t, asked); n != 1 {
				t.Fatalf("%d before a person, want 1", n)
			}
			n := says(c.says, order, payment, orderstest.PriceMinor)
			for range 2 {
				h.receive(t, n, c.want)
			}
			if n := h.Count(t, asked); n != c.open {
				t.Errorf("%d before a person, want %d", n, c.open)
			}
			if n := h.Count(t, `SELECT count(*) FROM human_notes WHERE did = 'resolved'`); n != 1-c.open {
				t.Errorf("resolved %d times in the history, want %d", n, 1-c.open)
			}
		})
	}
}

// whileHeld is how many connections of the pool stay taken: one that is given
// back is on its way for a moment.
func whileHeld(ctx context.Context, pool *pgxpool.Pool) (used int32) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		if used = pool.Stat().AcquiredConns(); used == 0 {
			return 0
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return used
		}
	}
}

// Nobody could say what became of an opening; a person has the provider asked anew, and
// it has no such payment. That is an answer, and the question is over.
func TestAPaymentThatTheProviderDoesNotHaveIsNobodysQuestionAnyMore(t *testing.T) {
	h, b := open(t, 1), newBooks()
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{}, context.DeadlineExceeded
	}
	order := h.Order(t, "anna", 1)
	if _, _, err := h.pays(&b.counter, 4).Open(t.Context(), order, "anna", "a"); err == nil {
		t.Fatal("an answer")
	}
	h.lapse(t, order)
	_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET created_at = now() - interval '24 hours', look_at = now()`)
	must(t, err)
	s := h.sweeper(b)
	_, err = s.Sweep(t.Context())
	must(t, err)
	var item int64
	h.Scan(t, `SELECT id FROM human_list WHERE kind = 'payment_unknown' AND resolved_at IS NULL`, nil, &item)
	v, err := support.Act(t.Context(), h.Pool, support.Deed{Item: item, By: "kim", Do: support.LookAgain, Why: "it answers again"})
	if err != nil || v != support.Done {
		t.Fatalf("%s (%v)", v, err)
	}
	for range 2 { // asked again, and searched for
		_, err = h.Pool.Exec(t.Context(), `UPDATE payments SET look_at = now() WHERE look_at IS NOT NULL`)
		must(t, err)
		_, err = s.Sweep(t.Context())
		must(t, err)
	}
	if open := h.Count(t, `SELECT count(*) FROM human_list WHERE resolved_at IS NULL`); open != 0 || h.Count(t, `SELECT count(*) FROM payments WHERE status = 'failed'`) != 1 {
		t.Errorf("%d items are open; want none, and the payment failed", open)
	}
}

// Two processes at work on many payments: each is asked about once, never by two
// at a time, and no connection is held while the provider is asked.
func TestOneAsksAboutAPaymentAtATime(t *testing.T) {
	const n = 40
	h, b := open(t, n), newBooks()
	var all []uuid.UUID
	for _, holder := range orderstest.Holders(n) {
		order, _ := h.cart(t, b, holder)
		all = append(all, order)
	}
	h.Lapse(t, all...)
	h.expire(t, n)
	h.come(t)
	own := pgtest.Open(t, h.Pool.Config().ConnString(), pgtest.Conns(8))
	var gate, looked sync.WaitGroup
	looked.Add(8)
	gate.Add(8) // all workers of both are with the provider at once
	var first, held atomic.Int32
	b.during = func(ctx context.Context) (orders.Standing, error) {
		if first.Add(1) <= 8 {
			gate.Done()
			gate.Wait()
			held.Add(whileHeld(ctx, own))
			looked.Done()
			looked.Wait()
		}
		return orders.Standing{}, nil
	}
	var asked atomic.Int32
	together(2, func(int) {
		s := h.sweeper(b)
		s.Pool = own
		got, err := s.Sweep(t.Context())
		if err != nil {
			t.Error(err)
		}
		asked.Add(int32(got))
	})
	if held.Load() != 0 {
		t.Errorf("%d connections are held while the provider is asked", held.Load())
	}
	if asked.Load() != n || len(b.cancelled) != n || b.most != 1 {
		t.Errorf("asked %d times about %d payments, %d at once about one; want %d, %d, 1", asked.Load(), len(b.cancelled), b.most, n, n)
	}
}

// Whoever dies while asking keeps the payment from the others until its lease is
// over, also when the order's end wants a look meanwhile.
func TestALeaseOutlastsOnlyItsTime(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order, payment := h.cart(t, b, "anna")
	_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET looking_until = now() + interval '1 minute', looks = looks + 1`)
	must(t, err) // as if somebody had taken it up, and died
	if got, err := orders.Cancel(t.Context(), h.Pool, order, "anna"); err != nil || got != orders.Cancelled {
		t.Fatalf("%s, %v", got, err)
	}
	sweep(t, h.sweeper(b), 0)
	_, err = h.Pool.Exec(t.Context(), `UPDATE payments SET looking_until = now()`)
	must(t, err)
	sweep(t, h.sweeper(b), 1)
	if len(b.cancelled[payment]) != 1 {
		t.Errorf("cancelled %d times, want once", len(b.cancelled[payment]))
	}
}

// Without a share of the provider's calls nothing is asked, and it does not count
// as an answer that settled nothing.
func TestASweepKeepsToItsShare(t *testing.T) {
	h, b := open(t, 3), newBooks()
	var all []uuid.UUID
	for i := range 3 {
		order, _ := h.cart(t, b, fmt.Sprint("holder-", i))
		all = append(all, order)
	}
	h.Lapse(t, all...)
	h.expire(t, 3)
	h.come(t)
	b.during = func(context.Context) (orders.Standing, error) { return orders.Standing{Throttled: true}, nil }
	s := h.sweeper(b)
	s.InFlight = 1
	sweep(t, s, 0)
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE looks = 1 AND unknowns = 0 AND looking_until IS NULL AND look_at > now()`); n != 1 {
		t.Errorf("%d payments were put back, want 1, and the others left alone", n)
	}
}

// An opening that will never be answered is searched for. What the provider has of
// it is cancelled, and money that it took pays; what is not there is let go once
// the provider's search has settled, and not before.
func TestWhatWillNeverBeAnsweredIsSearchedFor(t *testing.T) {
	for _, c := range []struct {
		what    string
		there   bool
		paid    bool
		minutes int // since it was opened
		status  string
		order   string
	}{
		{"not there, or not yet", false, false, 2, "opening", "pending"},
		{"not there", false, false, 11, "failed", "pending"},
		{"there", true, false, 2, "cancelled", "pending"},
		{"there, and paid", true, true, 2, "captured", "paid"},
	} {
		t.Run(c.what, func(t *testing.T) {
			h, b := open(t, 1), newBooks()
			b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
				return orders.AtProvider{Kept: true}, nil
			}
			order := h.Order(t, "anna", 1)
			p := h.pays(&b.counter, 4)
			wantOpening(t, p, order, "anna", "a", orders.Refused)
			wantOpening(t, p, order, "anna", "a", orders.Refused)
			if n := b.asks(); n != 1 {
				t.Errorf("the provider was asked %d times, want once: it has no other answer", n)
			}
			var id uuid.UUID
			h.Scan(t, `SELECT id FROM payments`, nil, &id)
			if c.there {
				b.has = map[uuid.UUID]string{id: "pi_lost"}
			}
			b.captured["pi_lost"] = c.paid
			_, err := h.Pool.Exec(t.Context(), `UPDATE payments SET look_at = now(), created_at = now() - make_interval(mins => $1)`, c.minutes)
			must(t, err)
			sweep(t, h.sweeper(b), 1)
			var status string
			h.Scan(t, `SELECT status FROM payments`, nil, &status)
			if status != c.status || h.Status(t, order) != c.order || b.searched != 1 {
				t.Errorf("the payment is %s, its order %s, after %d searches; want %s, %s, 1", status, h.Status(t, order), b.searched, c.status, c.order)
			}
			if n := h.Count(t, `SELECT count(*) FROM payments WHERE looking_until IS NOT NULL AND look_at IS NOT NULL`); n != 0 {
				t.Error("its turn is not over")
			}
		})
	}
}

// The buyer never asked again: the sweeper's own asking finds out that there will
// be no answer, and the payment makes room at once.
func TestTheSweeperFindsOutThatThereIsNoAnswer(t *testing.T) {
	h, b := open(t, 1), newBooks()
	order := h.Order(t, "anna", 1)
	p := h.pays(&b.counter, 4)
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{}, errors.New("500")
	}
	for _, attempt := range []string{"a", "b", "c"} {
		if _, _, err := p.Open(t.Context(), order, "anna", attempt); err == nil {
			t.Fatal("an answer")
		}
	}
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{UnderWay: true}, nil
	}
	wantOpening(t, p, order, "anna", "a", orders.Busy)
	wantOpening(t, p, order, "anna", "d", orders.TooManyOpen)
	b.before = func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		return orders.AtProvider{Kept: true}, nil
	}
	h.come(t)
	_, err := h.sweeper(b).Sweep(t.Context())
	must(t, err)
	if n := h.Count(t, `SELECT count(*) FROM payments WHERE lost_at IS NOT NULL`); n != 3 {
		t.Errorf("%d payments are known to be without an answer, want 3", n)
	}
	if n, err := orders.EndedPayments(t.Context(), h.Pool, order); n != 3 || err != nil {
		t.Errorf("%d payments the order will not be paid by (%v), want 3: the next has a name of its own", n, err)
	}
	b.before = nil
	wantOpening(t, p, order, "anna", "d", orders.Opened)
}
