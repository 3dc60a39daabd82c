package daemon_test

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
	"waitroom/internal/stack"
)

// cable is a way to a server that can be cut, with all that goes over it, and
// joined again.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l, to: to}
	t.Cleanup(func() { l.Close(); c.sever(true) }) //nolint:errcheck // nothing is left to do
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			c.join(in)
		}
	}()
	return c
}

func (c *cable) join(in net.Conn) {
	out, err := net.Dial("tcp", c.to)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.cut {
		in.Close() //nolint:errcheck // it is cut
		if err == nil {
			out.Close() //nolint:errcheck // it is cut
		}
		return
	}
	c.conns = append(c.conns, in, out)
	go func() { io.Copy(out, in); out.Close() }() //nolint:errcheck // whoever is at the ends notices
	go func() { io.Copy(in, out); in.Close() }()  //nolint:errcheck // whoever is at the ends notices
}

func (c *cable) sever(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut = cut; cut {
		for _, conn := range c.conns {
			conn.Close() //nolint:errcheck // that is what is wanted
		}
		c.conns = nil
	}
}

// ask asks for the refund of an order's one line.
func (l *till) ask(order uuid.UUID) {
	l.t.Helper()
	r := refunds.Requesting{
		Install: "here", Order: order, By: "desk",
		ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil },
	}
	l.Scan(l.t, `SELECT seat_id FROM order_lines WHERE order_id = $1`, []any{order}, &r.Seat)
	err := pg.InTx(l.t.Context(), l.Pool, func(tx pgx.Tx) error { _, _, err := refunds.Request(l.t.Context(), tx, r); return err })
	if err != nil {
		l.t.Fatal(err)
	}
}

// NATS is away: orders are paid by the provider's notices, lapsed ones end and
// give their seats back, and refunds are made and give theirs back, as ever. The
// hints of it wait in the outbox, and go out when NATS is there again.
func TestMoneyGoesOnWithoutNATS(t *testing.T) {
	nats, err := stack.NATS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nats.Stop() })
	way := newCable(t, strings.TrimPrefix(nats.URL, "nats://"))
	var mu sync.Mutex
	heard := map[int64]int{}
	ears, err := notice.Connect(nats.URL, "test", slog.New(slog.DiscardHandler)) // it hears whatever gets through
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ears.Close)
	if _, err := notice.Listen(ears, ">", func(h notice.Hint) { mu.Lock(); heard[h.ID]++; mu.Unlock() }); err != nil {
		t.Fatal(err)
	}
	if err := ears.FlushTimeout(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	hints := func() int { mu.Lock(); defer mu.Unlock(); return len(heard) }

	s := openShop(t, 4, payprov.Config{})
	expirer := startExpirer(t, s.db, "nats://"+way.Addr().String())
	l := &till{Hall: s.Hall, t: t, db: s.db, provider: s.provider, url: s.config.ProviderURL}
	outlet := l.config()
	outlet.AccountRate = s.config.AccountRate // one account, as both were told
	l.refunder(outlet)
	carts := []cart{s.cart("anna's secret"), s.cart("ben's secret"), s.cart("cleo's secret")}
	var pages []string
	for _, c := range carts[:2] {
		pages = append(pages, s.open(c.order, c.ticket, "a").body.Payment.CheckoutURL)
	}
	s.decide(pages[0], "pay")
	s.settled(carts[0].order, "paid")
	within(t, 20*time.Second, "a hint while NATS is there", func() bool { return hints() == 1 })

	way.sever(true)
	s.decide(pages[1], "pay")
	s.settled(carts[1].order, "paid")
	s.Lapse(t, carts[2].order)
	within(t, 20*time.Second, "the lapsed order has ended", func() bool { return s.Status(t, carts[2].order) == "expired" })
	l.ask(carts[0].order)
	l.all(refunds.Confirmed)
	if free := s.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NULL`); free != 3 {
		t.Errorf("%d of 4 seats are free, want all but ben's", free)
	}
	metric(t, expirer.ops, "waitroom_notices_unaddressed 0")
	if n := hints(); n != 1 {
		t.Errorf("%d hints went out, with the way to NATS cut", n)
	}
	waiting := s.Count(t, `SELECT count(*) FROM notices WHERE relayed_at IS NULL`)
	if all := s.Count(t, `SELECT count(*) FROM notices`); waiting != all-1 || waiting < 6 {
		t.Errorf("%d of %d notices wait, want all but the first", waiting, all)
	}

	way.sever(false)
	within(t, time.Minute, "every hint has gone out", func() bool {
		return hints() == 1+waiting && s.Count(t, `SELECT count(*) FROM notices WHERE relayed_at IS NULL`) == 0
	})
}
