package admission

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A report says to the reader what its writer saw, to the millisecond.
func TestReportComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "at"))
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1<<40), 0, 50, rapid.ID[int64])
		want := report{at: at, epoch: rapid.Int64Range(1, 1<<40).Draw(t, "epoch"), taken: rapid.Int64Range(0, 1<<40).Draw(t, "taken")}
		sorted := func(name string) []int64 {
			list := ids.Draw(t, name)
			slices.Sort(list)
			return list
		}
		want.atDoor, want.letIn, want.late = sorted("at door"), sorted("let in"), sorted("late")
		want.proving = sorted("proving")
		want.shut = rapid.Bool().Draw(t, "shut")
		want.graced = rapid.Int64Range(0, 1<<20).Draw(t, "graced")
		for k := range want.facts {
			for _, id := range sorted("facts") {
				age := time.Duration(rapid.Int64Range(-1000, 60_000).Draw(t, "age")) * time.Millisecond
				want.facts[k] = append(want.facts[k], noted{id, rapid.Int64Range(0, 100).Draw(t, "amount"), at.Add(-age)})
			}
		}
		got, err := decodeReport(want.encode())
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Options{
			cmp.AllowUnexported(report{}, noted{}), cmp.Transformer("instant", time.Time.UnixMilli),
			cmp.Comparer(func(a, b []int64) bool { return slices.Equal(a, b) }),
			cmp.Comparer(func(a, b []noted) bool {
				return slices.EqualFunc(a, b, func(x, y noted) bool { return x.id == y.id && x.amount == y.amount && x.at.Equal(y.at) })
			}),
		}
		if diff := cmp.Diff(want, got, same...); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Bytes that are no report are refused whole, and never a panic.
func FuzzReport(f *testing.F) {
	f.Add(report{at: time.UnixMilli(1), atDoor: []int64{1, 2, 3}}.encode())
	f.Add(report{at: time.UnixMilli(1), atDoor: []int64{1, 2, 3}, shut: true}.encode())
	f.Add([]byte{reportFormat})
	f.Add([]byte{reportFormat, 2, 2, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := decodeReport(body); err == nil && len(r.atDoor) > len(body) {
			t.Fatalf("%d numbers in %d bytes", len(r.atDoor), len(body))
		}
	})
}

// What happens once keeps its first time, a sign of life its last; what is too
// old, or too much, goes, the oldest first.
func TestFactsAreBounded(t *testing.T) {
	lost := 0
	f := newFacts(func(n int) { lost += n })
	start := time.Now()
	f.note(came, noted{id: 7, at: start})
	f.note(came, noted{id: 7, at: start.Add(time.Second)})
	f.note(alive, noted{id: 7, at: start})
	f.note(alive, noted{id: 7, at: start.Add(time.Second)})
	f.note(nothing, noted{id: 7, amount: 2, at: start})
	f.note(nothing, noted{id: 7, amount: 4, at: start})
	all := f.lately(start.Add(2 * time.Second))
	if !all[came][0].at.Equal(start) || !all[alive][0].at.Equal(start.Add(time.Second)) || all[nothing][0].amount != 4 {
		t.Errorf("kept %v", all)
	}
	for i := range mostFacts + 100 {
		f.note(gone, noted{id: int64(i), at: start.Add(time.Duration(i))})
	}
	all = f.lately(start.Add(25 * time.Second))
	if len(all[alive]) != 0 || len(all[came]) != 1 || len(all[gone]) != mostFacts || lost != 100 || all[gone][0].id != 100 {
		t.Errorf("kept %d signs of life, %d who came, %d who went from %d on, %d gave way; want 0, 1, %d from 100 on, 100",
			len(all[alive]), len(all[came]), len(all[gone]), all[gone][0].id, lost, mostFacts)
	}
	if all = f.lately(start.Add(time.Minute)); len(all[came])+len(all[gone]) != 0 {
		t.Error("a minute later something is still reported")
	}
	size := len(report{at: start, facts: [kinds][]noted{alive: f.full(start)}}.encode())
	t.Logf("%d signs of life are reported in %d bytes", mostFacts, size)
	if size > reportSize {
		t.Errorf("%d bytes, more than an item holds", size)
	}
}

func (f *facts) full(at time.Time) (list []noted) {
	for i := range mostFacts {
		list = append(list, noted{id: int64(i * 3), at: at.Add(-time.Duration(i%20_000) * time.Millisecond)})
	}
	return list
}

// A report that would be larger than an item of the store lacks what can be done
// without, and the oldest of the rest; who stands at the door it has in any case.
func TestAReportFitsTheStore(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	full := report{at: now, epoch: 1}
	for k := range full.facts {
		for i := range int64(mostFacts) {
			full.facts[k] = append(full.facts[k], noted{id: i * 1000, amount: i % 4, at: now.Add(-time.Duration(i) * time.Millisecond)})
		}
	}
	for i := range int64(HeldAtOnce) {
		full.atDoor = append(full.atDoor, i*50)
	}
	body, lost := full.fitted()
	got, err := decodeReport(body)
	if err != nil || len(body) > reportSize {
		t.Fatalf("%d bytes (%v), want %d at most", len(body), err, reportSize)
	}
	has := 0
	for k, list := range got.facts {
		has += len(list)
		if factKind(k) != alive && (len(list) < mostFacts/2 || !list[0].at.Equal(now) || list[0].id != 0) {
			t.Errorf("%d facts of kind %d, want half of %d at least, the newest", len(list), k, mostFacts)
		}
	}
	if !slices.Equal(got.atDoor, full.atDoor) || has+lost != int(kinds)*mostFacts {
		t.Errorf("%d stand at the door, %d facts and %d lost; want %d, and %d together", len(got.atDoor), has, lost, HeldAtOnce, int(kinds)*mostFacts)
	}
	if small := (report{at: now, epoch: 1, facts: [kinds][]noted{alive: full.facts[alive][:9]}}); len(small.encode()) < reportSize {
		if _, lost := small.fitted(); lost != 0 {
			t.Errorf("a small report lacks %d facts", lost)
		}
	}
}

// The age of another's report is measured here: a clock that is wrong there
// makes it neither younger nor older.
func TestReportsGrowOldByOurClock(t *testing.T) {
	start := time.Now()
	var o others
	fast := report{at: start.Add(time.Hour), atDoor: []int64{1, 2}, taken: 5}.encode()
	dead := report{at: start.Add(-time.Hour), atDoor: []int64{9}}.encode()
	bodies := map[string][]byte{"fast": fast, "dead": dead, "me": fast, "torn": fast[:3]}
	if unread := o.hear(bodies, "me", start); unread != 1 {
		t.Errorf("%d reports could not be read, want 1", unread)
	}
	for age, want := range map[time.Duration]int{0: 1, reportSilent: 1, reportSilent + time.Second: 0} {
		o.hear(bodies, "me", start.Add(age))
		if got := o.lately(reportSilent, start.Add(age)); len(got) != want {
			t.Errorf("after %s %d replicas are heard, want %d", age, len(got), want)
		}
	}
	if got := o.lately(reportDead, start.Add(reportDead+time.Second)); len(got) != 0 {
		t.Errorf("dead replicas still count: %v", got)
	}
	numbers := doors([]report{{atDoor: []int64{1, 3}, taken: 9}, {atDoor: []int64{2, 3}, taken: 7}}, func(r report) []int64 { return r.atDoor })
	if !slices.Equal(numbers, []int64{1, 2, 3}) || union(numbers, []int64{0, 3, 4}) != 5 {
		t.Errorf("two doors have %v", numbers)
	}
}

// A report of another epoch, or of a release that did not say of which, says
// nothing of this line. It is no fault, and nothing of it is left once its replica
// has been silent for long.
func TestAReportOfAnotherLineSaysNothing(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	o := others{epoch: 2}
	said := func(epoch int64) []byte {
		r := report{at: start, epoch: epoch, atDoor: []int64{epoch}}
		r.facts[gone] = []noted{{id: epoch, at: start}}
		return r.encode()
	}
	older := said(2)
	older[0] = reportFormat - 1
	newer := said(2)
	newer[0] = reportShut + 1
	bodies := map[string][]byte{"before the reset": said(1), "after the next": said(3), "an older release": older, "ours": said(2)}
	if unread := o.hear(bodies, "me", start); unread != 0 {
		t.Errorf("%d reports are faults, want none", unread)
	}
	if got := o.lately(reportDead, start); len(got) != 1 || got[0].replica != "ours" {
		t.Errorf("heard %+v, want ours alone", got)
	}
	if unread := o.hear(map[string][]byte{"a newer release": newer}, "me", start); unread != 1 {
		t.Errorf("of a report that nobody here can read %d are faults, want 1", unread)
	}
	forgotten := map[string]bool{}
	for range len(bodies) {
		forgotten[o.gone(start.Add(reportGone+time.Second))] = true
	}
	if len(forgotten) != len(bodies) || forgotten[""] {
		t.Errorf("forgotten in the end: %v, want all of %d", forgotten, len(bodies))
	}
}

// What a replica with a wrong clock saw is told by ours: its people are not
// silent because its clock is slow.
func TestAReportOfAWrongClock(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, off := range []time.Duration{-40 * time.Second, -2 * time.Second, 0, 30 * time.Second} {
		var o others
		theirs := now.Add(off)
		o.hear(map[string][]byte{"slow": report{at: theirs}.encode()}, "me", now)
		r := report{at: theirs.Add(time.Second)}
		r.facts[alive] = []noted{{id: 7, at: theirs}} // a second before it was written
		o.hear(map[string][]byte{"slow": r.encode()}, "me", now.Add(time.Second))
		heard := o.lately(time.Minute, now.Add(time.Second))
		if len(heard) != 1 || len(heard[0].facts[alive]) != 1 {
			t.Fatalf("a clock %s off: heard %+v", off, heard)
		}
		if late := now.Sub(heard[0].facts[alive][0].at); late.Abs() > skewed {
			t.Errorf("a clock %s off: the sign of life of now is told as %s ago", off, late)
		}
	}
}

// Whoever was let in before a take-over counts in the last minute.
func TestTheLastMinuteOutlivesATakeOver(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	r := NewRelease(Sale{Event: "e", Epoch: 1}, Door{Event: "e", Epoch: 1, Taken: 100}, now)
	var before []Entry
	for take := int64(100); take > 0; take-- { // one a second
		before = append(before, Entry{
			Pass:    Pass{Take: take, Place: take, ExpiresAt: now.Add(time.Hour)},
			TakenAt: now.Add(-time.Duration(100-take)*time.Second - 500*time.Millisecond),
		})
	}
	r.Earlier(before)
	if n := r.minute.since(100); n < 58 || n > 61 {
		t.Errorf("%d let in during the last minute, want 60", n)
	}
}
