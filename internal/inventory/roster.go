package inventory

import (
	"hash/fnv"
	"sync/atomic"
	"time"
)

// Roster is who claims, by their own reports. Where there are more events than
// claimers each event is one claimer's, whose batches then are larger and wait for
// no other's; else any claimer's. It only spreads the work: any claimer claims for
// any event, and one that is gone is passed by at once.
//
// The zero value knows nobody.
type Roster struct{ names atomic.Pointer[[]string] }

// freshReport is how old a claimer's report may be for it to be asked by name.
const freshReport = 3 * time.Second

// Hear takes the reports as they are now, and how many events are on sale.
func (r *Roster) Hear(reports []Report, events int) {
	var names []string
	for _, one := range reports {
		if one.Age <= freshReport {
			names = append(names, one.Claimer)
		}
	}
	if len(names) < 2 || events <= len(names) {
		names = nil
	}
	r.names.Store(&names)
}

// claimerOf is the event's claimer; empty: any. It is chosen by rendezvous
// (Thaler and Ravishankar, 1998): when a claimer comes or goes only the events
// that were, or are to be, its own move.
func (r *Roster) claimerOf(event string) (name string) {
	names := r.names.Load()
	if names == nil {
		return ""
	}
	var most uint64
	for _, one := range *names {
		h := fnv.New64a()
		h.Write([]byte(one + "\x00" + event))
		if weight := mixed(h.Sum64()); name == "" || weight > most || weight == most && one > name {
			name, most = one, weight
		}
	}
	return name
}

// mixed spreads what a short text's hash leaves in the low bits (the finalizer of
// MurmurHash3).
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
