package seating

import "fmt"

// Admission is standing room, or seats that nobody picks: Count units of a
// section, alike, sold in pos order.
type Admission struct {
	Section  string
	Category string
	Count    int
	line     int
}

func (a Admission) sameAs(b Admission) bool {
	return a.Section == b.Section && a.Category == b.Category
}

// seats are the units of the nth group (1-based) of a hall. Their guids are
// ga-<group>-<unit>, so that they stay what they are when the hall is read
// again.
func (a Admission) seats(group int) []Seat {
	units := make([]Seat, a.Count)
	for i := range units {
		units[i] = Seat{
			GUID: fmt.Sprintf("ga-%d-%d", group, i+1), Kind: General,
			Section: a.Section, Number: fmt.Sprint(i + 1), Category: a.Category,
		}
	}
	return units
}
