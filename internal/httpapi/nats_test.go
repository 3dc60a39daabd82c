package httpapi_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
)

// natsServer is one that can be stopped and come back where it was. It outlives
// all that is opened after it.
type natsServer struct {
	t    *testing.T
	s    *server.Server
	port int
}

func newNATS(t *testing.T) *natsServer {
	t.Helper()
	n := &natsServer{t: t, port: server.RANDOM_PORT}
	n.start()
	t.Cleanup(n.stop)
	return n
}

func (n *natsServer) start() {
	n.t.Helper()
	var err error
	if n.s, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: n.port, NoLog: true, NoSigs: true}); err != nil {
		n.t.Fatal(err)
	}
	n.s.Start()
	if !n.s.ReadyForConnections(patience) {
		n.t.Fatal("nats is not ready")
	}
	n.port = n.s.Addr().(*net.TCPAddr).Port
}

func (n *natsServer) stop() { n.s.Shutdown(); n.s.WaitForShutdown() }

func (n *natsServer) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.port) }

// NATS is lost in the middle of a sale: claims are answered busy or unknown, and
// soon; nobody new is let in, and the document says why; what was claimed
// meanwhile is found by its key. When NATS is back, claims work again by
// themselves and the line goes on from the same place.
func TestSaleOutlivesNATS(t *testing.T) {
	nats := newNATS(t)
	h := open(t, demo.Build{Services: demo.Services{NATSURL: nats.url()}})
	first, second, third := h.letIn(), h.letIn(), h.letIn()
	h.want(h.claim(first, "before", named("A-1")), 201, "")

	// One claim is under way when the server goes: its answer is lost.
	lost := make(chan answer, 1)
	h.hold(`SELECT FROM seats WHERE guid = 'A-2' FOR UPDATE`, func() {
		go func() { lost <- h.claim(second, "k", named("A-2")) }()
		h.until("claim under way", func() bool {
			return h.one(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) > 0
		})
		nats.stop()
	})
	gone := time.Now()
	for range 5 {
		began := time.Now()
		h.want(h.claim(third, "away", named("A-3")), 503, "busy")
		if took := time.Since(began); took > time.Second {
			t.Errorf("without NATS a claim is answered after %s", took)
		}
	}
	if n := h.one(`SELECT count(*) FROM orders WHERE attempt = 'away'`); n != 0 {
		t.Errorf("%d orders of an attempt that was answered busy", n)
	}
	a := <-lost
	if a.err != nil || a.status != 202 && a.code() != "claim_unknown" && a.code() != "busy" {
		t.Errorf("the claim whose answer was lost: %s", a)
	}
	h.until("closed on doubt about the claimers", func() bool {
		s := h.status()
		return s.State == "closed_on_doubt" && s.Reason == "claimers"
	})
	t.Logf("answer lost: %s; closed %s after NATS was lost", a, time.Since(gone).Round(time.Millisecond))
	secret := admission.NewSecret()
	fourth := h.join(secret)
	if a := h.askPass(fourth); a.status != 202 || !strings.Contains(string(a.body), `"claimers"`) {
		t.Errorf("the door while nobody can claim: %s", a)
	}
	before, passes := h.status(), h.one(`SELECT count(*) FROM passes`)
	h.pause(2 * time.Second)
	if s := h.status(); s.Front != before.Front || passes != 3 || h.one(`SELECT count(*) FROM passes`) != passes {
		t.Errorf("%d passes while nobody can claim, front from %d to %d", h.one(`SELECT count(*) FROM passes`), before.Front, s.Front)
	}

	nats.start()
	began := time.Now()
	h.order(h.want(h.settle(third, "away", named("A-3")), 201, ""))
	t.Logf("claims work %s after NATS is back", time.Since(began).Round(time.Millisecond))
	if g := h.enter(secret, fourth); g.number != fourth.Place.Number || g.take != 4 {
		t.Errorf("who waited meanwhile had place %d and is let in at %d by take %d, want take 4", fourth.Place.Number, g.number, g.take)
	}
	o := h.order(h.settle(second, "k", named("A-2")))
	if n := h.one(`SELECT count(*) FROM orders WHERE account = (SELECT account FROM orders WHERE id = $1)`, o.Order.ID); n != 1 {
		t.Errorf("the attempt whose answer was lost has %d orders, want 1", n)
	}
}
