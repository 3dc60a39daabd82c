package admission

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The door does what a plain list of places, sorted when asked, would do.
func TestQueueIsAList(t *testing.T) {
	start := time.Unix(1_790_000_000, 0)
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		list := map[int64]time.Time{}
		now := start
		numbers := func() []int64 {
			var ns []int64
			for n := range list {
				ns = append(ns, n)
			}
			slices.Sort(ns)
			return ns
		}
		t.Repeat(map[string]func(*rapid.T){
			"hold": func(t *rapid.T) {
				n, until := rapid.Int64Range(0, 20).Draw(t, "n"), now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "s"))*time.Second)
				was, there := list[n]
				if !there || until.After(was) {
					list[n] = until
				}
				if q.Hold(n, until) == there {
					t.Fatalf("Hold(%d) says it was there: %v", n, !there)
				}
			},
			"drop": func(t *rapid.T) {
				n := rapid.Int64Range(0, 20).Draw(t, "n")
				_, there := list[n]
				delete(list, n)
				if q.Drop(n) != there {
					t.Fatalf("Drop(%d) says it was there: %v", n, !there)
				}
			},
			"expire": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "s")) * time.Second)
				var over []int64
				for _, n := range numbers() {
					if !now.Before(list[n]) {
						over = append(over, n)
						delete(list, n)
					}
				}
				if got := q.Expire(now); !slices.Equal(got, over) {
					t.Fatalf("expired %v, want %v", got, over)
				}
			},
			"": func(t *rapid.T) {
				k := rapid.IntRange(-1, 25).Draw(t, "k")
				want := numbers()
				want = want[:max(0, min(k, len(want)))]
				if got := q.Lowest(k); !slices.Equal(got, want) || q.Len() != len(list) {
					t.Fatalf("the lowest %d of %v are %v", k, numbers(), got)
				}
			},
		})
	})
}

func BenchmarkQueueOfTenThousand(b *testing.B) {
	var q Queue
	now := time.Unix(1_790_000_000, 0)
	for n := range int64(10_000) {
		q.Hold(n*7919%10_007, now)
	}
	for n := int64(0); b.Loop(); n++ {
		low := q.Lowest(1)[0]
		q.Drop(low)
		q.Hold(low, now)
		q.Hold(n*7919%10_007, now)
	}
}
