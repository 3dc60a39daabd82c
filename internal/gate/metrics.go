package gate

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	decided, back, seeds *prometheus.CounterVec
	lookups              *prometheus.CounterVec
	ordered, faults      prometheus.Counter
	latency, batch       prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	return &metrics{
		decided: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_gate_decisions_total", Help: "Attempts at the gate, by what it said (unknown, uncounted and unjudged are let through and take nothing; busy, sold_out and taken are not let through).",
		}, []string{"outcome"}),
		back: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_gate_returns_total", Help: "Attempts whose units went back, by why (refused: Postgres said no; overdue: it never saw them; failed: left to the next turn).",
		}, []string{"why"}),
		seeds: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_gate_seeds_total", Help: "Counts that Postgres's recount gave, one a shard, by outcome (set, stale, late, too_many_open).",
		}, []string{"outcome"}),
		lookups: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_gate_lookups_total", Help: "Attempts that were looked up in Postgres before they were refused, by what was found (none: refused; ordered, failed: let through).",
		}, []string{"outcome"}),
		ordered: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_gate_ordered_total", Help: "Attempts that a turn found to have their order.",
		}),
		faults: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_gate_faults_total", Help: "Questions that Redis did not answer; meanwhile everybody is let through.",
		}),
		latency: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_gate_seconds", Help: "How long one script takes, there and back.", Buckets: prometheus.ExponentialBuckets(0.0001, 2, 13),
		}),
		batch: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_gate_batch", Help: "Attempts that one script decided.", Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
}
