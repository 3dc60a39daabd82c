package refunds_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// A push promises anew: what is watched for broken promises counts from then, as the
// forecast does, and not from an acceptance of days ago.
func TestWhatIsPushedIsPromisedAnew(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(says(refunds.TimedOut))
	d.exec(`UPDATE refund_operations SET accepted_at = now() - interval '3 days', give_up_at = now() - interval '3 days'`)
	d.givesUp()
	d.tx(func(tx pgx.Tx) error { _, err := refunds.Push(t.Context(), tx, id, "mia", "again"); return err })
	f, err := d.ledger.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Oldest["rest"] > 10*time.Minute {
		t.Errorf("pushed this second, and the oldest is %s without an end", f.Oldest["rest"].Round(time.Second))
	}
}

// Of a refund that failed a person is asked what follows, and no more that it is late.
func TestALateRefundThatFailedIsOneQuestion(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 hour'`)
	if _, err := d.ledger.GiveUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := func() int {
		return d.Count(t, `SELECT count(*) FROM human_list WHERE kind = 'refund_late' AND operation = $1 AND resolved_at IS NULL`, id)
	}
	if late() != 1 {
		t.Fatalf("%d items of a late refund, want 1", late())
	}
	d.answer(says(refunds.Rejected))
	if n := d.Count(t, `SELECT count(*) FROM human_list WHERE operation = $1 AND resolved_at IS NULL`, id); n != 1 || late() != 0 {
		t.Errorf("%d items of a refused refund, %d of them that it is late; want one question", n, late())
	}
}

// What is on its way at the provider is asked after when nothing in doubt is due: however
// many there are, and however much older, a lost answer is looked up and a push is made.
func TestWhatIsOnItsWayGivesWayToWhatIsInDoubt(t *testing.T) {
	d := openDesk(t)
	ann := d.owed("ann")
	d.answer(refunds.Answer{Outcome: refunds.OnItsWay, Refund: "re_ann"})
	ben := d.owed("ben")
	d.exec(`UPDATE refund_operations SET next_at = 'infinity' WHERE id = $1`, ann)
	j := d.due().First
	call, _, ok, err := d.reign.Submit(t.Context(), *j, refunds.Create)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	d.settle(refunds.Sent{ID: call, Operation: ben, Verb: refunds.Create}, says(refunds.TimedOut))
	d.hurry()
	if j := d.due().Rest; j == nil || j.Ask.Operation != ben {
		t.Fatalf("due: %+v, want the look at what was lost", j)
	}
	d.answer(yes("re_ben"))
	d.hurry()
	if j := d.due().Rest; j == nil || j.Ask.Operation != ann {
		t.Fatalf("due: %+v, want what is on its way", j)
	}
}
