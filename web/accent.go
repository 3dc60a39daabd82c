package web

import (
	"fmt"
	"math"
)

// Accent is an organiser's colour, #rrggbb. It fills buttons and bars and is never
// read: words stay in the page's own ink.
type Accent string

// luminance is WCAG's relative luminance.
func (a Accent) luminance() float64 {
	var r, g, b int
	if _, err := fmt.Sscanf(string(a), "#%02x%02x%02x", &r, &g, &b); err != nil {
		return 1
	}
	part := func(c int) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

// Visible tells whether it stands out on white by 3 to 1 (WCAG 2.2, 1.4.11).
func (a Accent) Visible() bool { return 1.05/(a.luminance()+0.05) >= 3 }

// on is the ink that is read on it: one of the two always does, by 4.5 to 1.
func (a Accent) on() string {
	if 1.05/(a.luminance()+0.05) >= 4.5 {
		return "#fff"
	}
	return "#000"
}

// lit is the same, light enough to stand out on the dark paper.
func (a Accent) lit() Accent {
	var r, g, b int
	for a.luminance() < 0.15 {
		if _, err := fmt.Sscanf(string(a), "#%02x%02x%02x", &r, &g, &b); err != nil {
			return a
		}
		a = Accent(fmt.Sprintf("#%02x%02x%02x", r+(261-r)/8, g+(261-g)/8, b+(261-b)/8))
	}
	return a
}

// Styles lays the colour over a page's own.
func (a Accent) Styles() string {
	dark := a.lit()
	return fmt.Sprintf(":root{--accent:%s;--on-accent:%s}@media (prefers-color-scheme:dark){:root{--accent:%s;--on-accent:%s}}", a, a.on(), dark, dark.on())
}
