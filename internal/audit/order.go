package audit

import "slices"

// Order is how far people were let in from the order of the line. No promise
// bounds it alone: who comes late when called is let in late.
type Order struct {
	People   int64   `json:"people"`
	Inverted int64   `json:"inverted_pairs"` // two, the higher number first
	Kendall  float64 `json:"kendall"`        // of all pairs, those inverted
	Greatest int64   `json:"greatest"`       // how many with higher numbers one person was let in behind
}

// orderOf counts by merging: passes come by take.
func orderOf(passes []pass) Order {
	passes = slices.Clone(passes)
	slices.SortFunc(passes, func(a, b pass) int { return int(a.take - b.take) })
	numbers := make([]int64, len(passes))
	for i, p := range passes {
		numbers[i] = p.place
	}
	n := int64(len(numbers))
	o := Order{People: n}
	behind := map[int64]int64{}
	mergeCount(numbers, behind)
	for _, higher := range behind {
		o.Inverted += higher
		o.Greatest = max(o.Greatest, higher)
	}
	if n > 1 {
		o.Kendall = float64(o.Inverted) / float64(n*(n-1)/2)
	}
	return o
}

// mergeCount sorts the numbers and adds to behind, for each, how many higher
// ones stood before it.
func mergeCount(numbers []int64, behind map[int64]int64) {
	if len(numbers) < 2 {
		return
	}
	left := slices.Clone(numbers[:len(numbers)/2])
	right := slices.Clone(numbers[len(numbers)/2:])
	mergeCount(left, behind)
	mergeCount(right, behind)
	for i := range numbers {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			numbers[i], left = left[0], left[1:]
		} else {
			behind[right[0]] += int64(len(left))
			numbers[i], right = right[0], right[1:]
		}
	}
}
