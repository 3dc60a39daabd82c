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
	return y.either(to, "none", "required")
}

// either reads one of two words; the second is true.
func (y yamlFile) either(to *bool, no, yes string) read {
	return func(n *yaml.Node, field string) {
		want := no + " or " + yes
		s, ok := y.scalar(n, field, want)
		if ok && s != no && s != yes {
			y.wrong(n, field, want)
		}
		*to = s == yes
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
