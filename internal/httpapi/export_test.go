package httpapi

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Codes is every problem's code with its status, for tests that look from
// outside.
func Codes() map[string]int {
	codes := map[string]int{}
	for code, p := range problems {
		codes[code] = p.status
	}
	return codes
}

// NetworkOf is what the limiter takes for one network.
func NetworkOf(a netip.Addr) netip.Prefix { return networkOf(a) }

// KeepFor is for how many seconds a gateway may keep that a pass is good.
func KeepFor(ends, now time.Time) int64 { return keepFor(ends, now) }

// NetworksMost is how many networks a limiter counts by itself.
const NetworksMost = networksMost

// Counter is a limiter without a listener.
type Counter struct{ l *Limiter }

// NewCounter makes one that counts by itself.
func NewCounter(t testing.TB, perMinute int) Counter {
	t.Helper()
	l, err := NewLimiter(LimiterConfig{PerMinute: perMinute}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return Counter{l}
}

// Judge says whether a join of that network is let through.
func (c Counter) Judge(ctx context.Context, network netip.Prefix, now time.Time) bool {
	return c.l.judge(ctx, network, now).allowed
}

// Kept is how many networks it remembers.
func (c Counter) Kept() int { return len(c.l.here) }

// HelpOf is what a code's page says it means, and what to do.
func HelpOf(code string) [2]string { return [2]string{helps[code].Means, helps[code].Do} }

// Helped are the codes that have a page.
func Helped() map[string]bool {
	all := map[string]bool{}
	for code := range helps {
		all[code] = true
	}
	return all
}
