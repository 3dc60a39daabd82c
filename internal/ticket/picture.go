package ticket

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// Picture is a code as a QR code: an SVG path of its dark modules, in a square of
// Size modules, the quiet zone of four around it included. Dark on light, whatever
// the page's colours are.
type Picture struct {
	Size int
	Path string
}

const quiet = 4

// Draw draws a code. It fits version 5 (37 modules) with error correction M: a
// seventh of it may be torn, creased or in the light.
func Draw(code string) (Picture, error) {
	grid, err := qr.Encode(code, qr.M)
	if err != nil {
		return Picture{}, fmt.Errorf("draw a code: %w", err)
	}
	var path strings.Builder
	for y := range grid.Size {
		for x := 0; x < grid.Size; x++ {
			from := x
			for grid.Black(x, y) { // outside of the grid all is light
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return Picture{grid.Size + 2*quiet, path.String()}, nil
}
