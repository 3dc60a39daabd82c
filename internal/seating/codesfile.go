package seating

import (
	"gopkg.in/yaml.v3"
)

// CodesFile says where an event's access codes are: one a line, each for so many
// people.
type CodesFile struct {
	File string // relative to the event file; empty: they are imported later
	Uses int
}

// required reads none or required.
func (y yamlFile) required(to *bool) read {
	return func(n *yaml.Node, field string) {
		const want = "none or required"
		s, ok := y.scalar(n, field, want)
		if ok && s != "none" && s != "required" {
			y.wrong(n, field, want)
		}
		*to = s == "required"
	}
}

// codes reads none, required, or a file of codes, which then are required.
func (y yamlFile) codes(required *bool, to *CodesFile) read {
	return func(n *yaml.Node, field string) {
		if n.Kind != yaml.MappingNode {
			y.required(required)(n, field)
			return
		}
		*required, to.Uses = true, 1
		have := y.mapping(n, field, map[string]read{
			"file": y.text(&to.File, 1000),
			"uses": y.whole(&to.Uses, 1, 10_000),
		})
		if _, given := have["file"]; !given {
			y.add(n.Line, field+".file", "missing")
		}
	}
}
