package refunds

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// sent is an operation whose nth send is over, accepted just now.
func sent(n int) Case {
	return Case{
		Status: Submitted, AcceptedAt: noon, GiveUpAt: noon.Add(Promise), NextAt: noon,
		FirstSentAt: noon, Sends: n,
	}
}

// doubtful is one of which a send got no answer, and that was looked up.
func doubtful(sends, looks int) Case {
	c := sent(sends)
	c.Status, c.Doubt, c.Looks = Unknown, true, looks
	return c
}

// One row for each thing that an answer can be: what follows, and when.
func TestWhatFollowsFromAnAnswer(t *testing.T) {
	again := sent(2)
	again.Doubt = true
	old := doubtful(1, 1)
	old.FirstSentAt = noon.Add(-KeyLife)
	pushed := doubtful(3, 7)
	pushed.Pushed, pushed.Pushes = true, 1
	hand := doubtful(1, 1)
	hand.Outcome = AlreadyRefunded
	late := doubtful(2, 2)
	late.GiveUpAt = noon
	for _, c := range []struct {
		what     string
		of       Case
		verb     Verb
		answer   Answer
		want     Status
		min, max time.Duration // before the next call
		resend   bool
	}{
		{"refunded", sent(1), Create, Answer{Outcome: Succeeded, Refund: "re_1"}, Confirmed, 0, time.Hour, false},
		{"on its way", sent(1), Create, Answer{Outcome: OnItsWay, Refund: "re_1"}, Pending, 10 * time.Minute, 10 * time.Minute, false},
		{"made, and failed", sent(1), Create, Answer{Outcome: Failed, Refund: "re_1"}, FailedLater, 0, time.Hour, false},
		{"refused", sent(1), Create, Answer{Outcome: Rejected}, RejectedFor, 0, 0, false},
		{"busy, the first time", sent(1), Create, Answer{Outcome: Busy}, Queued, time.Second, 2 * time.Second, false},
		{"busy, the second time", sent(2), Create, Answer{Outcome: Busy}, Queued, time.Second, 4 * time.Second, false},
		{"busy, the third time", sent(3), Create, Answer{Outcome: Busy}, Manual, 0, 0, false},
		{"busy, and it says until when", sent(1), Create, Answer{Outcome: Busy, RetryAfter: time.Minute}, Queued, time.Minute, time.Minute, false},
		{"its key is in use", sent(1), Create, Answer{Outcome: KeyInUse}, Queued, time.Second, 2 * time.Second, false},
		{"never left", sent(1), Create, Answer{Outcome: NotSent}, Queued, time.Second, 2 * time.Second, false},
		{"busy, after one that is in doubt", again, Create, Answer{Outcome: Busy}, Unknown, time.Second, 4 * time.Second, true},
		{"no answer in time", sent(1), Create, Answer{Outcome: TimedOut}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"cut", sent(1), Create, Answer{Outcome: CutOff}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"500", sent(1), Create, Answer{Outcome: ServerError, HTTP: 500}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"503 with Retry-After", sent(1), Create, Answer{Outcome: ServerError, RetryAfter: time.Minute}, Unknown, time.Minute, time.Minute, false},
		{"a redirect", sent(1), Create, Answer{Outcome: Redirected}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"200 and no refund", sent(1), Create, Answer{Outcome: Unreadable}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"200 and another amount", sent(1), Create, Answer{Outcome: Differs}, Unknown, 5 * time.Second, 5 * time.Second, false},
		{"its key was used for something else", sent(1), Create, Answer{Outcome: OtherParameters}, Manual, 0, 0, false},
		{"our key is refused", sent(1), Create, Answer{Outcome: KeyRefused}, Queued, 0, 0, false},
		{"given back already", sent(1), Create, Answer{Outcome: AlreadyRefunded}, Unknown, 0, 0, false},

		{"looked, found", doubtful(1, 1), List, Answer{Outcome: Succeeded, Refund: "re_1"}, Confirmed, 0, time.Hour, false},
		{"looked, found on its way", doubtful(1, 1), List, Answer{Outcome: OnItsWay, Refund: "re_1"}, Pending, 10 * time.Minute, 10 * time.Minute, false},
		{"looked, found failed", doubtful(1, 1), List, Answer{Outcome: Failed, Refund: "re_1"}, FailedLater, 0, time.Hour, false},
		{"looked, another page", doubtful(1, 1), List, Answer{Outcome: NextPage, After: "re_9"}, Unknown, 0, 0, false},
		{"looked, not there: the same key again", doubtful(1, 1), List, Answer{Outcome: NotThere}, Unknown, time.Second, 2 * time.Second, true},
		{"looked, not there, all sends used", doubtful(3, 2), List, Answer{Outcome: NotThere}, Unknown, 2 * time.Minute, 2 * time.Minute, false},
		{"looked, not there, the key is forgotten", old, List, Answer{Outcome: NotThere}, Unknown, 30 * time.Second, 30 * time.Second, false},
		{"looked the sixth time, not there", doubtful(3, 6), List, Answer{Outcome: NotThere}, Manual, 0, 0, false},
		{"looked, no answer", doubtful(1, 1), List, Answer{Outcome: TimedOut}, Unknown, 30 * time.Second, 30 * time.Second, false},
		{"looked, no answer, later", doubtful(1, 3), List, Answer{Outcome: CutOff}, Unknown, 5 * time.Minute, 5 * time.Minute, false},
		{"looked, busy", doubtful(1, 1), List, Answer{Outcome: Busy, RetryAfter: time.Hour}, Unknown, time.Hour, time.Hour, false},
		{"looked, found with another amount", doubtful(1, 1), List, Answer{Outcome: Differs}, Manual, 0, 0, false},
		{"looked, the payment is not known there", doubtful(1, 1), List, Answer{Outcome: Rejected}, Manual, 0, 0, false},
		{"given back by hand, all of it", hand, List, Answer{Outcome: ByHand, Refund: "re_h"}, Confirmed, 0, time.Hour, false},
		{"given back by hand, and not like this", hand, List, Answer{Outcome: NotThere}, Manual, 0, 0, false},

		{"pushed, and found nothing: one send more", func() Case { c := pushed; c.Sends = 3; return c }(), List, Answer{Outcome: NotThere}, Unknown, time.Second, 4 * time.Second, true},
		{"pushed, and all is used up again", func() Case { c := pushed; c.Sends = 4; return c }(), List, Answer{Outcome: NotThere}, Manual, 0, 0, false},
		{"15 minutes are over", late, List, Answer{Outcome: NotThere}, Manual, 0, 0, false},
		{"15 minutes are over, and it is there", late, List, Answer{Outcome: Succeeded, Refund: "re_1"}, Confirmed, 0, time.Hour, false},

		{"on its way still", Case{Status: Pending, AcceptedAt: noon.Add(-25 * time.Hour), Sends: 1}, Retrieve, Answer{Outcome: OnItsWay, Refund: "re_1"}, Pending, 6 * time.Hour, 6 * time.Hour, false},
		{"on its way, asked in vain", Case{Status: Pending, AcceptedAt: noon.Add(-25 * time.Hour), Sends: 1}, Retrieve, Answer{Outcome: TimedOut}, Pending, 6 * time.Hour, 6 * time.Hour, false},
		{"on its way, and it failed", Case{Status: Pending, AcceptedAt: noon, Sends: 1}, Retrieve, Answer{Outcome: Failed, Refund: "re_1"}, FailedLater, 0, time.Hour, false},
		{"a notice was faster", Case{Status: Confirmed, Sends: 1}, Create, Answer{Outcome: TimedOut}, Confirmed, 0, 0, false},
		{"a notice was faster, and it says the same", Case{Status: Confirmed, Sends: 1}, Create, Answer{Outcome: Succeeded, Refund: "re_1"}, Confirmed, 0, 0, false},
	} {
		for _, chance := range []float64{0, 0.5, 0.999} {
			s := c.of.After(c.verb, c.answer, noon, chance)
			if s.Status != c.want || s.Wait < c.min || s.Wait > c.max || s.Resend != c.resend {
				t.Errorf("%s: %s after %s, resend %t; want %s after %s to %s, resend %t",
					c.what, s.Status, s.Wait, s.Resend, c.want, c.min, c.max, c.resend)
			}
			if s.Stop != (c.answer.Outcome == KeyRefused) {
				t.Errorf("%s: the outlet stops: %t", c.what, s.Stop)
			}
		}
	}
}

// Looks come after 5 s, 30 s, 2 min, then each 5 min, and there are six.
func TestLooksSlowDownAndEnd(t *testing.T) {
	want := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute}
	c := sent(3)
	c.GiveUpAt = noon.Add(time.Hour)
	s := c.After(Create, Answer{Outcome: TimedOut}, noon, 0)
	var got []time.Duration
	for s.Status == Unknown && len(got) < 10 {
		got = append(got, s.Wait)
		c = doubtful(3, len(got))
		c.GiveUpAt = noon.Add(time.Hour)
		s = c.After(List, Answer{Outcome: NotThere}, noon, 0)
	}
	if !slices.Equal(got, want) || s.Status != Manual {
		t.Errorf("looks after %v, then %s; want %v, then manual", got, s.Status, want)
	}
}

// However the provider answers, an operation is sent three times at most and
// looked up six, it always comes to rest, and in doubt it is never sent before
// a look found nothing.
func TestNoAnswersBreakABudget(t *testing.T) {
	outcomes := []Outcome{
		Succeeded, OnItsWay, Failed, NotThere, NextPage, ByHand, Differs, Busy, KeyInUse, NotSent, Rejected,
		AlreadyRefunded, OtherParameters, TimedOut, CutOff, ServerError, Redirected, Unreadable,
	}
	rapid.Check(t, func(t *rapid.T) {
		c := Case{Status: Queued, AcceptedAt: noon, GiveUpAt: noon.Add(Promise)}
		now, pages := noon, 0
		for step := 0; c.Status == Queued || c.Status == Unknown; step++ {
			if step > 60 {
				t.Fatalf("no rest after %d calls: %+v", step, c)
			}
			v := c.Verb(now)
			if v == Create && c.Doubt && !c.Resend {
				t.Fatalf("sent in doubt, without a look: %+v", c)
			}
			switch {
			case v == Create:
				c.Sends++
				if c.FirstSentAt.IsZero() {
					c.FirstSentAt = now
				}
				c.Status = Submitted
			case c.LookAfter == "":
				c.Looks++
			}
			c.Resend = false
			if c.Sends > MostSends || c.Looks > MostLooks {
				t.Fatalf("%d sends, %d looks", c.Sends, c.Looks)
			}
			o := rapid.SampledFrom(outcomes).Draw(t, "outcome")
			if o == NextPage {
				if pages++; v == Create || pages > 5 {
					o = NotThere
				}
			}
			if v == Create && (o == NotThere || o == ByHand) {
				o = TimedOut
			}
			s := c.After(v, Answer{Outcome: o, After: "re_9", RetryAfter: time.Duration(rapid.IntRange(0, 60).Draw(t, "after")) * time.Second}, now, rapid.Float64Range(0, 1).Draw(t, "chance"))
			c.Status, c.Doubt, c.Resend, c.LookAfter, c.Outcome, c.Pushed = s.Status, s.Doubt, s.Resend, s.LookAfter, s.Outcome, s.Pushed
			if c.Status == Queued && c.Doubt || c.Status == Unknown && !c.Doubt {
				t.Fatalf("%s with doubt %t", c.Status, c.Doubt)
			}
			if c.Status == Unknown && c.LookAfter == "" && !c.Resend && !c.looksLeft() {
				t.Fatalf("nothing is left to do, and no person has it: %+v", c)
			}
			now = now.Add(s.Wait + time.Second)
		}
	})
}

// First tries and the rest take turns; a group with nothing due gives way.
func TestGroupsTakeTurns(t *testing.T) {
	var order []bool
	last := false
	for range 6 {
		first, any := Pick(true, true, last)
		if !any {
			t.Fatal("nothing was picked of two groups with work")
		}
		order, last = append(order, first), first
	}
	if want := []bool{true, false, true, false, true, false}; !slices.Equal(order, want) {
		t.Errorf("first tries had the turns %v, want %v", order, want)
	}
	for _, last := range []bool{true, false} {
		if first, any := Pick(true, false, last); !first || !any {
			t.Error("first tries alone do not go")
		}
		if first, any := Pick(false, true, last); first || !any {
			t.Error("the rest alone does not go")
		}
		if _, any := Pick(false, false, last); any {
			t.Error("something was picked of nothing")
		}
	}
}
