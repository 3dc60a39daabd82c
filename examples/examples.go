// Package examples carries what the demo sells, so that it runs from the binary
// alone.
package examples

import _ "embed"

// ConcertHall is a hall of 1,756 seats with curved rows, aisles and wheelchair
// places, as a seating-plan file.
//
//go:embed plans/concert-hall.json
var ConcertHall []byte
