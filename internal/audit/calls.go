package audit

import (
	"maps"
	"slices"
)

// judge holds our log of calls against what arrived at the provider: a call
// that its log lacks was not made, and one that ours lacks passed the outlet by.
// A call whose process died may have left or not.
func (a asked) judge(ops map[string]operation) []Check {
	key := Check{Promise: "P11", Name: "an operation's own key, by the provider's log", Counted: int64(len(a.sends))}
	sent := Check{Promise: "P11", Name: "our sends are the provider's", Counted: int64(len(a.sends))}
	looked := Check{Promise: "P11", Name: "our looks are the provider's", Counted: int64(a.total - len(a.sends))}
	arrived := map[string]int{}
	for _, s := range a.sends {
		arrived[s.operation]++
		if s.key != s.operation {
			key.fail("%q was sent under the key %q", s.operation, s.key)
		}
		if _, ours := ops[s.operation]; !ours {
			sent.fail("a send of %q under the key %q, of which we know nothing", s.operation, s.key)
		}
	}
	ours, lost := map[string]int{}, map[string]int{} // looks, by payment
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		o := ops[name]
		if n := arrived[name]; n < o.sent || n > o.sent+o.maySent {
			sent.fail("%s: %d sends in our log and %d that were lost, %d arrived", name, o.sent, o.maySent, n)
		}
		ours[o.payment] += o.looked
		lost[o.payment] += o.mayLooked
		a.looks[o.payment] += 0 // also those that nobody saw arrive
	}
	for _, p := range slices.Sorted(maps.Keys(a.looks)) {
		if n := a.looks[p]; n < ours[p] || n > ours[p]+lost[p] {
			looked.fail("payment %s: %d looks in our log and %d that were lost, %d arrived", p, ours[p], lost[p], n)
		}
	}
	for _, what := range a.other {
		looked.fail("%s: a call that the outlet does not make", what)
	}
	return []Check{key, sent, looked}
}
