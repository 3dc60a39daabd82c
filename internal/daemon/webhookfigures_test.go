package daemon

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/pgtest"
)

// What alerts watch is told from the first look on, also where there is nothing.
func TestFiguresOfWebhooksAreToldFromTheFirstLook(t *testing.T) {
	pool, registry := pgtest.New(t), prometheus.NewRegistry()
	for _, sql := range []string{
		`INSERT INTO endpoints (id, organiser, url, secret) VALUES ('good', 'acme', 'https://a.example/', sha256('x'))`,
		`INSERT INTO endpoints (id, organiser, url, secret, failures, failing_since) VALUES ('bad', 'acme', 'https://a.example/', sha256('x'), 2, now())`,
		`INSERT INTO endpoints (id, organiser, url, secret, state, reason, deleted_at) VALUES ('gone', 'acme', 'https://a.example/', sha256('x'), 'disabled', 'asked', now())`,
		`WITH n AS (INSERT INTO notices (kind, organiser, subject, version, body, at, addressed) VALUES ('order.paid', 'acme', 'o', 1, '{}', now() - interval '1 hour', 2) RETURNING id)
		 INSERT INTO deliveries (notice_id, endpoint_id, due_at, status, attempts, reason, ended_at)
		 SELECT n.id, e.id, now() - interval '1 hour', CASE e.id WHEN 'good' THEN 'waiting' ELSE 'dead' END, 1,
		   CASE e.id WHEN 'bad' THEN 'max_attempts' END, CASE e.id WHEN 'bad' THEN now() END
		 FROM n, endpoints e WHERE e.deleted_at IS NULL`,
		// Due for longer, at an endpoint that fails: the share of such holds it back.
		`WITH n AS (INSERT INTO notices (kind, organiser, subject, version, body, at, addressed) VALUES ('order.paid', 'acme', 'p', 1, '{}', now() - interval '3 hours', 1) RETURNING id)
		 INSERT INTO deliveries (notice_id, endpoint_id, due_at, status) SELECT n.id, 'bad', now() - interval '3 hours', 'waiting' FROM n`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := newWebhookFigures(registry).read(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			told[name] = m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"waitroom_webhook_endpoints active": 2, "waitroom_webhook_endpoints draining": 0, "waitroom_webhook_endpoints disabled": 0,
		"waitroom_webhook_endpoints_failing": 1, "waitroom_webhook_held_seconds": 0,
		"waitroom_webhook_deliveries waiting": 2, "waitroom_webhook_deliveries sending": 0, "waitroom_webhook_deliveries dead": 1,
	} {
		if got, there := told[name]; !there || got != want {
			t.Errorf("%s is %v (told: %t), want %v", name, got, there, want)
		}
	}
	if late := told["waitroom_webhook_late_seconds"]; late < 3600 || late > 7200 {
		t.Errorf("due for an hour at an endpoint that is well, it is late by %v s", late)
	}
}
