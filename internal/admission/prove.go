package admission

import (
	"context"
	"slices"
	"time"
)

// meets asks the conditions of whoever comes to the door anew. Who stood here a
// moment ago has met them. One that is not met sends the holder away, who keeps
// the lane meanwhile.
func (t *turnstile) meets(ctx context.Context, place Place, conditions []Condition) error {
	if len(conditions) == 0 || t.met(place.Number) {
		return nil
	}
	for _, condition := range conditions {
		if err := condition(ctx); err != nil {
			t.stand(place, true, provesFor)
			return err
		}
	}
	t.stand(place, false, stoodFor)
	return nil
}

func (t *turnstile) met(number int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, lately := t.stood[number]
	return lately && !s.proves && time.Now().Before(s.until)
}

// stand keeps the lane that the place is in now.
func (t *turnstile) stand(place Place, proves bool, long time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.stood[place.Number] = stood{late: t.isLate(place, now), proves: proves, until: now.Add(long)}
}

// proving are those who came in time and were sent away to prove something,
// ascending: the other replicas keep their lane too.
func (t *turnstile) proving(now time.Time) (numbers []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, s := range t.stood {
		if s.proves && !s.late && now.Before(s.until) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers[:min(len(numbers), mostFacts)]
}

// rememberProving keeps the lane of those whom another replica does not tell of
// any more. It may have died; whoever has proven it since does not need it.
func (t *turnstile) rememberProving(before []int64, until time.Time) {
	for _, n := range before {
		if _, still := slices.BinarySearch(t.rivalsProve, n); !still && t.asks[n] == nil && t.letIn[n].IsZero() {
			t.stood[n] = stood{proves: true, until: until}
		}
	}
}
