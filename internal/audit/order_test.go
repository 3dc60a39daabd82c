package audit

import "testing"

func TestOrderOfTheLine(t *testing.T) {
	for _, c := range []struct {
		places []int64
		want   Order
	}{
		{nil, Order{}},
		{[]int64{4}, Order{People: 1}},
		{[]int64{0, 1, 2, 9}, Order{People: 4}},
		{[]int64{3, 2, 1, 0}, Order{People: 4, Inverted: 6, Kendall: 1, Greatest: 3}},
		{[]int64{1, 2, 3, 0, 4}, Order{People: 5, Inverted: 3, Kendall: 0.3, Greatest: 3}},
		{[]int64{1, 0, 3, 2}, Order{People: 4, Inverted: 2, Kendall: 1.0 / 3, Greatest: 1}},
	} {
		var passes []pass
		for i, p := range c.places {
			passes = append(passes, pass{take: int64(i + 1), place: p})
		}
		if got := orderOf(passes); got != c.want {
			t.Errorf("let in as %v: %+v, want %+v", c.places, got, c.want)
		}
	}
}
