package refunds_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waitroom/internal/refunds"
)

func yes(id string) refunds.Answer {
	return refunds.Answer{Outcome: refunds.Succeeded, HTTP: 200, RequestID: "req_1", Refund: id}
}

func says(o refunds.Outcome) refunds.Answer { return refunds.Answer{Outcome: o} }

// A refund that goes well is marked before it is sent, and then confirmed once:
// its money moves from pending to refunded, and it is told.
func TestARefundIsConfirmed(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.want(id, "queued, 1000 pending, 0 refunded, 0 asked")
	s, kind := d.submit()
	d.want(id, "submitted, 1000 pending, 0 refunded, 0 asked")
	if kind != refunds.FirstTry || s.Verb != refunds.Create {
		t.Errorf("the first call is %s, %s", kind, s.Verb)
	}
	if j := d.next(); j != nil {
		t.Error("an operation whose call is under way is due")
	}
	for range 2 { // an answer that is written down again changes nothing
		d.settle(s, yes("re_1"))
		d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
	}
	if n := d.told(id, "refund.confirmed"); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	var calls, finished int
	d.Scan(t, `SELECT count(*), count(*) FILTER (WHERE outcome = 'succeeded' AND request_id = 'req_1' AND http_status = 200 AND wrote = 1)
		FROM refund_calls WHERE operation = $1`, []any{id}, &calls, &finished)
	if calls != 1 || finished != 1 {
		t.Errorf("%d calls in the log, %d finished; want 1 and 1", calls, finished)
	}
}

// Every way to an end, with the money and the person that it needs.
func TestEveryEnd(t *testing.T) {
	d := openDesk(t)
	for what, c := range map[string]struct {
		answers []refunds.Answer
		want    string
		told    string
	}{
		"refused":                     {[]refunds.Answer{says(refunds.Rejected)}, "rejected, 0 pending, 0 refunded, 1 asked", "refund.needs_attention"},
		"our bug":                     {[]refunds.Answer{says(refunds.OtherParameters)}, "manual, 1000 pending, 0 refunded, 1 asked", "refund.needs_attention"},
		"busy three times":            {[]refunds.Answer{says(refunds.Busy), says(refunds.Busy), says(refunds.Busy)}, "manual, 1000 pending, 0 refunded, 1 asked", "refund.needs_attention"},
		"lost, and found by a look":   {[]refunds.Answer{says(refunds.TimedOut), yes("re_a")}, "confirmed, 0 pending, 1000 refunded, 0 asked", "refund.confirmed"},
		"lost, not there, sent again": {[]refunds.Answer{says(refunds.CutOff), says(refunds.NotThere), yes("re_b")}, "confirmed, 0 pending, 1000 refunded, 0 asked", "refund.confirmed"},
		"on its way, and there":       {[]refunds.Answer{{Outcome: refunds.OnItsWay, Refund: "re_c"}, yes("re_c")}, "confirmed, 0 pending, 1000 refunded, 0 asked", "refund.confirmed"},
		"on its way, and failed":      {[]refunds.Answer{{Outcome: refunds.OnItsWay, Refund: "re_d"}, {Outcome: refunds.Failed, Refund: "re_d"}}, "failed_later, 0 pending, 0 refunded, 1 asked", "refund.needs_attention"},
		"given back by hand":          {[]refunds.Answer{says(refunds.AlreadyRefunded), {Outcome: refunds.ByHand, Refund: "re_e"}}, "confirmed, 0 pending, 1000 refunded, 0 asked", "refund.confirmed"},
		"given back in part by hand":  {[]refunds.Answer{says(refunds.AlreadyRefunded), says(refunds.NotThere)}, "manual, 1000 pending, 0 refunded, 1 asked", "refund.needs_attention"},
	} {
		id := d.owed(strings.ReplaceAll(what, " ", "-"))
		for _, a := range c.answers {
			d.answer(a)
		}
		if got := d.stands(id); got != c.want {
			t.Errorf("%s: %s\nwant %s", what, got, c.want)
		}
		if n := d.told(id, c.told); n != 1 {
			t.Errorf("%s: %s told %d times, want once", what, c.told, n)
		}
		d.exec(`UPDATE refund_operations SET next_at = 'infinity', sends = sends WHERE id = $1`, id)
	}
}

// Both sends time out after the provider has done it: a look confirms, and no
// third send and no other key is ever used.
func TestTwoTimeOutsAndALookConfirms(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(says(refunds.TimedOut)) // the first send
	d.answer(says(refunds.NotThere)) // the index is behind
	s, kind := d.submit()
	if s.Verb != refunds.Create || kind != refunds.Retry {
		t.Errorf("after a look in vain: %s, %s; want the same request again", kind, s.Verb)
	}
	d.settle(s, says(refunds.TimedOut))
	d.answer(yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
	var creates, keys int
	d.Scan(t, `SELECT count(*) FILTER (WHERE verb = 'create'), count(DISTINCT operation) FROM refund_calls`, nil, &creates, &keys)
	if creates != 2 || keys != 1 {
		t.Errorf("%d sends under %d keys, want 2 under 1", creates, keys)
	}
}

// The provider's notice comes before the answer of the call that caused it, and
// the answer comes late, or never: one refund, one record, told once.
func TestANoticeIsFasterThanTheAnswer(t *testing.T) {
	for _, answer := range []refunds.Answer{yes("re_1"), says(refunds.TimedOut), says(refunds.Busy)} {
		t.Run(string(answer.Outcome), func(t *testing.T) {
			d := openDesk(t)
			id := d.owed("ann")
			s, _ := d.submit()
			told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: 1000, Currency: "EUR"}
			if h := d.hear(told); h != refunds.HeardConfirmed {
				t.Errorf("the notice: %s", h)
			}
			d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
			d.settle(s, answer)
			if h := d.hear(told); h != refunds.HeardAgain {
				t.Errorf("the notice again: %s", h)
			}
			d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
			records := d.Count(t, `SELECT count(*) FROM provider_refunds`)
			if records != 1 || d.told(id, "refund.confirmed") != 1 {
				t.Errorf("%d records, told %d times; want one of each", records, d.told(id, "refund.confirmed"))
			}
			if j := d.next(); j != nil {
				t.Errorf("there is still a %s to make", j.Verb(j.Now))
			}
		})
	}
}

// On its way, and days later it fails: it is never shown as refunded, a person
// has it, and its order stays ended.
func TestOnItsWayIsNotRefunded(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.exec(`UPDATE orders SET status = 'expired', ended_at = now()`)
	d.answer(refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_1"})
	told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "pending", AmountMinor: 1000, Currency: "EUR"}
	d.hear(told)
	d.want(id, "pending, 1000 pending, 0 refunded, 0 asked")
	// A day and a half: nobody guesses.
	d.exec(`UPDATE refund_operations SET accepted_at = now() - interval '36 hours', give_up_at = now() - interval '35 hours', next_at = now()`)
	if n, err := d.ledger.GiveUp(t.Context()); n != 0 || err != nil {
		t.Errorf("%d operations given up, %v; want none: it is on its way", n, err)
	}
	d.answer(refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_1"})
	d.want(id, "pending, 1000 pending, 0 refunded, 0 asked")
	told.Status = "failed"
	if h := d.hear(told); h != refunds.HeardFailed {
		t.Errorf("the failure: %s", h)
	}
	d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	told.Status = "succeeded" // an old notice, late
	d.hear(told)
	d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	if n := d.Count(t, `SELECT count(*) FROM orders WHERE status = 'expired'`); n != 1 {
		t.Error("the order is not what it was")
	}
	if d.told(id, "refund.confirmed") != 0 || d.Count(t, `SELECT count(*) FROM refund_changes WHERE to_status = 'confirmed'`) != 0 {
		t.Error("it was shown as refunded meanwhile")
	}
}

// Confirmed, and failed days later: the money is ours again, and a person has it.
func TestAConfirmedRefundCanFail(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(yes("re_1"))
	told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "failed", AmountMinor: 1000, Currency: "EUR"}
	for range 2 {
		d.hear(told)
		d.want(id, "failed_later, 0 pending, 0 refunded, 1 asked")
	}
	var next string
	d.tx(func(tx pgx.Tx) (err error) {
		next, _, err = refunds.Renew(t.Context(), tx, id, "mia", "the card was closed; another try", false)
		return err
	})
	if next != id+"#2" {
		t.Fatalf("renewed as %s, want %s#2", next, id)
	}
	d.want(next, "queued, 1000 pending, 0 refunded, 0 asked")
	d.answer(yes("re_2"))
	d.want(next, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// After a definite no, another operation follows, with its parent's name and a
// key of its own; the first never gets another key, and is renewed once.
func TestARefusalIsRenewedUnderItsOwnName(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(says(refunds.Rejected))
	for i, want := range []refunds.Verdict{refunds.Done, refunds.AlreadyNext} {
		d.tx(func(tx pgx.Tx) error {
			next, v, err := refunds.Renew(t.Context(), tx, id, "mia", "the account is in order again", false)
			if v != want || next != id+"#2" {
				t.Errorf("time %d: %s as %s, want %s as %s#2", i+1, v, next, want, id)
			}
			return err
		})
	}
	var parent, request string
	d.Scan(t, `SELECT parent, convert_from(request, 'UTF8') FROM refund_operations WHERE id = $1`, []any{id + "#2"}, &parent, &request)
	if parent != id || strings.Count(request, "%232") != 1 || strings.Contains(request, strings.ReplaceAll(id, ":", "%3A")+"&") {
		t.Errorf("its parent is %s and its request %s", parent, request)
	}
	if s, err := refunds.Newest(t.Context(), d.Pool, id); err != nil || s.ID != id+"#2" {
		t.Errorf("who asks for %s hears of %s, %v", id, s.ID, err)
	}
	d.answer(says(refunds.Rejected))
	d.tx(func(tx pgx.Tx) error {
		next, v, err := refunds.Renew(t.Context(), tx, id+"#2", "mia", "", false)
		if v != refunds.Done || next != id+"#3" {
			t.Errorf("%s as %s, want done as %s#3", v, next, id)
		}
		return err
	})
}

// What a person holds can be pushed, found, or ended; nothing else can.
func TestAPersonDecides(t *testing.T) {
	d := openDesk(t)
	ctx := t.Context()
	stuck := func(holder string) string {
		id := d.owed(holder)
		d.answer(says(refunds.TimedOut))
		d.exec(`UPDATE refund_operations SET give_up_at = now() WHERE id = $1`, id)
		if n, err := d.ledger.GiveUp(ctx); n != 1 || err != nil {
			t.Fatalf("%d given up, %v; want 1", n, err)
		}
		d.want(id, "manual, 1000 pending, 0 refunded, 1 asked")
		return id
	}
	say := func(want refunds.Verdict, f func(pgx.Tx) (refunds.Verdict, error)) {
		t.Helper()
		d.tx(func(tx pgx.Tx) error {
			v, err := f(tx)
			if v != want {
				t.Errorf("%s, want %s", v, want)
			}
			return err
		})
	}
	pushed := stuck("ann")
	push := func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Push(ctx, tx, pushed, "mia", "the provider is well again")
	}
	say(refunds.Done, push)
	say(refunds.NotTheirs, push)
	s, kind := d.submit()
	if kind != refunds.ByPerson || s.Verb != refunds.List {
		t.Errorf("a push is first %s, %s; want a look, as manual", kind, s.Verb)
	}
	d.settle(s, says(refunds.NotThere))
	s, kind = d.submit()
	if kind != refunds.ByPerson || s.Verb != refunds.Create {
		t.Errorf("a push that found nothing is %s, %s; want the same request again, as manual", kind, s.Verb)
	}
	d.settle(s, yes("re_1"))
	d.want(pushed, "confirmed, 0 pending, 1000 refunded, 0 asked")

	found := stuck("ben")
	say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Refunded(ctx, tx, found, "re_2", "mia", "in the dashboard")
	})
	d.want(found, "confirmed, 0 pending, 1000 refunded, 0 asked")

	ended := stuck("cleo")
	say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.NotRefunded(ctx, tx, ended, "mia", "the provider says so by telephone")
	})
	d.want(ended, "rejected, 0 pending, 0 refunded, 1 asked")
	say(refunds.NotTheirs, func(tx pgx.Tx) (refunds.Verdict, error) { return refunds.NotRefunded(ctx, tx, ended, "mia", "") })
	say(refunds.NoSuch, func(tx pgx.Tx) (refunds.Verdict, error) { return refunds.Push(ctx, tx, "refund:x", "mia", "") })

	// The history says who did what, and cannot be changed.
	var history string
	d.Scan(t, `SELECT string_agg(n.by || ' ' || n.did, ', ' ORDER BY n.id) FROM human_notes n JOIN human_list h ON h.id = n.item WHERE h.operation = $1`, []any{pushed}, &history)
	if want := "(test) opened, mia pushed, (test) resolved"; history != want {
		t.Errorf("the history is %q, want %q", history, want)
	}
	for _, sql := range []string{`DELETE FROM human_notes`, `UPDATE human_notes SET note = ''`, `DELETE FROM refund_calls`, `UPDATE refund_calls SET outcome = 'succeeded'`, `DELETE FROM refund_changes`} {
		if _, err := d.Pool.Exec(ctx, sql); err == nil {
			t.Errorf("%s is possible", sql)
		}
	}
}

// What is late and was never sent is before a person, and is sent all the same
// when its turn comes.
func TestWhatIsLateIsListedAndStillSent(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.exec(`UPDATE refund_operations SET give_up_at = now()`)
	for range 2 {
		if n, err := d.ledger.GiveUp(t.Context()); n != 0 || err != nil {
			t.Fatalf("%d moved, %v", n, err)
		}
		d.want(id, "queued, 1000 pending, 0 refunded, 1 asked")
	}
	d.answer(yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// The database itself refuses what the state machine does not have, and what
// would change a request that a key stands for.
func TestTheDatabaseKnowsTheMoves(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	for _, set := range []string{
		`status = 'rejected', ended_at = now()`, `status = 'submitted'`, `status = 'unknown'`, `status = 'confirmed'`, `ended_at = now()`,
		`doubt = true`, `resend = true`, `sends = 4, first_sent_at = now()`, `looks = 7`, `request = 'x'`, `amount_minor = 1`,
		`status = 'confirmed', ended_at = now()`, `id = id || '#2'`, `pushed = true`, `parent = id`,
	} {
		_, err := d.Pool.Exec(t.Context(), `UPDATE refund_operations SET `+set+` WHERE id = $1`, id)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "23514" {
			t.Errorf("%s: %v, want a CHECK to refuse it", set, err)
		}
	}
	d.answer(yes("re_1"))
	for _, to := range []string{"queued", "submitted", "unknown", "pending", "manual", "rejected"} {
		if _, err := d.Pool.Exec(t.Context(), `UPDATE refund_operations SET status = $2, call = 1, doubt = $2 = 'unknown',
			ended_at = CASE WHEN $2 = 'rejected' THEN now() END WHERE id = $1`, id, to); err == nil {
			t.Errorf("from confirmed to %s is possible", to)
		}
	}
	if _, err := d.Pool.Exec(t.Context(), `UPDATE payments SET refund_pending_minor = 1`); err == nil {
		t.Error("1001 of 1000 can go back")
	}
}

// Refused keys stop everything until a person says that it is mended.
func TestARefusedKeyStopsTheOutlet(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	if s := d.answer(says(refunds.KeyRefused)); !s.Stop {
		t.Error("it goes on")
	}
	d.want(id, "queued, 1000 pending, 0 refunded, 0 asked")
	due, err := d.ledger.Due(t.Context())
	if err != nil || !due.Stopped {
		t.Errorf("stopped %t, %v; want it stopped", due.Stopped, err)
	}
	d.exec(`UPDATE human_list SET resolved_at = now() WHERE kind = 'outlet_stopped'`)
	if due, err = d.ledger.Due(t.Context()); err != nil || due.Stopped {
		t.Errorf("stopped %t, %v; want it to go on", due.Stopped, err)
	}
	d.answer(yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// A person clicks twice within a second, and fifty at once ask for one line: one
// operation, for the line's own amount.
func TestALineIsRefundedOnce(t *testing.T) {
	d := openDesk(t)
	order, _, seats := d.paid("ann", 2)
	first, asked := d.request(order, seats[0])
	if asked != refunds.Accepted || first.AmountMinor != 2500 || first.Status != refunds.Queued {
		t.Fatalf("asked: %s, %+v", asked, first)
	}
	for _, s := range requestAtOnce(t, d.Pool, order, seats[0], 50) {
		if s.ID != first.ID {
			t.Errorf("another operation: %s", s.ID)
		}
	}
	if n := d.Count(t, `SELECT refund_pending_minor FROM payments`); n != 2500 {
		t.Errorf("%d pending, want one line's 2500", n)
	}
	d.answer(says(refunds.TimedOut))
	if s, asked := d.request(order, seats[0]); asked != refunds.Known || s.Status != refunds.Unknown || s.ID != first.ID {
		t.Errorf("asked again while it is in doubt: %s, %+v; want the same, unknown", asked, s)
	}
	d.answer(yes("re_1"))
	if s, asked := d.request(order, seats[0]); asked != refunds.Known || s.Status != refunds.Confirmed || s.Refund != "re_1" {
		t.Errorf("asked again afterwards: %s, %+v; want the same, confirmed", asked, s)
	}
	if _, asked := d.request(order, 1<<40); asked != refunds.NoSuchLine {
		t.Errorf("a line of nobody: %s", asked)
	}
	if _, asked := d.request(d.Order(t, "ben", 1), seats[1]); asked != refunds.NoSuchLine {
		t.Errorf("another order's line: %s", asked)
	}
}

// Two lines of one price, refunded by two operations: both go back, and what is
// told again counts once.
func TestTwoEqualLinesBothGoBack(t *testing.T) {
	d := openDesk(t)
	order, payment, seats := d.paid("ann", 2)
	for i, seat := range seats {
		s, _ := d.request(order, seat)
		d.answer(yes(fmt.Sprint("re_", i)))
		told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: fmt.Sprint("re_", i), Operation: s.ID, Status: "succeeded", AmountMinor: 2500, Currency: "EUR"}
		for range 3 {
			d.hear(told)
		}
	}
	var pending, refunded, back int64
	d.Scan(t, `SELECT refund_pending_minor, refunded_minor FROM payments WHERE id = $1`, []any{payment}, &pending, &refunded)
	d.tx(func(tx pgx.Tx) (err error) { back, err = refunds.GoneBack(t.Context(), tx, payment); return err })
	if pending != 0 || refunded != 5000 || back != 5000 {
		t.Errorf("%d pending, %d refunded, %d gone back; want 0, 5000, 5000", pending, refunded, back)
	}
}

// Refunds of 2 and of 3, told singly or as sums, in any order: 5.
func TestPartsAndSumsInAnyOrderAreTheSame(t *testing.T) {
	two := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_2", Status: "succeeded", AmountMinor: 2, Currency: "EUR"}
	three := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_3", Status: "succeeded", AmountMinor: 3, Currency: "EUR"}
	sum := func(n int64) refunds.Told {
		return refunds.Told{ProviderPayment: "pi_ann", SumMinor: n, Currency: "EUR"}
	}
	d := openDesk(t)
	for i, order := range [][]refunds.Told{
		{two, three},
		{three, two},
		{sum(2), sum(5)},
		{sum(5), sum(2)},
		{sum(2), two, sum(5), three},
		{three, sum(5), two, sum(2)},
		{sum(5), three, three, sum(2), two, two},
	} {
		holder := fmt.Sprint("holder-", i)
		_, payment, _ := d.paid(holder, 1)
		for _, told := range order {
			told.ProviderPayment = "pi_" + holder
			if told.ProviderRefund != "" {
				told.ProviderRefund += holder
			}
			d.hear(told)
		}
		d.tx(func(tx pgx.Tx) error {
			back, err := refunds.GoneBack(t.Context(), tx, payment)
			if back != 5 {
				t.Errorf("order %d: %d went back, want 5", i, back)
			}
			return err
		})
	}
}

// A refund that somebody made in the provider's dashboard is a person's, once;
// one of a payment that is none of ours changes nothing.
func TestARefundByHandIsAPersons(t *testing.T) {
	d := openDesk(t)
	d.paid("ann", 1)
	told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_h", Status: "succeeded", AmountMinor: 2500, Currency: "EUR"}
	for range 2 {
		if h := d.hear(told); h != refunds.HeardByHand {
			t.Errorf("a refund by hand: %s", h)
		}
	}
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_by_hand' AND resolved_at IS NULL`); n != 1 {
		t.Errorf("%d on the list, want 1", n)
	}
	// An operation comes to it by a look: then it is nobody's question any more.
	id := d.owed("ben")
	told.ProviderPayment, told.ProviderRefund, told.AmountMinor = "pi_ben", "re_b", 1000
	d.hear(told)
	d.answer(says(refunds.AlreadyRefunded))
	d.answer(refunds.Answer{Outcome: refunds.ByHand, Refund: "re_b"})
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE subject = 're_b' AND resolved_at IS NULL`); n != 0 {
		t.Error("a person is still asked about it")
	}
	told.ProviderPayment = "pi_stranger"
	if h := d.hear(told); h != refunds.HeardForeign {
		t.Errorf("a stranger's refund: %s", h)
	}
}

// What the provider tells and the ledger rules out is a person's, and moves no
// money.
func TestWhatDiffersIsAPersons(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	told := refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_1", Operation: id, Status: "succeeded", AmountMinor: 999, Currency: "EUR"}
	if h := d.hear(told); h != refunds.HeardDiffers {
		t.Errorf("another amount: %s", h)
	}
	d.want(id, "queued, 1000 pending, 0 refunded, 1 asked")
	d.answer(says(refunds.Rejected))
	told = refunds.Told{ProviderPayment: "pi_ann", ProviderRefund: "re_2", Operation: id, Status: "succeeded", AmountMinor: 1000, Currency: "EUR"}
	if h := d.hear(told); h != refunds.HeardDiffers {
		t.Errorf("a refund of what was refused: %s", h)
	}
	d.want(id, "rejected, 0 pending, 0 refunded, 3 asked")
}

// Of two outlets on one database one is at work; whoever comes after a dead one
// takes what it left in the middle for unknown, and the dead one's late answer
// still counts if it is certain.
func TestOneOutletAtATime(t *testing.T) {
	d := openDesk(t)
	if d.contend() != nil {
		t.Fatal("two have the outlet")
	}
	id := d.owed("ann")
	s, _ := d.submit()
	old := d.reign
	old.End(t.Context()) // it died with a call under way
	if d.reign = d.succeed(); d.reign.Epoch != old.Epoch+1 {
		t.Fatalf("epoch %d follows %d", d.reign.Epoch, old.Epoch)
	}
	if n, err := d.reign.Recover(t.Context(), d.Pool); n != 1 || err != nil {
		t.Errorf("%d operations were left in the middle, %v; want 1", n, err)
	}
	d.want(id, "unknown, 1000 pending, 0 refunded, 0 asked")
	if j := d.next(); j != nil {
		t.Errorf("it is due at once, as a %s; want it to wait 5 s", j.Verb(j.Now))
	}
	var outcome string
	d.Scan(t, `SELECT outcome FROM refund_calls`, nil, &outcome)
	if outcome != "lost" {
		t.Errorf("the call that nobody saw the end of is %q, want lost", outcome)
	}
	if err := old.Ours(t.Context()); err == nil {
		t.Error("the dead one thinks that the outlet is its own")
	}
	d.settle(s, says(refunds.TimedOut))
	d.want(id, "unknown, 1000 pending, 0 refunded, 0 asked")
	d.settle(s, yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// Whoever has the lock and not the epoch, as after a restored backup, sends
// nothing.
func TestALockWithoutTheQuotaSendsNothing(t *testing.T) {
	d := openDesk(t)
	d.owed("ann")
	d.exec(`UPDATE outlet_quota SET epoch = epoch + 1`)
	j := d.next()
	_, _, ok, err := d.reign.Submit(t.Context(), *j, refunds.Create)
	if ok || !errors.Is(err, refunds.ErrLost) {
		t.Errorf("taken %t, %v; want ErrLost", ok, err)
	}
	if err := d.reign.Ours(t.Context()); !errors.Is(err, refunds.ErrLost) {
		t.Errorf("ours: %v, want ErrLost", err)
	}
	if n := d.Count(t, `SELECT count(*) FROM refund_calls`); n != 0 {
		t.Errorf("%d calls were written down, want none", n)
	}
}

// A row that is locked for too long costs that call, and not the outlet.
func TestACallThatIsNotTakenLosesNothing(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	j := d.next()
	d.tx(func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT FROM refund_operations WHERE id = $1 FOR UPDATE`, id); err != nil {
			return err
		}
		if _, _, ok, err := d.reign.Submit(t.Context(), *j, refunds.Create); ok || !errors.Is(err, refunds.ErrNotTaken) {
			t.Errorf("taken %t, %v; want ErrNotTaken", ok, err)
		}
		return nil
	})
	if err := d.reign.Ours(t.Context()); err != nil {
		t.Errorf("the outlet is lost by it: %v", err)
	}
	d.answer(yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// The database's own quota spaces the starts that it allows.
func TestTheQuotaIsInTheDatabaseToo(t *testing.T) {
	d := openDesk(t)
	for i := range 4 {
		d.owed(fmt.Sprint("holder-", i))
		if _, _, ok, err := d.reign.Submit(t.Context(), *d.next(), refunds.Create); err != nil || !ok {
			t.Fatalf("submit %d: taken %t, %v", i, ok, err)
		}
	}
	var reserved float64
	d.Scan(t, `SELECT extract(epoch FROM next_start - taken_at)::float8 FROM outlet_quota`, nil, &reserved)
	if reserved < 0.8 {
		t.Errorf("four starts reserved %.3f s, want 4 × 200 ms", reserved)
	}
}

// wait commits the next call, and is how long until it may start.
func (d *desk) wait() time.Duration {
	d.t.Helper()
	d.hurry()
	j := d.next()
	_, wait, ok, err := d.reign.Submit(d.t.Context(), *j, j.Verb(j.Now))
	if err != nil || !ok {
		d.t.Fatalf("submit %s: taken %t, %v", j.Ask.Operation, ok, err)
	}
	return wait
}

// The database's clock is set back by an hour: starts that were reserved by it
// before stop nothing for an hour, neither who had the outlet nor who takes it.
func TestAClockThatIsSetBackStopsNoRefund(t *testing.T) {
	for _, taken := range []bool{false, true} {
		d := openDesk(t)
		d.owed("ann")
		d.exec(`UPDATE outlet_quota SET next_start = clock_timestamp() + interval '1 hour'`)
		if taken {
			d.reign.End(t.Context())
			d.reign = d.succeed()
		}
		if wait := d.wait(); wait > 10*time.Second {
			t.Errorf("taken over: %t: the call starts in %s", taken, wait)
		}
		d.reign.End(t.Context())
	}
}

// A call of which nobody hears, long after the time that is promised, is listed;
// its answer is taken all the same.
func TestACallThatNobodyAnswersIsListed(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	s, _ := d.submit()
	for range 2 {
		if _, err := d.ledger.GiveUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.want(id, "submitted, 1000 pending, 0 refunded, 0 asked")
	}
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 minute'`)
	for range 2 {
		if _, err := d.ledger.GiveUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.want(id, "submitted, 1000 pending, 0 refunded, 1 asked")
	}
	d.settle(s, yes("re_1"))
	d.want(id, "confirmed, 0 pending, 1000 refunded, 0 asked")
}

// Calls of 30 s may be under way of those before: a successor whose own end after
// one second waits for them too, and so does the one after it, until they are over.
func TestASuccessorWaitsForTheCallsOfThoseBefore(t *testing.T) {
	d := openDesk(t)
	d.reign.End(t.Context())
	d.call = 30 * time.Second
	d.reign = d.succeed()
	d.call = time.Second
	for i := range 2 {
		d.reign.End(t.Context())
		d.reign = d.succeed()
		d.owed(fmt.Sprint("holder-", i))
		if wait := d.wait(); wait < 15*time.Second {
			t.Errorf("successor %d starts in %s, while calls of 30 s may be under way", i, wait)
		}
		if _, err := d.reign.Recover(t.Context(), d.Pool); err != nil {
			t.Fatal(err)
		}
	}
	d.exec(`UPDATE outlet_quota SET taken_at = taken_at - interval '1 minute', next_start = next_start - interval '1 minute'`)
	d.owed("last")
	d.wait() // their calls are over: the limit is its own
	if n := d.Count(t, `SELECT extract(epoch FROM call_limit)::int FROM outlet_quota`); n != 1 {
		t.Errorf("the next one waits for calls of %d s, want 1", n)
	}
}

// What a person pushes before it was ever sent takes its turn with the rest: it
// keeps no first try from its own, and both are due.
func TestAPushedOneThatWasNeverSentKeepsNoFirstTryWaiting(t *testing.T) {
	d := openDesk(t)
	id, told := d.ended()
	d.renew(id, refunds.Done)
	pushed := id + "#2"
	told.Status = "pending"
	d.hear(told) // the first is on its way after all: the second is a person's, unsent
	told.Status = "failed"
	d.hear(told)
	d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) {
		return refunds.Push(t.Context(), tx, pushed, "mia", "it failed there")
	})
	d.exec(`UPDATE refund_operations SET accepted_at = now() - interval '1 hour' WHERE id = $1`, pushed)
	ben := d.owed("ben")
	due, err := d.ledger.Due(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if due.First == nil || due.First.Ask.Operation != ben {
		t.Errorf("the first try that is due is %+v, want %s", due.First, ben)
	}
	if due.Rest == nil || due.Rest.Ask.Operation != pushed || due.Rest.Kind(refunds.Create) != refunds.ByPerson {
		t.Errorf("of the rest %+v is due, want %s", due.Rest, pushed)
	}
}

// One payment's row is locked by somebody who takes his time: the refunds of all
// others that are past their promise are before a person all the same.
func TestOneLockedRowKeepsNoOthersOffTheList(t *testing.T) {
	d := openDesk(t)
	ann, ben, cay := d.owed("ann"), d.owed("ben"), d.owed("cay")
	for range 2 {
		d.answer(says(refunds.TimedOut)) // two of the three are in doubt
	}
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 minute'`)
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '2 minutes' WHERE id = $1`, ann)
	hold, err := d.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Rollback(t.Context()) //nolint:errcheck // it only held
	if _, err := hold.Exec(t.Context(), `SELECT FROM payments WHERE provider_payment_id = 'pi_ann' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	if _, err = d.ledger.GiveUp(t.Context()); err == nil {
		t.Error("that one could not be given up is not told")
	}
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE resolved_at IS NULL AND operation IN ($1, $2)`, ben, cay); n != 2 {
		t.Errorf("ben's and cay's are past their promise, and %d of the two are before a person", n)
	}
}

// Of what has its end at this instant no person is told that it is late.
func TestWhatEndsMeanwhileIsNotListedAsLate(t *testing.T) {
	d := openDesk(t)
	d.owed("ann")
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 minute'`)
	end, err := d.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end.Rollback(t.Context()) //nolint:errcheck // where it failed
	if _, err := end.Exec(t.Context(), `UPDATE refund_operations SET status = 'confirmed', provider_refund_id = 're_1', ended_at = now()`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ledger.GiveUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := end.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE resolved_at IS NULL`); n != 0 {
		t.Errorf("%d items of a refund that is confirmed", n)
	}
}

// The key was used for another request, or is in use to the last: something was
// sent under it. Pushed by a person, also after the key's day is over, the next call
// is a look, and no second refund.
func TestWhatWasSentUnderTheKeyIsLookedForFirst(t *testing.T) {
	for _, c := range []struct {
		outcome refunds.Outcome
		times   int
	}{{refunds.OtherParameters, 1}, {refunds.KeyInUse, refunds.MostSends}} {
		d := openDesk(t)
		id := d.owed("ann")
		for range c.times {
			d.hurry()
			d.answer(says(c.outcome))
		}
		if n := d.Count(t, `SELECT count(*) FROM refund_operations WHERE status = 'manual' AND doubt`); n != 1 {
			t.Errorf("%s: it is no person's, or in no doubt", c.outcome)
		}
		d.exec(`UPDATE refund_operations SET first_sent_at = now() - interval '30 hours' WHERE id = $1`, id)
		d.say(refunds.Done, func(tx pgx.Tx) (refunds.Verdict, error) { return refunds.Push(t.Context(), tx, id, "mia", "again") })
		d.hurry()
		if j := d.next(); j == nil || j.Verb(j.Now) != refunds.List {
			t.Errorf("%s: 30 h after its first send the next call is no look: %+v", c.outcome, j)
		}
	}
}
