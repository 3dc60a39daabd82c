package webtest

import (
	"testing"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

// The operators' page of webhooks works without a script: a person signs in,
// tests an endpoint, finds what is dead, reads what was sent and answered, and
// sends it again. Axe finds nothing, and nothing scrolls sideways on a phone.
func TestWebhooksPage(t *testing.T) {
	w := open(t)
	axe := axe(t)
	w.beforeReceivers(t)
	b := w.signedIn(t, "/webhooks", organiser.Key{
		Organiser: "acme", Name: "desk", Scopes: []organiser.Scope{organiser.WebhooksRead, organiser.WebhooksWrite},
	})
	b.heading("Webhooks")
	b.look("webhooks", axe)
	b.open("/webhooks?endpoint=ticketing&status=dead&kind=order.paid&about=&since=2026-01-01T00%3A00")
	b.sees("what is dead alone", "document.body.textContent.includes('order-1,') && !document.body.textContent.includes('order-2,')")
	b.open("/webhooks/deliveries/1")
	b.heading("Delivery 1: order.paid")
	b.sees("what was sent, and what was answered as text", `document.querySelector('pre').textContent.includes('"order":"order-1"') && document.body.textContent.includes('<b>out of order</b>')`)
	b.look("webhooks-delivery", axe)
	b.leave("Replay it")
	b.sees("what became of it", "document.body.textContent.includes('Done; it stands in the history.')")
	var is string
	if err := w.pool.QueryRow(t.Context(), `SELECT d.status || ', go ' || d.go || ', by ' || c.by FROM deliveries d
		JOIN endpoint_changes c ON c.endpoint_id = d.endpoint_id AND c.did = 'replayed' WHERE d.id = 1`).Scan(&is); err != nil || is != "waiting, go 2, by desk/kim" {
		t.Errorf("it is %q, %v", is, err)
	}
	b.expect("the server responded with a status of 401") // the browser asks without a name first
}

// beforeReceivers has an endpoint that fails and one that is drained, and a
// delivery of each status.
func (w *world) beforeReceivers(t *testing.T) {
	for _, id := range []string{"ticketing", "crm"} {
		settings := webhooks.DefaultSettings("https://hooks.example.com/a/long/path/of/" + id + "?with=everything-that-a-receiver-may-want-to-find-in-it")
		c, err := webhooks.Add(t.Context(), w.pool, webhooks.Asker{Organiser: "acme", By: "desk"}, webhooks.Addition{ID: id, Settings: settings, Most: 9})
		if err != nil || c.Answer != webhooks.Done {
			t.Fatal(c.Answer, err)
		}
	}
	for _, sql := range []string{
		`UPDATE endpoints SET state = 'draining', reason = 'asked', failures = 3, failing_since = now()`,
		`WITH told AS (
		   INSERT INTO notices (kind, organiser, subject, version, body, addressed, relayed_at)
		   SELECT 'order.paid', 'acme', 'order-' || k, 1, jsonb_build_object('order', 'order-' || k, 'amount_minor', 4000, 'currency', 'EUR', 'seats', '["A-12", "A-13", "A-14", "A-15"]'::jsonb), 1, now()
		   FROM generate_series(1, 3) k ORDER BY k RETURNING id
		 )
		 INSERT INTO deliveries (notice_id, endpoint_id, status, attempts, reason, ended_at)
		 SELECT id, 'ticketing', CASE n WHEN 1 THEN 'dead' WHEN 2 THEN 'delivered' ELSE 'waiting' END, CASE WHEN n < 3 THEN 2 ELSE 0 END,
		   CASE n WHEN 1 THEN 'max_attempts' END, CASE WHEN n < 3 THEN now() END
		 FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM told) x ORDER BY n`,
		`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status, error, answer)
		 SELECT d.id, d.endpoint_id, 1, k, 'c', now() - interval '1 minute' / k, now() - interval '50 seconds' / k,
		   CASE WHEN k = 1 THEN NULL WHEN d.status = 'dead' THEN 503 ELSE 204 END,
		   CASE WHEN k = 1 THEN 'connection refused' ELSE '' END, CASE WHEN k = 2 AND d.status = 'dead' THEN convert_to('<b>out of order</b>', 'utf8') ELSE '' END
		 FROM deliveries d, generate_series(1, 2) k WHERE d.status <> 'waiting'`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
