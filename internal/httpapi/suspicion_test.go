package httpapi

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// verifier answers each check with what it is told to.
func verifier(t *testing.T) (s *Suspicion, status *atomic.Int64, asked *atomic.Int64) {
	t.Helper()
	status, asked = &atomic.Int64{}, &atomic.Int64{}
	v := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(status.Load()))
		if r.FormValue("response") == "I am" {
			io.WriteString(w, `{"success":true}`) //nolint:errcheck // the client's to notice
			return
		}
		io.WriteString(w, `{"success":false}`) //nolint:errcheck // the client's to notice
	}))
	t.Cleanup(v.Close)
	s = NewSuspicion(SuspicionConfig{
		Header: "X-Bot", ChallengeURL: "/c", Verify: v.URL, Secret: "s", Limit: 10 * time.Second,
	}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	t.Cleanup(s.Close)
	return s, status, asked
}

func counted(t *testing.T, s *Suspicion, outcome string) float64 {
	t.Helper()
	var m dto.Metric
	if err := s.decided.WithLabelValues(outcome).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// An answer that who checks refuses (too long for it, malformed, not its own) is
// no proof, and opens the door to nobody else: only who is away or overrun lets
// through, and what was not checked is not called proven.
func TestARefusedAnswerProvesNothing(t *testing.T) {
	for status, want := range map[int64]proof{
		400: unproven, 401: unproven, 403: unproven, 404: unproven, 413: unproven, 422: unproven,
		408: unchecked, 429: unchecked, 500: unchecked, 502: unchecked, 503: unchecked,
	} {
		s, says, _ := verifier(t)
		says.Store(status)
		if is, err := s.proves(t.Context(), "I am"); is != want || err != nil {
			t.Errorf("answered %d: %s, %v; want %s", status, is, err, want)
		}
		if s.away() != (want == unchecked) {
			t.Errorf("answered %d: away is %t", status, s.away())
		}
		outcome := map[proof]string{unproven: "refused", unchecked: "unchecked"}[want]
		if n := counted(t, s, outcome); n != 1 {
			t.Errorf("answered %d: %g counted as %s, want 1", status, n, outcome)
		}
		says.Store(200)
		other, err := s.proves(t.Context(), "I am not") // somebody else's, just then
		if err != nil || want == unproven && other != unproven {
			t.Errorf("after a %d another's wrong answer is %s, %v", status, other, err)
		}
	}
	s, says, _ := verifier(t)
	says.Store(200)
	if is, err := s.proves(t.Context(), "I am"); is != proven || err != nil {
		t.Errorf("a good answer is %s, %v", is, err)
	}
}

// An answer longer than any that a challenge gives is refused as such, and
// nobody is asked about it.
func TestALongAnswerIsRefusedUnasked(t *testing.T) {
	s, says, asked := verifier(t)
	says.Store(200)
	var refused *Problem
	is, err := s.proves(t.Context(), strings.Repeat("x", answerMost+1))
	if is != unproven || !errors.As(err, &refused) || refused.Status != 413 || refused.Detail != "challenge: an answer has 4096 bytes at most" {
		t.Errorf("it is %s, %v", is, err)
	}
	if n := asked.Load(); n != 0 || s.away() {
		t.Errorf("who checks was asked %d times, away %t", n, s.away())
	}
	if n := counted(t, s, "too_long"); n != 1 {
		t.Errorf("%g counted as too long, want 1", n)
	}
	if is, err := s.proves(t.Context(), strings.Repeat("x", answerMost)); is != unproven || err != nil || asked.Load() != 1 {
		t.Errorf("of just that length it is %s, %v, asked %d times", is, err, asked.Load())
	}
}
