package refunds_test

import (
	"testing"
	"time"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
)

// daysLater puts the confirmation of an operation so far back that it is to be looked
// at once more, and its next look at now.
func (d *desk) daysLater(id string) {
	d.t.Helper()
	d.exec(`UPDATE refund_operations SET ended_at = now() - interval '8 days', next_at = now() WHERE id = $1`, id)
}

func (d *desk) due() refunds.Due {
	d.t.Helper()
	due, err := d.ledger.Due(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return due
}

// looksLate submits the late look that is due.
func (d *desk) looksLate(id string) refunds.Sent {
	d.t.Helper()
	j := d.due().Late
	if j == nil || j.Ask.Operation != id || j.Verb(j.Now) != refunds.Retrieve || j.Kind(refunds.Retrieve) != refunds.LateLook {
		d.t.Fatalf("the late look that is due: %+v, want a retrieval of %s", j, id)
	}
	call, _, ok, err := d.reign.Submit(d.t.Context(), *j, refunds.Retrieve)
	if err != nil || !ok {
		d.t.Fatalf("submit: taken %t, %v", ok, err)
	}
	return refunds.Sent{ID: call, Operation: id, Verb: refunds.Retrieve, Start: outlet.Start{At: time.Now(), InFlight: 1, Wrote: 1}}
}

// A refund was confirmed, failed days later, and the notice of that was lost: it is
// asked about once more, and what follows is what follows from the notice.
func TestAFailureWhoseNoticeIsLostIsFoundByALateLook(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(yes("re_1"))
	if due := d.due(); due.Late != nil {
		t.Errorf("at once: %+v", due.Late)
	}
	d.exec(`UPDATE refund_operations SET ended_at = now() - interval '7 days' + interval '10 minutes', next_at = now()`)
	if due := d.due(); due.Late != nil {
		t.Errorf("ten minutes before seven days: %+v", due.Late)
	}
	d.daysLater(id)
	if f, err := d.ledger.Read(t.Context()); err != nil || f.Late != 1 {
		t.Errorf("%d are due, %v; want 1", f.Late, err)
	}
	sent := d.looksLate(id)
	for range 2 { // the second: it was written down, and that was lost
		d.settle(sent, refunds.Answer{Outcome: refunds.Failed, Refund: "re_1", Detail: "the refund failed: lost_or_stolen_card"})
		d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	}
	if n := d.told(id, "refund.needs_attention"); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	if due := d.due(); due.Late != nil || due.Rest != nil {
		t.Errorf("after it: %+v", due)
	}
}

// A confirmed refund stays so whatever else is answered: asked once where the provider
// stands by it, a person's once where it does not, and again later, a bounded number
// of times, where there is no answer.
func TestALateLookLeavesWhatIsConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		answer refunds.Answer
		over   bool
		asked  int
	}{
		"there":              {yes("re_1"), true, 0},
		"on its way again":   {refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_1"}, true, 0},
		"none of that name":  {refunds.Answer{Outcome: refunds.Rejected, Detail: "no such refund"}, true, 1},
		"another":            {refunds.Answer{Outcome: refunds.Differs, Detail: "the answer is about another refund"}, true, 1},
		"no answer":          {says(refunds.TimedOut), false, 0},
		"too many calls":     {refunds.Answer{Outcome: refunds.Busy, RetryAfter: 12 * time.Hour}, false, 0},
		"a page for people":  {says(refunds.Unreadable), false, 0},
		"it was never sent":  {says(refunds.NotSent), false, 0},
		"its process ended":  {refunds.Answer{}, false, 0},
		"a fault of theirs":  {says(refunds.ServerError), false, 0},
		"the outlet is lost": {says(refunds.NotStarted), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			id := d.owed("ann")
			d.answer(yes("re_1"))
			looks := 1
			if !c.over {
				looks = refunds.MostLateLooks
			}
			for n := range looks {
				d.daysLater(id)
				if sent := d.looksLate(id); c.answer.Outcome != "" {
					d.settle(sent, c.answer)
					if due := d.due(); !c.over && due.Late != nil && n+1 < looks {
						t.Fatalf("look %d: due again at once", n+1)
					}
				} else {
					if _, err := d.Pool.Exec(t.Context(), `UPDATE refund_calls SET outcome = 'lost', finished_at = now() WHERE id = $1`, sent.ID); err != nil {
						t.Fatal(err)
					}
					d.exec(`UPDATE refund_operations SET call = NULL`) // as whoever takes over does
				}
			}
			d.daysLater(id)
			if j := d.due().Late; c.answer.Outcome != "" && j != nil {
				t.Errorf("asked about again, after %d looks: %+v", looks, j)
			}
			var asked int
			var outcome string
			d.Scan(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_differs' AND operation = $1 AND resolved_at IS NULL`, []any{id}, &asked)
			d.Scan(t, `SELECT outcome FROM refund_operations WHERE id = $1`, []any{id}, &outcome)
			if asked != c.asked || outcome != "succeeded" {
				t.Errorf("asked %d persons, want %d; confirmed by %q", asked, c.asked, outcome)
			}
			if n := d.Count(t, `SELECT count(*) FROM payments WHERE refunded_minor = 1000 AND refund_pending_minor = 0`); n != 1 {
				t.Error("its money moved")
			}
			if n := d.Count(t, `SELECT count(*) FROM refund_changes WHERE from_status = 'confirmed'`); n != 0 {
				t.Errorf("it moved %d times", n)
			}
		})
	}
}

// A late look takes no start from anything else: it is due only where neither first
// tries nor the rest are, and one at a time. The forecast does not count it.
func TestALateLookGivesWayToAllElse(t *testing.T) {
	d := openDesk(t)
	ids := []string{}
	for _, holder := range []string{"ann", "ben"} {
		ids = append(ids, d.owed(holder))
		d.answer(yes("re_" + holder))
	}
	d.daysLater(ids[0])
	d.daysLater(ids[1])
	d.exec(`UPDATE refund_operations SET ended_at = ended_at - interval '1 hour' WHERE id = $1`, ids[1])
	first := d.owed("cyd")
	if due := d.due(); due.First == nil || due.Late != nil {
		t.Errorf("beside a first try: %+v", due)
	}
	d.answer(says(refunds.TimedOut))
	d.hurry()
	if due := d.due(); due.Rest == nil || due.Late != nil {
		t.Errorf("beside a look: %+v", due)
	}
	d.answer(yes("re_cyd"))
	d.want(first, "confirmed, 0 pending, 1000 refunded, 0 asked")
	before, err := refunds.ReadBacklog(t.Context(), d.Pool, 5)
	if err != nil {
		t.Fatal(err)
	}
	sent := d.looksLate(ids[1]) // the oldest
	if due := d.due(); due.Late != nil {
		t.Errorf("two at a time: %+v", due.Late)
	}
	d.settle(sent, yes("re_ben"))
	d.settle(d.looksLate(ids[0]), yes("re_ann"))
	if after, err := refunds.ReadBacklog(t.Context(), d.Pool, 5); err != nil || after.Started != before.Started || after.Closed != before.Closed {
		t.Errorf("the forecast counts %d calls and %d ends, before %d and %d, %v", after.Started, after.Closed, before.Started, before.Closed, err)
	}
	if due := d.due(); due.Late != nil {
		t.Errorf("asked about again: %+v", due.Late)
	}
}

// What came to a refund that somebody made by hand is asked about under that one's
// name, and its failure is a failure: the provider says nothing of ours in it.
func TestALateLookAtARefundThatOthersMade(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 1)
	s, _ := d.request(order, seats[0])
	d.byHand("ann", "re_hand", "succeeded", 2500)
	d.answer(says(refunds.AlreadyRefunded))
	d.answer(refunds.Answer{Outcome: refunds.ByHand, Refund: "re_hand"})
	d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 0 asked")
	d.daysLater(s.ID)
	if j := d.due().Late; j == nil || !j.Ask.ByOthers || j.Ask.ProviderRefund != "re_hand" {
		t.Fatalf("the look: %+v", j)
	}
	d.settle(d.looksLate(s.ID), refunds.Answer{Outcome: refunds.Failed, Refund: "re_hand"})
	d.want(s.ID, "failed_later, 0 pending, 0 refunded, 1 asked")
	if n := d.Count(t, `SELECT count(*) FROM provider_refunds WHERE id = 're_hand' AND status = 'failed' AND operation IS NULL`); n != 1 {
		t.Error("the refund by hand is not told as failed, or has an operation's name")
	}
}

// An answer that comes after a notice has confirmed the refund is no late look: the
// late one is still to come.
func TestAnAnswerAfterTheNoticeIsNoLateLook(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	sent, _ := d.submit()
	d.hear(refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: 1000, Currency: "EUR"})
	d.settle(sent, says(refunds.Rejected))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
	d.daysLater(id)
	d.settle(d.looksLate(id), yes("re_1"))
}
