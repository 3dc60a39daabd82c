package admission

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are what operators see of all lines of a replica.
type Metrics struct {
	joins   *prometheus.CounterVec // outcome: new again unmet full busy doubt
	passes  *prometheus.CounterVec // outcome: new again
	takes   prometheus.Counter
	burned  *prometheus.CounterVec // why: block again left unknown
	faults  *prometheus.CounterVec // what failed
	refills *prometheus.CounterVec // outcome: ok lost late unknown
	lost    *prometheus.CounterVec // what gave way at a bound: facts evidence
	grace   *prometheus.CounterVec // event
	rate    *prometheus.GaugeVec   // event, of: force organiser
	limited *prometheus.GaugeVec   // event, by: 1 for what bounds the rate in force
	room    *prometheus.GaugeVec   // event, where the organiser has a cap
	holding *prometheus.GaugeVec   // event: 1 while this replica releases it
	waits   *prometheus.GaugeVec   // event, queue: held joins; "", queue: evidence
}

// NewMetrics registers them.
func NewMetrics(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	counter := func(name, help, label string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_line_" + name, Help: help}, []string{label})
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "waitroom_line_" + name, Help: help}, labels)
	}
	return &Metrics{
		joins:  counter("joins_total", "Joins, by how they ended.", "outcome"),
		passes: counter("passes_total", "Passes handed out: new, or again to who had one.", "outcome"),
		takes: f.NewCounter(prometheus.CounterOpts{
			Name: "waitroom_line_takes_total", Help: "Credits taken by this replica.",
		}),
		burned:  counter("burned_total", "Numbers and credits that nobody gets, by why.", "why"),
		faults:  counter("faults_total", "What could not be read or written, by what; nobody is let in by it.", "what"),
		refills: counter("refills_total", "Steps of the releaser, by how they ended.", "outcome"),
		lost:    counter("lost_total", "Facts and evidence that gave way at a bound.", "what"),
		grace:   counter("grace_takes_total", "Credits taken by this replica for latecomers.", "event"),
		rate:    gauge("rate", "People a second: in force, and as the organiser set it.", "event", "of"),
		limited: gauge("rate_limited", "1 for what bounds the rate in force: organiser, claims, payments, inside or store.", "event", "by"),
		room:    gauge("room", "People who may still come in by the organiser's cap.", "event"),
		holding: gauge("holding", "1 while this replica releases the event.", "event"),
		waits:   gauge("waiting", "What waits in this replica's bounded queues.", "event", "queue"),
	}
}

// bounds tells what bounds the line's pace.
func (m *Metrics) bounds(event string, sale Sale, f Figures) {
	m.rate.WithLabelValues(event, "force").Set(f.Rate)
	m.rate.WithLabelValues(event, "organiser").Set(sale.Rate)
	for _, by := range []Limit{ByRate, ByClaims, ByPayments, ByInside, ByStore} {
		value := 0.0
		if by == f.By {
			value = 1
		}
		m.limited.WithLabelValues(event, string(by)).Set(value)
	}
	if sale.MaxInside > 0 {
		m.room.WithLabelValues(event).Set(float64(f.Room))
	} else {
		m.room.DeleteLabelValues(event)
	}
}
