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

	// AnswerMost is how many bytes of a challenge's answer are looked at; 0:
	// 4096, twice what those that are known give. More is refused.
	AnswerMost int

	Limit   time.Duration // of each question; 0: 500 ms
	Proxies Proxies
}

const (
	hookLimit = 500 * time.Millisecond
	hookRest  = time.Second // after a fault, during which nothing is asked
	hookConns = 64          // at once; more than that are let through
	hookMost  = 64 << 10    // bytes of an answer

	answerMost = 4 << 10
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
	cfg.Limit, cfg.AnswerMost = cmp.Or(cfg.Limit, hookLimit), cmp.Or(cfg.AnswerMost, answerMost)
	f := promauto.With(metrics)
	carry := http.DefaultTransport.(*http.Transport).Clone()
	carry.MaxConnsPerHost, carry.MaxIdleConnsPerHost = hookConns, hookConns
	return &Suspicion{
		SuspicionConfig: cfg, slots: make(chan struct{}, hookConns), log: log,
		client: &http.Client{Transport: carry, Timeout: cfg.Limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		rests:  map[string]*atomic.Int64{cfg.Hook: {}, cfg.Verify: {}},
		faults: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_suspicion_faults_total", Help: "Joins, and people at the door, let through because nobody could be asked, and by the hook because it refused to judge, by who (hook, verify).",
		}, []string{"who"}),
		decided: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_suspicion_joins_total", Help: "Joins, and people at the door, judged suspicious or not, and answers to challenges, by outcome (clear, suspicious; proven, unproven, refused by who checks them, too_long, unchecked).",
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
		if s.ask(ctx, "hook", s.Hook, "application/json", body, &says) == refuses {
			s.faults.WithLabelValues("hook").Inc()
		}
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

// proof is what an answer to a challenge is worth.
type proof string

const (
	proven    proof = "proven"
	unproven  proof = "unproven"
	unchecked proof = "unchecked" // nobody could say: it lets through now, and proves nothing for later
)

// proves has an answer checked. Nobody waits before a closed hook; but an answer
// that who checks will not even look at is none, or whoever sends a broken one
// would be taken for a person.
func (s *Suspicion) proves(ctx context.Context, response string) (proof, error) {
	if len(response) > s.AnswerMost {
		s.decided.WithLabelValues("too_long").Inc()
		return unproven, problem("too_large", fmt.Sprintf("challenge: an answer has %d bytes at most", s.AnswerMost))
	}
	says := struct{ Success bool }{}
	form := url.Values{"secret": {s.Secret}, "response": {response}}.Encode()
	is, counted := unproven, string(unproven)
	switch s.ask(ctx, "verify", s.Verify, "application/x-www-form-urlencoded", []byte(form), &says) {
	case silent:
		is, counted = unchecked, string(unchecked)
	case refuses:
		counted = "refused"
	case answers:
		if says.Success {
			is, counted = proven, string(proven)
		}
	}
	s.decided.WithLabelValues(counted).Inc()
	return is, nil
}

// away: who solved a challenge could not have it checked just now, so that
// nobody is sent to solve one.
func (s *Suspicion) away() bool {
	return time.Now().UnixNano() < s.rests[s.Verify].Load()
}

// heard is what came of a question.
type heard int

const (
	silent  heard = iota // nobody there, or nobody well: not asked again for a moment
	refuses              // this question is not answered; the next may be
	answers
)

// ask posts once.
func (s *Suspicion) ask(ctx context.Context, who, to, kind string, body []byte, into any) heard {
	rests := s.rests[to]
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		s.faults.WithLabelValues(who).Inc()
		return silent
	}
	if time.Now().UnixNano() < rests.Load() {
		s.faults.WithLabelValues(who).Inc()
		return silent
	}
	is, err := s.post(ctx, to, kind, body, into)
	if is == silent {
		s.faults.WithLabelValues(who).Inc()
		if rests.Swap(time.Now().Add(hookRest).UnixNano()) < time.Now().Add(-hookRest).UnixNano() {
			s.log.Warn("suspicious people are let through", "who", who, "error", strings.ReplaceAll(err.Error(), to, who))
		}
	}
	return is
}

// post says with its error why it is silent.
func (s *Suspicion) post(ctx context.Context, to, kind string, body []byte, into any) (heard, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return silent, err
	}
	req.Header.Set("Content-Type", kind)
	res, err := s.client.Do(req)
	if err != nil {
		return silent, err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		if err := json.NewDecoder(io.LimitReader(res.Body, hookMost)).Decode(into); err != nil {
			return silent, err
		}
		return answers, nil
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return refuses, nil
	}
	return silent, fmt.Errorf("it answered %s", res.Status)
}
