package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// SuspicionConfig says who is asked to prove that they are a person, and how.
type SuspicionConfig struct {
	// Header is the edge's mark: anything but nothing and 0 is suspicious.
	Header string
	// Hook is asked about each join, and about each who comes to the door: POST
	// {event, network, user_agent}, and it answers {suspicious}.
	Hook string
	// ChallengeURL is where a challenge is solved. Its answer comes with the join
	// or with the request for the pass, and Verify says whether it is good: POST secret and response as a form, and
	// it answers {success}, as Turnstile, hCaptcha and reCAPTCHA do.
	ChallengeURL, Verify, Secret string

	Limit   time.Duration // of each question; 0: 500 ms
	Proxies Proxies
}

const (
	hookLimit = 500 * time.Millisecond
	hookRest  = time.Second // after a fault, during which nothing is asked
	hookConns = 64          // at once; more than that are let through
	hookMost  = 64 << 10    // bytes of an answer
)

// Suspicion asks people to prove that they are some. It is a courtesy to the
// others and no lock: whatever goes wrong with it lets people through, and is
// counted.
type Suspicion struct {
	SuspicionConfig
	client *http.Client
	slots  chan struct{}
	rests  map[string]*atomic.Int64 // by address: UnixNano until which it is not asked

	log     *slog.Logger
	faults  *prometheus.CounterVec
	decided *prometheus.CounterVec
}

// NewSuspicion is nil, which suspects nobody, when nothing marks anybody.
func NewSuspicion(cfg SuspicionConfig, metrics prometheus.Registerer, log *slog.Logger) *Suspicion {
	if cfg.Header == "" && cfg.Hook == "" {
		return nil
	}
	cfg.Limit = cmp.Or(cfg.Limit, hookLimit)
	f := promauto.With(metrics)
	carry := http.DefaultTransport.(*http.Transport).Clone()
	carry.MaxConnsPerHost, carry.MaxIdleConnsPerHost = hookConns, hookConns
	return &Suspicion{
		SuspicionConfig: cfg, slots: make(chan struct{}, hookConns), log: log,
		client: &http.Client{Transport: carry, Timeout: cfg.Limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		rests:  map[string]*atomic.Int64{cfg.Hook: {}, cfg.Verify: {}},
		faults: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_suspicion_faults_total", Help: "Joins, and people at the door, let through because nobody could be asked, by who (hook, verify).",
		}, []string{"who"}),
		decided: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_suspicion_joins_total", Help: "Joins, and people at the door, judged suspicious or not, and answers to challenges, by outcome (clear, suspicious, proven, unproven).",
		}, []string{"outcome"}),
	}
}

// Close gives the hooks' connections back.
func (s *Suspicion) Close() {
	if s != nil {
		s.client.CloseIdleConnections()
	}
}

// seen is what of a request a hook may know.
type seen struct {
	Event   string `json:"event"`
	Network string `json:"network"`
	Agent   string `json:"user_agent"`
	marked  bool
}

func (s *Suspicion) look(c *fiber.Ctx) seen {
	if s == nil {
		return seen{}
	}
	v := seen{Event: c.Params("event"), Network: s.Proxies.network(c).String(), Agent: c.Get("User-Agent")}
	if s.Header != "" {
		for _, mark := range c.Request().Header.PeekAll(s.Header) {
			v.marked = v.marked || len(mark) > 0 && string(mark) != "0"
		}
	}
	return v
}

func (s *Suspicion) suspects(ctx context.Context, v seen) bool {
	suspicious := v.marked
	if !suspicious && s.Hook != "" {
		body, _ := json.Marshal(v) // texts always marshal
		var says struct{ Suspicious bool }
		s.ask(ctx, "hook", s.Hook, "application/json", body, &says)
		suspicious = says.Suspicious
	}
	if suspicious {
		s.decided.WithLabelValues("suspicious").Inc()
	} else {
		s.decided.WithLabelValues("clear").Inc()
	}
	return suspicious
}

// challenge is what somebody is told who has to prove that they are a person.
func (s *Suspicion) challenge() error {
	return problem("challenge_required", "").with("challenge_url", s.ChallengeURL)
}

// proves says whether an answer is good, or nobody can say: nobody waits before
// a closed hook.
func (s *Suspicion) proves(ctx context.Context, response string) bool {
	says := struct{ Success bool }{}
	form := url.Values{"secret": {s.Secret}, "response": {response}}.Encode()
	if !s.ask(ctx, "verify", s.Verify, "application/x-www-form-urlencoded", []byte(form), &says) || says.Success {
		s.decided.WithLabelValues("proven").Inc()
		return true
	}
	s.decided.WithLabelValues("unproven").Inc()
	return false
}

// away: who solved a challenge could not have it checked just now, so that
// nobody is sent to solve one.
func (s *Suspicion) away() bool {
	return time.Now().UnixNano() < s.rests[s.Verify].Load()
}

// ask posts once. False: there is no answer.
func (s *Suspicion) ask(ctx context.Context, who, to, kind string, body []byte, into any) bool {
	rests := s.rests[to]
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		s.faults.WithLabelValues(who).Inc()
		return false
	}
	if time.Now().UnixNano() < rests.Load() {
		s.faults.WithLabelValues(who).Inc()
		return false
	}
	if err := s.post(ctx, to, kind, body, into); err != nil {
		s.faults.WithLabelValues(who).Inc()
		if rests.Swap(time.Now().Add(hookRest).UnixNano()) < time.Now().Add(-hookRest).UnixNano() {
			s.log.Warn("suspicious people are let through", "who", who, "error", strings.ReplaceAll(err.Error(), to, who))
		}
		return false
	}
	return true
}

func (s *Suspicion) post(ctx context.Context, to, kind string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", res.Status)
	}
	return json.NewDecoder(io.LimitReader(res.Body, hookMost)).Decode(into)
}
