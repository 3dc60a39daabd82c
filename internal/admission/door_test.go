package admission_test

import (
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/admission"
)

// The door's transitions, in any order, from anybody, against accounts that share
// nothing with them: the front never falls, credit is never above the last cap and
// is taken whole, and whoever is not the last holder changes nothing.
func TestTheDoorNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		door := admission.Door{Event: "e", Epoch: 1}
		var front, taken, credit, budget, moves int64
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			before := door
			seen := door
			if rapid.IntRange(0, 3).Draw(rt, "stale") == 0 {
				seen.Beat--
			}
			switch rapid.SampledFrom([]string{"acquire", "refill", "refill", "take", "take"}).Draw(rt, "do") {
			case "acquire":
				next, ok := door.Acquire(seen, "x")
				if ok != (seen.Beat == before.Beat) {
					rt.Fatalf("acquired %t of a door seen at beat %d of %d", ok, seen.Beat, before.Beat)
				}
				if ok {
					door, credit = next, 0
					moves++
				}
			case "refill":
				r := admission.Refill{
					Event: "e", Epoch: 1, Term: seen.Term, Beat: seen.Beat,
					Add: rapid.Int64Range(0, 5000).Draw(rt, "add"), Cap: rapid.Int64Range(0, 9000).Draw(rt, "cap"),
					Front:  rapid.Int64Range(0, 50).Draw(rt, "front"),
					Budget: rapid.Int64Range(-5, 9).Draw(rt, "budget"), Stopped: rapid.Bool().Draw(rt, "stopped"),
				}
				next, ok := door.Refill(r)
				if ok != (seen.Beat == before.Beat) {
					rt.Fatalf("refilled %t from beat %d of %d", ok, seen.Beat, before.Beat)
				}
				if ok {
					door = next
					front, credit, budget = max(front, r.Front), min(credit+r.Add, r.Cap), budget+r.Budget
					moves++
				}
			case "take":
				k := rapid.Int64Range(1, 4).Draw(rt, "k")
				next, ok := door.Take(1, k)
				if want := !before.Stopped && credit >= 1000*k && budget >= k; ok != want {
					rt.Fatalf("took %d of %d credit and %d budget (stopped %t): %t", k, credit, budget, before.Stopped, ok)
				}
				if ok {
					door = next
					taken, credit, budget = taken+k, credit-1000*k, budget-k
				}
			}
			if door.Front != front || door.Credit != credit || door.Taken != taken || door.Budget != budget {
				rt.Fatalf("the door is %+v; by our accounts front %d, credit %d, taken %d, budget %d", door, front, credit, taken, budget)
			}
			if door.Beat != moves {
				rt.Fatalf("beat %d after %d moves of the holder", door.Beat, moves)
			}
		}
	})
}
