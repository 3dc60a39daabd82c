package daemon_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// toSend matches the sends of refunds, toLook their looks.
func toSend(s payprov.Script) payprov.Script {
	s.Method, s.Path = http.MethodPost, "/v1/refunds"
	return s
}

func toLook(s payprov.Script) payprov.Script {
	s.Method, s.Path = http.MethodGet, "/v1/refunds"
	return s
}

// What we owe goes back, once each, and the refunder says so.
func TestOwedMoneyGoesBack(t *testing.T) {
	l := openTill(t, 8, payprov.Config{})
	l.owe(8)
	r := l.refunder(l.config())
	l.all(refunds.Confirmed)
	if n := l.prove(); n != 8 {
		t.Errorf("%d calls for 8 refunds, want 8", n)
	}
	if ok, why := r.ready(t); !ok {
		t.Errorf("not ready: %s", why)
	}
	for _, line := range []string{
		`waitroom_refund_calls_total{kind="first",outcome="succeeded"} 8`, `waitroom_refund_closures_total{status="confirmed"} 8`,
		"waitroom_refund_starts_total 8", "waitroom_refund_outlet_held 1", "waitroom_refund_calls_in_flight 0", `waitroom_refund_operations{status="queued"} 0`,
	} {
		metric(t, r.ops, line)
	}
}

// Every way in which an answer is lost or cannot be believed, with the refund
// made and without: never confirmed by that answer, found by a look or sent
// again under the same key, and one refund in the end.
func TestNoAnswerThatCannotBeBelievedConfirms(t *testing.T) {
	var faults []payprov.Script
	for _, commit := range []bool{true, false} {
		for _, say := range []payprov.Say{payprov.FIN, payprov.RST, payprov.ServerError, payprov.Empty, payprov.HTML, payprov.Redirect} {
			faults = append(faults, payprov.Script{Say: say, Commit: commit})
		}
	}
	faults = append(faults,
		payprov.Script{Say: payprov.Half}, payprov.Script{Say: payprov.OtherAmount},
		payprov.Script{Say: payprov.HTML, Status: 403, Commit: true}, payprov.Script{Say: payprov.HTML, Status: 503},
		payprov.Script{After: 2 * time.Second}) // longer than our limit
	l := openTill(t, len(faults), payprov.Config{})
	ids := l.owe(len(faults))
	for i, f := range faults {
		f.Operation = ids[i]
		l.play(toSend(f))
	}
	l.refunder(l.config())
	within(t, 2*time.Minute, "all were sent", func() bool {
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE sends = 0 OR call IS NOT NULL`) == 0
	})
	if n := l.Count(t, `SELECT count(*) FROM refund_changes WHERE to_status = 'unknown'`); n != len(faults) {
		t.Errorf("%d of %d became unknown", n, len(faults))
	}
	// A 500 without an effect is the key's answer for ever: a person decides.
	within(t, 2*time.Minute, "all have an end", func() bool {
		l.hurry()
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE status NOT IN ('confirmed', 'manual') OR call IS NOT NULL`) == 0
	})
	for i, f := range faults {
		want := refunds.Confirmed
		if f.Say == payprov.ServerError && !f.Commit {
			want = refunds.Manual
		}
		if got := l.status(ids[i]); got != want {
			t.Errorf("%q, carried out %t: %s, want %s", f.Say, f.Commit, got, want)
		}
	}
	if n := len(l.provider.Ledger().Refunds); n != len(faults)-1 {
		t.Errorf("%d refunds at the provider, want %d", n, len(faults)-1)
	}
	l.prove()
}

// The provider did it, the first two answers and the first look are lost, and
// meanwhile somebody asks again: the same operation, key and bytes, one refund.
func TestSendsThatTimeOutAreFoundByALook(t *testing.T) {
	var sends, looks atomic.Int32
	l := openTill(t, 1, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/v1/refunds" && sends.Add(1) <= 2:
			next.ServeHTTP(discard{}, r)
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
		case r.Method == http.MethodGet && r.URL.Path == "/v1/refunds" && looks.Add(1) == 1:
			w.Header().Set("Content-Type", "application/json") // its index is behind
			w.Write([]byte(`{"object":"list","url":"/v1/refunds","has_more":false,"data":[]}`))
		default:
			next.ServeHTTP(w, r)
		}
	}})
	id := l.owe(1)[0]
	l.refunder(l.config())
	l.all(refunds.Confirmed)
	if n := l.prove(); n != 4 || sends.Load() != 2 || looks.Load() != 2 {
		t.Errorf("%d calls, %d sends, %d looks; want 4, 2, 2", n, sends.Load(), looks.Load())
	}
	if s, err := refunds.Newest(t.Context(), l.Pool, id); err != nil || s.ID != id || s.Sends != 2 {
		t.Errorf("who asks hears %+v, %v", s, err)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// The notice is there before the answer: one record, one refund.
func TestANoticeArrivesBeforeTheAnswer(t *testing.T) {
	l := openTill(t, 3, payprov.Config{Disorder: payprov.Disorder{Doubled: 1}})
	l.listens()
	l.play(toSend(payprov.Script{Times: 3, After: 800 * time.Millisecond}))
	l.owe(3)
	l.refunder(l.config())
	l.all(refunds.Confirmed)
	within(t, 20*time.Second, "the provider has told everything", func() bool { return l.provider.Undelivered() == 0 })
	records := l.Count(t, `SELECT count(*) FROM provider_refunds`)
	told := l.Count(t, `SELECT count(*) FROM notices WHERE kind = 'refund.confirmed'`)
	if records != 3 || told != 3 {
		t.Errorf("%d records and %d notices of 3 refunds", records, told)
	}
	if n := l.prove(); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

// Asynchronous refunds: on their way, then there; or failed, also after they
// were there. What failed is never shown as refunded, and a person has it.
func TestRefundsThatTakeTheirTime(t *testing.T) {
	l := openTill(t, 3, payprov.Config{})
	l.listens()
	ids := l.owe(3)
	l.play(
		toSend(payprov.Script{Operation: ids[0], Refund: payprov.Course{Pending: true}}),
		toSend(payprov.Script{Operation: ids[1], Refund: payprov.Course{Pending: true}}),
	)
	l.refunder(l.config())
	within(t, 30*time.Second, "two are on their way", func() bool {
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'pending'`) == 2 && l.status(ids[2]) == refunds.Confirmed
	})
	if n := l.Count(t, `SELECT sum(refunded_minor) FROM payments`); n != 2500 {
		t.Errorf("%d are shown as refunded, want the 2500 that are", n)
	}
	refund := func(i int) (id string) {
		l.Scan(t, `SELECT provider_refund_id FROM refund_operations WHERE id = $1`, []any{ids[i]}, &id)
		return id
	}
	l.provider.Advance(25 * time.Hour) // nobody guesses that it failed
	if l.status(ids[0]) != refunds.Pending {
		t.Errorf("after a day it is %s", l.status(ids[0]))
	}
	for i, status := range []string{"succeeded", "failed", "failed"} {
		if err := l.provider.Settle(refund(i), status, ""); err != nil {
			t.Fatal(err)
		}
	}
	within(t, 30*time.Second, "all three are told", func() bool {
		return l.status(ids[0]) == refunds.Confirmed && l.status(ids[1]) == refunds.FailedLater && l.status(ids[2]) == refunds.FailedLater
	})
	if n := l.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_failed' AND resolved_at IS NULL`); n != 2 {
		t.Errorf("%d failures are before a person, want 2", n)
	}
	if n := l.Count(t, `SELECT count(*) FROM refund_changes WHERE operation = $1 AND to_status = 'confirmed'`, ids[1]); n != 0 {
		t.Error("one that never arrived was confirmed meanwhile")
	}
	l.prove()
}

// Three refunds are confirmed, one fails days later, and nobody is told: the notice is
// lost. Each is asked about once more, through the outlet, and the one that failed is a
// person's.
func TestAFailureThatNobodyToldOfIsFoundLater(t *testing.T) {
	l := openTill(t, 3, payprov.Config{})
	ids := l.owe(3)
	r := l.refunder(l.config())
	l.all(refunds.Confirmed)
	var refund string
	l.Scan(t, `SELECT provider_refund_id FROM refund_operations WHERE id = $1`, []any{ids[1]}, &refund)
	if err := l.provider.Settle(refund, "failed", "lost_or_stolen_card"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Pool.Exec(t.Context(), `UPDATE refund_operations SET ended_at = now() - interval '8 days', next_at = now()`); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "each was asked about once more", func() bool {
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE late_look_over_at IS NOT NULL OR status = 'failed_later'`) == 3
	})
	for i, want := range []refunds.Status{refunds.Confirmed, refunds.FailedLater, refunds.Confirmed} {
		if got := l.status(ids[i]); got != want {
			t.Errorf("the refund %d is %s, want %s", i, got, want)
		}
	}
	if n := l.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_failed' AND operation = $1 AND resolved_at IS NULL`, ids[1]); n != 1 {
		t.Errorf("%d items of the failure are open, want 1", n)
	}
	// The audit goes by when they were sent, which is less than eight days ago.
	if _, err := l.Pool.Exec(t.Context(), `UPDATE refund_operations SET ended_at = ended_at + interval '8 days' WHERE status = 'confirmed'`); err != nil {
		t.Fatal(err)
	}
	if n := l.prove(); n != 6 {
		t.Errorf("%d calls for 3 refunds and 3 late looks, want 6", n)
	}
	for _, line := range []string{
		`waitroom_refund_calls_total{kind="late",outcome="succeeded"} 2`, `waitroom_refund_calls_total{kind="late",outcome="failed"} 1`,
		`waitroom_refund_closures_total{status="confirmed"} 3`, `waitroom_refund_closures_total{status="failed_later"} 1`,
		"waitroom_refund_late_looks_waiting 0", "waitroom_refund_look_late_after_seconds 604800",
	} {
		metric(t, r.ops, line)
	}
	l.audit()
}

// Somebody gave it back in the provider's own pages: found by a look, and not
// given back again.
func TestARefundMadeByHandIsFound(t *testing.T) {
	l := openTill(t, 2, payprov.Config{})
	ids := l.owe(2)
	payment := func(i int) (id string) {
		l.Scan(t, `SELECT p.provider_payment_id FROM payments p JOIN refund_operations f ON f.payment_id = p.id WHERE f.id = $1`, []any{ids[i]}, &id)
		return id
	}
	if _, err := l.provider.RefundByHand(payment(0), 0); err != nil {
		t.Fatal(err)
	}
	for _, part := range []int64{1000, 1500} {
		if _, err := l.provider.RefundByHand(payment(1), part); err != nil {
			t.Fatal(err)
		}
	}
	l.refunder(l.config())
	within(t, time.Minute, "both have an end", func() bool {
		l.hurry()
		return l.status(ids[0]) == refunds.Confirmed && l.status(ids[1]) == refunds.Manual
	})
	for _, r := range l.provider.Ledger().Refunds {
		if r.Key != "" {
			t.Errorf("a second refund, %s of %d", r.ID, r.Amount)
		}
	}
	l.audit()
}

// A definite no is not tried again; busy is, no sooner than it asks for; and a
// key that is in use is waited for.
func TestANoIsNotARetry(t *testing.T) {
	l := openTill(t, 3, payprov.Config{})
	ids := l.owe(3)
	l.play(
		toSend(payprov.Script{Operation: ids[0], Say: payprov.Refuse, Status: 400, Code: "charge_disputed"}),
		toSend(payprov.Script{Operation: ids[1], Say: payprov.TooMany, RetryAfter: 3 * time.Second}),
		toSend(payprov.Script{Operation: ids[2], Say: payprov.InUse}),
	)
	l.refunder(l.config())
	within(t, time.Minute, "all have an end", func() bool {
		return l.status(ids[0]) == refunds.RejectedFor && l.status(ids[1]) == refunds.Confirmed && l.status(ids[2]) == refunds.Confirmed
	})
	var waited float64
	l.Scan(t, `SELECT extract(epoch FROM max(started_at) - min(started_at))::float8 FROM refund_calls WHERE operation = $1`, []any{ids[1]}, &waited)
	if waited < 3 {
		t.Errorf("sent again after %.2f s, the provider asked for 3", waited)
	}
	if n := l.prove(); n != 5 {
		t.Errorf("%d calls, want 5: one refused, two that were sent twice", n)
	}
}

// The provider refuses our key: nothing more is sent, the process says that it is
// not ready, and a person has it; when they say so, it goes on.
func TestARefusedKeyStopsTheRefunder(t *testing.T) {
	l := openTill(t, 5, payprov.Config{})
	l.owe(5)
	l.play(payprov.Script{Path: "/v1/refunds", Say: payprov.Refuse, Status: 401, Times: 1000})
	r := l.refunder(l.config())
	within(t, 30*time.Second, "it is not ready", func() bool {
		ok, why := r.ready(t)
		return !ok && strings.Contains(why, "refuses our key")
	})
	within(t, 30*time.Second, "what was under way is over, and all five are queued as before", func() bool {
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'queued' AND call IS NULL`) == 5
	})
	sent := l.calls()
	metric(t, r.ops, "waitroom_refund_outlet_stopped 1")
	metric(t, r.ops, "waitroom_refund_calls_in_flight 0")
	if n := l.calls(); n != sent {
		t.Errorf("%d more calls after the refusal", n-sent)
	}
	l.provider.Clear()
	if _, err := l.Pool.Exec(t.Context(), `UPDATE human_list SET resolved_at = now() WHERE kind = 'outlet_stopped'`); err != nil {
		t.Fatal(err)
	}
	l.all(refunds.Confirmed)
	within(t, 20*time.Second, "it is ready again", func() bool { ok, _ := r.ready(t); return ok })
	l.prove()
}

// Fast, slow, cut, refused and well again, with first sends, retries, looks and
// what a person pushed at once, all due at the same instant: starts are at their
// distance, ten are under way at most, our log is the provider's, and every
// operation has one key and one refund.
func TestTheOutletUnderEverythingAtOnce(t *testing.T) {
	const each = 6
	l := openTill(t, 6*each, payprov.Config{Disorder: payprov.Disorder{Seed: 7}})
	ids := l.owe(6 * each)
	for i, id := range ids {
		for _, s := range [][]payprov.Script{
			{},
			{{After: 3 * time.Second}},
			{{Commit: true, Say: payprov.FIN}, {Say: payprov.RST}},
			{{Say: payprov.Refuse, Status: 402, Code: "charge_disputed"}},
			{{Say: payprov.TooMany}, {Say: payprov.InUse}},
			{{Say: payprov.RST}, {Say: payprov.Half}},
		}[i%6] {
			s.Operation = id
			l.play(toSend(s))
		}
	}
	// The third sort has no time left: a person has it after its first send.
	if _, err := l.Pool.Exec(t.Context(), `UPDATE refund_operations SET give_up_at = now() WHERE id = ANY($1)`,
		[]string{ids[2], ids[8], ids[14]}); err != nil {
		t.Fatal(err)
	}
	l.play(toLook(payprov.Script{Share: 0.2, After: 2 * time.Second}), toLook(payprov.Script{Share: 0.2, Say: payprov.FIN}))
	r := l.refunder(l.config())
	within(t, 3*time.Minute, "all have an end", func() bool {
		l.hurry()
		l.pushAll()
		return l.Count(t, `SELECT count(*) FROM refund_operations WHERE ended_at IS NULL OR call IS NOT NULL`) == 0
	})
	r.stop()
	n := l.prove()
	rejected := l.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'rejected'`)
	if rejected != each {
		t.Errorf("%d rejected, want %d", rejected, each)
	}
	kinds := map[string]int{}
	rows, err := l.Pool.Query(t.Context(), `SELECT kind, count(*)::int FROM refund_calls GROUP BY kind`)
	if err != nil {
		t.Fatal(err)
	}
	var kind string
	var count int
	if _, err := pgx.ForEachRow(rows, []any{&kind, &count}, func() error { kinds[kind] = count; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"first", "retry", "look", "manual"} {
		if kinds[k] == 0 {
			t.Errorf("no call is in the log as %s: %v", k, kinds)
		}
	}
	var closest, peak int64
	l.Scan(t, `SELECT min(apart), max(in_flight) FROM (SELECT started_ns - lag(started_ns) OVER (ORDER BY started_ns) AS apart, in_flight
		FROM refund_calls WHERE started_ns IS NOT NULL) c`, nil, &closest, &peak)
	if closest < 200e6 || peak > 10 {
		t.Errorf("two starts are %.1f ms apart, %d were under way; want 200 at least, 10 at most", float64(closest)/1e6, peak)
	}
	said, _ := json.Marshal(kinds)
	t.Logf("%d calls %s for %d operations; the closest starts are %.1f ms apart, at most %d were under way", n, said, len(ids), float64(closest)/1e6, peak)
}

// pushAll has a person push whatever is theirs.
func (l *till) pushAll() {
	l.t.Helper()
	rows, err := l.Pool.Query(l.t.Context(), `SELECT id FROM refund_operations WHERE status = 'manual' AND call IS NULL`)
	if err != nil {
		l.t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.t.Fatal(err)
	}
	for _, id := range ids {
		err := pg.InTx(l.t.Context(), l.Pool, func(tx pgx.Tx) error {
			_, err := refunds.Push(l.t.Context(), tx, id, "mia", "again")
			return err
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
}
