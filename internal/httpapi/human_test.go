package httpapi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

type humanItem struct {
	ID           int64
	Kind, Status string
	Owner        *string
	Can          []string
	Operation    string
	History      []struct{ By, Did, Note string }
	ResolvedAt   *string `json:"resolved_at"`
}

// givenUp puts the refund of a line before a person, as the outlet would.
func (h *house) givenUp(d sure, s sale) {
	h.t.Helper()
	h.want(d.ask("POST", s.path(), "", s.wants(0)), 202, "")
	for _, sql := range []string{
		`UPDATE refund_operations SET status = 'manual', sends = 3, first_sent_at = now() WHERE order_id = $1`,
		`INSERT INTO human_list (kind, subject, operation, order_id, payment_id, detail)
		 SELECT 'refund_manual', id, id, order_id, payment_id, 'no end within 15m0s' FROM refund_operations WHERE order_id = $1`,
	} {
		if _, err := h.pool.Exec(h.t.Context(), sql, s.order); err != nil {
			h.t.Fatal(err)
		}
	}
}

// The human list over the API: what is on it, what may be done, who did it.
func TestTheHumanListOverTheAPI(t *testing.T) {
	h := openStill(t)
	agent := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	kim := h.helper(organiser.House, "kim", organiser.RefundsRead, organiser.HumanWrite)
	theirs := h.helper("acme", "theirs", organiser.RefundsRead, organiser.HumanWrite)
	h.givenUp(agent, h.sold("ann", 1))
	h.givenUp(agent, h.sold("bob", 1))
	var page struct {
		Items []humanItem
		Next  *int64
	}
	kim.want(kim.ask("GET", "/v1/organiser/human?limit=1", "", nil), 200, "").into(t, &page)
	if len(page.Items) != 1 || page.Next == nil || page.Items[0].Status != "manual" {
		t.Fatalf("the first page: %+v", page)
	}
	last := page.Items[0].ID
	kim.want(kim.ask("GET", fmt.Sprint("/v1/organiser/human?before=", *page.Next), "", nil), 200, "").into(t, &page)
	if len(page.Items) != 1 || page.Next != nil || page.Items[0].ID >= last {
		t.Errorf("the second page: %+v", page)
	}
	at := fmt.Sprint("/v1/organiser/human/", last)
	act := func(do, why, refund string) answer {
		key := ""
		if do == "note" {
			key = "note-1"
		}
		return kim.ask("POST", at, key, map[string]string{"do": do, "why": why, "refund": refund})
	}
	h.want(agent.ask("POST", at, "", map[string]string{"do": "take"}), 403, "scope_missing")
	h.want(agent.ask("GET", at, "", nil), 403, "scope_missing")
	h.want(theirs.ask("GET", at, "", nil), 404, "no_such_item")
	h.want(theirs.ask("POST", at, "", map[string]string{"do": "take"}), 404, "no_such_item")
	h.want(kim.ask("GET", "/v1/organiser/human/x", "", nil), 404, "no_such_item")
	h.want(act("erase", "x", ""), 400, "bad_request")
	h.want(act("push", "", ""), 400, "bad_request")
	h.want(act("refunded", "found it", ""), 400, "bad_request")
	h.want(act("resolve", "tired of it", ""), 409, "not_now")
	h.want(act("take", "", ""), 200, "")
	h.want(kim.ask("POST", at, "", map[string]string{"do": "note", "why": "unnamed"}), 400, "key_missing")
	for range 3 { // a client that lost the answers
		h.want(act("note", "the bank says tomorrow", ""), 200, "")
	}
	h.want(kim.ask("POST", at, "note-1", map[string]string{"do": "note", "why": "another"}), 422, "key_reused")
	var i humanItem
	h.want(act("push", "the provider is back", ""), 200, "").into(t, &i)
	if i.Status != "queued" || i.Owner == nil || *i.Owner != "kim" {
		t.Errorf("pushed: %+v", i)
	}
	h.want(act("push", "again", ""), 409, "not_now")
	if _, err := h.pool.Exec(t.Context(), `UPDATE refund_operations SET status = 'manual' WHERE id = $1`, i.Operation); err != nil {
		t.Fatal(err)
	}
	h.want(act("refunded", "in the dashboard", "re_9"), 200, "").into(t, &i)
	var did []string
	for _, p := range i.History {
		did = append(did, p.Did)
	}
	if want := []string{"opened", "owned", "noted", "pushed", "decided", "resolved"}; !slices.Equal(did, want) || i.Status != "confirmed" || i.ResolvedAt == nil {
		t.Errorf("the item is %+v, its history %v, want %v", i, did, want)
	}
	h.want(kim.ask("GET", "/v1/organiser/human?state=resolved", "", nil), 200, "").into(t, &page)
	if len(page.Items) != 1 {
		t.Errorf("resolved: %+v", page)
	}
}

// Somebody refunded an order by hand: over the API and on the page an operator may give
// its seats back, once; the order, its codes and the sale say so.
func TestSeatsOfAnOrderRefundedByHandGoBackOverTheAPI(t *testing.T) {
	h := openStill(t)
	kim := h.helper(organiser.House, "kim", organiser.RefundsRead, organiser.HumanWrite)
	sold := h.sold("ann", 2)
	err := pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
		_, err := refunds.Heard(t.Context(), tx, refunds.Told{Provider: "stripe", ProviderPayment: "pi_ann", ProviderRefund: "re_hand", Status: "succeeded", AmountMinor: 8000, Currency: "EUR"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Items []humanItem }
	kim.want(kim.ask("GET", "/v1/organiser/human", "", nil), 200, "").into(t, &page)
	if len(page.Items) != 1 || !slices.Contains(page.Items[0].Can, "give_back") {
		t.Fatalf("the list: %+v", page)
	}
	at := fmt.Sprint("/v1/organiser/human/", page.Items[0].ID)
	give := map[string]string{"do": "give_back", "why": "refunded in the dashboard"}
	h.want(kim.ask("POST", at, "", map[string]string{"do": "give_back"}), 400, "bad_request")
	var i humanItem
	for range 2 { // the answer was lost
		h.want(kim.ask("POST", at, "give-1", give), 200, "").into(t, &i)
	}
	h.want(kim.ask("POST", at, "give-2", give), 409, "not_now")
	if i.ResolvedAt == nil || !slices.ContainsFunc(i.History, func(p struct{ By, Did, Note string }) bool {
		return p.By == "kim" && p.Did == "decided" && p.Note == "seats given back: refunded in the dashboard"
	}) {
		t.Errorf("the item: %+v", i)
	}
	var held, revoked, notices int
	err = h.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM seats WHERE order_id = $1), (SELECT count(*) FROM code_revocations WHERE order_id = $1),
		(SELECT count(*) FROM notices WHERE subject = $1::text AND kind = 'tickets.returned')`, sold.order).Scan(&held, &revoked, &notices)
	if err != nil || held != 0 || revoked != 2 || notices != 1 {
		t.Errorf("%d seats held, %d codes revoked, told %d times, %v; want none, 2 and once", held, revoked, notices, err)
	}
}

// A person ends a refund as not made, and the provider tells that it was: no
// other is offered, nor begun. A refund that is known to be another is not taken.
func TestALineThatWentBackAfterAllIsNotRefundedAgain(t *testing.T) {
	h := openStill(t)
	agent := h.helper(organiser.House, "agent", organiser.RefundsWrite)
	kim := h.helper(organiser.House, "kim", organiser.RefundsRead, organiser.HumanWrite)
	sold := h.sold("ann", 1)
	h.givenUp(agent, sold)
	var page struct{ Items []humanItem }
	items := func() []humanItem {
		page.Items = nil
		kim.want(kim.ask("GET", "/v1/organiser/human", "", nil), 200, "").into(t, &page)
		return page.Items
	}
	first := items()[0]
	act := func(item int64, do, refund string) answer {
		return kim.ask("POST", fmt.Sprint("/v1/organiser/human/", item), "", map[string]string{"do": do, "why": "looked", "refund": refund})
	}
	tell := func(refund, operation string, minor int64) {
		t.Helper()
		err := pg.InTx(t.Context(), h.pool, func(tx pgx.Tx) error {
			_, err := refunds.Heard(t.Context(), tx, refunds.Told{
				Provider: "stripe", ProviderPayment: "pi_ann", ProviderRefund: refund, Operation: operation,
				Status: "succeeded", AmountMinor: minor, Currency: "EUR",
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tell("re_other", "", 1)
	h.want(act(first.ID, "refunded", "re_other"), 409, "refund_differs")
	h.want(act(first.ID, "not_refunded", ""), 200, "")
	var amount int64
	if err := h.pool.QueryRow(t.Context(), `SELECT amount_minor FROM refund_operations WHERE id = $1`, first.Operation).Scan(&amount); err != nil {
		t.Fatal(err)
	}
	agent.want(agent.ask("POST", sold.path(), "", sold.wants(0)), 409, "refund_refused")
	tell("re_1", first.Operation, amount)
	// What was told as refused is not, now that the provider says otherwise.
	var r refundAnswer
	agent.want(agent.ask("POST", sold.path(), "", sold.wants(0)), 202, "").into(t, &r)
	if r.Answer != "unknown" {
		t.Errorf("a refund that the provider made after all is answered %q (%s)", r.Answer, r.Detail)
	}
	of := 0
	for _, i := range items() {
		if i.Operation != first.Operation {
			continue
		}
		of++
		if slices.Contains(i.Can, "renew") {
			t.Errorf("of a refund that the provider has made, %s can be %v", i.Kind, i.Can)
		}
		h.want(act(i.ID, "renew", ""), 409, "not_now")
	}
	if of != 2 {
		t.Errorf("%d items of it, want the end by a person and what contradicts it", of)
	}
}
