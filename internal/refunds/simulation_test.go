package refunds_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
)

// notebook is a ledger in memory on the test's clock: the same decisions, and
// no Postgres, whose clock cannot be turned.
type notebook struct {
	mu     sync.Mutex
	all    []*line // by acceptance
	chance *rand.Rand
	calls  int64
	closed []time.Time
	given  int // to persons
}

type line struct {
	refunds.Case
	id    string
	under bool // a call is under way
}

func (b *notebook) accept(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		now := time.Now()
		b.all = append(b.all, &line{id: fmt.Sprint("refund:", len(b.all)), Case: refunds.Case{
			Status: refunds.Queued, AcceptedAt: now, GiveUpAt: now.Add(refunds.Promise), NextAt: now,
		}})
	}
}

func (b *notebook) open() (n int, oldest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.all {
		if l.waits() || l.under {
			n++
			oldest = max(oldest, time.Since(l.AcceptedAt))
		}
	}
	return n, oldest
}

func (l *line) waits() bool {
	return !l.under && (l.Status == refunds.Queued || l.Status == refunds.Unknown || l.Status == refunds.Submitted)
}

func (b *notebook) Due(context.Context) (refunds.Due, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, now := refunds.Due{Next: 250 * time.Millisecond}, time.Now()
	for _, l := range b.all {
		if !l.waits() {
			continue
		}
		if l.NextAt.After(now) {
			d.Next = min(d.Next, l.NextAt.Sub(now))
			continue
		}
		j := &refunds.Job{Case: l.Case, Ask: refunds.Call{Operation: l.id}, Now: now}
		switch {
		case l.Fresh() && d.First == nil:
			d.First = j
		case !l.Fresh() && d.Rest == nil:
			d.Rest = j
		}
	}
	return d, nil
}

func (b *notebook) find(id string) *line {
	for _, l := range b.all {
		if l.id == id {
			return l
		}
	}
	return nil
}

func (b *notebook) Submit(_ context.Context, j refunds.Job, v refunds.Verb) (int64, time.Duration, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.find(j.Ask.Operation)
	if l.under || l.Sends != j.Sends || l.Looks != j.Looks || l.Status != j.Status {
		return 0, 0, false, nil
	}
	l.under, l.Resend = true, false
	if v == refunds.Create {
		l.Status = refunds.Submitted
		l.Sends++
		if l.FirstSentAt.IsZero() {
			l.FirstSentAt = time.Now()
		}
	} else {
		l.Looks++
	}
	b.calls++
	return b.calls, 0, true, nil
}

func (b *notebook) Settle(_ context.Context, s refunds.Sent) (refunds.Step, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, now := b.find(s.Operation), time.Now()
	step := l.After(s.Verb, s.Answer, now, b.chance.Float64())
	l.under, l.Status, l.NextAt, l.Doubt, l.Resend, l.Pushed, l.Outcome = false, step.Status, now.Add(step.Wait), step.Doubt, step.Resend, step.Pushed, step.Outcome
	if step.Status.Ended() {
		b.closed = append(b.closed, now)
	}
	if step.Status == refunds.Manual {
		b.given++
	}
	return step, nil
}

// story is one case of the arithmetic.
type story struct {
	name      string
	waiting   int
	perSecond float64 // that come meanwhile
	limits    outlet.Limits
	// answer is what the provider does with the nth call of an operation; after
	// how long, and whether the answer arrives.
	answer func(nth int, chance *rand.Rand) (time.Duration, refunds.Outcome)
	// want is the time to clear the backlog that was there; 0: the rate is asked.
	want     time.Duration
	wantRate float64 // starts a second, over the first five minutes
}

// played is what came of it.
type played struct {
	cleared      time.Duration // until nothing older than the last second waited
	starts       float64       // a second, until then
	closures     float64
	calls, given int
	closed       int
	closest      time.Duration
	peak         int
	oldest       time.Duration // the oldest that ever waited
}

func (r played) callsPerRefund() string {
	if r.closed == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(r.calls)/float64(r.closed))
}

// provider is the provider as a story has it, and the transport that reaches it.
type provider struct {
	through http.RoundTripper
	mu      sync.Mutex
	nth     map[string]int
	s       story
	chance  *rand.Rand
	starts  []time.Time
	now     int
	peak    int
}

func (p *provider) Call(ctx context.Context, c refunds.Call) refunds.Answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://provider/"+c.Operation, http.NoBody)
	if err != nil {
		return refunds.Answer{Outcome: refunds.NotSent}
	}
	req.Header.Set("Verb", string(c.Verb))
	res, err := p.through.RoundTrip(req)
	if err != nil {
		return refunds.Answer{Outcome: refunds.TimedOut}
	}
	defer res.Body.Close()
	return refunds.Answer{Outcome: refunds.Outcome(res.Header.Get("Outcome")), Refund: "re"}
}

// wire is the far end.
func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).GetConn("provider:443")
	p.mu.Lock()
	p.starts = append(p.starts, time.Now())
	p.now++
	p.peak = max(p.peak, p.now)
	p.nth[req.URL.Path]++
	takes, outcome := p.s.answer(p.nth[req.URL.Path], p.chance)
	p.mu.Unlock()
	defer func() { p.mu.Lock(); p.now--; p.mu.Unlock() }()
	if outcome == "" {
		outcome = refunds.Succeeded
	}
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-timer.C:
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Outcome": {string(outcome)}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// far gives provider's RoundTrip another receiver, so that the outlet lies
// between the two.
type far struct{ *provider }

// play runs a story with the real dispatcher and the real outlet.
func play(t *testing.T, s story) (r played) {
	synctest.Test(t, func(t *testing.T) {
		b := &notebook{chance: rand.New(rand.NewPCG(1, 1))}
		p := &provider{s: s, nth: map[string]int{}, chance: rand.New(rand.NewPCG(2, 2))}
		out, err := outlet.New(far{p}, s.limits, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		p.through = out
		d := refunds.Dispatcher{Book: b, Outlet: out, Provider: p, Log: slog.New(slog.DiscardHandler)}
		ctx, end := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		b.accept(s.waiting)
		began := time.Now()
		go func() { ran <- d.Run(ctx, ctx) }()
		if s.perSecond > 0 {
			go func() {
				each := time.NewTicker(time.Duration(float64(time.Second) / s.perSecond))
				defer each.Stop()
				for ctx.Err() == nil {
					select {
					case <-each.C:
						b.accept(1)
					case <-ctx.Done():
					}
				}
			}()
		}
		for {
			<-time.After(time.Second)
			n, oldest := b.open()
			r.oldest = max(r.oldest, oldest)
			r.cleared = time.Since(began)
			// What came within the last seconds is work, not backlog.
			if s.want > 0 && float64(n) <= 3*s.perSecond || s.want == 0 && r.cleared >= 5*time.Minute || r.cleared > time.Hour {
				break
			}
		}
		seconds := r.cleared.Seconds()
		end()
		if err := <-ran; err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		r.starts, r.closures, r.calls, r.given, r.peak = float64(len(p.starts))/seconds, float64(len(b.closed))/seconds, len(p.starts), b.given, p.peak
		r.closed = len(b.closed)
		r.closest = time.Hour
		for i := 1; i < len(p.starts); i++ {
			r.closest = min(r.closest, p.starts[i].Sub(p.starts[i-1]))
		}
	})
	return r
}

// quick answers after 300 ms; twice needs two calls for each refund: the first
// is turned away.
func quick(int, *rand.Rand) (time.Duration, refunds.Outcome) { return 300 * time.Millisecond, "" }

func twice(nth int, _ *rand.Rand) (time.Duration, refunds.Outcome) {
	if nth%2 == 1 {
		return 300 * time.Millisecond, refunds.Busy
	}
	return 300 * time.Millisecond, ""
}

func never(int, *rand.Rand) (time.Duration, refunds.Outcome) { return time.Hour, "" }

// stories are the arithmetic of a backlog, worked out by hand: waiting ÷
// (closures − arrivals).
func stories() []story {
	ten := outlet.Account()
	ten.Apart = 100 * time.Millisecond
	return []story{
		{"240 waiting, 2/s come, 5 closures/s", 240, 2, outlet.Account(), quick, 80 * time.Second, 0},
		{"the same, two calls for each", 240, 2, outlet.Account(), twice, 480 * time.Second, 0},
		{"600 waiting, 3/s come, 10 calls/s, two for each", 600, 3, ten, twice, 300 * time.Second, 0},
		{"every call takes its 3 s, 10 at a time", 2000, 0, outlet.Account(), never, 0, 10.0 / 3},
	}
}

// beyond are what the arithmetic leaves out: the spread of delays, answers that
// are lost, and looks, which take from the same account.
func beyond() []story {
	exp := func(mean float64) func(*rand.Rand) time.Duration {
		return func(c *rand.Rand) time.Duration { return time.Duration(c.ExpFloat64() * mean * float64(time.Second)) }
	}
	half, slow := exp(0.5), exp(1.5)
	return []story{
		{"240 waiting, 2/s: 0.5 s in the mean, exponential", 240, 2, outlet.Account(), func(_ int, c *rand.Rand) (time.Duration, refunds.Outcome) { return half(c), "" }, time.Nanosecond, 0},
		{"240 waiting, 2/s: 1.5 s in the mean, exponential", 240, 2, outlet.Account(), func(_ int, c *rand.Rand) (time.Duration, refunds.Outcome) { return slow(c), "" }, time.Nanosecond, 0},
		{"240 waiting, 2/s: one answer in ten is lost", 240, 2, outlet.Account(), func(_ int, c *rand.Rand) (time.Duration, refunds.Outcome) {
			if c.Float64() < 0.1 {
				return 100 * time.Millisecond, refunds.CutOff
			}
			return 300 * time.Millisecond, ""
		}, time.Nanosecond, 0},
		{"240 waiting, 2/s: one in ten busy, one in ten refused", 240, 2, outlet.Account(), func(_ int, c *rand.Rand) (time.Duration, refunds.Outcome) {
			switch x := c.Float64(); {
			case x < 0.1:
				return 100 * time.Millisecond, refunds.Busy
			case x < 0.2:
				return 300 * time.Millisecond, refunds.Rejected
			}
			return 300 * time.Millisecond, ""
		}, time.Nanosecond, 0},
		{"240 waiting, 2/s: every third hangs for its 3 s", 240, 2, outlet.Account(), func(_ int, c *rand.Rand) (time.Duration, refunds.Outcome) {
			if c.Float64() < 1.0/3 {
				return time.Hour, ""
			}
			return 300 * time.Millisecond, ""
		}, time.Nanosecond, 0},
	}
}

// The real dispatcher and the real outlet, on a virtual clock, take as long for
// a backlog as the arithmetic says, within 5 %: closures count, not calls. And
// what the arithmetic leaves out, side by side, is the table in docs/REFUNDS.md, which this prints (go test -run Backlog -v).
func TestABacklogClearsAsTheArithmeticSays(t *testing.T) {
	var table strings.Builder
	row := func(s story, r played, by string) {
		cleared := fmt.Sprintf("%.0f s", r.cleared.Seconds())
		if r.cleared >= time.Hour || s.want == 0 {
			cleared = "never"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %.2f | %.2f | %s | %.0f s | %d |\n",
			s.name, by, cleared, r.starts, r.closures, r.callsPerRefund(), r.oldest.Seconds(), r.given)
	}
	for _, s := range stories() {
		r := play(t, s)
		by := fmt.Sprintf("%.0f s", s.want.Seconds())
		if s.want == 0 {
			by = fmt.Sprintf("%.2f starts/s", s.wantRate)
			if math.Abs(r.starts/s.wantRate-1) > 0.05 {
				t.Errorf("%s: %.2f starts a second, want %.2f within 5 %%", s.name, r.starts, s.wantRate)
			}
		} else if math.Abs(r.cleared.Seconds()/s.want.Seconds()-1) > 0.05 {
			t.Errorf("%s: cleared after %s, want %s within 5 %%", s.name, r.cleared, s.want)
		}
		if r.closest < s.limits.Apart || r.peak > s.limits.InFlight {
			t.Errorf("%s: starts %s apart, %d under way; want %s at least, %d at most", s.name, r.closest, r.peak, s.limits.Apart, s.limits.InFlight)
		}
		row(s, r, by)
	}
	for _, s := range beyond() {
		row(s, play(t, s), "80 s")
	}
	t.Logf("\n%s", table.String())
	page := filepath.Join("..", "..", "docs", "REFUNDS.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(stories(), beyond()...) {
		if !strings.Contains(string(text), "| "+s.name+" |") {
			t.Errorf("%s does not tell of %q", page, s.name)
		}
	}
}
