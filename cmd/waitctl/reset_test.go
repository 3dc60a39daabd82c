package main

import (
	"testing"
	"time"
)

// An event is begun anew when it is meant, with a draw that nobody has seen; what
// stands in the way is said, with what would help.
func TestAnEventIsReset(t *testing.T) {
	w := newWaitctl(t)
	at := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }
	w.want(0, "created", "event", "create", "-f", w.file("e.yaml", "id: gala\ntitle: G\ncurrency: EUR\nopens_at: "+at(2*time.Hour)+
		"\ndraw:\n  lobby_closes_at: "+at(time.Hour)+"\n  beacon: drand, round 8\n"))
	w.want(2, "--yes", "event", "reset", "gala")
	w.want(2, "there is no event other", "event", "reset", "other", "--yes")
	w.want(0, "epoch 2\nthe new draw is committed to: ", "event", "reset", "gala", "--yes")
	w.want(2, "name a later one with --beacon", "event", "reset", "gala", "--yes", "--lobby-closes-at", at(90*time.Minute))
	w.want(2, "the draw comes between", "event", "reset", "gala", "--yes", "--opens-at", at(time.Minute))
	w.want(0, "epoch 3", "event", "reset", "gala", "--yes", "--lobby-closes-at", at(90*time.Minute), "--beacon", "drand, round 9")
	if n := w.count(`SELECT count(DISTINCT commitment) FROM draws WHERE event_id = 'gala'`); n != 3 {
		t.Errorf("%d commitments of three lines", n)
	}
	w.want(0, "closed", "close", "gala")
	w.want(2, "closed for good", "event", "reset", "gala", "--yes")
}
