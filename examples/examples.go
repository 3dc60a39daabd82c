// Package examples carries seating plans: what the demo sells, so that it runs from the
// binary alone, and one that is as large as halls get.
package examples

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// ConcertHall is a hall of 1,756 seats with curved rows, aisles and wheelchair
// places, as a seating-plan file.
//
//go:embed plans/concert-hall.json
var ConcertHall []byte

//go:embed plans/arena.json.gz
var arena []byte

// Arena is a hall of 20,560 seats in 40 blocks, as a seating-plan file.
func Arena() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(arena))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
