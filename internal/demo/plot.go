package demo

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// A plot is drawn by hand as SVG: a page that opens anywhere, from a file,
// with nothing to load.
type curve struct {
	Name, Color string
	at          func(Sample) float64
}

type plot struct {
	Title  string
	Curves []curve
	Svg    template.HTML
}

const plotWidth, plotHeight = 860, 200

func (p *plot) draw(samples []Sample) {
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

func (r Report) html(w io.Writer) error {
	plots := []plot{
		{Title: "Seats", Curves: []curve{
			{"free", "#2e7d32", func(s Sample) float64 { return float64(s.Free) }},
			{"in carts", "#ef6c00", func(s Sample) float64 { return float64(s.Pending) }},
			{"sold", "#1565c0", func(s Sample) float64 { return float64(s.Sold) }},
		}},
		{Title: "People let in a second, against the rate that was set", Curves: []curve{
			{"let in", "#6a1b9a", func(s Sample) float64 { return s.LetIn }},
			{"rate set", "#9e9e9e", func(s Sample) float64 { return r.Rate }},
			{"claims", "#00838f", func(s Sample) float64 { return s.Claims }},
		}},
		{Title: "People in the line", Curves: []curve{{"waiting", "#37474f", func(s Sample) float64 { return float64(s.Line) }}}},
		{Title: "People at the door and inside", Curves: []curve{
			{"at the door", "#c62828", func(s Sample) float64 { return float64(s.AtDoor) }},
			{"inside", "#2e7d32", func(s Sample) float64 { return float64(s.Inside) }},
		}},
	}
	for i := range plots {
		plots[i].draw(r.Samples)
	}
	return page.Execute(w, map[string]any{"R": r, "Plots": plots})
}

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Waitroom: the sale, told by its own rows</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}
table{border-collapse:collapse}td,th{padding:.15rem 1.2rem .15rem 0;text-align:left;font-variant-numeric:tabular-nums}
svg{width:100%;height:auto}.grid{stroke:#dde3e8}.y{text-anchor:end;font-size:11px;fill:#51606d}.x{text-anchor:middle;font-size:11px;fill:#51606d}
figure{margin:2rem 0}figcaption span{margin-right:1rem;font-weight:600}
</style>
<h1>{{.R.Sold}} of {{.R.Seats}} seats sold in {{printf "%.0f" .R.Seconds}} s, {{.R.Oversold}} oversold</h1>
<table>
<tr><th>Fans<td>{{.R.Fans}}<th>Rate set<td>{{.R.Rate}} a second
<tr><th>Let in<td>{{.R.LetIn}}<th>Most in any second<td>{{.R.LetInMax1s}}
<tr><th>Orders paid<td>{{.R.PaidOrders}}<th>Expired<td>{{.R.ExpiredOrders}}
<tr><th>Waves<td>{{.R.Waves}}<th>Refunds owed<td>{{.R.Refunds}}
<tr><th>Waited, median<td>{{printf "%.0f" .R.WaitP50}} s<th>95 of 100 within<td>{{printf "%.0f" .R.WaitP95}} s
<tr><th>Audit<td>exit {{.R.Audit.Exit}}<th>Found nothing<td>{{.R.FoundNothing}}
</table>
{{range .Plots}}<figure><figcaption><b>{{.Title}}</b><br>{{range .Curves}}<span style="color:{{.Color}}">{{.Name}}</span>{{end}}</figcaption>{{.Svg}}</figure>
{{end}}
<h2>Audit</h2><table>{{range $p, $n := .R.Audit.Checked}}<tr><th>{{$p}}<td>{{$n}} facts judged{{end}}</table>
</html>
`))
