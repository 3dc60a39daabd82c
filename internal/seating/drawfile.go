package seating

import (
	"time"

	"gopkg.in/yaml.v3"
)

// DrawFile is an event file's draw: who comes to the lobby before the opening
// stands in the line where the lot says.
type DrawFile struct {
	LobbyOpensAt  time.Time // left out: at once
	LobbyClosesAt time.Time // left out: a minute before the opening
	Beacon        string    // the name of the public value that decides too; left out: none
}

// DrawLead is the least time from the lobby's closing to the opening: the draw
// and the first calls come between.
const DrawLead = 15 * time.Second

func (y yamlFile) draw(to **DrawFile, now time.Time) read {
	return func(n *yaml.Node, field string) {
		d := &DrawFile{}
		y.mapping(n, field, map[string]read{
			"lobby_opens_at":  y.opening(&d.LobbyOpensAt, now),
			"lobby_closes_at": y.moment(&d.LobbyClosesAt),
			"beacon":          y.text(&d.Beacon, 200),
		})
		*to = d
	}
}

func (e *EventFile) settleDraw(y yamlFile, line int, now time.Time) {
	d := e.Draw
	if d == nil || e.OpensAt.IsZero() {
		return
	}
	if d.LobbyOpensAt.IsZero() {
		d.LobbyOpensAt = now
	}
	if d.LobbyClosesAt.IsZero() {
		d.LobbyClosesAt = e.OpensAt.Add(-time.Minute)
	}
	if d.LobbyClosesAt.After(e.OpensAt.Add(-DrawLead)) {
		y.add(line, "draw.lobby_closes_at", "%s is not %s before opens_at: there would be no time to draw",
			d.LobbyClosesAt.Format(time.RFC3339), DrawLead)
	}
	if !d.LobbyClosesAt.After(d.LobbyOpensAt) {
		y.add(line, "draw.lobby_closes_at", "%s is not after lobby_opens_at", d.LobbyClosesAt.Format(time.RFC3339))
	}
}
