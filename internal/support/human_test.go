package support_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

func (c *counter) act(d support.Deed, want support.Verdict) {
	c.t.Helper()
	if d.By == "" {
		d.By = "kim"
	}
	if v, err := support.Act(c.t.Context(), c.Pool, d); err != nil || v != want {
		c.t.Errorf("%s: %s, %v; want %s", d.Do, v, err, want)
	}
}

// item is the open one about an operation.
func (c *counter) item(operation string) support.Item {
	c.t.Helper()
	items, err := support.Items(c.t.Context(), c.Pool, support.Which{Organiser: "house", Most: 100})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, i := range items {
		if i.Operation == operation {
			return i
		}
	}
	c.t.Fatalf("nothing of %s is before a person: %+v", operation, items)
	return support.Item{}
}

// given is an operation that was given up, before a person.
func (c *counter) given(customer string, doubt bool) (operation string, i support.Item) {
	c.t.Helper()
	operation = c.ask(c.sold(customer, 1).wants(0)).Standing.ID
	c.gaveUp(operation, doubt)
	return operation, c.item(operation)
}

func (c *counter) status(operation string) (s refunds.Status) {
	c.t.Helper()
	c.Scan(c.t, `SELECT status FROM refund_operations WHERE id = $1`, []any{operation}, &s)
	return s
}

// A person takes an item, notes, and decides; every deed is in the history with
// who and why, and nothing is ever gone.
func TestAPersonsDeedsAreKept(t *testing.T) {
	c := open(t, 40)
	id, i := c.given("ann", true)
	if i.Kind != "refund_manual" || i.Status != refunds.Manual || i.AmountMinor != price || i.Event != c.Event {
		t.Errorf("the item is %+v", i)
	}
	c.act(support.Deed{Item: i.ID, Do: support.Take}, support.Done)
	c.act(support.Deed{Item: i.ID, Do: support.Note, Why: "asked the bank"}, support.Done)
	c.act(support.Deed{Item: i.ID, Do: support.Note, Why: " "}, support.WhyMissing)
	c.act(support.Deed{Item: i.ID, Do: support.Resolve, Why: "tired of it"}, support.NotNow)
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "again"}, support.NotNow)
	c.act(support.Deed{Item: i.ID, Organiser: "acme", Do: support.Take}, support.NoSuchItem)
	c.act(support.Deed{Item: i.ID, Do: "delete", Why: "x"}, support.NoSuchDeed)
	c.act(support.Deed{Item: i.ID, Do: support.Push, Why: "the provider is back"}, support.Done)
	if s := c.status(id); s != refunds.Unknown {
		t.Errorf("pushed it is %s: in doubt it is looked up first", s)
	}
	c.act(support.Deed{Item: i.ID, Do: support.Push, Why: "twice"}, support.NotNow)
	c.exec(`UPDATE refund_operations SET status = 'manual', pushed = false WHERE id = $1`, id)
	c.act(support.Deed{Item: i.ID, Do: support.Refunded, Why: "in the dashboard"}, support.NameMissing)
	c.act(support.Deed{Item: i.ID, Do: support.Refunded, Why: "in the dashboard", Refund: " re_7 "}, support.Done)
	if s := c.status(id); s != refunds.Confirmed {
		t.Errorf("found by a person it is %s", s)
	}
	now, past, found, err := support.FindItem(t.Context(), c.Pool, "house", i.ID)
	if err != nil || !found || now.ResolvedAt == nil || now.Owner != "kim" {
		t.Fatalf("%+v, %t, %v", now, found, err)
	}
	var did []string
	for _, p := range past {
		did = append(did, p.Did)
		if p.Did != "opened" && p.By != "kim" {
			t.Errorf("%s by %q", p.Did, p.By)
		}
	}
	if want := []string{"opened", "owned", "noted", "pushed", "decided", "resolved"}; !slices.Equal(did, want) {
		t.Errorf("the history is %v, want %v", did, want)
	}
	c.act(support.Deed{Item: i.ID, Do: support.Take}, support.NotNow)
	_, other := c.given("bob", true)
	c.act(support.Deed{Item: other.ID, Do: support.Refunded, Why: "the same", Refund: "re_7"}, support.NameTaken)
	c.exec(`INSERT INTO provider_refunds (provider, id, payment_id, amount_minor, currency, status)
		SELECT p.provider, 're_8', p.id, 1, p.currency, 'succeeded' FROM payments p JOIN refund_operations f ON f.payment_id = p.id WHERE f.id = $1`, other.Operation)
	c.act(support.Deed{Item: other.ID, Do: support.Refunded, Why: "another's", Refund: "re_8"}, support.NotThis)
}

// A deed that is sent again under its name is done once, at once or later, and is
// answered as it was; the name is no other deed's, and what was refused under it
// may be done yet.
func TestADeedSentAgainIsOneDeed(t *testing.T) {
	c := open(t, 40)
	id, i := c.given("ann", true)
	history := func(did string) int {
		return c.Count(t, `SELECT count(*) FROM human_notes WHERE item = $1 AND did = $2`, i.ID, did)
	}
	note := support.Deed{Item: i.ID, Organiser: "house", Do: support.Note, Why: "asked the bank", Attempt: "n1"}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { c.act(note, support.Done) })
	}
	all.Wait()
	if n := history("noted"); n != 1 {
		t.Errorf("sent eight times it is noted %d times, want once", n)
	}
	other := note
	other.Why = "asked the buyer"
	c.act(other, support.KeyReused)
	other.Attempt = "n2"
	c.act(other, support.Done)
	again := note
	again.Attempt = "n3" // the same words, meant
	c.act(again, support.Done)
	if n := history("noted"); n != 3 {
		t.Errorf("three notes are %d in the history", n)
	}
	push := support.Deed{Item: i.ID, Organiser: "house", Do: support.Push, Why: "it is back", Attempt: "p"}
	c.act(push, support.Done)
	c.act(push, support.Done)
	if n := history("pushed"); n != 1 {
		t.Errorf("pushed %d times, want once", n)
	}
	resolve := support.Deed{Item: i.ID, Organiser: "house", Do: support.Resolve, Why: "found", Attempt: "r"}
	c.exec(`UPDATE refund_operations SET status = 'manual', pushed = false WHERE id = $1`, id)
	c.act(resolve, support.NotNow)
	c.act(support.Deed{Item: i.ID, Do: support.NotRefunded, Why: "it is not there"}, support.Done)
	resolve.Item = c.item(id).ID
	c.act(resolve, support.Done)
	c.act(resolve, support.Done)
}

// What did not go back is ended by a person, and begun anew as another
// operation that names its parent; the customer is told of that one.
func TestWhatDidNotGoBackIsBegunAnew(t *testing.T) {
	c := open(t, 40)
	o := c.sold("ann", 1)
	id := c.ask(o.wants(0)).Standing.ID
	c.gaveUp(id, false)
	c.act(support.Deed{Item: c.item(id).ID, Do: support.NotRefunded, Why: "the account was closed"}, support.Done)
	c.want(o.wants(0), support.Refused, support.ProviderRefused)
	i := c.item(id)
	if i.Kind != "refund_rejected" || !slices.Equal(i.Can(), []support.Do{support.Take, support.Note, support.Renew, support.Resolve}) {
		t.Errorf("ended by a person, it is %+v, and can %v", i, i.Can())
	}
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "another account"}, support.Done)
	if a := c.want(o.wants(0), support.Queued, ""); a.Standing.ID != id+"#2" || a.Standing.Parent != id {
		t.Errorf("begun anew it is %+v", a.Standing)
	}
	if n := c.Count(t, `SELECT count(*) FROM human_list`); n != 2 {
		t.Errorf("%d items, want both: none is ever deleted", n)
	}
}

// What is of no event is the house's to look at, an organiser's event's is
// theirs, and lists come in pages.
func TestEachSeesTheirOwnItems(t *testing.T) {
	c := open(t, 40)
	for n := range 5 {
		c.exec(`INSERT INTO human_list (kind, subject, detail) VALUES ('unknown_order', $1, 'x')`, fmt.Sprint("pi_", n))
	}
	c.given("ann", true)
	c.exec(`UPDATE events SET organiser = 'acme'`)
	sees := func(w support.Which) (kinds []string, last int64) {
		items, err := support.Items(t.Context(), c.Pool, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			kinds, last = append(kinds, i.Kind), i.ID
		}
		return kinds, last
	}
	if acme, _ := sees(support.Which{Organiser: "acme", Most: 10}); !slices.Equal(acme, []string{"refund_manual"}) {
		t.Errorf("acme sees %v", acme)
	}
	first, last := sees(support.Which{Organiser: "house", Most: 3})
	second, _ := sees(support.Which{Organiser: "house", Most: 3, Before: last})
	if len(first) != 3 || len(second) != 2 {
		t.Errorf("the house sees %v, then %v", first, second)
	}
	if all, _ := sees(support.Which{Most: 10}); len(all) != 6 {
		t.Errorf("the operators see %v", all)
	}
	items, _ := support.Items(t.Context(), c.Pool, support.Which{Organiser: "house", Most: 1})
	c.act(support.Deed{Item: items[0].ID, Do: support.Resolve, Why: "a test of the shop's"}, support.Done)
	if resolved, _ := sees(support.Which{Resolved: true, Most: 10}); len(resolved) != 1 {
		t.Errorf("resolved: %v", resolved)
	}
}

// A "not refunded" that the provider contradicts can be taken back, as the refund
// that it tells of, and by that alone; nobody sends that money again.
func TestAWrongNoCanBeTakenBack(t *testing.T) {
	c := open(t, 40)
	o := c.sold("ann", 1)
	id := c.ask(o.wants(0)).Standing.ID
	c.gaveUp(id, true)
	c.act(support.Deed{Item: c.item(id).ID, Do: support.NotRefunded, Why: "not there"}, support.Done)
	if can := c.item(id).Can(); slices.Contains(can, support.Refunded) || !slices.Contains(can, support.Renew) {
		t.Errorf("while nothing is told of it: %s", can)
	}
	c.hear(o, refunds.Told{ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: price})
	i := c.item(id)
	if can := i.Can(); !slices.Contains(can, support.Refunded) || slices.Contains(can, support.Renew) {
		t.Errorf("when it is told of: %s", can)
	}
	c.act(support.Deed{Item: i.ID, Do: support.Refunded, Why: "it is there", Refund: "re_2"}, support.NotThis)
	c.act(support.Deed{Item: i.ID, Do: support.Refunded, Why: "it is there", Refund: "re_1"}, support.Done)
	if s := c.status(id); s != refunds.Confirmed {
		t.Errorf("it is %s, want confirmed", s)
	}
	if n := c.Count(t, `SELECT count(*) FROM human_list WHERE resolved_at IS NULL`); n != 0 {
		t.Errorf("%d items are left, want none", n)
	}
}

// The provider refused, and a person resolved the item too soon: opened again, it
// can be renewed, by whoever says why.
func TestARefusedRefundThatWasResolvedCanStillBeRenewed(t *testing.T) {
	c := open(t, 40)
	o := c.sold("ann", 1)
	id := c.ask(o.wants(0)).Standing.ID
	c.gaveUp(id, false)
	i := c.item(id)
	c.act(support.Deed{Item: i.ID, Do: support.NotRefunded, Why: "the balance was too low"}, support.Done)
	i = c.item(id)
	c.act(support.Deed{Item: i.ID, Do: support.Reopen, Why: "it is open"}, support.NotNow)
	c.act(support.Deed{Item: i.ID, Do: support.Resolve, Why: "will be done tomorrow"}, support.Done)
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "now"}, support.NotNow)
	if a := c.ask(o.wants(0)); a.Word != support.Refused || strings.Contains(a.Says(), "A person has it before them") {
		t.Errorf("asked again while nobody has it: %s: %s", a.Word, a.Says())
	}
	c.act(support.Deed{Item: i.ID, Do: support.Reopen}, support.WhyMissing)
	c.act(support.Deed{Item: i.ID, Do: support.Reopen, Why: "tomorrow is today"}, support.Done)
	c.act(support.Deed{Item: i.ID, Do: support.Renew, Why: "now"}, support.Done)
	if a := c.ask(o.wants(0)); a.Word != support.Queued || a.Standing.ID != id+"#2" {
		t.Errorf("asked again: %s %+v, want queued as %s#2", a.Word, a.Standing, id)
	}
	if n := c.Count(t, `SELECT count(*) FROM human_notes WHERE item = $1 AND by = 'kim' AND (did = 'reopened' OR note = 'tomorrow is today')`, i.ID); n != 2 {
		t.Errorf("%d lines of its history say that and why it was opened again, want 2", n)
	}
}

// A pushed refund comes to nothing in the same instant in which a person resolves
// its item: whichever is first, it is a person's and on the list.
func TestAResolutionThatMeetsAGivingUpLosesNothing(t *testing.T) {
	c := open(t, 40)
	id, i := c.given("ann", true)
	c.act(support.Deed{Item: i.ID, Do: support.Push, Why: "the provider is back"}, support.Done)
	c.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 second' WHERE id = $1`, id)
	hold, err := c.Pool.Begin(t.Context()) // keeps the giving-up from its commit for a moment
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE notices IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	gave := make(chan error, 1)
	go func() { _, err := (refunds.Ledger{Pool: c.Pool}).GiveUp(t.Context()); gave <- err }()
	c.waiting(1)
	said := make(chan error, 1)
	go func() {
		_, err := support.Act(t.Context(), c.Pool, support.Deed{Item: i.ID, By: "kim", Do: support.Resolve, Why: "pushed, so done"})
		said <- err
	}()
	c.waiting(2)
	if err := hold.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, done := range []chan error{gave, said} { // on a slow machine either may have given up its waiting
		if err := <-done; err != nil && !strings.Contains(err.Error(), "55P03") {
			t.Fatal(err)
		}
	}
	if _, err := (refunds.Ledger{Pool: c.Pool}).GiveUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	open := c.Count(t, `SELECT count(*) FROM human_list WHERE operation = $1 AND resolved_at IS NULL`, id)
	if s := c.status(id); s != refunds.Manual || open != 1 {
		t.Errorf("the refund is %s, and %d items of it are open; want manual, 1", s, open)
	}
}

// waiting waits until n transactions wait for a lock, or as long as one may.
func (c *counter) waiting(n int) {
	c.t.Helper()
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		if c.Count(c.t, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) >= n {
			return
		}
	}
}
