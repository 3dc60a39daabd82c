package dynamo

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// line is a fresh line with credit at its door, over a wire that can
// misbehave; the handle that fills it has a wire of its own.
func line(t testing.TB, cfg Config) (*Store, *admissiontest.Wire, admission.Door) {
	t.Helper()
	good := open(t, cfg)
	d, err := good.Open(t.Context(), admission.Door{Event: uuid.NewString(), Epoch: 1}, admission.Tail{})
	if err != nil {
		t.Fatal(err)
	}
	ok := false
	if d, ok, err = good.Acquire(t.Context(), d, "filler"); err != nil || !ok {
		t.Fatalf("acquire: %v, %v", ok, err)
	}
	if d, ok, err = good.Refill(t.Context(), step(d, 50_000, 50_000)); err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	s, w := wired(t, cfg)
	return s, w, d
}

func step(d admission.Door, add, most int64) admission.Refill {
	return admission.Refill{
		Event: d.Event, Epoch: d.Epoch, Term: d.Term, Beat: d.Beat,
		Add: add, Cap: most, Front: d.Front, Budget: 50,
	}
}

var faults = []admissiontest.Fault{
	admissiontest.Throttled, admissiontest.Broken, admissiontest.LostCall, admissiontest.LostReply, admissiontest.Late,
}

// A call that is not harmless when applied twice is sent once, whatever goes
// wrong and whatever the environment tells the SDK.
func TestOneCallIsOneSend(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "7")
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	cfg := table(t)
	for _, fault := range faults {
		s, w, d := line(t, cfg)
		for call, do := range map[string]func(context.Context) error{
			"Allot":   func(ctx context.Context) error { _, err := s.Allot(ctx, d.Event, 1, 1, 100); return err },
			"Take":    func(ctx context.Context) error { _, _, err := s.Take(ctx, d.Event, 1, 1); return err },
			"Acquire": func(ctx context.Context) error { _, _, err := s.Acquire(ctx, d, "me"); return err },
			"Refill":  func(ctx context.Context) error { _, _, err := s.Refill(ctx, step(d, 1, 60_000)); return err },
		} {
			w.Always(func(string) admissiontest.Fault { return fault })
			w.Sends("UpdateItem")
			if err := do(t.Context()); err == nil {
				t.Errorf("%s, %s: it ended well", call, fault)
			}
			if n := w.Sends("UpdateItem"); n != 1 {
				t.Errorf("%s, %s: %d sends, want 1", call, fault, n)
			}
		}
	}
}

// The default client of the SDK applies an addition twice here and reports
// success.
func TestTakeWithALostReplyCountsOnce(t *testing.T) {
	s, w, before := line(t, table(t))
	for i, fault := range faults {
		w.Next("UpdateItem", fault)
		if _, _, err := s.Take(t.Context(), before.Event, 1, 1); err == nil {
			t.Errorf("%s: it ended well", fault)
		}
		d, err := s.Door(t.Context(), before.Event)
		if err != nil {
			t.Fatal(err)
		}
		want := before.Taken
		if fault == admissiontest.LostReply {
			want++
		}
		if d.Taken != want || d.Credit != before.Credit-(want-before.Taken)*admission.Milli {
			t.Errorf("fault %d, %s: %d taken and credit %d, want %d taken", i, fault, d.Taken, d.Credit, want)
		}
		before = d
	}
	if n := w.Land(); n != 1 {
		t.Fatalf("%d takes landed late, want 1", n)
	}
	if d, err := s.Door(t.Context(), before.Event); err != nil || d.Taken != before.Taken+1 {
		t.Errorf("after the late one landed %d are taken (%v), want %d", d.Taken, err, before.Taken+1)
	}
}

// What is harmless when repeated is repeated, to a bound, and has one effect.
// It also shows that the wire's faults are such that the SDK would try again.
func TestHarmlessCallsAreRepeated(t *testing.T) {
	cfg := table(t)
	for _, fault := range faults {
		s, w, d := line(t, cfg)
		p := admission.Place{Event: d.Event, Epoch: 1, Holder: "ada", Index: 4, State: admission.Waiting, JoinedAt: time.UnixMilli(1e12).UTC()}
		pass := p
		pass.Take, pass.TakenAt, pass.PassUntil = 1, p.JoinedAt, p.JoinedAt.Add(time.Minute)
		for _, c := range []struct {
			name, send string
			do         func(context.Context) (admission.Place, error)
			want       admission.State
		}{
			{"Join", "PutItem", func(ctx context.Context) (admission.Place, error) { return s.Join(ctx, p, p.JoinedAt) }, admission.Waiting},
			{"Place", "GetItem", func(ctx context.Context) (admission.Place, error) { return s.Place(ctx, d.Event, 1, "ada") }, admission.Waiting},
			{"Pass", "UpdateItem", func(ctx context.Context) (admission.Place, error) { return s.Pass(ctx, pass) }, admission.Passed},
			{"Leave", "UpdateItem", func(ctx context.Context) (admission.Place, error) { return s.Leave(ctx, p) }, admission.Passed},
		} {
			w.Sends(c.send)
			w.Next(c.send, fault)
			q, err := c.do(t.Context())
			if err != nil || q.Index != 4 || q.State != c.want {
				t.Errorf("%s, %s: %+v (%v), want number 4, %s", c.name, fault, q, err, c.want)
			}
			if n := w.Sends(c.send); n != 2 {
				t.Errorf("%s, %s: %d sends, want 2", c.name, fault, n)
			}
		}
		w.Land()
		if q, err := s.Place(t.Context(), d.Event, 1, "ada"); err != nil || q.Index != 4 || q.Take != 1 {
			t.Errorf("%s: after all landed: %+v (%v), want number 4, take 1", fault, q, err)
		}
		w.Always(func(string) admissiontest.Fault { return fault })
		w.Sends("PutItem")
		if _, err := s.Join(t.Context(), p, p.JoinedAt); err == nil {
			t.Errorf("%s for good: the join ended well", fault)
		}
		if n := w.Sends("PutItem"); n > 3 {
			t.Errorf("%s for good: %d sends, want at most 3", fault, n)
		}
	}
}

// A refill that the network delays beyond the next one is void.
func TestRefillThatLandsLateIsVoid(t *testing.T) {
	s, w, d := line(t, table(t))
	w.Next("UpdateItem", admissiontest.Late)
	if _, _, err := s.Refill(t.Context(), step(d, 9000, 90_000)); err == nil {
		t.Fatal("the fault was not applied: the refill ended well")
	}
	want, ok, err := s.Refill(t.Context(), step(d, 1000, 90_000))
	if err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	if n := w.Land(); n != 1 {
		t.Fatalf("%d refills landed late, want 1", n)
	}
	if got, err := s.Door(t.Context(), d.Event); err != nil || got.Credit != want.Credit || got.Beat != want.Beat || got.Budget != want.Budget {
		t.Errorf("the door is %+v (%v), want %+v", got, err, want)
	}
}

// A server that never answers costs the caller one time limit and one send.
func TestSilentServerCostsOneLimit(t *testing.T) {
	var sends atomic.Int64
	over := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sends.Add(1)
		<-over
	}))
	defer silent.Close()
	defer close(over)
	s, err := New(t.Context(), Config{Table: "waitroom", Endpoint: silent.URL, Timeout: 100 * time.Millisecond, Conns: 4})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, _, err := s.Take(t.Context(), "e", 1, 1); err == nil {
		t.Error("a take without an answer ended well")
	}
	if took := time.Since(began); took > 5*time.Second || sends.Load() != 1 {
		t.Errorf("it took %d ms and %d sends, want about 100 ms and 1", took.Milliseconds(), sends.Load())
	}
}

// EnsureTable by many replicas at once makes one table, and one that is
// another's is refused.
func TestEnsureTable(t *testing.T) {
	cfg := table(t)
	cfg.Table = "waitroom-" + uuid.NewString()[:8]
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			s, err := New(t.Context(), cfg)
			if err == nil {
				err = s.EnsureTable(t.Context())
			}
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	anothers := strings.NewReader(`{"Table":{"TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}}`)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		anothers.WriteTo(w) //nolint:errcheck // the client would tell
	}))
	defer other.Close()
	cfg.Endpoint = other.URL
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureTable(t.Context()); err == nil || !strings.Contains(err.Error(), "pk and sk") {
		t.Errorf("a table with other keys: %v, want it refused", err)
	}
}
