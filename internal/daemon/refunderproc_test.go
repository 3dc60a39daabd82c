package daemon_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/payprov"
	"waitroom/internal/process"
	"waitroom/internal/refunds"
)

// TestARefunderOfItsOwn is no test but the process that the tests below stop
// and kill.
func TestARefunderOfItsOwn(t *testing.T) {
	db, provider := os.Getenv("REFUNDER_TEST_DB"), os.Getenv("REFUNDER_TEST_PROVIDER")
	if db == "" {
		t.Skip("it is started by the tests of stopped and killed refunders alone")
	}
	l := &till{t: t, db: db, url: provider}
	c := l.config()
	c.Logs, c.Listening = os.Stderr, func(_, addr string) { os.Stdout.WriteString("ops http://" + addr + "\n") }
	if err := daemon.Refunder(process.Signals(context.WithoutCancel(t.Context())), c); err != nil {
		t.Fatal(err)
	}
}

// child is a refunder in a process of its own.
type child struct {
	running
	cmd   *exec.Cmd
	ended chan error
}

func (l *till) child() *child {
	l.t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^TestARefunderOfItsOwn$"), ended: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), "REFUNDER_TEST_DB="+l.db, "REFUNDER_TEST_PROVIDER="+l.url)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	up := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if at, ok := strings.CutPrefix(lines.Text(), "ops "); ok {
				up <- at
			}
		}
		c.ended <- c.cmd.Wait()
	}()
	l.t.Cleanup(func() { c.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	select {
	case c.ops = <-up:
	case err := <-c.ended:
		l.t.Fatalf("a refunder of its own did not start: %v", err)
	case <-time.After(time.Minute):
		l.t.Fatal("a refunder of its own does not start")
	}
	within(l.t, time.Minute, "it has the outlet", func() bool { ok, _ := c.ready(l.t); return ok })
	return c
}

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// calls is how many calls about refunds the provider got.
func (l *till) calls() (n int) {
	for _, r := range l.provider.Requests() {
		if strings.HasPrefix(r.Path, "/v1/refunds") {
			n++
		}
	}
	return n
}

// The old refunder is stopped, not ended, and a new one is started beside it: it
// does not send. The old one goes on: still one outlet. It ends: the new one has
// it, and waits a call's limit first.
func TestAStoppedRefunderKeepsTheOutlet(t *testing.T) {
	l := openTill(t, 44, payprov.Config{})
	old := l.child()
	l.owe(40)
	within(t, time.Minute, "it sends", func() bool { return l.calls() >= 3 })
	old.signal(t, syscall.SIGSTOP)
	next := l.refunder(l.config())
	within(t, time.Minute, "the new one waits", func() bool {
		ok, why := next.ready(t)
		return !ok && strings.Contains(why, "another refunder has the outlet")
	})
	before := l.calls()
	stands := time.NewTimer(2 * time.Second) // four times as long as it takes to ask for the lock
	<-stands.C
	if n := l.calls(); n != before {
		t.Errorf("%d calls while the refunder that has the outlet stands still", n-before)
	}
	old.signal(t, syscall.SIGCONT)
	l.all(refunds.Confirmed)
	if ok, _ := next.ready(t); ok {
		t.Error("the new one has an outlet too")
	}
	if n := l.Count(t, `SELECT count(DISTINCT epoch) FROM refund_calls`); n != 1 {
		t.Errorf("calls were made under %d epochs, want 1", n)
	}
	l.prove()
	old.signal(t, syscall.SIGTERM)
	if err := <-old.ended; err != nil {
		t.Errorf("the old one ended with %v", err)
	}
	l.owe(3)
	within(t, time.Minute, "the new one has the outlet", func() bool { ok, _ := next.ready(t); return ok })
	l.all(refunds.Confirmed)
	l.waitedFirst()
	l.prove()
}

// waitedFirst holds a reign's first start against the time of its taking.
func (l *till) waitedFirst() {
	l.t.Helper()
	var waited float64
	l.Scan(l.t, `SELECT extract(epoch FROM min(c.started_at) - max(q.taken_at))::float8
		FROM outlet_quota q JOIN refund_calls c USING (epoch)`, nil, &waited)
	if waited < 1 {
		l.t.Errorf("the first call started %.3f s after the outlet was taken, want a call's limit of 1 s at least", waited)
	}
}

// The refunder is killed after the provider did it and before that was written
// down: unknown, looked up, confirmed; one send, one refund.
func TestARefunderKilledInTheMiddleOfARefund(t *testing.T) {
	l := openTill(t, 3, payprov.Config{})
	l.play(toSend(payprov.Script{Times: 2, After: time.Minute}))
	old := l.child()
	ids := l.owe(2)
	within(t, time.Minute, "the provider did both", func() bool { return len(l.provider.Ledger().Refunds) == 2 })
	old.signal(t, syscall.SIGKILL)
	<-old.ended
	l.refunder(l.config())
	within(t, time.Minute, "both are unknown", func() bool {
		return l.Count(t, `SELECT count(*) FROM refund_changes WHERE to_status = 'unknown'`) == 2
	})
	l.all(refunds.Confirmed)
	for _, id := range ids {
		if s, err := refunds.Newest(t.Context(), l.Pool, id); err != nil || s.ID != id || s.Sends != 1 {
			t.Errorf("%+v, %v; want the same operation, sent once", s, err)
		}
	}
	if n := len(l.provider.Ledger().Refunds); n != 2 {
		t.Errorf("%d refunds at the provider, want 2", n)
	}
	l.waitedFirst()
	l.prove()
}

// The connection that holds the lock is cut: whoever had the outlet makes no call
// more under that epoch, and takes it again or leaves it to another.
func TestAnOutletWhoseLockIsGoneIsTakenAnew(t *testing.T) {
	l := openTill(t, 12, payprov.Config{})
	r := l.refunder(l.config())
	within(t, time.Minute, "one has the outlet", func() bool { ok, _ := r.ready(t); return ok })
	l.refunder(l.config())
	l.owe(12)
	within(t, time.Minute, "it sends", func() bool { return l.calls() >= 2 })
	if n := l.Count(t, `SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE locktype = 'advisory' AND granted AND datname = current_database() AND application_name = 'waitroom refunder outlet'`); n != 1 {
		t.Fatalf("%d connections held the outlet's lock, want 1", n)
	}
	l.all(refunds.Confirmed)
	if n := l.Count(t, `SELECT count(DISTINCT epoch) FROM refund_calls`); n != 2 {
		t.Errorf("calls were made under %d epochs, want 2", n)
	}
	l.waitedFirst()
	l.prove()
}
