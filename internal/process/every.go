package process

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// loopMetrics are what an alert on a loop that fails or stands still needs.
type loopMetrics struct {
	passes  *prometheus.CounterVec
	success *prometheus.GaugeVec
}

func newLoopMetrics(r prometheus.Registerer) *loopMetrics {
	f := promauto.With(r)
	return &loopMetrics{
		passes: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_loop_passes_total", Help: "Passes of a loop, by how they ended (ok, error).",
		}, []string{"loop", "outcome"}),
		success: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_loop_last_success_seconds", Help: "When a loop last passed without error, in Unix seconds.",
		}, []string{"loop"}),
	}
}

// Every calls f now and then each interval, never twice at a time, until the
// process takes no more work; a pass under way then finishes. It only adds
// when: a pass that fails is logged (at most every 10 s), counted, and tried
// again at the next interval. Missed intervals are not made up for.
func (p *Process) Every(interval time.Duration, name string, f func(context.Context) error) {
	p.Go(name, func(taking context.Context) error {
		l := &loop{name: name, p: p, quiet: quiet{period: 10 * time.Second}}
		t := time.NewTicker(interval)
		defer t.Stop()
		for taking.Err() == nil {
			l.pass(f)
			select {
			case <-taking.Done():
			case <-t.C:
			}
		}
		return nil
	})
}

type loop struct {
	name    string
	p       *Process
	quiet   quiet
	failing int  // passes in a row that failed
	told    bool // whether one of these was logged
}

func (l *loop) pass(f func(context.Context) error) {
	err := f(l.p.work)
	now := time.Now()
	if err == nil {
		l.p.loops.passes.WithLabelValues(l.name, "ok").Inc()
		l.p.loops.success.WithLabelValues(l.name).Set(float64(now.UnixMilli()) / 1000)
		if l.told {
			l.p.Log.Info("loop works again", "loop", l.name, "failed_passes", l.failing)
		}
		l.failing, l.told = 0, false
		return
	}
	l.failing++
	l.p.loops.passes.WithLabelValues(l.name, "error").Inc()
	if tell, untold := l.quiet.tell(now); tell {
		l.told = true
		l.p.Log.Error("loop failed", "loop", l.name, "error", err, "failed_passes", l.failing, "untold", untold)
	}
}
