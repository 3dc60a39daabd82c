package seating

import (
	"math"
	"regexp"

	"gopkg.in/yaml.v3"
)

// BestFile is what an event file says of the best seats, for those who leave
// the choice to us.
type BestFile struct {
	Focus   *Point // plan units; nil: the plan's stage
	Orphans string // lenient or strict; empty: lenient
}

func (y yamlFile) best(to *BestFile) read {
	return func(n *yaml.Node, field string) {
		var at Point
		within := func(v float64) bool { return math.Abs(v) <= MaxPosition }
		have := y.mapping(n, field, map[string]read{
			"focus_x": y.number(&at.X, within, "a position in the plan"),
			"focus_y": y.number(&at.Y, within, "a position in the plan"),
			"orphans": y.orphans(&to.Orphans),
		})
		_, across := have["focus_x"]
		_, down := have["focus_y"]
		if across != down {
			y.add(n.Line, field, "focus_x and focus_y: both or neither")
		}
		if across && down {
			to.Focus = &at
		}
	}
}

func (y yamlFile) orphans(to *string) read {
	return func(n *yaml.Node, field string) {
		const want = "lenient or strict"
		s, ok := y.scalar(n, field, want)
		if ok && s != "lenient" && s != "strict" {
			y.wrong(n, field, want)
		}
		*to = s
	}
}

// aStage is what editors of our languages and their neighbours write on one.
var aStage = regexp.MustCompile(`(?i)\b(stage|bühne|scène|scene|escenario|palco|palcoscenico|podium)\b|舞台|舞臺|ステージ|무대`)

// stage is the middle of the plan's stage, if it draws one.
func (p Plan) stage() *Point {
	for _, a := range p.Areas {
		if aStage.MatchString(a.Text.Text) {
			at := Point{a.X, a.Y}
			if a.Shape == "rectangle" {
				at.X, at.Y = at.X+a.W/2, at.Y+a.H/2
			}
			return &at
		}
	}
	return nil
}
