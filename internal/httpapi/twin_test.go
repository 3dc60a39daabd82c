package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/daemon"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/process"
)

// twins are two waiting rooms on one line, one database and one NATS.
type twins struct {
	*house
	desk
	public, admin [2]string
}

// twin opens the house's second waiting room, which an organiser's key opens too.
func (h *house) twin(natsURL, line string) *twins {
	h.t.Helper()
	at, told := map[string]string{}, make(chan struct{})
	c := daemon.WaitroomConfig{
		Common: daemon.Common{
			Ops:         process.Ops{OpsAddr: "127.0.0.1:0", DrainLimit: 10 * time.Second},
			DatabaseURL: h.DatabaseURL, Logs: h.t.Output(),
			Listening: func(name, addr string) {
				if at[name] = addr; name == "ops" {
					close(told)
				}
			},
		},
		TokenKeys: h.Keys, Addr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", AdminToken: h.AdminToken, NATSURL: natsURL,
		Line: "dynamodb", Config: dynamo.Config{Table: "waitroom", Endpoint: line, Timeout: time.Second, Conns: 64},
		Replica: "second", Hold: 2 * time.Second, Lease: 1500 * time.Millisecond,
		Conns: 4, LedgerConns: 3, DeskConns: 3, HTTPConns: 1000,
	}
	life, end := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- daemon.Waitroom(life, c) }()
	h.t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			h.t.Errorf("the second waiting room: %v", err)
		}
	})
	select {
	case <-told:
	case err := <-ended:
		ended <- err
		h.t.Fatalf("the second waiting room did not start: %v", err)
	}
	w := &twins{
		house: h, public: [2]string{h.Public, "http://" + at["public"]}, admin: [2]string{h.Admin, "http://" + at["admin"]},
	}
	w.desk = h.desk(organiser.House, "desk", organiser.LineRead, organiser.LineWrite)
	for i := range w.admin {
		h.until("each knows the event and the key", func() bool {
			return w.steers(i, "GET", "/live", "", nil).status == 200 && w.says(i).State == "open"
		})
	}
	return w
}

// steers asks one of them, as the organiser.
func (w *twins) steers(i int, method, route, key string, body any, header ...string) answer {
	h := map[string]string{}
	for n := 0; n+1 < len(header); n += 2 {
		h[header[n]] = header[n+1]
	}
	return w.house.do(call{method: method, path: own + route, token: w.token, key: key, body: body, header: h, base: w.admin[i]})
}

type said struct {
	State, Reason string
	Taken         int64
	CallWindow    float64 `json:"call_window_s"`
	Capacity      struct {
		Rate float64 `json:"organiser_rate"`
	}
}

// says is one's status document.
func (w *twins) says(i int) (s said) {
	w.house.t.Helper()
	a := w.house.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status", base: w.public[i]})
	a.into(w.house.t, &s)
	return s
}

// both waits until each says so, and tells how long it took.
func (w *twins) both(what string, yes func(said) bool) {
	w.house.t.Helper()
	began := time.Now()
	for i := range w.public {
		w.until(fmt.Sprintf("replica %d: %s: it says %+v", i, what, w.says(i)), func() bool { return yes(w.says(i)) })
	}
	w.house.t.Logf("%s: both after %s", what, time.Since(began).Round(time.Millisecond))
}

// letsIn joins at one and asks there until let in.
func (w *twins) letsIn(i int) {
	w.house.t.Helper()
	j := w.joinsAt(i)
	w.until(fmt.Sprintf("replica %d lets somebody in", i), func() bool { return w.knocks(i, j).status == 200 })
}

// joinsAt is a new place, as soon as the line's store answers.
func (w *twins) joinsAt(i int) (j joined) {
	w.house.t.Helper()
	secret := admission.NewSecret()
	w.until(fmt.Sprintf("replica %d gives somebody a place", i), func() bool {
		a := w.house.do(call{method: "POST", path: places, token: secret, base: w.public[i]})
		a.into(w.house.t, &j)
		return a.status == 201 || a.status == 200
	})
	return j
}

func (w *twins) knocks(i int, j joined) answer {
	return w.house.do(call{method: "POST", path: places + "/me/pass", token: j.Ticket, base: w.public[i]})
}

// steeredAs changes settings at one of them, pauses, stops and resumes at either:
// what is asked of one is what both do.
func (w *twins) steeredAs(how string) {
	t := w.house.t
	t.Helper()
	var all map[string]any
	a := w.want(w.steers(0, "GET", "/settings", "", nil), 200, "")
	a.into(t, &all)
	rate, window := all["rate"].(float64)-1, all["call_window_s"].(float64)-1
	w.want(w.steers(0, "PUT", "/settings", "", with(all, map[string]any{"rate": rate, "call_window_s": window}), "If-Match", a.header.Get("ETag")), 200, "")
	w.both(how+", settings", func(s said) bool { return s.Capacity.Rate == rate && s.CallWindow == window })
	if got := w.steers(1, "GET", "/settings", "", nil); got.header.Get("ETag") == a.header.Get("ETag") {
		t.Errorf("%s: the other shows the settings of before, %s", how, got)
	}

	byHand := func(s said) bool { return s.State == "paused" && s.Reason == "organiser" }
	for i, stop := range []string{"/pause", "/stop", "/stop"} {
		from, other := i%2, (i+1)%2
		w.want(w.steers(from, "POST", stop, fmt.Sprintf("%s-stop-%d", how, i), nil), 200, "")
		w.both(how+stop, byHand)
		taken := w.says(other).Taken
		for _, at := range []int{from, other} {
			if a := w.knocks(at, w.joinsAt(at)); a.status != 202 {
				t.Errorf("%s: after %s at %d, %d answers a request for a pass with %s", how, stop, from, at, a)
			}
		}
		w.want(w.steers(other, "POST", "/resume", fmt.Sprintf("%s-resume-%d", how, i), nil), 200, "")
		w.both(how+", resumed", func(s said) bool { return s.State != "paused" })
		if now := w.says(other).Taken; now < taken {
			t.Errorf("%s: %d were let in, and before that %d", how, now, taken)
		}
	}
}

// Two replicas steer as one: by a word over NATS, and without NATS, when nobody
// is let in anyway, by what each reads once a second. Words that come late or
// twice change nothing for good: not a stop that was resumed since.
func TestTwoReplicasSteerAsOne(t *testing.T) {
	nats, line := newNATS(t), demotest.Dynalite(t)
	h := open(t, demo.Build{Line: "dynamodb", Services: demo.Services{NATSURL: nats.url(), DynamoDB: line}})
	w := h.twin(nats.url(), line)
	words := overhear(t, nats.url())
	w.letsIn(0)
	w.letsIn(1)

	w.steeredAs("with-nats")
	w.both("with NATS, it goes on", func(s said) bool { return s.State == "open" })
	w.letsIn(0)
	w.letsIn(1)
	words.sayAgain(t)
	w.letsIn(0)
	w.letsIn(1)

	mend := h.cut() // a stop needs no database, there and here
	w.want(w.steers(0, "POST", "/stop", "unwritten", nil), 202, "")
	w.both("a stop without a database", func(s said) bool { return s.State == "paused" && s.Reason == "organiser" })
	mend()
	h.until("it is written down", func() bool {
		var control string
		err := h.pool.QueryRow(t.Context(), `SELECT control FROM events WHERE id = $1`, demotest.EventID).Scan(&control)
		return err == nil && control == "paused"
	})
	h.until("resumed", func() bool { return w.steers(1, "POST", "/resume", "written", nil).status == 200 })
	w.both("resumed", func(s said) bool { return s.State == "open" })

	nats.stop()
	w.both("without NATS", func(s said) bool { return s.State == "closed_on_doubt" && s.Reason == "claimers" })
	w.steeredAs("without-nats")
	nats.start()
	w.both("NATS is back", func(s said) bool { return s.State == "open" })
	w.letsIn(0)
	w.letsIn(1)
}

// overheard are the replicas' words to each other.
type overheard struct {
	nc    *nats.Conn
	mu    sync.Mutex
	words [][]byte
}

const steeringSubject = "waitroom.steering"

func overhear(t *testing.T, url string) *overheard {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	o := &overheard{nc: nc}
	if _, err := nc.Subscribe(steeringSubject, func(m *nats.Msg) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.words = append(o.words, m.Data)
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return o
}

// sayAgain repeats every stop that was told of, and nothing of what ended it.
func (o *overheard) sayAgain(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	stops := 0
	for _, word := range o.words {
		if strings.Contains(string(word), `"stop"`) && !strings.Contains(string(word), `"written"`) {
			stops++
			if err := o.nc.Publish(steeringSubject, word); err != nil {
				t.Fatal(err)
			}
		}
	}
	var other struct{ From string }
	if stops < 2 || json.Unmarshal(o.words[0], &other) != nil || other.From == "" {
		t.Fatalf("%d stops were told of in %q", stops, o.words)
	}
	if err := o.nc.Flush(); err != nil {
		t.Fatal(err)
	}
}
