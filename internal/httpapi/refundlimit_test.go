package httpapi_test

import (
	"testing"

	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/support"
)

// How much may go back of an order without a person's word is one of the event's
// settings: read and put like any, under their tag, on the record with who set
// it, and also once the sale has closed. It takes a key that may approve refunds:
// whoever steers the line alone cannot do away with the approvals.
func TestTheRefundLimitIsASetting(t *testing.T) {
	h := openStill(t)
	line := h.helper(organiser.House, "line", organiser.LineRead, organiser.LineWrite)
	boss := h.helper(organiser.House, "boss", organiser.LineRead, organiser.LineWrite, organiser.RefundsApprove)
	agent := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	s := h.sold("ann", 4)
	asked := func(seat int, want string) {
		t.Helper()
		var r refundAnswer
		agent.want(agent.ask("POST", s.path(), "", s.wants(seat)), 202, "").into(t, &r)
		if r.Answer != want {
			t.Errorf("line %d: %s, want %s", seat, r.Answer, want)
		}
	}
	put := func(d sure, limit any, tag string) answer {
		all, now := d.settings()
		if tag == "" {
			tag = now
		}
		return d.ask("PUT", own+"/settings", "", with(all, map[string]any{"refund_limit_minor": limit}), "If-Match", tag)
	}
	all, tag := boss.settings()
	if limit, there := all["refund_limit_minor"]; !there || limit != nil {
		t.Errorf("of a new event the limit is %v", limit)
	}
	h.want(put(line, 4000, ""), 403, "scope_missing")
	h.want(put(boss, -1, ""), 422, "senseless_setting")
	var made map[string]any
	h.want(put(boss, 4000, ""), 200, "").into(t, &made)
	if made["refund_limit_minor"] != 4000.0 {
		t.Errorf("made: %v", made["refund_limit_minor"])
	}
	h.want(put(boss, 8000, tag), 412, "settings_changed")
	h.want(put(line, 4000.0, ""), 200, "") // what it is
	asked(0, "queued")
	asked(1, "needs_approval")

	minor := int64(8000) // by the command line, and read here
	if found, err := support.SetLimit(t.Context(), h.pool, demotest.EventID, &minor, "operator"); !found || err != nil {
		t.Fatal(found, err)
	}
	if all, now := boss.settings(); all["refund_limit_minor"] != 8000.0 || now == tag {
		t.Errorf("set at the command line it is %v", all["refund_limit_minor"])
	}
	asked(2, "queued")

	h.want(boss.ask("POST", own+"/close", "c", nil, "Confirm", demotest.EventID), 200, "")
	all, tag = boss.settings()
	h.want(boss.ask("PUT", own+"/settings", "", with(all, map[string]any{"refund_limit_minor": nil, "line_cap": 7}), "If-Match", tag), 409, "sale_closed")
	h.want(put(boss, nil, ""), 200, "")
	var record string
	if err := h.pool.QueryRow(t.Context(), `SELECT string_agg(by || ' ' || (changed -> 'refund_limit_minor')::text, ', ' ORDER BY id)
		FROM event_changes WHERE changed ? 'refund_limit_minor'`).Scan(&record); err != nil || record != "boss [null, 4000], operator [4000, 8000], boss [8000, null]" {
		t.Errorf("the record is %q, %v", record, err)
	}
}
