package daemon

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/webhooks"
)

// courierMetrics tell whether a courier takes, and what became of what it took.
type courierMetrics struct {
	log       *slog.Logger
	attempts  *prometheus.CounterVec
	took      prometheus.Histogram
	throttled prometheus.Counter
	disabled  *prometheus.CounterVec
	lost      prometheus.Counter
	givenUp   prometheus.Counter
	inFlight  prometheus.Gauge
	failing   prometheus.Gauge // of these, at failing endpoints

	patience time.Duration // how long after its last look a courier counts as at work

	mu     sync.Mutex
	well   time.Time // when it last looked for what is due, without error
	failed error     // why the looks since then failed
	quiet  time.Time // until then that is not logged again
}

// newCourierMetrics makes those of a courier that has so many attempts under way at
// most, so many of them at failing endpoints, each for so long: while all are, it does
// not look.
func newCourierMetrics(r prometheus.Registerer, log *slog.Logger, most, failing int, limit time.Duration) *courierMetrics {
	f := promauto.With(r)
	m := &courierMetrics{
		log: log, patience: 10*time.Second + limit,
		attempts: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_webhook_attempts_total", Help: "Attempts that ended here, by what they made of their delivery (delivered, failed, dead, lease_lost) or unwritten: Postgres did not take it.",
		}, []string{"outcome"}),
		took: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_webhook_delivered_seconds", Help: "From a notice to its delivery, retries included.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200, 43200},
		}),
		throttled: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_webhook_throttled_total", Help: "Attempts after which their endpoint rests: 429, 502, 503, 504, Retry-After, or no answer.",
		}),
		disabled: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_webhook_disabled_total", Help: "Endpoints that were disabled here, by why (gone, failing).",
		}, []string{"reason"}),
		lost: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_webhook_leases_lost_total", Help: "Attempts that were written off: their courier did not say how they ended.",
		}),
		givenUp: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_webhook_given_up_total", Help: "Deliveries that waited for an endpoint that is deleted, or disabled for too long.",
		}),
		inFlight: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_webhook_sends_in_flight", Help: "Attempts under way.",
		}),
		failing: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_webhook_failing_sends_in_flight", Help: "Attempts under way at endpoints whose last attempt had failed when they began.",
		}),
	}
	// An alert asks by how much a count grew: it has to be there before its first one.
	for _, e := range []webhooks.Ended{webhooks.Delivered, webhooks.Failed, webhooks.Dead, webhooks.LeaseLost, "unwritten"} {
		m.attempts.WithLabelValues(string(e))
	}
	for _, reason := range []string{"gone", "failing"} {
		m.disabled.WithLabelValues(reason)
	}
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_webhook_sends_in_flight_max", Help: "Attempts under way at most.",
	}).Set(float64(most))
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_webhook_failing_sends_in_flight_max", Help: "Attempts under way at such endpoints at most; the rest is for the others.",
	}).Set(float64(failing))
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_webhook_courier_up", Help: "1 while this process takes deliveries: it looked for them without error, at most 10 s and one attempt's limit ago.",
	}, func() float64 {
		if m.takes() != nil {
			return 0
		}
		return 1
	})
	return m
}

// looked is told of each look for what is due. One that failed is logged, at most
// every 10 s; the next is soon.
func (m *courierMetrics) looked(taken []webhooks.Errand, err error) {
	m.inFlight.Add(float64(len(taken)))
	for _, e := range taken {
		if e.Failing {
			m.failing.Inc()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.failed = err; err == nil {
		m.well = now
		return
	}
	if now.After(m.quiet) {
		m.log.Error("deliveries cannot be taken", "error", err)
		m.quiet = now.Add(10 * time.Second)
	}
}

var errNotTaking = errors.New("it does not look for deliveries")

// takes is why this process does not take deliveries; nil, it does.
func (m *courierMetrics) takes() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case time.Since(m.well) <= m.patience:
		return nil
	case m.failed != nil:
		return m.failed
	}
	return errNotTaking
}

// seen counts and logs an attempt, once what follows from it is written down.
func (m *courierMetrics) seen(e webhooks.Errand, o webhooks.Outcome, s webhooks.Settled, err error) {
	m.inFlight.Dec()
	if e.Failing {
		m.failing.Dec()
	}
	log := m.log.With("delivery", e.Delivery, "endpoint", e.Endpoint, "attempt", e.Attempt, "status", o.Status)
	if err != nil {
		m.attempts.WithLabelValues("unwritten").Inc()
		log.Error("the end of an attempt is not written down; it is sent again", "error", err)
		return
	}
	m.attempts.WithLabelValues(string(s.Ended)).Inc()
	if s.Throttled {
		m.throttled.Inc()
	}
	if s.Disabled != "" {
		m.disabled.WithLabelValues(s.Disabled).Inc()
		log.Warn("endpoint disabled", "reason", s.Disabled)
	}
	switch s.Ended {
	case webhooks.Delivered:
		m.took.Observe(s.Took.Seconds())
		log.Debug("delivered", "took", s.Took.Seconds())
	case webhooks.LeaseLost:
		log.Warn("an attempt ended after it was written off", "error", o.Error)
	default:
		log.Info("not delivered", "ended", s.Ended, "reason", s.Reason, "error", o.Error)
	}
}

func (m *courierMetrics) swept(s webhooks.Swept) {
	m.lost.Add(float64(s.Lost))
	m.givenUp.Add(float64(s.Dead))
	if s.Lost > 0 || s.Dead > 0 {
		m.log.Warn("swept", "attempts_lost", s.Lost, "deliveries_dead", s.Dead)
	}
}
