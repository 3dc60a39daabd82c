package refunds_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// item is the one that is open, as the desk reads it.
func (d *desk) item() support.Item {
	d.t.Helper()
	items, err := support.Items(d.t.Context(), d.Pool, support.Which{Most: 10})
	if err != nil || len(items) != 1 {
		d.t.Fatalf("the human list is %+v, %v; want one item", items, err)
	}
	return items[0]
}

func (d *desk) does(i support.Item, do support.Do) support.Verdict {
	d.t.Helper()
	v, err := support.Act(d.t.Context(), d.Pool, support.Deed{Item: i.ID, By: "ann", Do: do, Why: "it goes out when the key is good"})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

func (d *desk) givesUp() {
	d.t.Helper()
	if _, err := d.ledger.GiveUp(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// A late refund that was never sent is somebody's until it has its end: no word
// takes it off the list, and what was taken off it comes back.
func TestALateRefundIsSomebodysUntilItsEnd(t *testing.T) {
	d := openDesk(t)
	id := d.owed("cyd")
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '2 hours', accepted_at = now() - interval '2 hours 15 minutes'`)
	d.givesUp()
	i := d.item()
	if can := i.Can(); slices.Contains(can, support.Resolve) {
		t.Errorf("a %s of an operation that is %s can %v", i.Kind, i.Status, can)
	}
	if v := d.does(i, support.Resolve); v != support.NotNow {
		t.Errorf("resolved while it waits: %s, want %s", v, support.NotNow)
	}
	d.exec(`UPDATE human_list SET resolved_at = now()`)
	d.givesUp()
	d.want(id, "queued, 1000 pending, 0 refunded, 1 asked")
	d.answer(yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// What the provider has on its way for longer than a person would wait, or does not
// know any more, is a person's, once; it stays pending, and its money reserved.
func TestARefundThatStaysOnItsWayIsSomebodysOnce(t *testing.T) {
	for what, c := range map[string]struct {
		accepted string
		answer   refunds.Answer
	}{
		"on its way for 60 days":         {"60 days", refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_1"}},
		"the provider does not know it":  {"1 hour", refunds.Answer{Outcome: refunds.Rejected, HTTP: 404, Detail: "resource_missing"}},
		"both, the one after the other":  {"60 days", refunds.Answer{Outcome: refunds.Rejected, HTTP: 404, Detail: "resource_missing"}},
		"a look that says nothing of it": {"60 days", refunds.Answer{Outcome: refunds.TimedOut}},
	} {
		d := openDesk(t)
		id := d.owed("cyd")
		d.answer(refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_1"})
		d.givesUp()
		d.want(id, "pending, 1000 pending, 0 refunded, 0 asked")
		d.exec(`UPDATE refund_operations SET accepted_at = now() - $1::interval, first_sent_at = now() - $1::interval, give_up_at = now() - $1::interval`, c.accepted)
		for range 5 {
			d.answer(c.answer)
			d.givesUp()
			d.want(id, "pending, 1000 pending, 0 refunded, 1 asked")
		}
		if v := d.does(d.item(), support.Resolve); v != support.Done {
			t.Errorf("%s: resolved by a person who asked the provider: %s", what, v)
		}
		d.answer(c.answer)
		d.givesUp()
		d.want(id, "pending, 1000 pending, 0 refunded, 0 asked")
		d.answer(refunds.Answer{Outcome: refunds.Failed, Refund: "re_1"})
		d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	}
}

// Refunded by hand, and of it only the sum is told: its own notice was lost, or the
// endpoint never asked for its kind. After some minutes a person has the payment, once
// for each sum; what we sent ourselves, or were told of by name, is nobody's.
func TestASumThatNoRefundExplainsIsAPersons(t *testing.T) {
	d := openDesk(t)
	sum := func(holder string, minor int64, want int) {
		t.Helper()
		if h := d.hear(refunds.Told{ProviderPayment: "pi_" + holder, SumMinor: minor, Currency: "EUR"}); h != refunds.HeardSum {
			t.Fatalf("%s, %d: heard %s", holder, minor, h)
		}
		d.givesUp()
		early := d.asked("refund_by_hand", "pi_"+holder)
		d.exec(`UPDATE payments SET told_at = told_at - interval '10 minutes' WHERE provider_payment_id = $1`, "pi_"+holder)
		for range 2 {
			d.givesUp()
		}
		if n := d.asked("refund_by_hand", "pi_"+holder); early != 0 || n != want {
			t.Errorf("%s, %d back: %d on the list at once, %d after 10 minutes; want 0 and %d", holder, minor, early, n, want)
		}
		d.exec(`UPDATE human_list SET resolved_at = now() WHERE resolved_at IS NULL AND kind = 'refund_by_hand'`)
	}
	d.paid("ann", 3)
	sum("ann", 2500, 1)
	sum("ann", 2500, 0) // told again
	sum("ann", 1000, 0) // an older one
	sum("ann", 5000, 1)
	d.paid("bea", 2)
	d.hear(refunds.Told{ProviderPayment: "pi_bea", ProviderRefund: "re_hand", Status: "succeeded", AmountMinor: 2500, Currency: "EUR"})
	sum("bea", 2500, 0) // that one
	order, _, seats := d.paid("cyd", 2)
	s, _ := d.request(order, seats[0])
	sent, _ := d.submit()
	sum("cyd", 2500, 0) // ours, under way
	sum("cyd", 5000, 1)
	d.settle(sent, yes("re_2"))
	sum("cyd", 5000, 0)
	d.hear(refunds.Told{ProviderPayment: "pi_cyd", ProviderRefund: "re_2", Operation: s.ID, Status: "failed", AmountMinor: 2500, Currency: "EUR"})
	d.want(s.ID, "failed_later, 0 pending, 0 refunded, 1 asked")
	sum("cyd", 5000, 0)
}

// Refunded by hand, which fails, and by hand once more of the same size, and of that
// only the sum is told: the sum is the same as before. The provider said it after the
// failure, so it is of another refund: a person has it, and it is in the way of ours. In
// whatever order they come; a sum that was said before the failure is of that one alone.
func TestASumThatIsSaidAgainAfterAFailureIsOfAnotherRefund(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 5, 1, 20, minute, 0, 0, time.UTC) }
	first := refunds.Told{SumMinor: 2500, SaidAt: at(1)}
	failed := refunds.Told{ProviderRefund: "re_a", Status: "failed", AmountMinor: 2500, SaidAt: at(5)}
	again := refunds.Told{SumMinor: 2500, SaidAt: at(9)}
	smaller := refunds.Told{SumMinor: 1000, SaidAt: at(9)}
	mine := func(d *desk, order uuid.UUID, seat int64) { // ours, which was confirmed and then failed
		s, _ := d.request(order, seat)
		d.answer(yes("re_0"))
		told := toldOf("ann", s.ID, "re_0")
		told.Status, told.SaidAt = "failed", at(5)
		d.hear(told)
	}
	for name, c := range map[string]struct {
		ours   bool
		told   []refunds.Told
		byHand int
	}{
		"in their order":              {false, []refunds.Told{first, failed, again}, 2500},
		"the failure last":            {false, []refunds.Told{first, again, failed}, 2500},
		"the sums in the wrong order": {false, []refunds.Told{failed, again, first}, 2500},
		"each of them twice":          {false, []refunds.Told{first, first, failed, failed, again, again}, 2500},
		"a smaller one":               {false, []refunds.Told{first, failed, smaller}, 1000},
		"ours failed before it":       {true, []refunds.Told{first, again}, 2500},
		"said before the failure":     {false, []refunds.Told{failed, first}, 0},
		"and told of twice":           {false, []refunds.Told{first, failed, first}, 0},
		"ours, said before":           {true, []refunds.Told{first}, 0},
		"nobody knows when":           {false, []refunds.Told{{SumMinor: 2500}, failed, {SumMinor: 2500}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			order, payment, seats := d.paid("ann", 2)
			if c.ours {
				mine(d, order, seats[0])
			}
			for _, told := range c.told {
				told.ProviderPayment, told.Currency = "pi_ann", "EUR"
				d.hear(told)
			}
			d.exec(`UPDATE payments SET told_at = now() - interval '1 hour'`)
			d.givesUp()
			asked := d.asked("refund_by_hand", "pi_ann")
			byHand := d.Count(t, `SELECT by_hand_minor FROM money_left($1)`, payment)
			if byHand != c.byHand || (asked == 1) != (c.byHand > 0) {
				t.Errorf("%d went back by hand, %d items of a sum; want %d, and an item for it", byHand, asked, c.byHand)
			}
		})
	}
}

// A person has a payment by its sum alone; then the refunds of it are told by name. They
// are what is asked about, by whoever had the sum; that is resolved once they are all of
// it, and its history says which they are. Nothing is counted twice, and more than they
// are is a sum again.
func TestASumBecomesTheRefundsThatAreToldByName(t *testing.T) {
	d := openDesk(t)
	_, payment, _ := d.paid("ann", 4)
	byHand := func(want int) {
		t.Helper()
		if n := d.Count(t, `SELECT by_hand_minor FROM money_left($1)`, payment); n != want {
			t.Errorf("%d went back by hand, want %d", n, want)
		}
	}
	sum := func(minor int64) {
		t.Helper()
		d.hear(refunds.Told{ProviderPayment: "pi_ann", SumMinor: minor, Currency: "EUR"})
		d.exec(`UPDATE payments SET told_at = now() - interval '1 hour'`)
		d.givesUp()
	}
	sum(5000)
	d.does(d.item(), support.Take)
	d.byHand("ann", "re_a", "succeeded", 2500)
	if a, s := d.asked("refund_by_hand", "re_a"), d.asked("refund_by_hand", "pi_ann"); a != 1 || s != 1 {
		t.Errorf("with one of two named: %d items of it, %d of the sum; want both", a, s)
	}
	byHand(5000)
	d.byHand("ann", "re_b", "pending", 2500)
	for range 2 {
		d.givesUp()
		named := d.Count(t, `SELECT count(*) FROM human_list WHERE subject IN ('re_a', 're_b') AND resolved_at IS NULL AND owner = 'ann'`)
		if n := d.asked("refund_by_hand", "pi_ann"); named != 2 || n != 0 {
			t.Errorf("with both named: %d items of them are hers, %d of the sum are open; want 2 and none", named, n)
		}
	}
	byHand(5000)
	if n := d.Count(t, `SELECT count(*) FROM human_notes n JOIN human_list h ON h.id = n.item WHERE h.subject = 'pi_ann' AND n.note LIKE '%by name now: re_a, re_b'`); n != 1 {
		t.Errorf("its history names them %d times, want once", n)
	}
	sum(7500)
	if n := d.asked("refund_by_hand", "pi_ann"); n != 1 {
		t.Errorf("more than they are: %d items of the sum, want 1", n)
	}
	byHand(7500)
}

// A sum is not explained by what we sent only after we were told of it: though ours is
// confirmed, the one that was made by hand stays a person's.
func TestWhatIsSentLaterIsNotInTheSum(t *testing.T) {
	d := openDesk(t)
	order, payment, seats := d.paid("ann", 3)
	d.hear(refunds.Told{ProviderPayment: "pi_ann", SumMinor: 2500, Currency: "EUR"})
	d.exec(`UPDATE payments SET told_at = now() - interval '1 hour'`)
	d.givesUp()
	d.request(order, seats[0])
	d.answer(yes("re_0"))
	d.givesUp()
	if n := d.asked("refund_by_hand", "pi_ann"); n != 1 {
		t.Errorf("%d items of the sum, want 1", n)
	}
	if n := d.Count(t, `SELECT left_minor FROM money_left($1)`, payment); n != 2500 {
		t.Errorf("%d is left, want 2500: one line went back by hand, and one by us", n)
	}
}
