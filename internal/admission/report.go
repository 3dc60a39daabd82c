package admission

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"
)

// noted is a fact: something that a replica saw of one place or one pass.
type noted struct {
	id     int64 // the place's number, or the pass's take
	amount int64
	at     time.Time
}

// factKind says what a fact is about; reports carry them in this order.
type factKind int

const (
	came    factKind = iota // a called place asked for its pass
	gaveUp                  // a place was left
	alive                   // a pass gave a sign of life
	nothing                 // a pass asked for amount tickets and got none
	gone                    // a pass was given back
	kinds
)

const (
	factsKept  = 30 * time.Second // after that the holder has heard of it, or nobody held
	aliveKept  = 20 * time.Second // a sign of life says no more after that (R4)
	mostFacts  = 20_000           // of one kind; the oldest give way
	reportSize = 380_000          // bytes; DynamoDB keeps items up to 400 kB
)

func (k factKind) kept() time.Duration {
	if k == alive {
		return aliveKept
	}
	return factsKept
}

// tell says the fact to whoever releases.
func (k factKind) tell(r *Release, f noted) {
	switch k {
	case came:
		r.Came(f.id, f.at)
	case gaveUp:
		r.GaveUp(f.id, f.at)
	case alive:
		r.Alive(f.id, f.at)
	case nothing:
		r.FoundNothing(f.id, f.amount, f.at)
	case gone:
		r.Gone(f.id, f.at)
	}
}

// facts are what this replica saw lately: what it reports each second, and what
// a holder that begins here goes on from.
type facts struct {
	mu   sync.Mutex
	seen [kinds]map[int64]noted
	lost func(n int) // facts that gave way to newer ones
}

func newFacts(lost func(int)) *facts {
	f := &facts{lost: lost}
	for k := range f.seen {
		f.seen[k] = map[int64]noted{}
	}
	return f
}

// note keeps the noted. What happens once (came, gone, left) keeps its first
// time, a sign of life its last, a wish its largest.
func (f *facts) note(k factKind, n noted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, known := f.seen[k][n.id]
	switch {
	case !known, k == alive:
	case k == nothing && n.amount > old.amount:
	default:
		return
	}
	f.seen[k][n.id] = n
}

// report is what a replica says of itself each second.
type report struct {
	replica string // who wrote it; the store says so

	epoch  int64     // of the line that it is of; 0: it was written in an older format
	at     time.Time // on its own clock
	taken  int64     // people let in, as it knew
	atDoor []int64   // numbers that stand at its door, ascending
	letIn  []int64   // numbers that it let in a moment ago, ascending
	late   []int64   // latecomers at its door, ascending
	graced int64     // latecomers that it let in, ever
	facts  [kinds][]noted

	undrawn []int64 // places given up there in the lobby a moment ago, by index, ascending
	proving []int64 // numbers that came in time and were sent away to prove something, ascending
	// shut: nobody is let in there for now, by settings or after a fault. Who stands
	// there waits and keeps the lane; credit left to that door would be nobody's.
	shut bool
}

func (r report) empty() bool {
	n := len(r.atDoor) + len(r.letIn) + len(r.proving) + len(r.undrawn)
	for _, list := range r.facts {
		n += len(list)
	}
	return n == 0
}

// untold is how long it takes at most until a holder elsewhere has counted what was
// seen here: it is reported, heard and published once a second each.
const untold = 4 * time.Second

// gaveUpLately is how many places not called yet were given up here so short a time
// ago that the holder may not have counted them.
func (f *facts) gaveUpLately(now time.Time, front int64) (n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, fact := range f.seen[gaveUp] {
		if id >= front && now.Sub(fact.at) <= untold {
			n++
		}
	}
	return n
}

// lately is everything seen that still says something at now, by id. It
// forgets the rest.
func (f *facts) lately(now time.Time) (all [kinds][]noted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range kinds {
		list := make([]noted, 0, len(f.seen[k]))
		for id, n := range f.seen[k] {
			if now.Sub(n.at) > k.kept() {
				delete(f.seen[k], id)
			} else {
				list = append(list, n)
			}
		}
		if over := len(list) - mostFacts; over > 0 {
			slices.SortFunc(list, func(a, b noted) int { return a.at.Compare(b.at) })
			for _, n := range list[:over] {
				delete(f.seen[k], n.id)
			}
			list = list[over:]
			f.lost(over)
		}
		slices.SortFunc(list, func(a, b noted) int { return cmp.Compare(a.id, b.id) })
		all[k] = list
	}
	return all
}

// A report names the epoch of its line, and is kept under its replica's name
// alone: after a reset what was said of the old line says nothing of the new one,
// where the same numbers and takes are others', and the replica's next report, or
// whoever forgets dead replicas, leaves nothing of it behind.
//
// A door that is shut says so by a format of its own. To a release that does not
// know it the replica is silent, and has no credit left to its door either.
const (
	reportFormat = 3
	reportShut   = 4
)

// encode writes ids as differences and times as ages in ms, all varints: about
// four bytes a noted.
func (r report) encode() []byte {
	b := []byte{reportFormat}
	if r.shut {
		b[0] = reportShut
	}
	b = binary.AppendVarint(b, r.at.UnixMilli())
	b = binary.AppendVarint(b, r.epoch)
	b = binary.AppendVarint(b, r.taken)
	b = binary.AppendVarint(b, r.graced)
	for _, list := range [][]int64{r.atDoor, r.letIn, r.late, r.proving} {
		b = appendIDs(b, len(list), func(i int) int64 { return list[i] }, nil)
	}
	for _, list := range r.facts {
		b = appendIDs(b, len(list), func(i int) int64 { return list[i].id }, func(b []byte, i int) []byte {
			b = binary.AppendVarint(b, list[i].amount)
			return binary.AppendVarint(b, r.at.Sub(list[i].at).Milliseconds())
		})
	}
	if len(r.undrawn) > 0 { // at the end: to an older release, which has no use for it, silence
		b = appendIDs(b, len(r.undrawn), func(i int) int64 { return r.undrawn[i] }, nil)
	}
	return b
}

// fitted is the report as large as the store keeps it, and how many facts it lacks for
// that: the signs of life first, which a holder can do without, for it then weighs who
// is silent; then the older half of whatever there is most of, which was told before.
func (r report) fitted() (body []byte, lost int) {
	for body = r.encode(); len(body) > reportSize; body = r.encode() {
		most := alive
		if len(r.facts[alive]) == 0 {
			for k := range r.facts {
				if len(r.facts[k]) > len(r.facts[most]) {
					most = factKind(k)
				}
			}
		}
		n := len(r.facts[most])
		if n == 0 {
			break // what stands at a door is bounded
		}
		kept := 0
		if most != alive {
			kept = n / 2
		}
		r.facts[most] = newest(r.facts[most], kept)
		lost += n - kept
	}
	return body, lost
}

// newest are so many of them, by id as before.
func newest(all []noted, n int) []noted {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b noted) int { return b.at.Compare(a.at) })
	all = all[:n]
	slices.SortFunc(all, func(a, b noted) int { return cmp.Compare(a.id, b.id) })
	return all
}

func appendIDs(b []byte, n int, id func(int) int64, more func([]byte, int) []byte) []byte {
	b = binary.AppendVarint(b, int64(n))
	var last int64
	for i := range n {
		b = binary.AppendVarint(b, id(i)-last)
		last = id(i)
		if more != nil {
			b = more(b, i)
		}
	}
	return b
}

var errReport = errors.New("a report that cannot be read")

func decodeReport(body []byte) (r report, err error) {
	in := &fields{rest: body}
	format := in.take(1)
	if format == nil || format[0] > reportShut {
		return r, errReport
	}
	r.at = time.UnixMilli(in.signed())
	if format[0] < reportFormat && !in.bad { // of a release before this one, whose line is not known
		return r, nil
	}
	r.shut = format[0] == reportShut
	r.epoch = in.signed()
	r.taken, r.graced = in.signed(), in.signed()
	in.ids(func(id int64) { r.atDoor = append(r.atDoor, id) })
	in.ids(func(id int64) { r.letIn = append(r.letIn, id) })
	in.ids(func(id int64) { r.late = append(r.late, id) })
	in.ids(func(id int64) { r.proving = append(r.proving, id) })
	for k := range r.facts {
		in.ids(func(id int64) {
			amount, age := in.signed(), time.Duration(in.signed())*time.Millisecond
			r.facts[k] = append(r.facts[k], noted{id, amount, r.at.Add(-age)})
		})
	}
	if !in.bad && len(in.rest) != 0 {
		in.ids(func(index int64) { r.undrawn = append(r.undrawn, index) })
	}
	if in.bad || len(in.rest) != 0 {
		return report{}, errReport
	}
	return r, nil
}

func (f *fields) ids(each func(int64)) {
	n, id := f.signed(), int64(0)
	if n < 0 || n > int64(len(f.rest)) {
		f.bad = true
		return
	}
	for i := int64(0); i < n && !f.bad; i++ {
		id += f.signed()
		each(id)
	}
}

func (f *fields) signed() int64 {
	v, n := binary.Varint(f.rest)
	if f.bad || n <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

const (
	// reportSilent, beyond the time for which its fans' requests may be held, is after
	// how long credit is not left to a replica's door any more: they stand there all
	// the time while it stands still. Not a whole number of readings, which are one a
	// second: the one at the end would count or not by a millisecond, and a second of
	// the rate with it.
	reportSilent = 1500 * time.Millisecond
	reportDead   = 30 * time.Second // after that it says nothing any more
	// reportGone is after how long nobody needs it: a replica that lives and has
	// something to say says it anew.
	reportGone = 10 * time.Minute
)

// others are the last reports of the other replicas, and when this replica
// first saw each: their age is measured here, whatever their clocks say.
type others struct {
	epoch int64 // of which line they are to be

	mu   sync.Mutex
	last map[string]heard
}

type heard struct {
	report
	since time.Time // monotonic, ours
	seen  time.Time // the same, but for one that was there before we looked: when we did
}

// hear takes what the store has. A replica whose report stands still grows old;
// one that is dead is forgotten. A report that was there before we looked is as
// old as it says. One of another line says nothing, and grows old like any other.
func (o *others) hear(bodies map[string][]byte, me string, now time.Time) (unread int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[string]heard{}
	}
	for replica, body := range bodies {
		if replica == me {
			continue
		}
		r, err := decodeReport(body)
		if err != nil {
			unread++
			continue
		}
		if r.epoch != o.epoch {
			r = report{at: r.at, epoch: r.epoch}
		}
		r.replica = replica
		old, known := o.last[replica]
		switch {
		case !known:
			o.last[replica] = heard{r, now.Add(-max(0, now.Sub(r.at))), now}
		case !r.at.Equal(old.at):
			o.last[replica] = heard{r.onOurClock(now), now, now}
		}
	}
	return unread
}

// skewed is more than a report is ever late: its clock is another's then.
const skewed = 3 * time.Second

// onOurClock moves what a replica saw to our time, if its clock is wrong: a
// report that is heard for the first time was written about now. Else everybody
// inside there would seem to have been silent for as long as its clock is slow.
func (r report) onOurClock(now time.Time) report {
	off := now.Sub(r.at)
	if off.Abs() <= skewed {
		return r
	}
	for k, list := range r.facts {
		list = slices.Clone(list)
		for i := range list {
			list[i].at = list[i].at.Add(off)
		}
		r.facts[k] = list
	}
	return r
}

// gone is one replica whose report has stood for so long that it is to be
// forgotten, here at once; "" for none.
func (o *others) gone(now time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for replica, h := range o.last {
		if now.Sub(h.seen) > reportGone { // whatever its clock says
			delete(o.last, replica)
			return replica
		}
	}
	return ""
}

// lately are the reports not older than age.
func (o *others) lately(age time.Duration, now time.Time) (fresh []report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, h := range o.last {
		if h.epoch == o.epoch && now.Sub(h.since) <= age {
			fresh = append(fresh, h.report)
		}
	}
	return fresh
}

// doors are the numbers that stand at the doors of rs, ascending, each once:
// those in which all do, or latecomers.
func doors(rs []report, in func(report) []int64) (numbers []int64) {
	for _, r := range rs {
		numbers = append(numbers, in(r)...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
