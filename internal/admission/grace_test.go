package admission

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whoever stands at the door and however many credits there are: each lane goes
// in the order of its numbers, no credit is left while somebody may have it,
// latecomers do not exceed their share while anybody else stands there, and
// nobody is kept back for a latecomer who comes behind.
func TestLanesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(0, 60), 0, 40, rapid.ID[int64]).Draw(t, "numbers")
		slices.Sort(numbers)
		lanes := [2]lane{{until: math.MaxInt64}, {until: math.MaxInt64}}
		for _, n := range numbers {
			i := rapid.IntRange(0, 1).Draw(t, "lane")
			lanes[i].numbers = append(lanes[i].numbers, n)
		}
		blocked := rapid.IntRange(0, 4).Draw(t, "blocked")
		if blocked < 2 && len(lanes[blocked].numbers) > 0 {
			lanes[blocked].until = rapid.SampledFrom(lanes[blocked].numbers).Draw(t, "until")
		}
		allow := allowance(rapid.Float64Range(-5, 10).Draw(t, "allowance"))
		k := rapid.IntRange(0, 50).Draw(t, "credits")
		away := rapid.SliceOfDistinct(rapid.Int64Range(0, 60), rapid.ID[int64]).Draw(t, "away")
		here := func(n int64) bool { return !slices.Contains(away, n) }
		picked := allow.pick(lanes[0], lanes[1], k, here)
		count, next := allow, [2]int{}
		for _, n := range picked {
			i := 0
			if slices.Contains(lanes[1].numbers, n) {
				i = 1
			}
			if lanes[i].numbers[next[i]] != n || n > lanes[i].until {
				t.Fatalf("%d goes where %d should (until %d)", n, lanes[i].numbers[next[i]], lanes[i].until)
			}
			mains := next[0] < len(lanes[0].numbers)
			if i == 1 && mains && !count.open() {
				t.Fatalf("latecomer %d goes on an allowance of %v, while others stand there", n, count)
			}
			if i == 1 && mains && n > lanes[0].numbers[next[0]] {
				t.Fatalf("latecomer %d goes before %d", n, lanes[0].numbers[next[0]])
			}
			if i == 1 && mains && !here(n) {
				t.Fatalf("a credit is kept for latecomer %d, who is not here, and %d stands there", n, lanes[0].numbers[next[0]])
			}
			next[i]++
			if i == 1 {
				count--
			}
			count += graceShare
		}
		if len(picked) == k {
			return
		}
		if m := lanes[0].numbers; next[0] < len(m) && m[next[0]] <= lanes[0].until {
			t.Fatalf("%d of %d credits used, and %d stands there", len(picked), k, m[next[0]])
		}
		if l := lanes[1].numbers; next[0] == len(lanes[0].numbers) && next[1] < len(l) && l[next[1]] <= lanes[1].until {
			t.Fatalf("%d of %d credits used, and latecomer %d stands there alone", len(picked), k, l[next[1]])
		}
	})
}

// A call window begins at the later of the call and the ticket, and stands
// still while nobody can be let in.
func TestCallWindow(t *testing.T) {
	const window = time.Minute
	begin := pacingStart
	var c calls
	now := begin
	pass := func(d time.Duration, door Door) {
		for end := now.Add(d); now.Before(end); {
			now = now.Add(time.Second)
			c.see(door, now, window)
		}
	}
	lets := Door{Front: 10, Budget: 1}
	pass(time.Second, lets)
	for _, c2 := range []struct {
		after  time.Duration
		door   Door
		number int64
		joined time.Duration // before now
		late   bool
		what   string
	}{
		{55 * time.Second, lets, 5, time.Hour, false, "within the window"},
		{10 * time.Minute, Door{Front: 20, Budget: 1, Stopped: true}, 5, time.Hour, false, "the door was shut"},
		{10 * time.Minute, Door{Front: 20}, 5, time.Hour, false, "there was nothing to sell"},
		{10 * time.Second, Door{Front: 20, Budget: 1}, 5, time.Hour, true, "past the window"},
		{0, Door{}, 5, 30 * time.Second, false, "the ticket is younger than the call"},
		{0, Door{}, 15, time.Hour, false, "called later"},
		{0, Door{}, 25, time.Hour, false, "not called"},
		{time.Hour, Door{Front: 30, Budget: 1}, 15, time.Hour, true, "past its window too"},
		{0, Door{}, 25, time.Hour, true, "and so is the last"},
	} {
		pass(c2.after, c2.door)
		if late := c.late(c2.number, now.Add(-c2.joined), now, window); late != c2.late {
			t.Errorf("%s: place %d is late: %v", c2.what, c2.number, late)
		}
	}
	if len(c.marks) > 3 {
		t.Errorf("%d marks are kept", len(c.marks))
	}
	taken := Door{Front: 30}
	before := c.ran
	for range 10 { // nobody is left over: each credit is taken as it comes
		taken.Taken++
		pass(time.Second, taken)
	}
	if c.ran-before != 10*time.Second {
		t.Errorf("the clock ran %v of 10 s in which somebody was let in each second", c.ran-before)
	}
	pass(time.Second, taken)
	now = now.Add(time.Hour)
	c.see(lets, now, window)
	if ran := c.ran - before; ran > 13*time.Second {
		t.Errorf("an hour in which nobody looked counts for %v", ran-10*time.Second)
	}
}

// Of any takes in a row while others stand there, latecomers get their share,
// one, and what was saved: a second's worth.
func TestLatecomersGetTheirShare(t *testing.T) {
	for _, rate := range []float64{0.4, 10, 200} {
		allow := allowance(1)
		var late []bool
		for n := range int64(3000) {
			allow = allow.within(rate)
			of := []int64{}
			if n%1000 > 300 { // they come and go
				of = []int64{1}
			}
			got := allow.pick(lane{[]int64{10_000}, math.MaxInt64}, lane{of, math.MaxInt64}, 1, func(int64) bool { return true })
			if allow += graceShare; got[0] == 1 {
				allow--
			}
			late = append(late, got[0] == 1)
		}
		saved, all := 1+graceShare*rate, 0
		for i := range late {
			n := 0
			for j := i; j < len(late); j++ {
				if late[j] {
					n++
				}
				if float64(n) > graceShare*float64(j-i+1)+1+saved+1e-9 {
					t.Fatalf("at %v/s, %d of %d takes in a row are latecomers'", rate, n, j-i+1)
				}
			}
			all += map[bool]int{true: 1}[late[i]]
		}
		if all < 380 {
			t.Errorf("at %v/s %d of 3,000 takes were latecomers', who stood there for 2,100 of them", rate, all)
		}
	}
}
