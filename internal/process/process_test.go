package process

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// diary notes what happened, when; its clock is the test's.
type diary struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

func (d *diary) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, time.Since(d.began).String()+" "+what)
}

func (d *diary) step(what string, takes time.Duration) func(context.Context) error {
	return func(context.Context) error {
		<-time.After(takes)
		d.note(what)
		return nil
	}
}

// The drain: not ready at once, work goes on through the grace, then no more is
// taken, what is in hand finishes, and only then things close, the last opened
// first.
func TestDrainLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t.Context(), "p", Ops{DrainGrace: 5 * time.Second, DrainLimit: 20 * time.Second}, quietLog())
		d := &diary{began: time.Now()}
		p.OnClose("pool", d.step("pool closed", 0))
		p.OnClose("notices", d.step("notices closed", 0))
		p.OnStop("listener", d.step("listener stopped", 2*time.Second))
		p.OnStop("subscription", d.step("subscription stopped", time.Second))
		p.OnFinish("queue", d.step("queue finished", 4*time.Second))
		p.Every(10*time.Second, "expire", func(ctx context.Context) error {
			// In hand when the drain begins (at 3 s) and when no more is to be
			// taken (at 8 s).
			<-time.After(9 * time.Second)
			d.note("pass ended, cut off: " + errorText(ctx.Err()))
			return nil
		})
		<-time.After(3 * time.Second)
		p.state.Store(int32(serving))
		go func() {
			<-time.After(time.Second)
			d.note("ready: " + readyText(p))
		}()
		if err := p.drain(); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"4s ready: process draining",
			"9s subscription stopped",
			"9s pass ended, cut off: no",
			"10s listener stopped",
			"14s queue finished",
			"14s notices closed",
			"14s pool closed",
		}
		slices.Sort(d.lines[1:3]) // both at 9 s
		slices.Sort(want[1:3])
		if !slices.Equal(d.lines, want) {
			t.Errorf("the drain went\n%s\nwant\n%s", strings.Join(d.lines, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A part that does not end costs the limit and is named; the rest closes.
func TestDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t.Context(), "p", Ops{DrainLimit: 20 * time.Second}, quietLog())
		d := &diary{began: time.Now()}
		p.OnFinish("queue", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		p.Go("stubborn", func(context.Context) error { <-p.Work().Done(); return errors.New("given up") })
		p.OnClose("pool", d.step("pool closed", 0))
		err := p.drain()
		for _, want := range []string{"finish queue: context deadline exceeded", "finish parts: context deadline exceeded"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the drain's error is %v, want it to say %q", err, want)
			}
		}
		if want := []string{"20s pool closed"}; !slices.Equal(d.lines, want) {
			t.Errorf("the drain went %q, want %q", d.lines, want)
		}
		synctest.Wait()
	})
}

// Readiness asks: while starting and draining it says so, while serving it
// names every check that says no or does not answer.
func TestReadyNamesTheReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t.Context(), "p", Ops{}, quietLog())
		down := errors.New("connection refused")
		hung := make(chan struct{})
		var asked atomic.Int32
		var postgres error
		p.Check("postgres", time.Second, func(context.Context) error { return postgres })
		p.Check("nats", 2*time.Second, func(context.Context) error { asked.Add(1); <-hung; return nil })
		if got, want := readyText(p), "process starting"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.state.Store(int32(serving))
		began := time.Now()
		if got, want := readyText(p), "nats no answer within 2s"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("a hung check held the answer for %s, want its limit of 2s", took)
		}
		postgres = down
		if got, want := readyText(p), "postgres connection refused, nats no answer within 2s"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the hung check was asked %d times at once, want 1", n)
		}
		close(hung)
		synctest.Wait()
		postgres = nil
		if got := readyText(p); got != "" {
			t.Errorf("%q, want ready", got)
		}
	})
}

// A whole life over HTTP: starting, ready, a part's failure, and the ops
// listener answers to the last.
func TestLifeOverHTTP(t *testing.T) {
	fault := make(chan error)
	open := make(chan string, 1)
	proceed := make(chan struct{})
	closing := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), "claimer", Ops{OpsAddr: "127.0.0.1:0", DrainLimit: time.Second}, quietLog(),
			func(ctx context.Context, p *Process) error {
				url := "http://" + p.OpsAddr()
				p.Go("consumer", func(context.Context) error { return <-fault })
				p.OnClose("pool", func(context.Context) error {
					code, body := get(t, url+"/readyz")
					closing <- body
					if code != http.StatusServiceUnavailable {
						return errors.New("ready while closing")
					}
					return nil
				})
				open <- url
				<-proceed
				return nil
			})
	}()
	url := <-open
	if code, _ := get(t, url+"/livez"); code != http.StatusOK {
		t.Errorf("/livez while starting answers %d, want 200", code)
	}
	if code, body := get(t, url+"/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "starting") {
		t.Errorf("/readyz while starting answers %d %s, want 503 with the reason", code, body)
	}
	close(proceed)
	deadline := time.Now().Add(10 * time.Second)
	for code := 0; code != http.StatusOK; {
		if code, _ = get(t, url+"/readyz"); time.Now().After(deadline) {
			t.Fatalf("/readyz answers %d after 10 s, want 200", code)
		}
	}
	if code, body := get(t, url+"/metrics"); code != http.StatusOK || !strings.Contains(body, "go_goroutines") {
		t.Errorf("/metrics answers %d with %d bytes, want Go's own metrics", code, len(body))
	}
	fault <- errors.New("lost its subscription")
	if err := <-ended; err == nil || err.Error() != "claimer: consumer: lost its subscription" {
		t.Errorf("it ended with %v, want the part's failure", err)
	}
	var told struct{ Reasons []Reason }
	if err := json.Unmarshal([]byte(<-closing), &told); err != nil || len(told.Reasons) != 1 || told.Reasons[0].Why != "draining" {
		t.Errorf("/readyz while closing told %+v (%v), want: draining", told, err)
	}
	if _, err := http.Get(url + "/livez"); err == nil {
		t.Error("the ops listener is still open after the end")
	}
}

// What setup opened is closed when setup fails.
func TestFailedStartCloses(t *testing.T) {
	closed := false
	began := time.Now()
	err := Run(t.Context(), "claimer", Ops{OpsAddr: "127.0.0.1:0", DrainGrace: time.Hour, DrainLimit: time.Second}, quietLog(),
		func(_ context.Context, p *Process) error {
			p.OnClose("pool", func(context.Context) error { closed = true; return nil })
			return errors.New("schema is behind")
		})
	if err == nil || err.Error() != "claimer: schema is behind" || !closed {
		t.Errorf("ended with %v, pool closed: %t; want the reason, and closed", err, closed)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a failed start took %s", took)
	}
}

// A loop that fails goes on, is counted each time and logged now and then.
func TestEveryBoundsItsLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		p := newProcess(t.Context(), "p", Ops{DrainLimit: time.Second}, Logger(&logged, "p", slog.LevelError))
		passes := 0
		p.Every(time.Second, "relay", func(context.Context) error { passes++; return errors.New("database is away") })
		<-time.After(59*time.Second + 500*time.Millisecond)
		if err := p.drain(); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(logged.String(), "\n"); passes != 60 || lines != 6 {
			t.Errorf("%d passes and %d lines in a minute, want 60 and 6", passes, lines)
		}
		metrics, err := p.Metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics {
			if m.GetName() == "waitroom_loop_passes_total" && m.Metric[0].Counter.GetValue() != 60 {
				t.Errorf("%v failed passes counted, want 60", m.Metric[0].Counter.GetValue())
			}
		}
		if !strings.Contains(logged.String(), `"untold":9`) {
			t.Errorf("the log does not say how many failures it left out:\n%s", logged.String())
		}
	})
}

func quietLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func errorText(err error) string {
	if err == nil {
		return "no"
	}
	return err.Error()
}

func readyText(p *Process) string {
	var s []string
	for _, r := range p.Ready() {
		s = append(s, r.Check+" "+r.Why)
	}
	return strings.Join(s, ", ")
}

func get(t *testing.T, url string) (int, string) {
	resp, err := http.Get(url)
	if err != nil {
		t.Errorf("%s: %v", url, err)
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return resp.StatusCode, string(body)
}

// A process whose terminal goes ends in order, as at a Ctrl-C.
func TestATerminalThatGoesEndsTheProcess(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("this test runs under nohup, which is minded")
	}
	ctx := Signals(t.Context())
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end within 10 s")
	}
}
