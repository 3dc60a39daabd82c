package admission

import (
	"math"
	"slices"
	"time"
)

const (
	mostTaken = 256    // credits in one take
	mostMine  = 20_000 // takes remembered
	letInKept = 4 * time.Second

	// onItsWay is how long an answer, and the next request, may take.
	onItsWay = 400 * time.Millisecond
)

// credits is how many people may be let in by what the door shows.
func (d Door) credits() int64 {
	if d.Stopped {
		return 0
	}
	return max(0, min(d.Credit/Milli, d.Budget))
}

// choose picks whom the credit is for: those of ours who are among the lowest
// of all who stand at the doors. Whoever was answered a moment ago and is
// coming again stands there too, and so does who stands at another replica's:
// one credit is left to each of these. As long as the answer may still be on its
// way, nobody at all goes before the answered one.
// The chosen leave the queue; their requests are not let go any more.
func (t *turnstile) choose(door Door, now time.Time) (chosen []*ask) {
	credits := min(int(door.credits()), mostTaken)
	if credits == 0 {
		return nil
	}
	elsewhere, answered := t.elsewhere(door, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, number := range t.queue.Lowest(credits) {
		before, _ := slices.BinarySearch(elsewhere, number)
		if i+before >= credits || number > answered {
			break
		}
		a := t.asks[number]
		a.settled = make(chan struct{})
		chosen = append(chosen, a)
	}
	for _, a := range chosen {
		t.queue.Drop(a.place.Number)
	}
	return chosen
}

// elsewhere are the numbers that stand at a door but are not held here, as far
// as this replica knows: answered here a moment ago, or heard of a second ago.
// As many as were let in elsewhere since are left out, the lowest first.
// answered is the lowest whose answer may still be on its way.
func (t *turnstile) elsewhere(door Door, now time.Time) (numbers []int64, answered int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered = math.MaxInt64
	for _, n := range t.rivals {
		if t.asks[n] == nil && t.letIn[n].IsZero() {
			numbers = append(numbers, n)
		}
	}
	for n, a := range t.absent {
		if !now.Before(a.until) {
			delete(t.absent, n)
			continue
		}
		numbers = append(numbers, n)
		if a.until.Sub(now) > comeBack-onItsWay {
			answered = min(answered, n)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	since, _ := slices.BinarySearch(t.mine, t.rivalsTaken+1)
	letIn := int(door.Taken-t.rivalsTaken) - (len(t.mine) - since)
	return numbers[min(max(0, letIn), len(numbers)):], answered
}

// unchoose puts places back: no credit was to be had. Those whose requests gave
// up meanwhile leave.
func (t *turnstile) unchoose(asks []*ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range asks {
		close(a.settled)
		a.settled = nil
		if a.holds > 0 {
			t.queue.Hold(a.place.Number, time.Time{})
		} else {
			t.drop(a, false)
		}
	}
}

// hear takes in who stands at the other replicas' doors. Without any, all that
// is let in is let in here.
func (t *turnstile) hear(rs []report, taken int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rivals, t.rivalsTaken = nil, taken
	gone := map[int64]bool{}
	for _, r := range rs {
		t.rivals = append(t.rivals, r.atDoor...)
		t.rivalsTaken = min(t.rivalsTaken, r.taken)
		for _, n := range r.letIn {
			gone[n] = true
			delete(t.absent, n)
		}
	}
	t.rivals = slices.DeleteFunc(t.rivals, func(n int64) bool { return gone[n] })
}

// lately are the places let in here so short a time ago that others may still
// think that they stand at a door, ascending.
func (t *turnstile) lately(now time.Time) (numbers []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, at := range t.letIn {
		if now.Sub(at) > letInKept {
			delete(t.letIn, n)
		} else {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}
