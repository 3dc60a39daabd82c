package refunds_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// ended is ann's operation, which a person ended as not refunded, and what the
// provider tells of it afterwards.
func (d *desk) ended() (id string, told refunds.Told) {
	d.t.Helper()
	id = d.owed("ann")
	d.answer(says(refunds.OtherParameters))
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.NotRefunded(d.t.Context(), tx, id, "mia", "looked, and it is not there")
	})
	return id, refunds.Told{
		ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: 1000, Currency: "EUR",
	}
}

func (d *desk) say(want refunds.Verdict, f func(pgx.Tx) (refunds.Verdict, error)) {
	d.t.Helper()
	d.tx(func(tx pgx.Tx) error {
		v, err := f(tx)
		if v != want {
			d.t.Errorf("%s, want %s", v, want)
		}
		return err
	})
}

func (d *desk) renew(id string, want refunds.Verdict) {
	d.t.Helper()
	d.say(want, func(tx pgx.Tx) (v refunds.Verdict, err error) {
		_, v, err = refunds.Renew(d.t.Context(), tx, id, "mia", "another try", false)
		return v, err
	})
}

// A person ends a refund as not made, and the provider then tells that it was:
// it is not begun anew, until the provider says that it failed.
func TestNothingIsRenewedThatWentBackAfterAll(t *testing.T) {
	for _, status := range []string{"pending", "succeeded"} {
		d := openDesk(t)
		id, told := d.ended()
		told.Status = status
		if h := d.hear(told); h != refunds.HeardDiffers {
			t.Errorf("%s: %s", status, h)
		}
		d.renew(id, refunds.BackAlready)
		if j := d.next(); j != nil {
			t.Errorf("%s: there is a %s of %s to make", status, j.Verb(j.Now), j.Ask.Operation)
		}
		told.Status = "failed"
		d.hear(told)
		d.renew(id, refunds.Done)
		d.reign.End(t.Context())
	}
}

// The same with the renewal first: what was not sent yet is a person's, and is
// not pushed, until the provider says that the money did not arrive.
func TestWhatFollowsIsHeldBackWhenTheFirstWentBackAfterAll(t *testing.T) {
	d := openDesk(t)
	id, told := d.ended()
	d.renew(id, refunds.Done)
	next := id + "#2"
	for range 2 {
		if h := d.hear(told); h != refunds.HeardDiffers {
			t.Errorf("heard: %s", h)
		}
		d.want(next, "manual, 1000 pending, 0 refunded, 1 asked")
	}
	if n := d.told(next, "refund.needs_attention"); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	push := func(tx pgx.Tx) (refunds.Verdict, error) { return refunds.Push(t.Context(), tx, next, "mia", "again") }
	d.say(refunds.BackAlready, push)
	if j := d.next(); j != nil {
		t.Errorf("there is a %s of %s to make", j.Verb(j.Now), j.Ask.Operation)
	}
	told.Status = "failed"
	d.hear(told)
	d.say(refunds.Done, push)
	d.answer(yes("re_2"))
	d.want(next, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// A person may say that it is the first one's refund that gave back what
// follows: then it went back once, and the books say so.
func TestWhatFollowsIsEndedByTheFirstOnesRefund(t *testing.T) {
	d := openDesk(t)
	id, told := d.ended()
	d.renew(id, refunds.Done)
	d.hear(told)
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(t.Context(), tx, id+"#2", "re_1", "mia", "the first one's")
	})
	d.want(id+"#2", "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// The outlet was faster than the news: that send cannot be taken back, and no
// other follows it.
func TestNoSendFollowsWhenTheFirstWentBackMeanwhile(t *testing.T) {
	for what, answers := range map[string][]refunds.Answer{
		"the send had no effect": {says(refunds.Busy)},
		"a look did not find it": {says(refunds.TimedOut), says(refunds.NotThere)},
	} {
		d := openDesk(t)
		id, told := d.ended()
		d.renew(id, refunds.Done)
		s, _ := d.submit()
		d.hear(told)
		d.want(id+"#2", "submitted, 1000 pending, 0 refunded, 0 asked")
		d.settle(s, answers[0])
		for _, a := range answers[1:] {
			d.answer(a)
		}
		if got, want := d.stands(id+"#2"), "manual, 1000 pending, 0 refunded, 1 asked"; got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		d.hurry()
		if j := d.next(); j != nil {
			t.Errorf("%s: there is a %s of %s to make", what, j.Verb(j.Now), j.Ask.Operation)
		}
		d.reign.End(t.Context())
	}
}

// An answer that comes after a person's word, and says otherwise, is told to a
// person, and what was begun on that word is held back.
func TestALateAnswerThatContradictsAPersonIsTold(t *testing.T) {
	for _, outcome := range []refunds.Outcome{refunds.Succeeded, refunds.OnItsWay} {
		for _, word := range []string{"not_refunded", "refunded"} {
			d := openDesk(t)
			id := d.owed("ann")
			s, _ := d.submit()
			d.reign.End(t.Context())
			d.reign = d.succeed()
			if _, err := d.reign.Recover(t.Context(), d.Pool); err != nil {
				t.Fatal(err)
			}
			d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 second' WHERE id = $1`, id)
			if n, err := d.ledger.GiveUp(t.Context()); n != 1 || err != nil {
				t.Fatalf("%d given up, %v; want 1", n, err)
			}
			d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
				if word == "refunded" {
					return refunds.Refunded(t.Context(), tx, id, "re_9", "mia", "in the dashboard")
				}
				return refunds.NotRefunded(t.Context(), tx, id, "mia", "not there")
			})
			if word == "not_refunded" {
				d.renew(id, refunds.Done)
			}
			before := d.stands(id)
			for range 2 {
				d.settle(s, refunds.Answer{Outcome: outcome, Refund: "re_1"})
			}
			if n := d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_differs' AND subject = 're_1' AND operation = $1 AND resolved_at IS NULL`, id); n != 1 {
				t.Errorf("%s after %s: %d on the list, want 1 (it stood: %s)", outcome, word, n, before)
			}
			if word == "not_refunded" {
				d.want(id+"#2", "manual, 1000 pending, 0 refunded, 1 asked")
			}
			d.reign.End(t.Context())
		}
	}
}

// A refund that a person names is not taken if the ledger knows that it did not
// give this back.
func TestAPersonsRefundHasToBeThisOne(t *testing.T) {
	good := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_h", Status: "succeeded", AmountMinor: 1000, Currency: "EUR"}
	for what, c := range map[string]struct {
		told func(*refunds.Told)
		want refunds.Verdict
	}{
		"this one":          {func(*refunds.Told) {}, refunds.Done},
		"failed":            {func(t *refunds.Told) { t.Status = "failed" }, refunds.NotThis},
		"on its way":        {func(t *refunds.Told) { t.Status = "pending" }, refunds.NotThis},
		"another payment's": {func(t *refunds.Told) { t.ProviderPayment = "pi_ben" }, refunds.NotThis},
		"another amount":    {func(t *refunds.Told) { t.AmountMinor = 1 }, refunds.NotThis},
		"another currency":  {func(t *refunds.Told) { t.Currency = "USD" }, refunds.NotThis},
	} {
		d := openDesk(t)
		id := d.owed("ann")
		d.answer(says(refunds.OtherParameters))
		d.owed("ben")
		told := good
		c.told(&told)
		d.hear(told)
		t.Log(what)
		d.say(c.want, func(tx pgx.Tx) (refunds.Verdict, error) {
			return refunds.Refunded(t.Context(), tx, id, " re_h ", "mia", "found it")
		})
		if c.want != refunds.Done {
			d.want(id, "manual, 1000 pending, 0 refunded, 1 asked")
		}
		d.reign.End(t.Context())
	}
}

// Nor is one that refunded another line of the same price.
func TestAPersonsRefundIsNoOtherLines(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	var ids []string
	for _, seat := range seats {
		s, _ := d.request(order, seat)
		d.answer(says(refunds.OtherParameters))
		ids = append(ids, s.ID)
	}
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.NotRefunded(t.Context(), tx, ids[0], "mia", "not there")
	})
	d.hear(refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: ids[0], Status: "succeeded", AmountMinor: 2500, Currency: "EUR"})
	d.say(refunds.NotThis, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(t.Context(), tx, ids[1], "re_1", "mia", "found it")
	})
}

// A person ended a line's refund as not made, and the provider tells that it was:
// a person can say so too. The money is counted, the seat goes back, and nothing
// is left to ask; no other refund, and none that is still on its way, is taken.
func TestAWrongNoIsPutRight(t *testing.T) {
	d := openDesk(t)
	order, payment, seats := d.paid("ann", 1)
	d.request(order, seats[0])
	id := refunds.LineID(order, seats[0])
	d.answer(says(refunds.OtherParameters))
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.NotRefunded(t.Context(), tx, id, "mia", "not there")
	})
	found := func(refund string, want refunds.Verdict) {
		t.Helper()
		d.say(want, func(tx pgx.Tx) (refunds.Verdict, error) {
			return refunds.Refunded(t.Context(), tx, id, refund, "mia", "it is there")
		})
	}
	found("re_1", refunds.NotTheirs)
	told := toldOf("ann", id, "re_1")
	told.Status = "pending"
	d.hear(told)
	found("re_1", refunds.NotThis)
	told.Status = "succeeded"
	d.hear(told)
	found("re_2", refunds.NotThis)
	found("re_1", refunds.Done)
	d.want(id, "confirmed, 0 pending, 2500 refunded, 0 asked")
	if n := d.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1`, order); n != 0 || d.told(id, "refund.confirmed") != 1 {
		t.Errorf("%d seats are the order's, and it was told %d times; want 0, 1", n, d.told(id, "refund.confirmed"))
	}
	d.judged()
	found("re_1", refunds.NotTheirs)
	told.Status = "failed"
	d.hear(told)
	d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	if b := d.books(payment); b.Back != 0 {
		t.Errorf("%d went back by what is told, want 0", b.Back)
	}
}

// Where another operation follows, it is that one's to be ended as the refund.
func TestAWrongNoThatIsFollowedStays(t *testing.T) {
	d := openDesk(t)
	id, told := d.ended()
	d.renew(id, refunds.Done)
	d.hear(told)
	d.say(refunds.AlreadyNext, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(t.Context(), tx, id, "re_1", "mia", "it is there")
	})
}
