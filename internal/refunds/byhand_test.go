package refunds_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// byHand has the provider tell of a refund that none of our operations made.
func (d *desk) byHand(holder, refund, status string, minor int64) {
	d.t.Helper()
	d.hear(refunds.Told{ProviderPayment: "pi_" + holder, ProviderRefund: refund, Status: status, AmountMinor: minor, Currency: "EUR"})
}

// givesBack is a person who gives an order's seats back, by the item that is open.
func (d *desk) givesBack(payment uuid.UUID) support.Verdict {
	d.t.Helper()
	var item int64
	d.Scan(d.t, `SELECT min(id) FROM human_list WHERE payment_id = $1 AND kind = 'refund_by_hand'`, []any{payment}, &item)
	v, err := support.Act(d.t.Context(), d.Pool, support.Deed{Item: item, By: "mia", Do: support.GiveBack, Why: "the show is not for her"})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// An order whose payment somebody refunded by hand, in one or in parts, told by name
// or as a sum, gives its seats back by a person's word: all at once, with evidence,
// a return for each, codes revoked, one notice, the items closed, and who said it.
func TestSeatsOfAnOrderRefundedByHandGoBackByAPersonsWord(t *testing.T) {
	for name, told := range map[string]func(*desk){
		"by name": func(d *desk) { d.byHand("ann", "re_1", "succeeded", 7500) },
		"in parts": func(d *desk) {
			d.byHand("ann", "re_1", "succeeded", 2500)
			d.byHand("ann", "re_2", "succeeded", 5000)
		},
		"as a sum alone": func(d *desk) {
			d.hear(refunds.Told{ProviderPayment: "pi_ann", SumMinor: 7500, Currency: "EUR"})
			d.exec(`UPDATE payments SET told_at = now() - interval '1 hour'`)
			d.givesUp()
		},
		"failed, and made again": func(d *desk) {
			d.byHand("ann", "re_1", "failed", 7500)
			d.byHand("ann", "re_2", "succeeded", 7500)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			order, payment, _ := d.paid("ann", 3)
			told(d)
			if v := d.givesBack(payment); v != support.Done {
				t.Fatalf("the seats: %s", v)
			}
			var own, held, back, returns, revoked, notices, open, said, kept int
			d.Scan(t, `SELECT (SELECT count(*) FROM seats WHERE order_id = o.id), b.held, o.given_back,
				  (SELECT count(*) FROM seat_returns r WHERE r.order_id = o.id AND r.cause = 'refunded:by_hand:' || o.id || ':' || r.seat_id),
				  (SELECT count(*) FROM code_revocations r WHERE r.order_id = o.id),
				  (SELECT count(*) FROM notices n WHERE n.subject = o.id::text AND n.kind = 'tickets.returned' AND jsonb_array_length(n.body->'seats') = 3 AND n.version = o.version),
				  (SELECT count(*) FROM human_list h WHERE h.order_id = o.id AND h.resolved_at IS NULL),
				  (SELECT count(*) FROM human_notes n WHERE n.by = 'mia' AND n.did = 'decided' AND n.note LIKE 'seats given back: the show%'),
				  (SELECT count(*) FROM seats_back_by_hand h WHERE h.order_id = o.id AND h.by = 'mia')
				FROM orders o JOIN buyers b USING (event_id, account) WHERE o.id = $1`,
				[]any{order}, &own, &held, &back, &returns, &revoked, &notices, &open, &said, &kept)
			got := fmt.Sprint(own, held, back, returns, revoked, notices, open, said, kept)
			if got != "0 0 3 3 3 1 0 1 3" {
				t.Errorf("held, by the account, back, returns, codes revoked, notices, items open, words, rows: %s; want 0 0 3 3 3 1 0 1 3", got)
			}
			if n := d.counted(); n.Free != 40 || n.Sold != 0 {
				t.Errorf("%d free, %d sold; want 40 and none", n.Free, n.Sold)
			}
			if v := d.givesBack(payment); v != support.NotNow {
				t.Errorf("once more: %s", v)
			}
			d.judged()
		})
	}
}

// Nothing goes back by hand that the provider has not told to be back, all of it, or
// that an operation of ours may still send; neither by a person nor past them.
func TestNoSeatGoesBackByHandThatMayBePaidFor(t *testing.T) {
	for name, set := range map[string]func(d *desk, order uuid.UUID, seats []int64){
		"part of it":       func(d *desk, _ uuid.UUID, _ []int64) { d.byHand("ann", "re_1", "succeeded", 4999) },
		"it failed":        func(d *desk, _ uuid.UUID, _ []int64) { d.byHand("ann", "re_1", "failed", 5000) },
		"it is on its way": func(d *desk, _ uuid.UUID, _ []int64) { d.byHand("ann", "re_1", "pending", 5000) },
		"another's payment": func(d *desk, _ uuid.UUID, _ []int64) {
			d.byHand("ann", "re_1", "succeeded", 5000)
			d.exec(`UPDATE payments SET stands = 'human'`)
		},
		"a sum of which a part failed": func(d *desk, _ uuid.UUID, _ []int64) {
			d.hear(refunds.Told{ProviderPayment: "pi_ann", SumMinor: 5000, Currency: "EUR"})
			d.byHand("ann", "re_1", "failed", 1)
		},
		"one of ours is open": func(d *desk, order uuid.UUID, seats []int64) {
			d.request(order, seats[0])
			d.byHand("ann", "re_1", "succeeded", 5000)
		},
		"something told of it is not heard yet": func(d *desk, _ uuid.UUID, _ []int64) {
			d.byHand("ann", "re_1", "succeeded", 5000)
			d.exec(`INSERT INTO provider_notices (provider, notice_id, kind, body, status, next_try_at, about) VALUES ('stripe', 'evt_1', 'refund.failed', 'x', 'waiting', now(), 'pi_ann')`)
		},
		"another was faster with the seat": func(d *desk, _ uuid.UUID, seats []int64) {
			d.byHand("ann", "re_1", "succeeded", 5000)
			d.exec(`UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE id = $1`, seats[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			order, payment, seats := d.paid("ann", 2)
			set(d, order, seats)
			if d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_by_hand'`) == 0 {
				d.exec(`INSERT INTO human_list (kind, subject, order_id, payment_id, detail) VALUES ('refund_by_hand', 'pi_ann', $1, $2, 'told')`, order, payment)
			}
			if v := d.givesBack(payment); v != support.NotNow {
				t.Errorf("the seats: %s, want not_now", v)
			}
			_, err := d.Pool.Exec(t.Context(), `INSERT INTO seats_back_by_hand (id, order_id, seat_id, payment_id, item, by, why)
				SELECT 'by_hand:' || $1::uuid || ':' || $2::bigint, $1, $2, $3, id, 'mia', 'x' FROM human_list LIMIT 1`, order, seats[1], payment)
			if err == nil {
				t.Error("the database let it through")
			}
			if n := d.Count(t, `SELECT count(*) FROM seat_returns`) + d.Count(t, `SELECT given_back FROM orders WHERE id = $1`, order); n != 0 {
				t.Errorf("%d went back", n)
			}
		})
	}
}

// What our own refunds gave back stays theirs, and the rest goes by hand; a line that
// went back by hand is not asked for again, and gives nothing back a second time; where
// the refund by hand fails after all, the seats stay given back and a person has it.
func TestOurRefundsAndThoseByHandGiveEachSeatBackOnce(t *testing.T) {
	d := openDesk(t)
	order, payment, seats := d.paid("ann", 3)
	mine, _ := d.request(order, seats[0])
	d.answer(yes("re_0"))
	d.byHand("ann", "re_1", "succeeded", 5000)
	if v := d.givesBack(payment); v != support.Done {
		t.Fatalf("the seats: %s", v)
	}
	d.judged()
	var by []string
	d.Scan(t, `SELECT array_agg(split_part(given_back_by, ':', 1) ORDER BY seat_id) FROM order_lines WHERE order_id = $1`, []any{order}, &by)
	if fmt.Sprint(by) != "[refund by_hand by_hand]" {
		t.Errorf("given back by %v", by)
	}
	counter := support.Desk{Install: "here", LimitMinor: 1 << 40, StartsPerS: 5, ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil }}
	var line string
	d.Scan(t, `SELECT guid FROM seats WHERE id = $1`, []any{seats[1]}, &line)
	wanted := support.Wanted{Organiser: "house", Order: order, Line: line, Customer: "ann", By: "agent"}
	if a, err := counter.Ask(t.Context(), d.Pool, wanted); err != nil || a.Reason != support.AlreadyRefunded {
		t.Errorf("asked for again: %+v, %v", a, err)
	}
	told := toldOf("ann", mine.ID, "re_0")
	told.Status = "failed"
	d.hear(told)
	d.byHand("ann", "re_1", "failed", 5000)
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE payment_id = $1 AND kind = 'refund_by_hand' AND resolved_at IS NULL`, payment); n != 1 {
		t.Errorf("%d items of the failure are open, want 1", n)
	}
	if v := d.givesBack(payment); v != support.NotNow {
		t.Errorf("after the failure: %s", v)
	}
	d.wantLines(order, 3)
	if a, err := counter.Ask(t.Context(), d.Pool, wanted); err != nil || a.Word != support.Queued {
		t.Errorf("owed after all: %+v, %v", a, err)
	}
	d.answer(yes("re_2"))
	d.wantLines(order, 3)
	d.judged()
}

// wantLines: so many lines of an order went back, each once, and it holds no seat.
func (d *desk) wantLines(order uuid.UUID, want int) {
	d.t.Helper()
	var own, back, returns, moved int
	d.Scan(d.t, `SELECT (SELECT count(*) FROM seats WHERE order_id = o.id), o.given_back,
		  (SELECT count(*) FROM seat_returns WHERE order_id = o.id AND cause LIKE 'refunded:%'),
		  (SELECT count(DISTINCT seat_id) FROM seat_returns WHERE order_id = o.id AND cause LIKE 'refunded:%')
		FROM orders o WHERE o.id = $1`, []any{order}, &own, &back, &returns, &moved)
	if own != 0 || back != want || returns != want || moved != want {
		d.t.Errorf("%d held, %d back, %d returns of %d seats; want none held and %d of each", own, back, returns, moved, want)
	}
}

// A person gives the seats back, twice at once, while one of them is moved, and a refund
// of a line is asked for as the provider tells of the one by hand, or that one is told
// to have failed: in whatever order they come, each seat is somewhere, once, goes back
// once at most, and never beside a refund of ours that could be sent.
func TestGivingBackByHandMeetsWhateverElseMoves(t *testing.T) {
	d := openDesk(t)
	counter := support.Desk{Install: "here", LimitMinor: 1 << 40, StartsPerS: 5, ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil }}
	came := map[string]int{}
	for i := range 45 {
		if d.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NULL`) < 4 {
			break
		}
		holder := fmt.Sprint("holder-", i)
		order, payment, seats := d.paid(holder, 2)
		var from, line, to string
		d.Scan(t, `SELECT (SELECT guid FROM seats WHERE id = $1), (SELECT guid FROM seats WHERE id = $2), (SELECT max(guid) FROM seats WHERE order_id IS NULL)`,
			[]any{seats[0], seats[1]}, &from, &line, &to)
		tell := func(status string) {
			d.insist(func() error {
				return pg.InTx(t.Context(), d.Pool, func(tx pgx.Tx) error {
					_, err := refunds.Heard(t.Context(), tx, refunds.Told{Provider: "stripe", ProviderPayment: "pi_" + holder, ProviderRefund: "re_" + holder, Status: status, AmountMinor: 5000, Currency: "EUR"})
					return err
				})
			})
		}
		verdicts, move, answer := make([]support.Verdict, 2), inventory.Move{}, support.Answer{}
		var all sync.WaitGroup
		for n := range verdicts {
			all.Go(func() {
				tell("succeeded")
				item := int64(d.Count(t, `SELECT id FROM human_list WHERE payment_id = $1 AND kind = 'refund_by_hand'`, payment))
				d.insist(func() (err error) {
					verdicts[n], err = support.Act(t.Context(), d.Pool, support.Deed{Item: item, By: "mia", Do: support.GiveBack, Why: "told"})
					return err
				})
			})
		}
		all.Go(func() {
			d.insist(func() (err error) {
				move, err = inventory.MoveSeat(t.Context(), d.Pool, inventory.Asker{By: "desk"}, d.Event, order, from, to)
				return err
			})
		})
		switch i % 3 {
		case 0:
			all.Go(func() {
				d.insist(func() (err error) {
					answer, err = counter.Ask(t.Context(), d.Pool, support.Wanted{Organiser: "house", Order: order, Line: line, Customer: holder, By: "agent"})
					return err
				})
			})
		case 1:
			all.Go(func() { tell("failed") })
		}
		all.Wait()
		won := 0
		for _, v := range verdicts {
			if v == support.Done {
				won++
			} else if v != support.NotNow {
				t.Errorf("round %d: %s", i, v)
			}
		}
		lines := d.Count(t, `SELECT count(*) FROM seats_back_by_hand WHERE order_id = $1`, order)
		if won > 1 || lines != 2*won {
			t.Errorf("round %d: done %d times, %d lines back by hand", i, won, lines)
		}
		asked := answer.Word == support.Queued
		if i%3 == 0 && (won == 1) == asked || i%3 == 2 && won != 1 {
			t.Errorf("round %d: done %d times, and the refund that was asked for is %s %s", i, won, answer.Word, answer.Reason)
		}
		came[fmt.Sprintf("given back %d, moved %s, asked %t", won, move.Moving, asked)]++
	}
	t.Log(came)
	d.judged()
}
