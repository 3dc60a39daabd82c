package seating

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDrawOfAnEventFile(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		draw string
		want DrawFile
		flaw string
	}{
		{draw: `{}`, want: DrawFile{LobbyOpensAt: now, LobbyClosesAt: now.Add(59 * time.Minute)}},
		{
			draw: `{lobby_opens_at: 2026-03-01T09:30:00Z, lobby_closes_at: 2026-03-01T09:59:45Z, beacon: "drand quicknet, round 7"}`,
			want: DrawFile{now.Add(30 * time.Minute), now.Add(59*time.Minute + 45*time.Second), "drand quicknet, round 7"},
		},
		{draw: `{lobby_closes_at: 2026-03-01T09:59:46Z}`, flaw: "no time to draw"},
		{draw: `{lobby_opens_at: 2026-03-01T09:59:00Z}`, flaw: "not after lobby_opens_at"},
		{draw: `{seed: 12}`, flaw: "seed"},
		{draw: `yes`, flaw: "draw"},
	} {
		file := fmt.Sprintf("id: e\ntitle: E\ncurrency: EUR\nopens_at: 2026-03-01T10:00:00Z\ndraw: %s\n", c.draw)
		e, err := ParseEvent("event.yaml", []byte(file), now)
		switch {
		case c.flaw != "":
			if err == nil || !strings.Contains(err.Error(), c.flaw) {
				t.Errorf("%s: %v, want a flaw that says %q", c.draw, err, c.flaw)
			}
		case err != nil || *e.Draw != c.want:
			t.Errorf("%s: %+v (%v), want %+v", c.draw, e.Draw, err, c.want)
		}
	}
}
