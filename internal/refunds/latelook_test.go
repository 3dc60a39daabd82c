package refunds_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
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
			if j := d.due().Late; j != nil {
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

// denied is a line's refund that is confirmed and told of, and that the provider, asked
// late, answers with that status.
func (d *desk) denied(holder string, status int) (order uuid.UUID, id string) {
	d.t.Helper()
	order, _, seats := d.paid(holder, 2)
	s, _ := d.request(order, seats[0])
	d.answer(yes("re_" + holder))
	d.hear(toldOf(holder, s.ID, "re_"+holder))
	d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 0 asked")
	d.daysLater(s.ID)
	d.settle(d.looksLate(s.ID), refunds.Answer{Outcome: refunds.Rejected, HTTP: status, Detail: "No such refund"})
	d.want(s.ID, "confirmed, 0 pending, 2500 refunded, 1 asked")
	return order, s.ID
}

// acts is a person who does something about the newest item that is open.
func (d *desk) acts(do support.Do, refund string) support.Verdict {
	d.t.Helper()
	var item int64
	d.Scan(d.t, `SELECT max(id) FROM human_list WHERE resolved_at IS NULL`, nil, &item)
	v, err := support.Act(d.t.Context(), d.Pool, support.Deed{Item: item, By: "mia", Do: do, Why: "their pages do not have it", Refund: refund})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// A confirmed refund that the provider, asked late, does not know is ended as failed by
// a person's word: its money is owed again, by another operation that names it; its seat
// stays given back, once.
func TestARefundThatTheProviderDeniesIsEndedByAPerson(t *testing.T) {
	d := openDesk(t)
	order, id := d.denied("ann", http.StatusNotFound)
	if can := d.item().Can(); !slices.Contains(can, support.NotRefunded) {
		t.Errorf("it can be %v", can)
	}
	if v := d.acts(support.NotRefunded, ""); v != support.Done {
		t.Fatalf("ended: %s", v)
	}
	d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	d.judged()
	by := d.Count(t, `SELECT count(*) FROM refund_changes WHERE operation = $1 AND from_status = 'confirmed' AND to_status = 'failed_later' AND by = 'mia'`, id)
	said := d.Count(t, `SELECT count(*) FROM human_notes n JOIN human_list h ON h.id = n.item WHERE h.operation = $1 AND n.by = 'mia' AND n.did = 'decided'`, id)
	if by != 1 || said != 1 || d.told(id, "refund.needs_attention") != 1 {
		t.Errorf("the evidence has her %d times, the history %d times, told %d times; want once each", by, said, d.told(id, "refund.needs_attention"))
	}
	if i := d.item(); i.Kind != "refund_failed" || !slices.Contains(i.Can(), support.Renew) {
		t.Errorf("%s can be %v", i.Kind, i.Can())
	}
	if v := d.acts(support.Renew, ""); v != support.Done {
		t.Fatalf("renewed: %s", v)
	}
	d.answer(yes("re_2"))
	d.want(id+"#2", "confirmed, 0 pending, 2500 refunded, 0 asked")
	if n := d.Count(t, `SELECT given_back FROM orders WHERE id = $1`, order); n != 1 {
		t.Errorf("%d seats went back, want one", n)
	}
	d.judged()
}

// Nothing else that is confirmed is ended so: not before the late look, and not where that
// had no such answer; neither by a person nor past them.
func TestAConfirmedRefundIsNotEndedThatTheProviderDoesNotDeny(t *testing.T) {
	for name, set := range map[string]func(*desk) string{
		"another refusal": func(d *desk) string { _, id := d.denied("ann", http.StatusBadRequest); return id },
		"told of again": func(d *desk) string {
			_, id := d.denied("ann", http.StatusNotFound)
			d.hear(toldOf("ann", id, "re_ann"))
			return id
		},
		"another than we asked for": func(d *desk) string {
			id := d.owed("ann")
			d.answer(yes("re_ann"))
			d.daysLater(id)
			d.settle(d.looksLate(id), refunds.Answer{Outcome: refunds.Differs, HTTP: http.StatusOK, Detail: "it is another"})
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			id := set(d)
			if v := d.acts(support.NotRefunded, ""); v != support.NotNow {
				t.Errorf("ended: %s, want not_now", v)
			}
			if _, err := d.Pool.Exec(t.Context(), `UPDATE refund_operations SET status = 'failed_later', outcome = 'person_decided' WHERE id = $1`, id); err == nil {
				t.Error("the database let it through")
			}
			if n := d.Count(t, `SELECT count(*) FROM refund_operations WHERE id = $1 AND status = 'confirmed'`, id); n != 1 {
				t.Error("it is not confirmed any more")
			}
		})
	}
}

// The provider tells, after a person has ended it, of the refund that it denied: it is
// theirs again, nothing sends the money once more, and they can put their word right.
func TestADeniedRefundThatIsToldOfAgainIsNotSentTwice(t *testing.T) {
	for name, c := range map[string]struct {
		renewed, found bool
		want           string
	}{
		"before it is renewed":                              {false, false, "confirmed, 0 pending, 2500 refunded, 0 asked"},
		"after it was renewed":                              {true, false, "failed_later, 2500 pending, 0 refunded, 1 asked"},
		"one that a person had named, after it was renewed": {true, true, "failed_later, 2500 pending, 0 refunded, 1 asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			told := refunds.Told{}
			var id string
			if c.found {
				order, _, seats := d.paid("ann", 2)
				s, _ := d.request(order, seats[0])
				id, told = s.ID, toldOf("ann", "", "re_typo")
				d.answer(says(refunds.OtherParameters))
				if v := d.acts(support.Refunded, "re_typo"); v != support.Done {
					t.Fatalf("found: %s", v)
				}
				d.daysLater(id)
				d.settle(d.looksLate(id), refunds.Answer{Outcome: refunds.Rejected, HTTP: http.StatusNotFound})
			} else {
				_, id = d.denied("ann", http.StatusNotFound)
				told = toldOf("ann", id, "re_ann")
			}
			if v := d.acts(support.NotRefunded, ""); v != support.Done {
				t.Fatalf("ended: %s", v)
			}
			if c.renewed {
				if v := d.acts(support.Renew, ""); v != support.Done {
					t.Fatalf("renewed: %s", v)
				}
			}
			if h := d.hear(told); h != refunds.HeardDiffers {
				t.Errorf("heard: %s", h)
			}
			d.hurry()
			if j := d.next(); j != nil {
				t.Errorf("there is a %s of %s to make", j.Verb(j.Now), j.Ask.Operation)
			}
			if n := d.asked("refund_differs", told.ProviderRefund); n != 1 {
				t.Errorf("%d items of it, want 1", n)
			}
			if !c.renewed {
				if v := d.acts(support.Renew, ""); v != support.NotNow {
					t.Errorf("renewed: %s, want not_now", v)
				}
				if v := d.acts(support.Refunded, told.ProviderRefund); v != support.Done {
					t.Errorf("put right: %s", v)
				}
			} else if n := d.Count(t, `SELECT count(*) FROM refund_operations WHERE id = $1 || '#2' AND status = 'manual'`, id); n != 1 {
				t.Error("what was renewed is not a person's")
			}
			d.want(id, c.want)
			d.judged()
		})
	}
}

// A late look whose refunder ended is one of the twenty, and the next is six hours later.
// Once they are spent that refund is not asked about any more, and all others are.
func TestLateLooksThatAreLostKeepNoOtherWaiting(t *testing.T) {
	d := openDesk(t)
	ann := d.owed("ann")
	d.answer(yes("re_ann"))
	ben := d.owed("ben")
	d.answer(yes("re_ben"))
	d.daysLater(ann)
	for n := range refunds.MostLateLooks {
		d.exec(`UPDATE refund_operations SET next_at = now() WHERE id = $1`, ann)
		d.looksLate(ann)
		d.reign.End(t.Context())
		d.reign = d.succeed()
		if _, err := d.reign.Recover(t.Context(), d.Pool); err != nil {
			t.Fatal(err)
		}
		if due := d.due(); due.Late != nil {
			t.Fatalf("look %d was lost: due again at once", n+1)
		}
	}
	d.exec(`UPDATE refund_operations SET next_at = now() WHERE id = $1`, ann)
	if n := d.Count(t, `SELECT count(*) FROM refund_operations WHERE id = $1 AND late_looks = 20 AND late_look_over_at IS NOT NULL`, ann); n != 1 {
		t.Error("twenty late looks were lost, and it is to be asked about again")
	}
	d.exec(`UPDATE refund_operations SET late_look_over_at = NULL WHERE id = $1`, ann) // as before this was counted
	d.daysLater(ben)
	if f, err := d.ledger.Read(t.Context()); err != nil || f.Late != 1 {
		t.Errorf("%d late looks are due, %v; want one", f.Late, err)
	}
	d.exec(`UPDATE refund_operations SET ended_at = now() - interval '9 days' WHERE id = $1`, ann)
	d.settle(d.looksLate(ben), yes("re_ben"))
}
