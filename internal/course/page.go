package course

import (
	"fmt"
	"html/template"
	"io"
)

// Page is a report to open in a browser.
type Page struct {
	Title string
	Facts []Fact
	Plots []Plot
	Below []Section
}

// Fact is a figure with its name.
type Fact struct{ Name, Value string }

// Factf is a fact whose value is written by format.
func Factf(name, format string, args ...any) Fact { return Fact{name, fmt.Sprintf(format, args...)} }

// Section is more facts, under a heading.
type Section struct {
	Title string
	Facts []Fact
}

// Write writes the page.
func (p Page) Write(w io.Writer) error { return page.Execute(w, p) }

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Waitroom: {{.Title}}</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(22rem,1fr));gap:.15rem 2rem}dl div{display:flex;gap:1rem}
dt{font-weight:600;flex:0 0 11rem}dd{margin:0;font-variant-numeric:tabular-nums}
table{border-collapse:collapse}td,th{padding:.25rem 1.2rem .25rem 0;text-align:left;vertical-align:top}
svg{width:100%;height:auto}.grid{stroke:#dde3e8}.y{text-anchor:end;font-size:11px;fill:#51606d}.x{text-anchor:middle;font-size:11px;fill:#51606d}
figure{margin:2rem 0}figcaption span{margin-right:1rem;font-weight:600}
</style>
<h1>{{.Title}}</h1>
<dl>{{range .Facts}}<div><dt>{{.Name}}</dt><dd>{{.Value}}</dd></div>
{{end}}</dl>
{{range .Plots}}<figure><figcaption><b>{{.Title}}</b><br>{{range .Curves}}<span style="color:{{.Color}}">{{.Name}}</span>{{end}}</figcaption>{{.Svg}}</figure>
{{end}}{{range .Below}}<h2>{{.Title}}</h2><table>{{range .Facts}}<tr><th>{{.Name}}<td>{{.Value}}
{{end}}</table>
{{end}}</html>
`))
