package audit

import (
	"maps"
	"slices"
)

// judge holds our log of an event's calls against what arrived at the provider:
// a call that its log lacks was not made, and one that ours lacks passed the
// outlet by. What arrived for another event is judged with that one; what no
// operation accounts for, here. A call whose process died may have left or not.
func (a asked) judge(ops map[string]operation, event string) []Check {
	key := Check{Promise: "P11", Name: "an operation's own key, by the provider's log"}
	sent := Check{Promise: "P11", Name: "our sends are the provider's"}
	arrived := map[string]int{}
	for _, s := range a.sends {
		arrived[s.operation]++
		o, known := ops[s.operation]
		if known && o.event != event {
			continue
		}
		key.Counted++
		sent.Counted++
		if s.key != s.operation {
			key.fail("%q was sent under the key %q", s.operation, s.key)
		}
		if !known {
			sent.fail("a send of %q under the key %q, of which we know nothing", s.operation, s.key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		o, n := ops[name], arrived[name]
		if o.event == event && (n < o.sent || n > o.sent+o.maySent) {
			sent.fail("%s: %d sends in our log and %d that were lost, %d arrived", name, o.sent, o.maySent, n)
		}
	}
	return []Check{key, sent, a.judgeLooks(ops, event)}
}

// judgeLooks goes by payment: a look at one does not say for which operation.
func (a asked) judgeLooks(ops map[string]operation, event string) Check {
	c := Check{Promise: "P11", Name: "our looks are the provider's"}
	looked, lost := map[string]int{}, map[string]int{}
	others := map[string]bool{}
	for _, o := range ops {
		if n := a.gone[o.refund]; n > 0 { // we know whose it is, and asked after it
			a.looks[o.payment] += n
			delete(a.gone, o.refund)
		}
		if o.event != event {
			others[o.payment] = true
			continue
		}
		looked[o.payment] += o.looked
		lost[o.payment] += o.mayLooked
		a.looks[o.payment] += 0 // also those that nobody saw arrive
	}
	for _, p := range slices.Sorted(maps.Keys(a.looks)) {
		n := a.looks[p]
		if others[p] {
			continue
		}
		c.Counted += int64(n)
		if n < looked[p] || n > looked[p]+lost[p] {
			c.fail("payment %s: %d looks in our log and %d that were lost, %d arrived", p, looked[p], lost[p], n)
		}
	}
	for _, refund := range slices.Sorted(maps.Keys(a.gone)) {
		c.Counted++
		c.fail("%d looks at refund %s, which neither the provider nor we have", a.gone[refund], refund)
	}
	for _, what := range a.other {
		c.Counted++
		c.fail("%s: a call that the outlet does not make", what)
	}
	return c
}
