package ordeal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"waitroom/internal/ordeal"
)

// line is a claim as the witness log has it, sent and answered so many seconds after
// the opening.
func line(attempt, outcome string, sent, answered float64, seats, taken []string) string {
	opens := time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return opens.Add(time.Duration(s * float64(time.Second))) }
	text, _ := json.Marshal(map[string]any{
		"op": "claim", "holder": "fan", "attempt": attempt, "outcome": outcome, "asked": at(sent), "at": at(answered),
		"seats": seats, "taken": taken, "wish": map[string]any{"seats": seats},
	})
	return string(text)
}

// What could have been told by a house that does one thing at a time is allowed, a
// lost answer or none among it; what could not is refused.
func TestAWrongClaimIsFoundInTheHistory(t *testing.T) {
	opens := time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)
	order := func(attempt string, ended float64, seats ...string) ordeal.Sold {
		s := ordeal.Sold{Holder: "fan", Attempt: attempt, Seats: seats}
		if ended > 0 {
			s.Ended = opens.Add(time.Duration(ended * float64(time.Second)))
		}
		return s
	}
	a, b, ab := []string{"A"}, []string{"B"}, []string{"A", "B"}
	for what, c := range map[string]struct {
		log  []string
		sold []ordeal.Sold
		want porcupine.CheckResult
	}{
		"one after the other, after an end": {
			[]string{line("x", "claimed", 1, 2, ab, nil), line("y", "claimed", 5, 6, b, nil)},
			[]ordeal.Sold{order("x", 4, ab...), order("y", 0, b...)},
			porcupine.Ok,
		},
		"asked twice, and once more after its end": {
			[]string{line("x", "claimed", 1, 2, a, nil), line("x", "claimed", 1.5, 3, a, nil), line("x", "claimed", 7, 8, a, nil)},
			[]ordeal.Sold{order("x", 4, a...)},
			porcupine.Ok,
		},
		"the answer was lost, and others are refused for it": {
			[]string{line("x", "unknown", 1, 16, a, nil), line("y", "seats_taken", 2, 3, ab, a)},
			[]ordeal.Sold{order("x", 0, a...)},
			porcupine.Ok,
		},
		"the answer was lost, and it had no effect": {
			[]string{line("x", "unknown", 1, 16, a, nil), line("y", "claimed", 2, 3, a, nil)},
			[]ordeal.Sold{order("y", 0, a...)},
			porcupine.Ok,
		},
		"a seat is sold twice": {
			[]string{line("x", "claimed", 1, 2, ab, nil), line("y", "claimed", 5, 6, b, nil)},
			[]ordeal.Sold{order("x", 0, ab...), order("y", 0, b...)},
			porcupine.Illegal,
		},
		"a seat is sold before the other's order ended": {
			[]string{line("x", "claimed", 1, 2, a, nil), line("y", "claimed", 5, 6, a, nil)},
			[]ordeal.Sold{order("x", 9, a...), order("y", 0, a...)},
			porcupine.Illegal,
		},
		"a seat is sold twice, and one of them was not told": {
			[]string{line("x", "busy", 1, 2, a, nil), line("y", "claimed", 5, 6, a, nil)},
			[]ordeal.Sold{order("x", 0, a...), order("y", 0, a...)},
			porcupine.Illegal,
		},
		"a free seat is refused": {
			[]string{line("x", "seats_taken", 1, 2, a, a), line("y", "claimed", 3, 4, a, nil)},
			[]ordeal.Sold{order("y", 0, a...)},
			porcupine.Illegal,
		},
		"refused to who has it": {
			[]string{line("x", "claimed", 1, 2, a, nil), line("x", "seats_taken", 3, 4, a, a)},
			[]ordeal.Sold{order("x", 0, a...)},
			porcupine.Illegal,
		},
	} {
		h, err := ordeal.ReadHistory(strings.NewReader(strings.Join(c.log, "\n")), c.sold)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if got := h.Verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if _, err := ordeal.ReadHistory(strings.NewReader(""), []ordeal.Sold{order("x", 0, a...)}); err == nil {
		t.Error("an order that nobody asked for is not noticed")
	}
}
