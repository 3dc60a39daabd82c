package orders_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// answering is a provider that answers as it is told to.
type answering struct {
	at  orders.AtProvider
	err error
}

func (a *answering) OpenPayment(context.Context, orders.NewPayment) (orders.AtProvider, error) {
	return a.at, a.err
}

// Whether the provider answers stands in the database, with since when it does
// not: a refusal is an answer, and one answer ends a row of failures. What has
// not been heard of for an hour is forgotten.
func TestProviderHealthIsReported(t *testing.T) {
	pool := pgtest.New(t)
	h := orderstest.NewHall(t, pool, 1)
	provider := &answering{at: orders.AtProvider{Refused: true}}
	w := orders.Watch(provider, prometheus.NewRegistry())
	seen := func() (answered, failed, failing bool) {
		t.Helper()
		if err := w.Report(t.Context(), pool, "a"); err != nil {
			t.Fatal(err)
		}
		h.Scan(t, `SELECT answered_at IS NOT NULL, failed_at IS NOT NULL, failing_since IS NOT NULL
			FROM payment_reports WHERE replica = 'a' AND at > now() - interval '1 minute'`, nil, &answered, &failed, &failing)
		return answered, failed, failing
	}
	call := func(ctx context.Context, err error) {
		provider.err = err
		if _, got := w.OpenPayment(ctx, orders.NewPayment{}); !errors.Is(got, err) {
			t.Errorf("the provider's %v comes back as %v", err, got)
		}
	}
	for _, step := range []struct {
		what                      string
		err                       error
		answered, failed, failing bool
	}{
		{"refused", nil, true, false, false},
		{"silent", errors.New("reset"), true, true, true},
		{"still silent", context.DeadlineExceeded, true, true, true},
		{"back", nil, true, true, false},
	} {
		call(t.Context(), step.err)
		if a, f, s := seen(); a != step.answered || f != step.failed || s != step.failing {
			t.Errorf("%s: answered %v, failed %v, failing %v", step.what, a, f, s)
		}
	}
	for _, at := range []orders.AtProvider{{Kept: true}, {UnderWay: true}, {Throttled: true}} {
		provider.at = at
		call(t.Context(), nil)
		if a, f, s := seen(); !a || !f || s {
			t.Errorf("%+v, after an answer: answered %v, failed %v, failing %v", at, a, f, s)
		}
		provider.at = orders.AtProvider{}
		call(t.Context(), errors.New("reset"))
		provider.at = at
		call(t.Context(), nil)
		if _, _, failing := seen(); !failing {
			t.Errorf("%+v passes for an answer: the provider is not failing any more", at)
		}
		provider.at = orders.AtProvider{Refused: true}
		call(t.Context(), nil)
		seen()
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	call(gone, context.Canceled)
	if _, _, failing := seen(); failing {
		t.Error("a caller who gave up counts against the provider")
	}
	var calls float64
	call(t.Context(), nil)
	seen()
	h.Scan(t, `SELECT calls_per_s FROM payment_reports`, nil, &calls)
	if calls <= 0 {
		t.Errorf("%v calls a second right after one", calls)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO payment_reports (replica, at, calls_per_s, failures_per_s)
		VALUES ('old', now() - $1::interval, 0, 0), ('late', now() - interval '10 minutes', 0, 0)`, time.Hour+time.Minute); err != nil {
		t.Fatal(err)
	}
	seen()
	if n := h.Count(t, `SELECT count(*) FROM payment_reports`); n != 2 {
		t.Errorf("%d reports are left, want this one and the one of ten minutes ago", n)
	}
}
