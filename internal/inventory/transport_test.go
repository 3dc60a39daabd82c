package inventory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waitroom/internal/notice"
	"waitroom/internal/pgtest"
	"waitroom/internal/stack"
)

func natsServer(t *testing.T) *stack.Server {
	t.Helper()
	s, err := stack.NATS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

func dial(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := notice.Connect(url, "test", logOf(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Every outcome travels over NATS as it is.
func TestOutcomesTravel(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 3, "order_limit = 3")
	url := natsServer(t).URL
	serve(t, dial(t, url), s.claimer(usual))
	nc := dial(t, url)
	s.exec(`INSERT INTO events (id, title, currency, opens_at, control) VALUES ('over', 'Over', 'EUR', now(), 'closed')`)
	over := s.attempt("a", "k", s.seats[0])
	over.Event = "over"
	first := s.attempt("a", "k", s.seats[0])
	reused := s.attempt("a", "k", s.seats[1])
	var answers []Answer
	for _, a := range []Attempt{
		first, first, reused, over, s.attempt("b", "k", s.seats[0]), s.standing("b", "k2", 2), s.standing("c", "k", 2),
		s.attempt("b", "k3", s.seats[1]), s.standing("d", "k", 4),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		answer, err := Ask(ctx, nc, a)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	wantTally(t, answers, map[string]int{
		"claimed": 2, "already": 1, "key_reused": 1, "sale_closed": 1, "taken": 1, "sold_out": 1,
		"over_limit pending_order": 1, "over_limit order": 1,
	})
	got := fmt.Sprint(answers[1].Order == answers[0].Order, answers[4].Taken, answers[6].Left, answers[7].Order == answers[5].Order)
	if want := fmt.Sprint(true, s.seats[:1], 1, true); got != want {
		t.Errorf("details %s, want %s", got, want)
	}
}

func serve(t *testing.T, nc *nats.Conn, c *Claimer) (stop func(context.Context) error) {
	t.Helper()
	stop, err := Serve(nc, c, fmt.Sprintf("host.example/%p", c))
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// Busy is a promise that nothing was done; whatever is not known is unknown.
func TestWhatIsNotKnownIsNotBusy(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	server := natsServer(t)
	nc, serving := dial(t, server.URL), dial(t, server.URL)
	ask := func(key string, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := Ask(ctx, nc, s.attempt("a", key, s.seats[0]))
		return err
	}
	if err := ask("nobody-there", 10*time.Second); !errors.Is(err, ErrBusy) {
		t.Errorf("without a claimer: %v, want busy", err)
	}
	c := NewClaimer(s.pool, Sizes{Queue: 1, Workers: 1, Batch: 1}, logOf(t), noMetrics()) // works later
	serve(t, serving, c)
	if err := ask("in-the-queue", 100*time.Millisecond); !errors.Is(err, ErrUnknown) {
		t.Errorf("without an answer in time: %v, want unknown", err)
	}
	if err := ask("queue-full", 10*time.Second); !errors.Is(err, ErrBusy) {
		t.Errorf("with a full queue: %v, want busy", err)
	}
	if err := ask("a key", 10*time.Second); !errors.Is(err, ErrBadAttempt) {
		t.Errorf("senseless: %v, want a bad attempt", err)
	}
	reply, err := nc.Request(claimsSubject, []byte(`{"event":"hall","seats":[1],"quantity":2.5}`), 10*time.Second)
	if err != nil || string(reply.Data) != `{"outcome":"failed"}` {
		t.Errorf("a quantity of 2.5 is answered %s (%v), want failed", reply.Data, err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	disconnected := nc.StatusChanged(nats.RECONNECTING)
	for nc.IsConnected() {
		<-disconnected
	}
	if err := ask("nats-down", 10*time.Second); !errors.Is(err, ErrBusy) {
		t.Errorf("without NATS: %v, want busy", err)
	}
	c.Stop()
	c.Run(t.Context())
	// The one in the queue was late, and dropped.
	if n := s.count(`SELECT count(*) FROM orders`); n != 0 {
		t.Errorf("%d orders, want 0", n)
	}
}

// A claimer that is told to stop answers everything that it has.
func TestDrainAnswersWhatCameIn(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 200, "")
	url := natsServer(t).URL
	serving := dial(t, url)
	c := NewClaimer(s.pool, usual, logOf(t), noMetrics())
	stop := serve(t, serving, c)
	nc := dial(t, url)
	const n = 100
	errs := make(chan error, n)
	for i := range n {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err := Ask(ctx, nc, s.standing(fmt.Sprint("fan-", i), "k", 1))
			errs <- err
		}()
	}
	deadline, tick := time.After(10*time.Second), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for queued := 0; queued < n; queued, _ = c.queue.state() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d attempts came, want %d", queued, n)
		}
	}
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Stop()
	c.Run(t.Context())
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if got := s.count(`SELECT count(*) FROM orders`); got != n {
		t.Errorf("%d orders, want %d", got, n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := Ask(ctx, nc, s.standing("late", "k", 1)); !errors.Is(err, ErrBusy) {
		t.Errorf("after the end: %v, want busy", err)
	}
}

// Where there are more events than claimers each event is one claimer's, and any
// other takes over when it is gone, at once: nobody notices.
func TestAnEventHasOneClaimer(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 200, "account_limit = 10")
	url := natsServer(t).URL
	claimers := []*Claimer{s.claimer(usual), s.claimer(usual), s.claimer(usual)}
	stops := map[string]func(context.Context) error{}
	byName := map[string]*Claimer{}
	var reports []Report
	for _, c := range claimers {
		name := fmt.Sprintf("host.example/%p", c)
		stops[name], byName[name] = serve(t, dial(t, url), c), c
		reports = append(reports, Report{Claimer: name})
	}
	nc := dial(t, url)
	var r Roster
	n := 0
	ask := func(times int) {
		t.Helper()
		for range times {
			n++
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			a, err := r.Ask(ctx, nc, s.standing(fan(n), "k", 1))
			cancel()
			if err != nil || a.Outcome != Claimed {
				t.Fatalf("attempt %d: %+v, %v", n, a, err)
			}
		}
	}
	ask(3) // it knows nobody yet
	r.Hear(reports, 3)
	if name := r.claimerOf(s.event); name != "" {
		t.Errorf("with as many claimers as events one of them is asked: %s", name)
	}
	r.Hear(reports, 9)
	owner := r.claimerOf(s.event)
	before := counterOf(t, byName[owner].meter.outcomes.WithLabelValues("claimed"))
	ask(30)
	if got := counterOf(t, byName[owner].meter.outcomes.WithLabelValues("claimed")) - before; got != 30 {
		t.Errorf("%v of 30 attempts went to the event's claimer", got)
	}
	if err := stops[owner](t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(10)
	r.Hear(append(reports, Report{Claimer: "old", Age: time.Minute}), 9)
	owned := map[string]int{}
	for i := range 300 {
		owned[r.claimerOf(fmt.Sprint("event-", i))]++
	}
	for _, one := range reports {
		if owned[one.Claimer] < 60 {
			t.Errorf("of 300 events %v are whose, want about 100 each", owned)
			break
		}
	}
	if len(owned) != 3 {
		t.Errorf("events belong to %v: a claimer that is silent has some", owned)
	}
}
