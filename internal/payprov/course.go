package payprov

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Course is how a refund goes after it was taken. The zero Course succeeds at
// once and stays so.
type Course struct {
	Pending bool          // pending at first, else succeeded
	Then    string        // succeeded | failed | canceled; "" is left to Settle
	In      time.Duration // until then, by the provider's clock; 0 is the provider's default
	Reason  string        // of a failure: lost_or_stolen_card, declined, …; default: unknown
}

func (c Course) validate() error {
	switch {
	case c.In < 0:
		return errors.New("refund: a wait is not negative")
	case c.Then == "" && (c.In > 0 || c.Reason != ""):
		return errors.New("refund: what is to come then?")
	case c.Then == "", c.Then == failed, c.Pending && (c.Then == succeeded || c.Then == canceled):
		return nil
	}
	return fmt.Errorf("refund: from pending it becomes succeeded, failed or canceled, from succeeded only failed; %q is neither", c.Then)
}

// String is how the log names it: "pending,failed".
func (c Course) String() string {
	first := succeeded
	if c.Pending {
		first = pending
	}
	if c.Then == "" {
		return first
	}
	return first + "," + c.Then
}

// courseOf is what the provider's test cards do to their refunds.
func courseOf(card string) Course {
	switch card {
	case "pm_card_pendingRefund":
		return Course{Pending: true, Then: succeeded}
	case "pm_card_refundFail":
		return Course{Then: failed}
	}
	return Course{}
}

// ErrSettled says that a refund cannot become what was asked.
var ErrSettled = errors.New("payprov: the refund cannot become that")

// Settle ends a refund by hand: pending becomes succeeded, failed or canceled,
// succeeded becomes failed. A refund that fails gives its money back to the
// account, and the payment can be refunded again.
func (p *Provider) Settle(id, status, reason string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	re := p.book.refund[id]
	if re == nil {
		return fmt.Errorf("%w: there is no refund %s", ErrSettled, id)
	}
	if err := (Course{Pending: re.status == pending, Then: status}).validate(); err != nil || status == "" || !re.open() {
		return fmt.Errorf("%w: it is %s", ErrSettled, re.status)
	}
	p.settle(re, status, reason)
	return nil
}

// open holds while a refund can still become something else.
func (re *refund) open() bool { return re.status == pending || re.status == succeeded }

func (p *Provider) settle(re *refund, status, reason string) {
	p.book.changes++
	was := re.status
	re.status = status
	p.book.courses = slices.DeleteFunc(p.book.courses, func(other *refund) bool { return other == re })
	if status != succeeded {
		re.of.refunded -= re.amount
	}
	if status == failed {
		re.failure = orDefault(reason, "unknown")
		re.failureTx = newID("txn_")
	}
	p.tell("refund.updated", re.wire(), map[string]any{"status": was})
	if status == failed {
		p.tell("refund.failed", re.wire(), nil)
	}
}

// begin puts a new refund on its course.
func (p *Provider) begin(re *refund, c Course) {
	re.status, re.then, re.reasonThen = succeeded, c.Then, c.Reason
	if c.Pending {
		re.status = pending
	}
	if c.Then == "" {
		return
	}
	re.due = p.clock.now().Add(orDefault(c.In, p.cfg.Settle))
	at, _ := slices.BinarySearchFunc(p.book.courses, re, func(a, b *refund) int { return a.due.Compare(b.due) })
	p.book.courses = slices.Insert(p.book.courses, at, re)
	p.nudge()
}

// settleDue ends the refunds whose time has come and says how long the next
// one has.
func (p *Provider) settleDue() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.book.courses) > 0 {
		next := p.book.courses[0]
		if wait := next.due.Sub(p.clock.now()); wait > 0 {
			return wait
		}
		if p.notices.full() {
			return p.cfg.Backoff // nothing happens that nobody could be told
		}
		p.settle(next, next.then, next.reasonThen)
	}
	return time.Hour
}

// settler is the one goroutine that lets time pass for refunds.
func (p *Provider) settler() {
	for {
		timer := time.NewTimer(p.settleDue())
		select {
		case <-p.stop:
			timer.Stop()
			return
		case <-p.moved:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// nudge: the clock was moved, or another refund is due.
func (p *Provider) nudge() {
	select {
	case p.moved <- struct{}{}:
	default:
	}
}
