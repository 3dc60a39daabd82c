package admission

import (
	"cmp"
	"slices"
	"time"
)

// Queue is the door of one replica: the requests for passes that it holds,
// lowest number first. A place stands there once, however often it asks.
// 10,000 held are 300 kB in one piece: moving them is cheaper than a tree.
type Queue struct {
	held []held // by number
}

type held struct {
	number int64
	until  time.Time
}

// Hold lets the place stand at the door until then. False: it stood there
// already, and now stays until the later of the two times.
func (q *Queue) Hold(number int64, until time.Time) bool {
	i, there := q.find(number)
	if !there {
		q.held = slices.Insert(q.held, i, held{number, until})
		return true
	}
	if until.After(q.held[i].until) {
		q.held[i].until = until
	}
	return false
}

// Lowest are the numbers to let in with k credits, in that order. They stay
// held until dropped.
func (q *Queue) Lowest(k int) []int64 {
	k = max(0, min(k, len(q.held)))
	numbers := make([]int64, k)
	for i := range numbers {
		numbers[i] = q.held[i].number
	}
	return numbers
}

// Last is the highest number that stands there.
func (q *Queue) Last() (number int64, any bool) {
	if len(q.held) == 0 {
		return 0, false
	}
	return q.held[len(q.held)-1].number, true
}

// Drop takes a place from the door: let in, or left. False: it was not there.
func (q *Queue) Drop(number int64) bool {
	i, there := q.find(number)
	if there {
		q.held = slices.Delete(q.held, i, i+1)
	}
	return there
}

// Expire takes from the door those who have been held long enough: they are
// answered, and come again.
func (q *Queue) Expire(now time.Time) (over []int64) {
	q.held = slices.DeleteFunc(q.held, func(h held) bool {
		if now.Before(h.until) {
			return false
		}
		over = append(over, h.number)
		return true
	})
	return over
}

// Len is how many stand at the door.
func (q *Queue) Len() int { return len(q.held) }

func (q *Queue) find(number int64) (int, bool) {
	return slices.BinarySearchFunc(q.held, number, func(h held, n int64) int {
		return cmp.Compare(h.number, n)
	})
}
