package webtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/uuid"

	"waitroom/internal/organiser"
)

// The operators' human list works without a script: a person signs in with
// their name, approves a refund, takes an item, and what they did is shown. Axe
// finds nothing, and nothing scrolls sideways on a phone.
func TestHumanList(t *testing.T) {
	w := open(t)
	axe := axe(t)
	b := w.operator(t)
	b.heading("Human list")
	b.look("human-list", axe)
	b.leave("Approve refund 1")
	b.sees("what became of it", "document.body.textContent.includes('Done; it stands in the history.')")
	var decided string
	if err := w.pool.QueryRow(t.Context(), `SELECT decision || ' by ' || decided_by FROM refund_approvals`).Scan(&decided); err != nil || decided != "approved by desk/kim" {
		t.Errorf("the approval is %q, %v", decided, err)
	}
	b.open("/human/1")
	b.heading("1: wrong_amount")
	b.leave("Take it")
	b.sees("who has it", "document.body.textContent.includes('desk/kim')")
	b.look("human-item", axe)
	b.leave("Resolve it")
	b.sees("that a reason is wanted", "document.body.textContent.includes('Not done.')")
	b.expect("the server responded with a status of 401") // the browser asks without a name first
}

// operator is a person at the human list, on which one thing of each kind waits.
func (w *world) operator(t *testing.T) *tab {
	w.beforePersons(t)
	return w.signedIn(t, "/human", organiser.Key{
		Organiser: organiser.House, Name: "desk", Scopes: []organiser.Scope{organiser.RefundsRead, organiser.RefundsApprove, organiser.HumanWrite},
	})
}

// signedIn is Kim at an operators' page, without a script, with a key of their own.
func (w *world) signedIn(t *testing.T, page string, k organiser.Key) *tab {
	t.Helper()
	key, made, err := organiser.Create(t.Context(), w.pool, k)
	if err != nil || made != organiser.Done {
		t.Fatal(made, err)
	}
	w.house.Public = w.house.Admin // this person is an operator
	until(t, "the key is known", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.house.Admin+page, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("kim", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close() //nolint:errcheck // read only
		return res.StatusCode == http.StatusOK
	})
	b := w.tab(t).withoutScript()
	b.open(strings.Replace(w.house.Admin, "://", "://kim:"+key+"@", 1) + page)
	return b
}

// Everything that the human list is for is done by Tab, letters and Enter alone,
// and wherever the focus goes it is seen. Enter in a note sends no money back: a
// button has to be meant.
func TestHumanListByKeyboardAlone(t *testing.T) {
	w := open(t)
	b := w.operator(t)
	b.heading("Human list")
	b.tabTo("Skip to the content")
	b.tabTo("Note on approval 1 (may be empty)")
	b.key("was ill" + kb.Enter)
	if n := w.count(t, `SELECT count(*) FROM refund_approvals WHERE decision IS NOT NULL`); n != 0 {
		t.Error("Enter in the note has decided the refund")
	}
	b.tabTo("Approve refund 1")
	b.key(kb.Enter)
	b.sees("what became of it", "document.body.textContent.includes('Done; it stands in the history.')")
	if n := w.count(t, `SELECT count(*) FROM refund_approvals WHERE decision = 'approved' AND decided_by = 'desk/kim' AND note LIKE 'was ill%'`); n != 1 {
		t.Errorf("%d approvals by desk/kim with the note, want 1", n)
	}
	b.tabTo("1: wrong_amount")
	b.key(kb.Enter)
	b.heading("1: wrong_amount")
	b.tabTo("Take it")
	b.key(kb.Enter)
	b.sees("who has it", "document.querySelector('.facts').textContent.includes('desk/kim')")
	for _, c := range []struct{ why, press, did string }{
		{"asked the bank", "Note this", "noted"},
		{"sent back by hand", "Resolve it", "resolved"},
	} {
		b.tabTo("Why (it is kept; only taking needs none)")
		b.key(c.why)
		b.tabTo(c.press)
		b.key(kb.Enter)
		b.sees(c.did, fmt.Sprintf("[...document.querySelectorAll('ol li')].some((e) => e.textContent.startsWith('%s by desk/kim'))", c.did))
	}
	b.tabTo("Resolved")
	b.key(kb.Enter)
	b.sees("it among the resolved", "location.search === '?state=resolved' && document.body.textContent.includes('1: wrong_amount')")
	if n := w.count(t, `SELECT count(*) FROM human_notes WHERE did = 'noted' AND note IN ('asked the bank', 'sent back by hand')`); n != 2 {
		t.Errorf("%d of the two notes are in the history", n)
	}
	b.expect("the server responded with a status of 401") // the browser asks without a name first
}

// An order was refunded by hand at the provider: its seats are given back on its item's
// page, by Tab, letters and Enter alone, and the page says that it was done.
func TestSeatsGoBackByHandByKeyboardAlone(t *testing.T) {
	w := open(t)
	axe := axe(t)
	b := w.operator(t)
	for _, sql := range []string{
		`INSERT INTO provider_refunds (provider, id, payment_id, amount_minor, currency, status) SELECT 'stripe', 're_hand', id, 9500, 'EUR', 'succeeded' FROM payments`,
		`INSERT INTO human_list (kind, subject, order_id, payment_id, detail) SELECT 'refund_by_hand', 're_hand', order_id, id, 'a refund of 9500 EUR that we did not ask for' FROM payments`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	b.open("/human/2")
	b.heading("2: refund_by_hand")
	b.look("human-by-hand", axe)
	b.tabTo("Why (it is kept; only taking needs none)")
	b.key("refunded in the dashboard")
	b.tabTo("Give the order’s seats back")
	b.key(kb.Enter)
	b.sees("what became of it", "document.body.textContent.includes('Done; it stands in the history.') && document.body.textContent.includes('seats given back: refunded in the dashboard')")
	if n := w.count(t, `SELECT count(*) FROM seats_back_by_hand WHERE by = 'desk/kim'`) + w.count(t, `SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id WHERE o.account = 'ann'`); n != 1 {
		t.Errorf("%d seats were given back or are still the order's, want the one, back", n)
	}
	b.expect("the server responded with a status of 401") // the browser asks without a name first
}

// More refunds wait for a yes than a page holds: the oldest come first, and the last
// of them is reached, approved and left behind by links and buttons alone.
func TestEveryApprovalIsReachedByKeyboardAlone(t *testing.T) {
	w := open(t)
	w.beforePersons(t)
	if _, err := w.pool.Exec(t.Context(), `
		INSERT INTO refund_approvals (operation, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by)
		SELECT operation || '-' || n, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by
		FROM refund_approvals, generate_series(2, 52) n ORDER BY n`); err != nil {
		t.Fatal(err)
	}
	b := w.signedIn(t, "/human", organiser.Key{
		Organiser: organiser.House, Name: "desk", Scopes: []organiser.Scope{organiser.RefundsRead, organiser.RefundsApprove},
	})
	b.heading("Human list")
	if first := ask[string](b, "document.querySelector('main li button').innerText"); first != "Approve refund 1" {
		t.Errorf("the first is %q, want the oldest", first)
	}
	for _, n := range []int{1, 18, 35, 50} {
		b.tabTo(fmt.Sprint("Refuse refund ", n))
	}
	b.tabTo("Those asked later")
	b.key(kb.Enter)
	b.sees("the rest", "document.body.textContent.includes('Refuse refund 51') && !document.body.textContent.includes('Refuse refund 50')")
	b.tabTo("Refuse refund 52")
	b.key(kb.Enter)
	b.sees("what became of it, on the same page", "location.search.startsWith('?after=50') && document.body.textContent.includes('Done; it stands in the history.')")
	if n := w.count(t, `SELECT count(*) FROM refund_approvals WHERE decision = 'refused' AND id = 52`); n != 1 {
		t.Error("the last of the approvals was not refused")
	}
	b.tabTo("The oldest of them")
	b.key(kb.Enter)
	b.sees("the oldest again", "document.body.textContent.includes('Refuse refund 1')")
	b.expect("the server responded with a status of 401") // the browser asks without a name first
}

func (w *world) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := w.pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// beforePersons has one thing of each kind wait for a person.
func (w *world) beforePersons(t *testing.T) {
	order, payment := uuid.Must(uuid.NewV7()), uuid.New()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ('hall', 'ann', 1, 4)`, nil},
		{`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
			VALUES ($1::uuid, 'hall', 'ann', 'ann', 1, 0, 1, $1::uuid::text, sha256('x'), 1, 9500, 'EUR', now() + interval '10 minutes')`, []any{order}},
		{`WITH free AS (SELECT id FROM seats WHERE event_id = 'hall' AND order_id IS NULL AND NOT held_back ORDER BY id LIMIT 1),
			taken AS (UPDATE seats s SET order_id = $1, claimed_at = now() FROM free WHERE s.id = free.id RETURNING s.id)
			INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $1, id, 9500 FROM taken`, []any{order}},
		{`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
			VALUES ($1, $2, 'stripe', 'pi_ann', 'captured', 9500, 'EUR', 9500, 'on_order', now())`, []any{payment, order}},
		{`UPDATE orders SET status = 'paid', payment_id = $1, paid_at = now() WHERE id = $2`, []any{payment, order}},
		{`INSERT INTO refund_approvals (operation, order_id, seat_id, payment_id, install, amount_minor, currency, cause, limit_minor, asked_by)
			SELECT 'refund:' || order_id || ':' || seat_id, order_id, seat_id, $2, 'demo', 9500, 'EUR', 'over_limit', 5000, 'agent'
			FROM order_lines WHERE order_id = $1`, []any{order, payment}},
		{
			`INSERT INTO human_list (kind, subject, order_id, payment_id, detail) VALUES ('wrong_amount', 'pi_ann', $1, $2, $3)`,
			[]any{order, payment, fmt.Sprintf("the provider captured 9400 EUR of order %s, whose price is 9500 EUR", order)},
		},
	} {
		if _, err := w.pool.Exec(t.Context(), s.sql, s.args...); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
	}
}
