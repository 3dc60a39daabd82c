package inventory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// An attempt that Postgres cannot take fails alone.
func TestAPoisonedAttemptFailsAlone(t *testing.T) {
	s := openSale(t, pgtest.New(t), 20, 0, "")
	batch, answers := make([]*asked, 20), make([]Answer, 20)
	for i := range batch {
		a := s.attempt(fmt.Sprint("fan-", i), "k", s.seats[i])
		if i == 13 {
			a.Holder = "a\x00b" // Validate refuses it; whatever it forgets to refuse ends like this
		}
		batch[i] = s.inHand(a, &answers[i])
	}
	NewClaimer(s.pool, usual, logOf(t), noMetrics()).serve(t.Context(), batch)
	wantTally(t, answers, map[string]int{"claimed": 19, "failed": 1})
	if answers[13].Outcome != Failed {
		t.Errorf("the poisoned attempt: %s, want failed", answers[13].Outcome)
	}
}

// An account that somebody sits on keeps no other account waiting for good.
func TestAStuckAccountIsBusyAlone(t *testing.T) {
	s := openSale(t, pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 8, Lock: 20 * time.Millisecond})), 8, 0, "")
	batch, answers := make([]*asked, 8), make([]Answer, 8)
	for i := range batch {
		batch[i] = s.inHand(s.attempt(fmt.Sprint("fan-", i), "k", s.seats[i]), &answers[i])
	}
	s.exec(`INSERT INTO buyers (event_id, account, seat_limit) VALUES ($1, 'fan-3', 4)`, s.event)
	stuck, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Rollback(t.Context())
	if _, err := stuck.Exec(t.Context(), `SELECT FROM buyers FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	NewClaimer(s.pool, usual, logOf(t), noMetrics()).serve(t.Context(), batch)
	wantTally(t, answers, map[string]int{"claimed": 7, "busy": 1})
	if answers[3].Outcome != Busy {
		t.Errorf("the stuck account: %s, want busy", answers[3].Outcome)
	}
}

// An attempt that nobody waits for any more costs nothing.
func TestLateAttemptsAreDropped(t *testing.T) {
	s := openSale(t, pgtest.New(t), 1, 0, "")
	var answer Answer
	late := s.inHand(s.attempt("a", "k", s.seats[0]), &answer)
	late.until = time.Now().Add(-time.Millisecond)
	c := NewClaimer(s.pool, usual, logOf(t), noMetrics())
	c.serve(t.Context(), []*asked{late})
	if n := s.count(`SELECT count(*) FROM buyers`); answer.Outcome != Busy || n != 0 || counterOf(t, c.meter.late) != 1 {
		t.Errorf("%s, %d accounts, %v late; want busy, 0 and 1", answer.Outcome, n, counterOf(t, c.meter.late))
	}
}

// A full queue says so at once, and a stopped claimer answers what it has.
func TestAFullQueueIsBusy(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	c := NewClaimer(s.pool, Sizes{Queue: 3, Workers: 1, Batch: 2}, logOf(t), noMetrics())
	answers := make(chan Answer, 5)
	for i := range 5 {
		a := s.attempt(fmt.Sprint("fan-", i), "k", s.seats[i%4])
		c.Submit(a, time.Now().Add(time.Minute), func(a Answer) { answers <- a })
	}
	c.Stop()
	c.Run(t.Context())
	close(answers)
	var all []Answer
	for a := range answers {
		all = append(all, a)
	}
	wantTally(t, all, map[string]int{"claimed": 3, "busy": 2})
}

// A connection that is lost while it commits leaves no doubt: the claim is
// found out, and is one order.
func TestALostCommitIsResolved(t *testing.T) {
	for name, cut := range map[string]cut{"after the commit": cutAfter, "before it arrived": cutBefore} {
		t.Run(name, func(t *testing.T) {
			s, proxy, c := behindProxy(t)
			proxy.next.Store(int32(cut))
			answer := c.Claim(t.Context(), s.attempt("a", "k", s.seats[1:3]...))
			if proxy.next.Load() != int32(cutNothing) || faults(t, c, "silent") != 1 {
				t.Fatalf("nothing was cut: the test tested nothing")
			}
			wantTally(t, []Answer{answer}, map[string]int{"claimed": 1})
			if n := s.count(`SELECT count(*) FROM orders WHERE account = 'a' AND id = $1`, answer.Order); n != 1 {
				t.Errorf("%d such orders, want 1", n)
			}
		})
	}
}

// A claim that is still at work when its connection is lost is ended, not
// raced.
func TestALostClaimDoesNotActLater(t *testing.T) {
	s, proxy, c := behindProxy(t)
	lost := s.count(`SELECT pid FROM pg_stat_activity WHERE application_name = 'cut' AND datname = current_database()`)
	s.exec(`INSERT INTO buyers (event_id, account, seat_limit) VALUES ($1, 'a', 4)`, s.event)
	holder, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback(t.Context())
	if _, err := holder.Exec(t.Context(), `SELECT FROM buyers WHERE account = 'a' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	proxy.next.Store(int32(cutDuring))
	told := make(chan Answer, 1)
	go func() { told <- c.Claim(t.Context(), s.attempt("a", "k", s.seats[1])) }()
	s.until("the claim's successor waits for the account", `SELECT count(*) FROM pg_stat_activity
		WHERE application_name = 'cut' AND datname = current_database() AND wait_event_type = 'Lock' AND pid <> $1`, 1, lost)
	if n := s.count(`SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, lost); n != 0 {
		t.Error("the lost session is still at work")
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantTally(t, []Answer{<-told}, map[string]int{"claimed": 1})
	if n := s.count(`SELECT count(*) FROM orders WHERE account = 'a'`); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

// Where the truth cannot be had the answer is unknown; asked again with the
// same key, it is had.
func TestAnUnknownClaimIsWhole(t *testing.T) {
	s, proxy, c := behindProxy(t)
	proxy.down.Store(true) // no new connections
	proxy.next.Store(int32(cutAfter))
	a := s.attempt("a", "k", s.seats[1:3]...)
	wantTally(t, []Answer{c.Claim(t.Context(), a), c.Claim(t.Context(), s.attempt("b", "k", s.seats[3]))},
		map[string]int{"unknown": 1, "busy": 1})
	proxy.down.Store(false)
	answer := c.Claim(t.Context(), a)
	if n := s.count(`SELECT count(*) FROM orders WHERE account = 'a' AND id = $1`, answer.Order); answer.Outcome != Already || n != 1 {
		t.Errorf("asked again: %s, %d orders; want already and 1", answer.Outcome, n)
	}
}

// behindProxy is a claimer whose connections can be cut. It has claimed once,
// so that the next claim is nothing but its statements.
func behindProxy(t *testing.T) (*sale, *proxy, *Claimer) {
	url := pgtest.URL(t)
	direct, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, fmt.Sprintf("%s/.s.PGSQL.%d", direct.Host, direct.Port))
	pool, err := pg.Open(t.Context(), fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", direct.User, p.addr, direct.Database), "cut", pg.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := openSale(t, pgtest.Open(t, url), 8, 0, "")
	c := runClaimer(t, pool, Sizes{Queue: 10, Workers: 1, Batch: 10})
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("first", "k", s.seats[0]))}, map[string]int{"claimed": 1})
	onlyOne(t, pool)
	return s, p, c
}

// onlyOne checks that the next claim goes over the connection of the last.
func onlyOne(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if n := pool.Stat().TotalConns(); n != 1 {
		t.Fatalf("%d connections, want 1", n)
	}
}

// cut is what happens to the next batch of statements.
type cut int32

const (
	cutNothing cut = iota
	cutBefore      // it does not arrive
	cutDuring      // it arrives, and the connection is lost
	cutAfter       // it is done, and the answer is lost
)

// proxy stands between a pool and Postgres.
type proxy struct {
	addr   string
	socket string
	next   atomic.Int32
	down   atomic.Bool
}

func newProxy(t *testing.T, socket string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), socket: socket}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if p.down.Load() {
				client.Close()
				continue
			}
			go p.carry(ctx, client)
		}
	}()
	return p
}

func (p *proxy) carry(ctx context.Context, client net.Conn) {
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		client.Close()
		return
	}
	both := func() { client.Close(); server.Close() }
	stop := context.AfterFunc(ctx, both)
	defer stop()
	defer both()
	var lost atomic.Bool
	go func() {
		defer both()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if lost.Load() {
				if bytes.HasSuffix(buf[:n], []byte("Z\x00\x00\x00\x05I")) { // ready for the next query
					return
				}
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		what := cutNothing
		if bytes.HasSuffix(buf[:n], []byte("S\x00\x00\x00\x04")) { // the end of a batch
			what = cut(p.next.Swap(int32(cutNothing)))
		}
		if what == cutBefore {
			return
		}
		lost.Store(what == cutAfter)
		if _, err := io.Copy(server, bytes.NewReader(buf[:n])); err != nil || what == cutDuring {
			return
		}
	}
}
