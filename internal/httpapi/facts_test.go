package httpapi_test

import (
	"fmt"
	"strings"
)

// one reads one number of the database.
func (h *house) one(sql string, args ...any) (n int64) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// facts is a count and a checksum of every table, but for what changes by itself:
// what claimers and payments report, the credit that flows, that a notice was
// relayed and told its organiser, and where the line stands. A buyer who holds nothing is a lock to take
// turns at, and no fact.
func (h *house) facts() map[string]string {
	h.t.Helper()
	var tables string
	err := h.pool.QueryRow(h.t.Context(), `
		SELECT string_agg(quote_ident(tablename), ' ' ORDER BY tablename) FROM pg_tables
		WHERE schemaname = 'public' AND tablename NOT IN ('claim_reports', 'payment_reports', 'opening_reports', 'release_log', 'line_checkpoints',
		  'deliveries', 'delivery_attempts', 'endpoints')`).Scan(&tables)
	if err != nil {
		h.t.Fatal(err)
	}
	facts := map[string]string{}
	for _, table := range strings.Fields(tables) {
		var n int64
		var sum string
		err := h.pool.QueryRow(h.t.Context(), `
			SELECT count(*), coalesce(md5(string_agg(fact, chr(10) ORDER BY fact)), '') FROM (SELECT (to_jsonb(r) - '{relayed_at,addressed}'::text[])::text AS fact FROM `+table+` r`+map[string]string{"buyers": ` WHERE held > 0`}[table]+`) facts`).Scan(&n, &sum)
		if err != nil {
			h.t.Fatal(err)
		}
		facts[table] = fmt.Sprint(n, " ", sum)
	}
	if len(facts) < 15 {
		h.t.Fatalf("facts of %d tables: %v", len(facts), facts)
	}
	return facts
}
