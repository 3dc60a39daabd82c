package web

import "testing"

// Whatever colour is taken, what stands on it can be read, and it can be seen.
func TestAccentsCanBeReadAndSeen(t *testing.T) {
	contrast := func(a, b Accent) float64 {
		x, y := a.luminance(), b.luminance()
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	ink := map[string]Accent{"#fff": "#ffffff", "#000": "#000000"}
	taken := 0
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				a := Accent([]byte{'#', digit(r / 16), digit(r % 16), digit(g / 16), digit(g % 16), digit(b / 16), digit(b % 16)})
				if !a.Visible() {
					continue
				}
				taken++
				if got := contrast(a, ink[a.on()]); got < 4.5 {
					t.Errorf("%s under %s: %.2f to 1, want 4.5", a.on(), a, got)
				}
				lit := a.lit()
				if got := contrast(lit, "#12181e"); got < 3 {
					t.Errorf("%s, lit %s, on the dark paper: %.2f to 1, want 3", a, lit, got)
				}
				if got := contrast(lit, ink[lit.on()]); got < 4.5 {
					t.Errorf("%s under %s, lit: %.2f to 1, want 4.5", lit.on(), lit, got)
				}
			}
		}
	}
	if taken < 500 || Accent("#ffff00").Visible() || !Accent("#102040").Visible() {
		t.Errorf("%d colours are taken", taken)
	}
}

func digit(n int) byte { return "0123456789abcdef"[n] }
