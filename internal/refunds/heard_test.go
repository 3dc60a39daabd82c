package refunds_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// books are what the ledger has of a payment's money.
func (d *desk) books(payment uuid.UUID) (b struct{ Pending, Refunded, Told, Back int64 }) {
	d.t.Helper()
	d.Scan(d.t, `SELECT refund_pending_minor, refunded_minor, told_refunded_minor FROM payments WHERE id = $1`,
		[]any{payment}, &b.Pending, &b.Refunded, &b.Told)
	d.tx(func(tx pgx.Tx) (err error) { b.Back, err = refunds.GoneBack(d.t.Context(), tx, payment); return err })
	return b
}

func (d *desk) asked(kind, subject string) int {
	d.t.Helper()
	return d.Count(d.t, `SELECT count(*) FROM human_list WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL`, kind, subject)
}

// What the provider tells of refunds that no refund of the payment can be, in
// another currency, above what was captured or below nothing, moves no money and
// is a person's: once, however often it is told, and not anew once it is resolved.
func TestWhatNoRefundCanBeMovesNothing(t *testing.T) {
	for what, c := range map[string]struct {
		told    refunds.Told
		subject string
	}{
		"a sum in another currency":    {refunds.Told{SumMinor: 2000, Currency: "USD"}, "pi_ann"},
		"a sum above what was taken":   {refunds.Told{SumMinor: 2501, Currency: "EUR"}, "pi_ann"},
		"the greatest sum":             {refunds.Told{SumMinor: math.MaxInt64, Currency: "EUR"}, "pi_ann"},
		"a negative sum":               {refunds.Told{SumMinor: -1, Currency: "EUR"}, "pi_ann"},
		"a refund in another currency": {refunds.Told{ProviderRefund: "re_1", Status: "succeeded", AmountMinor: 2000, Currency: "USD"}, "re_1"},
		"a refund of more than all":    {refunds.Told{ProviderRefund: "re_1", Status: "succeeded", AmountMinor: math.MaxInt64, Currency: "EUR"}, "re_1"},
		"a refund of less than none":   {refunds.Told{ProviderRefund: "re_1", Status: "pending", AmountMinor: -5, Currency: "EUR"}, "re_1"},
	} {
		t.Run(what, func(t *testing.T) {
			d := openDesk(t)
			_, payment, _ := d.paid("ann", 1)
			good := refunds.Told{ProviderPayment: "pi_ann", SumMinor: 1000, Currency: "EUR"}
			d.hear(good)
			before := d.books(payment)
			c.told.ProviderPayment = "pi_ann"
			for range 3 {
				if h := d.hear(c.told); h != refunds.HeardDiffers {
					t.Errorf("heard: %s", h)
				}
			}
			if after := d.books(payment); after != before {
				t.Errorf("the money is %+v, was %+v", after, before)
			}
			if n := d.asked("refund_differs", c.subject); n != 1 {
				t.Errorf("%d on the list, want 1", n)
			}
			if n := d.Count(t, `SELECT count(*) FROM human_list WHERE payment_id = $1 AND order_id IS NOT NULL`, payment); n != 1 {
				t.Errorf("%d items name the payment and its order, want 1", n)
			}
			d.exec(`UPDATE human_list SET resolved_at = now()`)
			d.hear(c.told)
			if n := d.asked("refund_differs", c.subject); n != 0 {
				t.Error("told again, what a person had resolved is asked once more")
			}
			good.SumMinor = 2500
			if h := d.hear(good); h != refunds.HeardSum || d.books(payment).Back != 2500 {
				t.Errorf("then a sum that can be: %s, %+v", h, d.books(payment))
			}
		})
	}
}

// What our ledger rules out of an operation's refund is a person's; in the same
// words it is no news to whoever has resolved it, in others it is.
func TestTheSameWordsAreNoNews(t *testing.T) {
	for what, change := range map[string]func(*refunds.Told){
		"another currency": func(t *refunds.Told) { t.Currency = "USD" },
		"another amount":   func(t *refunds.Told) { t.AmountMinor-- },
		"less than none":   func(t *refunds.Told) { t.AmountMinor = -1 },
	} {
		t.Run(what, func(t *testing.T) {
			d := openDesk(t)
			order, _, seats := d.paid("ann", 2)
			d.request(order, seats[0])
			d.answer(says(refunds.TimedOut))
			told := toldOf("ann", refunds.LineID(order, seats[0]), "re_9")
			change(&told)
			for _, c := range []struct {
				status string
				want   int
			}{{"pending", 1}, {"pending", 0}, {"succeeded", 1}, {"succeeded", 0}} {
				told.Status = c.status
				d.hear(told)
				if n := d.asked("refund_differs", "re_9"); n != c.want {
					t.Errorf("told that it is %s: %d on the list, want %d", c.status, n, c.want)
				}
				d.exec(`UPDATE human_list SET resolved_at = now() WHERE resolved_at IS NULL`)
			}
		})
	}
}

// A person ended an operation as a refund of which the provider says what none of
// the payment's can be: whoever reads it is shown the operation.
func TestWhatNoRefundCanBeNamesWhoEndedAsIt(t *testing.T) {
	d := openDesk(t)
	mine := d.owed("ann")
	d.answer(says(refunds.OtherParameters))
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(t.Context(), tx, mine, "re_h", "mia", "in the dashboard")
	})
	told := toldOf("ann", "", "re_h")
	told.AmountMinor, told.Currency = 1000, "USD"
	if h := d.hear(told); h != refunds.HeardDiffers {
		t.Errorf("heard: %s", h)
	}
	d.want(mine, "confirmed, 0 pending, 1000 refunded, 1 asked")
}

// The same of an operation's own refund: it is not sent while that stands.
func TestANegativeRefundOfOursIsAPersons(t *testing.T) {
	d := openDesk(t)
	id, told := d.ended()
	d.renew(id, refunds.Done)
	told.AmountMinor = -1000
	for range 2 {
		if h := d.hear(told); h != refunds.HeardDiffers {
			t.Errorf("heard: %s", h)
		}
	}
	if n := d.asked("refund_differs", "re_1"); n != 1 {
		t.Errorf("%d on the list, want 1", n)
	}
}

// A person names a refund before the provider has told of it. What it tells then
// is held against their word: what agrees is nothing new, what does not is listed,
// once, with the operation that they ended, and moves nothing of it.
func TestAPersonsWordIsHeldAgainstWhatIsToldLater(t *testing.T) {
	for what, c := range map[string]struct {
		told   func(*refunds.Told)
		want   refunds.Hearing
		listed int
		stands string
	}{
		"this one, made by hand": {func(*refunds.Told) {}, refunds.HeardAgain, 0, "confirmed, 0 pending, 1000 refunded, 0 asked"},
		"this one, by its name":  {func(t *refunds.Told) { t.Operation = "mine" }, refunds.HeardAgain, 0, "confirmed, 0 pending, 1000 refunded, 0 asked"},
		"still on its way":       {func(t *refunds.Told) { t.Status = "pending" }, refunds.HeardAgain, 0, "confirmed, 0 pending, 1000 refunded, 0 asked"},
		"another amount":         {func(t *refunds.Told) { t.AmountMinor = 999 }, refunds.HeardDiffers, 1, "confirmed, 0 pending, 1000 refunded, 1 asked"},
		"another amount, by name": {
			func(t *refunds.Told) { t.AmountMinor, t.Operation = 999, "mine" }, refunds.HeardDiffers, 1,
			"confirmed, 0 pending, 1000 refunded, 1 asked",
		},
		"another payment's":   {func(t *refunds.Told) { t.ProviderPayment = "pi_ben" }, refunds.HeardDiffers, 1, "confirmed, 0 pending, 1000 refunded, 1 asked"},
		"failed":              {func(t *refunds.Told) { t.Status = "failed" }, refunds.HeardFailed, 0, "failed_later, 0 pending, 0 refunded, 1 asked"},
		"another operation's": {func(t *refunds.Told) { t.ProviderPayment, t.Operation = "pi_ben", "bens" }, refunds.HeardDiffers, 1, "confirmed, 0 pending, 1000 refunded, 1 asked"},
		"another's, and on its way": {
			func(t *refunds.Told) { t.ProviderPayment, t.Operation, t.Status = "pi_ben", "bens", "pending" }, refunds.HeardDiffers, 1,
			"confirmed, 0 pending, 1000 refunded, 1 asked",
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := openDesk(t)
			mine := d.owed("ann")
			d.answer(says(refunds.OtherParameters))
			bens := d.owed("ben")
			d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
				return refunds.Refunded(t.Context(), tx, mine, "re_h", "mia", "in the dashboard")
			})
			told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_h", Status: "succeeded", AmountMinor: 1000, Currency: "EUR"}
			c.told(&told)
			if name := map[string]string{"mine": mine, "bens": bens}[told.Operation]; name != "" {
				told.Operation = name
			}
			for n := range 2 {
				if h := d.hear(told); h != c.want && (n == 0 || h != refunds.HeardAgain && h != refunds.HeardDiffers) {
					t.Errorf("heard: %s, want %s", h, c.want)
				}
			}
			d.want(mine, c.stands)
			if n := d.asked("refund_differs", "re_h"); n != c.listed {
				t.Errorf("%d on the list, want %d", n, c.listed)
			}
			if told.Operation == bens {
				d.want(bens, "manual, 1000 pending, 0 refunded, 1 asked")
				return
			}
			d.want(bens, "queued, 1000 pending, 0 refunded, 0 asked")
		})
	}
}

// Two refunds under our operation's name, one of them not as we asked: whichever
// the provider tells of first, the wrong one is a person's, and stays so when the
// right one is there.
func TestTheWrongOneOfTwoRefundsIsAPersonsInAnyOrder(t *testing.T) {
	for _, wrong := range []string{"amount", "currency"} {
		for _, order := range []string{"wrong, notice", "wrong, answer", "notice, wrong", "answer, wrong"} {
			t.Run(wrong+": "+order, func(t *testing.T) {
				d := openDesk(t)
				o, _, seats := d.paid("ann", 2)
				d.request(o, seats[0])
				id := refunds.LineID(o, seats[0])
				d.answer(says(refunds.TimedOut))
				bad := toldOf("ann", id, "re_9")
				if bad.AmountMinor--; wrong == "currency" {
					bad.AmountMinor, bad.Currency = bad.AmountMinor+1, "USD"
				}
				for what := range strings.SplitSeq(order, ", ") {
					switch what {
					case "wrong":
						d.hear(bad)
					case "notice":
						d.hear(toldOf("ann", id, "re_1"))
					case "answer":
						d.hurry()
						d.answer(yes("re_1"))
					}
				}
				d.want(id, "confirmed, 0 pending, 2500 refunded, 1 asked")
				if n := d.asked("refund_differs", "re_9"); n != 1 {
					t.Errorf("%d open items about the wrong one, want 1", n)
				}
			})
		}
	}
}

// Two refunds of one operation that are alike: the notice names one, the answer
// the other, and a person has it in either order.
func TestTwoRefundsOfOneOperationAreAPersonsInAnyOrder(t *testing.T) {
	for _, first := range []string{"notice", "answer"} {
		for _, status := range []string{"pending", "succeeded"} {
			d := openDesk(t)
			id := d.owed("ann")
			s, _ := d.submit()
			told := toldOf("ann", id, "re_2")
			told.Status = status
			if first == "notice" {
				d.hear(told)
				d.settle(s, yes("re_1"))
			} else {
				d.settle(s, yes("re_1"))
				d.hear(told)
			}
			d.want(id, "confirmed, 0 pending, 1000 refunded, 1 asked")
			if n := d.Count(t, `SELECT count(*) FROM provider_refunds WHERE operation = $1`, id); n != 2 {
				t.Errorf("%s first, %s: %d refunds are known, want 2", first, status, n)
			}
			d.reign.End(t.Context())
		}
	}
}

// A person named a refund for one operation, and the provider says that it is
// another's, which had ended: both are listed, for the first one's money may not
// be back.
func TestAWronglyNamedRefundIsListedForBoth(t *testing.T) {
	for how, answer := range map[string]refunds.Answer{"rejected": says(refunds.Rejected), "confirmed": yes("re_b")} {
		t.Run(how, func(t *testing.T) {
			d := openDesk(t)
			order, _, seats := d.paid("ann", 2)
			mine, bens := refunds.LineID(order, seats[0]), refunds.LineID(order, seats[1])
			d.request(order, seats[0])
			d.answer(says(refunds.OtherParameters))
			d.request(order, seats[1])
			d.answer(answer)
			d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
				return refunds.Refunded(t.Context(), tx, mine, "re_h", "mia", "in the dashboard")
			})
			for range 2 {
				if h := d.hear(toldOf("ann", bens, "re_h")); h != refunds.HeardDiffers {
					t.Errorf("heard: %s", h)
				}
			}
			for what, id := range map[string]string{"it was named for": mine, "it is": bens} {
				if n := d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_differs' AND operation = $1 AND resolved_at IS NULL`, id); n != 1 {
					t.Errorf("%d items about the one that %s, want 1", n, what)
				}
			}
		})
	}
}

// A refund by hand that a person saw on its way, and that fails later, is theirs
// once more, and only once.
func TestARefundByHandThatFailsIsSeenAgain(t *testing.T) {
	d := openDesk(t)
	d.paid("ann", 1)
	told := toldOf("ann", "", "re_h")
	for _, c := range []struct {
		status string
		want   int
	}{{"pending", 1}, {"succeeded", 0}, {"failed", 1}, {"failed", 0}, {"pending", 0}} {
		told.Status = c.status
		d.hear(told)
		if n := d.asked("refund_by_hand", "re_h"); n != c.want {
			t.Errorf("%s: %d on the list, want %d", c.status, n, c.want)
		}
		d.exec(`UPDATE human_list SET resolved_at = now() WHERE resolved_at IS NULL`)
	}
}

// An answer that gives an operation the name of another's refund is settled all
// the same: it is a person's, nothing of it is sent again, and both are listed.
func TestARefundsNameIsOneOperations(t *testing.T) {
	d := openDesk(t)
	mine := d.owed("ann")
	d.answer(says(refunds.OtherParameters))
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(t.Context(), tx, mine, "re_h", "mia", "in the dashboard")
	})
	bens := d.owed("ben")
	d.answer(yes("re_h"))
	d.want(bens, "manual, 1000 pending, 0 refunded, 1 asked")
	d.want(mine, "confirmed, 0 pending, 1000 refunded, 1 asked")
	d.hurry()
	if j := d.next(); j != nil {
		t.Errorf("there is a %s of %s to make", j.Verb(j.Now), j.Ask.Operation)
	}
}

// A refund by hand is before a person, who reads that it succeeded; it fails before
// they resolve it. The item says so, and so does its history, once.
func TestAFailureThatComesWhileAnItemIsOpenIsInItsHistory(t *testing.T) {
	d := openDesk(t)
	d.paid("ann", 2)
	told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_h", Status: "succeeded", AmountMinor: 1000, Currency: "EUR"}
	d.hear(told)
	told.Status = "failed"
	d.hear(told)
	d.hear(told)
	if n := d.Count(t, `SELECT count(*) FROM human_notes n JOIN human_list h ON h.id = n.item WHERE h.subject = 're_h' AND n.note LIKE '%failed%'`); n != 1 {
		t.Errorf("its history tells %d times that it failed, want once", n)
	}
}
