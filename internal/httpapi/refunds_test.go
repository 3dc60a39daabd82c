package httpapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/pgtest"
)

// openStill opens a house whose outlet is the test's: no refund goes out, and
// each is as it was asked.
func openStill(t *testing.T) *house {
	t.Helper()
	url := pgtest.URL(t)
	outlet, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outlet.Close(context.WithoutCancel(t.Context())) }) //nolint:errcheck // the lock ends with it
	if _, err := outlet.Exec(t.Context(), `SELECT pg_advisory_lock(hashtext('waitroom refund outlet'))`); err != nil {
		t.Fatal(err)
	}
	return open(t, demo.Build{Services: demo.Services{DatabaseURL: url}})
}

// sale is a paid order whose customer has a name.
type sale struct {
	order    string
	customer string
	lines    []string
}

// sold writes a paid order of n seats down, as a purchase leaves it.
func (h *house) sold(customer string, n int) sale {
	h.t.Helper()
	id, payment := uuid.Must(uuid.NewV7()), uuid.New()
	exec := func(sql string, args ...any) {
		h.t.Helper()
		if _, err := h.pool.Exec(h.t.Context(), sql, args...); err != nil {
			h.t.Fatalf("%s: %v", sql, err)
		}
	}
	exec(`INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, $3, 100)`, demotest.EventID, customer, n)
	exec(`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		VALUES ($1::uuid, $2, $3, $3, 1, 0, 1, $1::uuid::text, sha256('x'), $4::int, $4::bigint * 4000, 'EUR', now() + interval '10 minutes')`,
		id, demotest.EventID, customer, n)
	exec(`WITH free AS (SELECT id FROM seats WHERE event_id = $1 AND order_id IS NULL AND kind = 'numbered' ORDER BY id LIMIT $3 FOR UPDATE),
		taken AS (UPDATE seats s SET order_id = $2, claimed_at = now() FROM free WHERE s.id = free.id RETURNING s.id)
		INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $2, id, 4000 FROM taken`, demotest.EventID, id, n)
	exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', $4, 'EUR', $4, 'on_order', now())`, payment, id, "pi_"+customer, n*4000)
	exec(`UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now() WHERE id = $1`, id, payment)
	s := sale{order: id.String(), customer: customer}
	err := h.pool.QueryRow(h.t.Context(), `SELECT array_agg(s.guid ORDER BY s.pos) FROM order_lines l JOIN seats s ON s.id = l.seat_id
		WHERE l.order_id = $1`, id).Scan(&s.lines)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (s sale) path() string { return "/v1/orders/" + s.order + "/refunds" }

func (s sale) wants(line int) map[string]any {
	return map[string]any{"line": s.lines[line], "customer": s.customer}
}

// sure is a desk whose asking waits for keys that a busy machine could not read
// just then: nothing was done for those.
type sure struct{ desk }

func (d sure) ask(method, path, key string, body any, header ...string) (a answer) {
	d.t.Helper()
	d.until("keys can be read", func() bool {
		a = d.desk.ask(method, path, key, body, header...)
		return a.code() != "unavailable"
	})
	return a
}

func (h *house) helper(who, name string, scopes ...organiser.Scope) sure {
	h.t.Helper()
	return sure{h.desk(who, name, scopes...)}
}

type refundAnswer struct {
	Answer, Detail string
	Reason         *string
	AmountMinor    int64 `json:"amount_minor"`
	Approval       *int64
	Operation      *struct{ ID, Status, Refund string }
}

// A line is asked for by order, line and customer; asked at once by many it is
// one operation, and the amount is the line's. An amount is not taken.
func TestALineIsRefundedByName(t *testing.T) {
	h := openStill(t)
	d := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	s := h.sold("ann", 2)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var r refundAnswer
			d.want(d.ask("POST", s.path(), "", s.wants(0)), 202, "").into(t, &r)
			if r.Answer != "queued" || r.AmountMinor != 4000 || r.Operation == nil || !strings.HasPrefix(r.Operation.ID, "refund:"+s.order) {
				t.Errorf("asked: %+v", r)
			}
			if !strings.Contains(r.Detail, "do not send it again") {
				t.Errorf("it does not say what not to do: %s", r.Detail)
			}
		})
	}
	all.Wait()
	var n int
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM refund_operations`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d operations (%v), want 1", n, err)
	}
	h.want(d.ask("POST", s.path(), "", map[string]any{"line": s.lines[1], "customer": "ann", "amount_minor": 1}), 400, "bad_request")
	h.want(d.ask("POST", s.path(), "", map[string]any{"line": s.lines[1]}), 400, "bad_request")
	foreign := h.want(d.ask("POST", s.path(), "", map[string]any{"line": s.lines[1], "customer": "bob"}), 404, "no_such_order")
	other := sale{order: uuid.NewString(), customer: "ann", lines: s.lines}
	if none := d.ask("POST", other.path(), "", other.wants(1)); none.String() != foreign.String() {
		t.Errorf("another customer's order is answered %s, none %s", foreign, none)
	}
	h.want(d.ask("POST", s.path(), "", map[string]any{"line": "Z-99", "customer": "ann"}), 404, "no_such_line")
	h.want(d.ask("POST", "/v1/orders/x/refunds", "", s.wants(1)), 404, "no_such_order")

	// Whoever may only ask sees the orders of those whom it can name.
	h.want(d.ask("GET", s.path(), "", nil), 400, "bad_request")
	h.want(d.ask("GET", s.path(), "", nil, "Customer", "bob"), 404, "no_such_order")
	var list struct{ Refunds []refundAnswer }
	d.want(d.ask("GET", s.path(), "", nil, "Customer", "ann"), 200, "").into(t, &list)
	if len(list.Refunds) != 1 || list.Refunds[0].Answer != "queued" {
		t.Errorf("listed: %+v", list)
	}
	var order struct {
		Status string
		Lines  []struct {
			Line   string
			Refund *refundAnswer
		}
	}
	d.want(d.ask("GET", "/v1/organiser/orders/"+s.order, "", nil, "Customer", "ann"), 200, "").into(t, &order)
	if order.Status != "paid" || len(order.Lines) != 2 || order.Lines[0].Refund == nil || order.Lines[1].Refund != nil {
		t.Errorf("the order: %+v", order)
	}
}

// Scopes are each their own, another organiser's order is none, and a key that
// cannot approve does not.
func TestRefundKeysOpenTheirOwn(t *testing.T) {
	h := openStill(t)
	s := h.sold("ann", 4)
	agent := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	reads := h.helper(organiser.House, "reads", organiser.RefundsRead)
	boss := h.helper(organiser.House, "boss", organiser.RefundsApprove, organiser.RefundsWrite)
	theirs := h.helper("acme", "theirs", organiser.RefundsRead, organiser.RefundsWrite, organiser.RefundsApprove, organiser.HumanWrite)
	h.want(reads.ask("POST", s.path(), "", s.wants(0)), 403, "scope_missing")
	h.want(theirs.ask("POST", s.path(), "", s.wants(0)), 404, "no_such_order")
	h.want(theirs.ask("GET", s.path(), "", nil), 404, "no_such_order")
	h.want(theirs.ask("GET", "/v1/organiser/orders/"+s.order, "", nil), 404, "no_such_order")
	h.want(h.do(call{method: "POST", path: s.path(), token: agent.token, body: s.wants(0), page: true}), 404, "no_such_route")
	for _, line := range []int{0, 1} { // 80 of the 100 that may be asked
		h.want(agent.ask("POST", s.path(), "", s.wants(line)), 202, "")
	}
	var r refundAnswer
	agent.want(agent.ask("POST", s.path(), "", s.wants(2)), 202, "").into(t, &r)
	if r.Answer != "needs_approval" || r.Reason == nil || *r.Reason != "over_limit" || r.Approval == nil || r.Operation != nil {
		t.Fatalf("above the limit: %+v", r)
	}
	at := fmt.Sprint("/v1/organiser/refunds/approvals/", *r.Approval)
	yes, no := map[string]string{"decision": "approved", "note": "was ill"}, map[string]string{"decision": "refused"}
	h.want(agent.ask("POST", at, "", yes), 403, "scope_missing")
	h.want(theirs.ask("POST", at, "", yes), 404, "no_such_approval")
	h.want(boss.ask("POST", "/v1/organiser/refunds/approvals/x", "", yes), 404, "no_such_approval")
	h.want(boss.ask("POST", at, "", map[string]string{"decision": "maybe"}), 400, "bad_request")
	var waiting struct {
		Approvals []struct {
			ID      int64
			AskedBy string `json:"asked_by"`
		}
	}
	reads.want(reads.ask("GET", "/v1/organiser/refunds/approvals", "", nil), 200, "").into(t, &waiting)
	if len(waiting.Approvals) != 1 || waiting.Approvals[0].ID != *r.Approval || waiting.Approvals[0].AskedBy != "agent" {
		t.Errorf("waiting: %+v", waiting)
	}
	var decided struct {
		Decision string
		Refund   *refundAnswer
	}
	h.want(boss.ask("POST", at, "", yes), 200, "").into(t, &decided)
	if decided.Decision != "approved" || decided.Refund == nil || decided.Refund.Answer != "queued" {
		t.Errorf("approved: %+v", decided)
	}
	first := *decided.Refund.Operation
	for range 2 { // the button pressed twice, and the answer that was lost
		decided.Refund = nil
		h.want(boss.ask("POST", at, "", yes), 200, "").into(t, &decided)
		if decided.Decision != "approved" || decided.Refund == nil || decided.Refund.Answer != "queued" || *decided.Refund.Operation != first {
			t.Errorf("approved once more: %+v", decided)
		}
	}
	h.want(boss.ask("POST", at, "", no), 409, "approval_decided")
	agent.want(agent.ask("POST", s.path(), "", s.wants(2)), 202, "").into(t, &r)
	if r.Answer != "queued" {
		t.Errorf("once approved it is %+v", r)
	}
	boss.want(boss.ask("POST", s.path(), "", s.wants(3)), 202, "").into(t, &r)
	own := fmt.Sprint("/v1/organiser/refunds/approvals/", *r.Approval)
	h.want(boss.ask("POST", own, "", yes), 403, "own_request")
	for range 2 {
		h.want(boss.ask("POST", own, "", no), 200, "")
	}
	h.want(agent.ask("POST", s.path(), "", s.wants(3)), 409, "approval_refused")
	h.want(agent.ask("POST", s.path(), "k-1", s.wants(3)), 409, "approval_refused")
	h.want(boss.ask("POST", s.path(), "", s.wants(3)), 409, "approval_refused")
	h.want(boss.ask("POST", s.path(), "k-2", s.wants(3)), 202, "").into(t, &r)
	if r.Answer != "needs_approval" {
		t.Errorf("brought up again it is %+v", r)
	}
	h.want(boss.ask("POST", fmt.Sprint("/v1/organiser/refunds/approvals/", *r.Approval), "", no), 200, "")
	h.want(boss.ask("POST", s.path(), "k-2", s.wants(3)), 409, "approval_refused") // a late copy
	h.want(boss.ask("POST", s.path(), "k-2", s.wants(2)), 422, "key_reused")
	h.want(reads.ask("GET", "/v1/organiser/refunds/approvals?state=decided&limit=1", "", nil), 200, "")
	h.want(reads.ask("GET", "/v1/organiser/refunds/approvals?state=all", "", nil), 400, "bad_request")
}

// What waits for a yes is listed the oldest first and by the page: whoever follows
// next sees each once, however many there are and whatever is decided meanwhile.
func TestNoApprovalIsOutOfSight(t *testing.T) {
	h := openStill(t)
	reads := h.helper(organiser.House, "reads", organiser.RefundsRead)
	s := h.sold("ann", 1)
	if _, err := h.pool.Exec(t.Context(), `
		INSERT INTO refund_approvals (operation, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by)
		SELECT 'refund:' || n, l.order_id, l.seat_id, o.payment_id, 'here', 4000, 'EUR', 'over_limit', 0, 'agent'
		FROM order_lines l JOIN orders o ON o.id = l.order_id, generate_series(1, 120) n WHERE o.id = $1 ORDER BY n`, s.order); err != nil {
		t.Fatal(err)
	}
	walk := func(state string) (ids []int64, sizes []int) {
		after := ""
		for range 10 {
			var page struct {
				Approvals []struct{ ID int64 }
				Next      *int64
			}
			reads.want(reads.ask("GET", "/v1/organiser/refunds/approvals?state="+state+after, "", nil), 200, "").into(t, &page)
			for _, a := range page.Approvals {
				ids = append(ids, a.ID)
			}
			sizes = append(sizes, len(page.Approvals))
			if page.Next == nil {
				break
			}
			after = fmt.Sprint("&after=", *page.Next)
			if state == "waiting" { // one of the page before is decided meanwhile
				if _, err := h.pool.Exec(t.Context(), `UPDATE refund_approvals SET decision = 'refused', decided_by = 'boss', decided_at = now() WHERE id = $1`, ids[0]+int64(len(sizes))); err != nil {
					t.Fatal(err)
				}
			}
		}
		return ids, sizes
	}
	ids, sizes := walk("waiting")
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 120 || !slices.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("%d seen on pages of %v, the oldest first: %t; want 120 on 50, 50 and 20", len(ids), sizes, slices.IsSorted(ids))
	}
	if ids, _ = walk("decided"); len(ids) != 2 || ids[0] < ids[1] {
		t.Errorf("decided: %v; want two, the newest first", ids)
	}
	h.want(reads.ask("GET", "/v1/organiser/refunds/approvals?after=x", "", nil), 400, "bad_request")
}

// While the backlog could not be kept in time, new requests are told when to
// ask again, the forecast says why, and what was accepted is told as ever.
func TestRefundsThatCannotBeKeptAreRefused(t *testing.T) {
	h := openStill(t)
	d := h.helper(organiser.House, "agent", organiser.RefundsWrite, organiser.RefundsRead)
	before, s := h.sold("before", 1), h.sold("ann", 1)
	var f struct {
		Accepting bool
		Waiting   int
		ClearsInS *float64 `json:"clears_in_s"`
	}
	d.want(d.ask("GET", "/v1/organiser/refunds/forecast", "", nil), 200, "").into(t, &f)
	if !f.Accepting || f.Waiting != 0 || f.ClearsInS == nil || *f.ClearsInS != 0 {
		t.Errorf("with nothing to do: %+v", f)
	}
	h.want(d.ask("POST", before.path(), "", before.wants(0)), 202, "")
	if _, err := h.pool.Exec(t.Context(), `UPDATE refund_operations SET accepted_at = now() - interval '16 minutes', next_at = now() - interval '16 minutes', give_up_at = now() - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	d.want(d.ask("GET", "/v1/organiser/refunds/forecast", "", nil), 200, "").into(t, &f)
	if f.Accepting || f.Waiting != 1 {
		t.Errorf("past its promise, and nobody sends: %+v", f)
	}
	if refused := h.want(d.ask("POST", s.path(), "", s.wants(0)), 503, "refunds_behind"); refused.header.Get("Retry-After") == "" {
		t.Errorf("refused without a time to ask again: %s", refused)
	}
	h.want(d.ask("POST", before.path(), "", before.wants(0)), 202, "")
}

// What ended without the money's going back is refused with its operation; a
// fault of ours is not known, and never failed.
func TestARefundIsNeverToldAsFailedThatMayBeMade(t *testing.T) {
	h := openStill(t)
	d := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	s := h.sold("ann", 2)
	var p struct {
		Reason string
		Refund refundAnswer
	}
	h.want(d.ask("POST", s.path(), "", s.wants(0)), 202, "")
	for _, sql := range []string{
		`UPDATE refund_operations SET status = 'manual'`,
		`UPDATE refund_operations SET status = 'rejected', ended_at = now()`,
		`UPDATE payments SET refund_pending_minor = 0`,
	} {
		if _, err := h.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	h.want(d.ask("POST", s.path(), "", s.wants(0)), 409, "refund_refused").into(t, &p)
	if p.Reason != "provider_refused" || p.Refund.Operation == nil || p.Refund.Operation.Status != "rejected" {
		t.Errorf("refused: %+v", p)
	}
	held, err := h.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), `SELECT FROM orders WHERE id = $1 FOR UPDATE`, s.order); err != nil {
		t.Fatal(err)
	}
	a := h.want(d.ask("POST", s.path(), "", s.wants(1)), 503, "refund_unknown")
	if strings.Contains(strings.ToLower(a.String()), "failed") || a.header.Get("Retry-After") == "" {
		t.Errorf("whose row nobody can have: %s", a)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.want(d.ask("POST", s.path(), "", s.wants(1)), 202, "")
}
