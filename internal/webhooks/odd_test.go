package webhooks

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// raw answers every connection with these bytes, and keeps it open.
func raw(t *testing.T, answer string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() { close(over); l.Close() }) //nolint:errcheck // the test is over
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()              //nolint:errcheck // the test is over
				conn.Read(make([]byte, 64<<10)) //nolint:errcheck // whatever it says
				io.WriteString(conn, answer)    //nolint:errcheck // nobody may be there
				<-over
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// A receiver may answer what it likes: a send ends in time, and its end can be
// written down as a failure of that receiver.
func TestNoAnswerHoldsASendForEver(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour",
		"HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 1000 What\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 000 What\r\nContent-Length: 0\r\n\r\n",
		"SSH-2.0-x\r\n",
	} {
		t.Run(fmt.Sprintf("%.16s", answer), func(t *testing.T) {
			d := openDepot(t)
			d.endpoint("odd", raw(t, answer), "")
			d.tell(1)
			c := d.courier("c")
			c.Client = NewClient(Reach{Limit: 300 * time.Millisecond, Loopback: true})
			errands, err := c.take(t.Context(), 1)
			if err != nil || len(errands) != 1 {
				t.Fatal(err, len(errands))
			}
			ended := make(chan Outcome, 1)
			go func() { ended <- c.Client.send(context.WithoutCancel(t.Context()), errands[0]) }()
			select {
			case o := <-ended:
				s, err := c.settle(t.Context(), errands[0], o)
				if err != nil || s.Ended == LeaseLost || s.Ended == Delivered && o.Status != 200 {
					t.Errorf("%+v is written down as %+v, %v", o, s, err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("a send of 300 ms has not ended after 30 s")
			}
		})
	}
}

// One endpoint whose row somebody holds is not in the way of the others' lost
// attempts.
func TestOneHeldRowStopsNoSweep(t *testing.T) {
	d := openDepot(t)
	d.endpoint("held", "http://127.0.0.1:1/", "")
	d.endpoint("other", "http://127.0.0.1:1/", "")
	d.tell(1)
	c := d.courier("c")
	if errands, err := c.take(t.Context(), 10); err != nil || len(errands) != 2 {
		t.Fatal(err, len(errands))
	}
	d.exec(`UPDATE deliveries SET leased_until = now() - CASE endpoint_id WHEN 'held' THEN interval '2 s' ELSE interval '1 s' END`)
	err := pg.InTx(t.Context(), d.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT FROM endpoints WHERE id = 'held' FOR NO KEY UPDATE`); err != nil {
			return err
		}
		if s, err := c.Sweep(t.Context()); err != nil || s.Lost != 1 {
			t.Errorf("%+v, %v; want one written off, and the other left for the next sweep", s, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An organiser reads nothing of our networks in what went wrong.
func TestErrorsNameNoneOfOurAddresses(t *testing.T) {
	nobody, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := nobody.LocalAddr().String()
	nobody.Close() //nolint:errcheck // nobody is there from now on
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", at)
	}}
	key := [][]byte{make([]byte, 32)}
	for url, c := range map[string]*Client{
		"https://hooks.example.com/x": NewClient(Reach{Limit: 10 * time.Second, Resolver: resolver}),
		"http://localhost:1/x":        NewClient(Reach{Limit: 10 * time.Second, Loopback: true}),
		"https://127.0.0.2/x":         NewClient(Reach{Limit: 10 * time.Second}),
	} {
		o := c.send(t.Context(), Errand{URL: url, Keys: key, Message: Message{ID: 1, Body: []byte("{}")}})
		if o.Error == "" || strings.Contains(o.Error, "127.0.0.1") || strings.Contains(o.Error, "->") {
			t.Errorf("%s: %q", url, o.Error)
		}
	}
}

// However many seconds a receiver asks for, it is a day at most, and never none.
func TestRetryAfterHasNoEnd(t *testing.T) {
	for _, h := range []string{"86401", "9223372036854775807", "9223372036854775808", "99999999999999999999"} {
		if got := retryAfter(h, time.Now()); got != longestRetryAfter {
			t.Errorf("Retry-After: %s is %s, want a day", h, got)
		}
	}
	if got := retryAfter("-99999999999999999999", time.Now()); got != 0 {
		t.Errorf("less than nothing is %s", got)
	}
	if permit(netip.MustParseAddr("168.63.129.16"), false) == nil {
		t.Error("a cloud's metadata is permitted")
	}
}
