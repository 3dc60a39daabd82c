package support_test

import (
	"sync"
	"testing"

	"waitroom/internal/support"
)

// Above the limit a person decides, and there is nothing to send before: no
// operation, no notice, no money reserved. Asking for the lines one by one does
// not get around it.
func TestAboveTheLimitAPersonDecides(t *testing.T) {
	c := open(t, 1)
	o := c.sold("ann", 3)
	c.want(o.wants(0), support.Queued, "")
	a := c.want(o.wants(1), support.NeedsApproval, support.OverLimit)
	again := c.want(o.wants(1), support.NeedsApproval, support.OverLimit)
	if a.Approval == 0 || again.Approval != a.Approval || a.AmountMinor != price || a.Standing != nil {
		t.Errorf("asked twice: %+v, then %+v", a, again)
	}
	if n := c.operations(o); n != 1 {
		t.Fatalf("%d operations before the approval, want the first line's alone", n)
	}
	c.decide(support.Deciding{Approval: a.Approval, By: "agent", Yes: true}, support.OwnRequest)
	c.decide(support.Deciding{Approval: a.Approval, By: "agent/kim", Yes: true}, support.OwnRequest)
	c.decide(support.Deciding{Approval: a.Approval, Organiser: "acme", By: "boss", Yes: true}, support.NoSuchApproval)
	is := c.decide(support.Deciding{Approval: a.Approval, Organiser: "house", By: "boss", Yes: true, Note: "was ill"}, support.Approved)
	if is.Word != support.Queued || c.operations(o) != 2 {
		t.Errorf("approved: %s, %d operations", is.Word, c.operations(o))
	}
	c.want(o.wants(1), support.Queued, "")
	c.decide(support.Deciding{Approval: a.Approval, By: "boss", Yes: true}, support.WasDecided)
	var by, asked, note string
	var timed bool
	c.Scan(t, `SELECT asked_by, decided_by, note, decided_at >= asked_at FROM refund_approvals`, nil, &asked, &by, &note, &timed)
	if asked != "agent" || by != "boss" || note != "was ill" || !timed {
		t.Errorf("the record: asked by %q, decided by %q (%q), in order: %t", asked, by, note, timed)
	}
	no := c.want(o.wants(2), support.NeedsApproval, support.OverLimit)
	c.decide(support.Deciding{Approval: no.Approval, By: "boss"}, support.Declined)
	c.want(o.wants(2), support.Refused, support.ApprovalRefused)
	if c.operations(o) != 2 {
		t.Error("what a person refused is an operation")
	}
	for _, forged := range []string{`DELETE FROM refund_approvals`, `UPDATE refund_approvals SET amount_minor = 1`, `UPDATE refund_approvals SET decision = 'approved'`} {
		if _, err := c.Pool.Exec(t.Context(), forged); err == nil {
			t.Errorf("the record can be changed: %s", forged)
		}
	}
}

// An approval is bound to what was asked: another amount, another payment, or
// money that went back otherwise has to be asked anew.
func TestAnApprovalIsBoundToWhatWasAsked(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 2)
	a := c.want(o.wants(0), support.NeedsApproval, support.OverLimit)
	c.exec(`UPDATE order_lines SET amount_minor = amount_minor - 1 WHERE order_id = $1`, o.id)
	c.decide(support.Deciding{Approval: a.Approval, By: "boss", Yes: true}, support.ChangedSince)
	anew := c.want(o.wants(0), support.NeedsApproval, support.OverLimit)
	if anew.Approval == a.Approval || anew.AmountMinor != price-1 {
		t.Errorf("asked anew: approval %d (was %d) of %d", anew.Approval, a.Approval, anew.AmountMinor)
	}
	c.exec(`UPDATE order_lines SET amount_minor = amount_minor - 1 WHERE order_id = $1`, o.id)
	if third := c.want(o.wants(0), support.NeedsApproval, support.OverLimit); third.Approval == anew.Approval || third.AmountMinor != price-2 {
		t.Errorf("asked with another amount: approval %d of %d", third.Approval, third.AmountMinor)
	}
	c.decide(support.Deciding{Approval: anew.Approval, By: "boss", Yes: true}, support.WasDecided)
	if n := c.operations(o); n != 0 {
		t.Errorf("%d operations, want none", n)
	}
}

// A no is not for ever: whoever may approve can bring the same up again, under a
// new name, as another approval, which somebody else decides. Nobody else who asks
// gets more than the no, however often, and both words stand in the record.
func TestARefusedApprovalIsBroughtUpAgain(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 1)
	first := c.want(o.wants(0), support.NeedsApproval, support.OverLimit)
	c.decide(support.Deciding{Approval: first.Approval, By: "boss", Note: "too late"}, support.Declined)
	for range 3 {
		c.want(o.wants(0), support.Refused, support.ApprovalRefused)
	}
	again := o.wants(0)
	again.By, again.MayApprove, again.Attempt = "boss", true, "k-2"
	c.exec(`UPDATE events SET refund_limit_minor = 1000000`) // a no is not undone by a higher limit
	second := c.want(again, support.NeedsApproval, support.OverLimit)
	if second.Approval == first.Approval || second.AmountMinor != price {
		t.Errorf("brought up again: approval %d (was %d) of %d", second.Approval, first.Approval, second.AmountMinor)
	}
	for _, who := range []support.Wanted{again, o.wants(0)} {
		if a := c.want(who, support.NeedsApproval, support.OverLimit); a.Approval != second.Approval {
			t.Errorf("asked once more it is approval %d, want %d", a.Approval, second.Approval)
		}
	}
	if c.operations(o) != 0 {
		t.Error("there is an operation before anybody has said yes")
	}
	c.decide(support.Deciding{Approval: first.Approval, By: "kim", Yes: true}, support.WasDecided)
	for _, asker := range []string{"boss", "agent", "agent/kim"} { // whoever asked first would have their own way
		c.decide(support.Deciding{Approval: second.Approval, By: asker, Yes: true}, support.OwnRequest)
	}
	c.decide(support.Deciding{Approval: second.Approval, By: "kim", Yes: true}, support.Approved)
	c.want(o.wants(0), support.Queued, "")
	var record string
	c.Scan(t, `SELECT string_agg(asked_by || ' asked, ' || decided_by || ' ' || decision, '; ' ORDER BY id) FROM refund_approvals`, nil, &record)
	if want := "agent asked, boss refused; boss asked, kim approved"; record != want {
		t.Errorf("the record is %q, want %q", record, want)
	}
}

// A copy of an asking that comes after the no, however late, is no new asking: it
// is told the no. So is one that has no name, which cannot be told from a copy.
func TestALateCopyBringsNothingUpAgain(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 2)
	approvals := 0
	for _, key := range []string{"", "k-1", "k-2"} {
		w := o.wants(0)
		w.MayApprove, w.Attempt = true, key
		if key == "" { // the first is asked by nobody who names it
			c.decide(support.Deciding{Approval: c.want(w, support.NeedsApproval, support.OverLimit).Approval, By: "boss"}, support.Declined)
		} else {
			a := c.want(w, support.NeedsApproval, support.OverLimit)
			if copied := c.want(w, support.NeedsApproval, support.OverLimit); copied.Approval != a.Approval {
				t.Errorf("a copy that comes before the word is approval %d, want %d", copied.Approval, a.Approval)
			}
			c.decide(support.Deciding{Approval: a.Approval, By: "boss"}, support.Declined)
		}
		approvals++
		for range 3 {
			c.want(w, support.Refused, support.ApprovalRefused)
		}
	}
	if n := c.Count(t, `SELECT count(*) FROM refund_approvals`); n != approvals {
		t.Errorf("%d approvals, want %d", n, approvals)
	}
	other := o.wants(1)
	other.Attempt = "k-1"
	c.want(other, support.Refused, support.AttemptReused)
	if n := c.operations(o); n != 0 {
		t.Errorf("%d operations, want none", n)
	}
}

// A person says the same twice: a button is pressed again, an answer was lost, a page is
// sent anew. The second is answered as the first was, also once the refund has gone on,
// and nothing is done or written by it. What is said otherwise, by somebody else or in
// other words, is told that it was decided.
func TestTheSameWordTwiceIsOneWord(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 3)
	yes := support.Deciding{Approval: c.want(o.wants(0), support.NeedsApproval, support.OverLimit).Approval, By: "boss", Yes: true, Note: "was ill"}
	first := c.decide(yes, support.Approved)
	c.exec(`UPDATE refund_operations SET status = 'confirmed', provider_refund_id = 're_1', ended_at = now() WHERE id = $1`, first.Standing.ID)
	if again := c.decide(yes, support.Approved); again.Standing == nil || again.Standing.ID != first.Standing.ID || again.Line != first.Line || again.Word != support.Confirmed {
		t.Errorf("said again: %+v, first %+v", again, first)
	}
	for what, d := range map[string]support.Deciding{
		"the other way":  {Approval: yes.Approval, By: "boss", Note: "was ill"},
		"somebody else":  {Approval: yes.Approval, By: "kim", Yes: true, Note: "was ill"},
		"in other words": {Approval: yes.Approval, By: "boss", Yes: true, Note: "paid twice"},
	} {
		if is, _, err := c.Decide(t.Context(), c.Pool, d); is != support.WasDecided || err != nil {
			t.Errorf("%s: %s, %v", what, is, err)
		}
	}
	no := support.Deciding{Approval: c.want(o.wants(1), support.NeedsApproval, support.OverLimit).Approval, By: "boss"}
	for range 2 {
		if a := c.decide(no, support.Declined); a.Word != support.Refused || a.Reason != support.ApprovalRefused {
			t.Errorf("refused: %+v", a)
		}
	}
	changed := support.Deciding{Approval: c.want(o.wants(2), support.NeedsApproval, support.OverLimit).Approval, By: "boss", Yes: true}
	c.exec(`UPDATE order_lines SET amount_minor = amount_minor - 1 WHERE order_id = $1`, o.id)
	for range 2 {
		c.decide(changed, support.ChangedSince)
	}
	var record string
	c.Scan(t, `SELECT string_agg(decided_by || ' ' || decision || ' ' || note, '; ' ORDER BY id) FROM refund_approvals`, nil, &record)
	if want := "boss approved was ill; boss refused ; boss changed "; record != want || c.operations(o) != 1 {
		t.Errorf("the record is %q, %d operations; want %q and one", record, c.operations(o), want)
	}
}

// One person many times and a caller at once come to one operation.
func TestApprovedTwiceAtOnceIsOneOperation(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 1)
	a := c.want(o.wants(0), support.NeedsApproval, support.OverLimit)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			is, _, err := c.Decide(t.Context(), c.Pool, support.Deciding{Approval: a.Approval, By: "boss", Yes: true})
			if err != nil || is != support.Approved {
				t.Errorf("%s, %v", is, err)
			}
		})
		all.Go(func() { c.Ask(t.Context(), c.Pool, o.wants(0)) }) //nolint:errcheck // it is counted below
	}
	all.Wait()
	if c.operations(o) != 1 || c.Count(t, `SELECT count(*) FROM refund_approvals`) != 1 {
		t.Errorf("%d operations, want one, by one approval", c.operations(o))
	}
}

// The event's own limit goes before the process's, and who set it is recorded.
func TestAnEventHasItsOwnLimit(t *testing.T) {
	c := open(t, 0)
	o := c.sold("ann", 1)
	minor := int64(price)
	if found, err := support.SetLimit(t.Context(), c.Pool, c.Event, &minor, "boss"); !found || err != nil {
		t.Fatal(found, err)
	}
	c.want(o.wants(0), support.Queued, "")
	if n := c.Count(t, `SELECT count(*) FROM event_changes WHERE by = 'boss' AND changed ? 'refund_limit_minor'`); n != 1 {
		t.Errorf("%d records of the limit, want 1", n)
	}
	if found, err := support.SetLimit(t.Context(), c.Pool, "nowhere", nil, "boss"); found || err != nil {
		t.Error(found, err)
	}
}
