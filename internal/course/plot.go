package course

import (
	"fmt"
	"html/template"
	"strings"
)

// Curve is one figure of every sample.
type Curve struct {
	Name, Color string
	at          func(Sample) float64
}

// Plot is drawn by hand as SVG: a page that opens anywhere, from a file, with
// nothing to load.
type Plot struct {
	Title  string
	Curves []Curve
	Svg    template.HTML
}

const plotWidth, plotHeight = 860, 200

func (p *Plot) draw(samples []Sample) {
	top, end := 1.0, 1.0
	for _, s := range samples {
		end = max(end, s.T)
		for _, c := range p.Curves {
			top = max(top, c.at(s))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight+24, template.HTMLEscapeString(p.Title))
	for i := range 5 {
		y := float64(plotHeight) * float64(i) / 4
		fmt.Fprintf(&b, `<line x1="50" x2="%d" y1="%.1f" y2="%.1f" class="grid"/><text x="44" y="%.1f" class="y">%s</text>`,
			plotWidth, y, y, min(max(y+4, 10), plotHeight), short(top*(1-float64(i)/4)))
	}
	for i := range 6 {
		x := 50 + float64(plotWidth-50)*float64(i)/5
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" class="x">%.0f s</text>`, min(x, plotWidth-20), plotHeight+18, end*float64(i)/5)
	}
	for _, c := range p.Curves {
		b.WriteString(`<polyline fill="none" stroke-width="1.8" stroke="` + c.Color + `" points="`)
		for _, s := range samples {
			x := 50 + max(s.T, 0)/end*(plotWidth-50)
			fmt.Fprintf(&b, "%.1f,%.1f ", x, plotHeight*(1-c.at(s)/top))
		}
		b.WriteString(`"/>`)
	}
	b.WriteString(`</svg>`)
	p.Svg = template.HTML(b.String()) //nolint:gosec // numbers and our own words
}

func short(v float64) string {
	switch {
	case v >= 10_000:
		return fmt.Sprintf("%.0fk", v/1000)
	case v < 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
