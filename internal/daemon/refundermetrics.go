package daemon

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
)

// refundMetrics put starts, closures, calls in flight and the oldest age on one
// axis: how busy the outlet is says nothing of how many get their money.
type refundMetrics struct {
	throne   *throne
	calls    *prometheus.CounterVec
	closures *prometheus.CounterVec
	waiting  *prometheus.GaugeVec
	oldest   *prometheus.GaugeVec
	human    prometheus.Gauge
	stopped  prometheus.Gauge
	late     prometheus.Gauge
}

func newRefundMetrics(r prometheus.Registerer, o *outlet.Outlet, c RefunderConfig, t *throne) *refundMetrics {
	f := promauto.With(r)
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_refund_calls_in_flight", Help: "Calls to the provider under way.",
	}, func() float64 { return float64(o.InFlight()) })
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_refund_calls_in_flight_max", Help: "Calls to the provider under way at most.",
	}).Set(float64(c.CallsInFlight))
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_refund_on_its_way_max_seconds", Help: "How long the provider may have a refund on its way before a person hears of it.",
	}).Set(c.OnItsWayFor.Seconds())
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_refund_look_late_after_seconds", Help: "How long after its confirmation a refund is asked about once more.",
	}).Set(c.LookLateAfter.Seconds())
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "waitroom_refund_starts_total", Help: "Calls that were handed to the transport.",
	}, func() float64 { return float64(o.Starts()) })
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_refund_outlet_held", Help: "1 where the outlet is this process's, and calls can start.",
	}, func() float64 {
		if r, _, opens, _ := t.state(); r != nil && opens {
			return 1
		}
		return 0
	})
	m := &refundMetrics{
		throne: t,
		calls: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_refund_calls_total", Help: "Calls that are over and written down, by why they were made and what they came to.",
		}, []string{"kind", "outcome"}),
		closures: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_refund_closures_total", Help: "Operations that came to an end, or to a person, by an answer here.",
		}, []string{"status"}),
		waiting: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_refund_operations", Help: "Operations without an end.",
		}, []string{"status"}),
		oldest: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_refund_oldest_seconds", Help: "Age of the oldest operation without an end: never sent, tried, on its way, a person's.",
		}, []string{"group"}),
		human: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_refund_human_list_open", Help: "Refunds before a person.",
		}),
		late: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_refund_late_looks_waiting", Help: "Confirmed refunds that are due to be asked about once more.",
		}),
		stopped: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_refund_outlet_stopped", Help: "1 while the provider refuses our key and nothing is sent.",
		}),
	}
	m.closures.WithLabelValues(string(refunds.FailedLater)) // an alert asks by how much it grew
	return m
}

// seen counts a call once what follows from it is written down.
func (m *refundMetrics) seen(k refunds.Kind, s refunds.Sent, to refunds.Step) {
	m.calls.WithLabelValues(string(k), string(s.Answer.Outcome)).Inc()
	if k == refunds.LateLook && to.Status == refunds.Confirmed { // it was closed before
		return
	}
	if to.Status.Ended() || to.Status == refunds.Manual || to.Status == refunds.Pending && s.Verb != refunds.Retrieve {
		m.closures.WithLabelValues(string(to.Status)).Inc()
	}
}

func (m *refundMetrics) read(ctx context.Context, l refunds.Ledger) error {
	f, err := l.Read(ctx)
	if err != nil {
		return err
	}
	for _, s := range []refunds.Status{refunds.Queued, refunds.Submitted, refunds.Unknown, refunds.Pending, refunds.Manual} {
		m.waiting.WithLabelValues(string(s)).Set(float64(f.ByStatus[s]))
	}
	for _, of := range []string{"first", "rest", "pending", "manual"} {
		m.oldest.WithLabelValues(of).Set(f.Oldest[of].Seconds())
	}
	m.human.Set(float64(f.Human))
	m.late.Set(float64(f.Late))
	m.stopped.Set(0)
	if f.Stopped {
		m.stopped.Set(1)
	}
	m.throne.stop(f.Stopped)
	return nil
}
