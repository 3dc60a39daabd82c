package seating

import (
	"time"

	"gopkg.in/yaml.v3"
)

// PresaleFile is what an event file sells to codes alone: price tiers, and
// sections with numbered seats. The codes are imported by themselves.
type PresaleFile struct {
	Name            string
	Tiers, Sections []string
	Until           time.Time // from then on it is everybody's; zero: never
}

func (y yamlFile) tierLimits(to *map[string]int) read {
	return func(n *yaml.Node, field string) {
		limits := map[string]int{}
		y.pairs(n, field, func(key, value *yaml.Node, at string) {
			var seats int
			y.whole(&seats, 1, 10_000)(value, at)
			if y.check(key.Line, at, key.Value, MaxLabel) {
				limits[key.Value] = seats
			}
		})
		if len(limits) > 0 {
			*to = limits
		}
	}
}

func (y yamlFile) presales(to *[]PresaleFile) read {
	return func(n *yaml.Node, field string) {
		y.list(n, field, func(n *yaml.Node, at string) {
			var p PresaleFile
			have := y.mapping(n, at, map[string]read{
				"name":     y.text(&p.Name, MaxLabel),
				"tiers":    y.names(&p.Tiers),
				"sections": y.names(&p.Sections),
				"until":    y.moment(&p.Until),
			})
			p.Until = p.Until.UTC()
			if _, given := have["name"]; !given {
				y.add(n.Line, at+".name", "missing")
			}
			if len(p.Tiers)+len(p.Sections) == 0 {
				y.add(n.Line, at, "neither tiers nor sections")
			}
			*to = append(*to, p)
		})
	}
}

func (y yamlFile) names(to *[]string) read {
	return func(n *yaml.Node, field string) {
		y.list(n, field, func(n *yaml.Node, at string) {
			var name string
			y.text(&name, MaxLabel)(n, at)
			*to = append(*to, name)
		})
	}
}
