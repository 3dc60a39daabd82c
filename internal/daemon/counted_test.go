package daemon

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/webhooks"
)

// An alert asks by how much a count grew, and of one that is not there before its
// first it never hears: the first endpoint that is disabled would be nobody's ticket.
func TestWhatAnAlertCountsIsThereBeforeItHappens(t *testing.T) {
	r := prometheus.NewRegistry()
	m := newCourierMetrics(r, slog.New(slog.DiscardHandler), 1, 1, time.Second)
	disabled := func() map[string]float64 {
		all, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, f := range all {
			if f.GetName() != "waitroom_webhook_disabled_total" {
				continue
			}
			for _, c := range f.GetMetric() {
				counts[c.GetLabel()[0].GetValue()] = c.GetCounter().GetValue()
			}
		}
		return counts
	}
	if got, want := disabled(), map[string]float64{"gone": 0, "failing": 0}; !maps.Equal(got, want) {
		t.Errorf("before anything is disabled it counts %v, want %v", got, want)
	}
	m.seen(webhooks.Errand{}, webhooks.Outcome{Status: 410}, webhooks.Settled{Ended: webhooks.Dead, Disabled: "gone"}, nil)
	if got, want := disabled(), map[string]float64{"gone": 1, "failing": 0}; !maps.Equal(got, want) {
		t.Errorf("then it counts %v, want %v", got, want)
	}
}
