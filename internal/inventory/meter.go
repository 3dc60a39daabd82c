package inventory

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// meter counts what a claimer does, for its metrics and its reports.
type meter struct {
	queue            *queue
	full, late, shed prometheus.Counter
	batch            prometheus.Histogram
	outcomes         *prometheus.CounterVec
	faults           *prometheus.CounterVec
	durations        prometheus.Histogram

	mu       sync.Mutex
	since    time.Time // when these began to count
	answers  int
	claimed  int             // of these
	unserved int             // busy, failed, unknown
	took     []time.Duration // each other answer
}

func newMeter(metrics prometheus.Registerer, q *queue) *meter {
	f := promauto.With(metrics)
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_claim_queue", Help: "Attempts that wait for their claim.",
	}, func() float64 { n, _ := q.state(); return float64(n) })
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_claim_queue_limit", Help: "Attempts that may wait; one more is answered busy.",
	}, func() float64 { return float64(q.limit) })
	return &meter{
		queue: q,
		since: time.Now(),
		full: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_claim_queue_full_total", Help: "Attempts that found the queue full.",
		}),
		late: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_claim_late_total", Help: "Attempts dropped because nobody waited for them any more.",
		}),
		shed: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_claim_shed_total", Help: "Attempts turned away because they had waited too long in a queue that did not get shorter.",
		}),
		batch: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_claim_batch_size", Help: "Attempts in a batch.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
		}),
		outcomes: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_claims_total", Help: "Attempts answered, by outcome.",
		}, []string{"outcome"}),
		faults: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_claim_faults_total", Help: "Batches that failed and were tried again, halved or resolved, by SQLSTATE (unsent, silent: none came).",
		}, []string{"code"}),
		durations: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_claim_seconds", Help: "From an attempt's arrival to its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
	}
}

// mostTaken bounds what is kept for the p95 while nobody asks for a report.
const mostTaken = 1 << 16

func (m *meter) answered(o Outcome, took time.Duration) {
	m.outcomes.WithLabelValues(string(o)).Inc()
	m.durations.Observe(took.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	switch o {
	case Busy, Failed, Unknown:
		m.unserved++
		return
	case Claimed:
		m.claimed++
	}
	if len(m.took) < mostTaken {
		m.took = append(m.took, took)
	}
}

// report sums up since the last one, and begins anew.
func (m *meter) report(now time.Time) (r Report) {
	queued, first := m.queue.state()
	if r.Queued = queued; queued > 0 {
		r.QueueAge = now.Sub(first)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if seconds := now.Sub(m.since).Seconds(); seconds > 0 {
		r.ClaimsPerSecond = float64(m.claimed) / seconds
		r.ErrorsPerSecond = float64(m.unserved) / seconds
		r.AnswersPerSecond = float64(m.answers) / seconds
	}
	if n := len(m.took); n > 0 {
		slices.Sort(m.took)
		r.P95 = m.took[(n-1)*95/100]
	}
	m.since, m.answers, m.claimed, m.unserved, m.took = now, 0, 0, 0, m.took[:0]
	return r
}
