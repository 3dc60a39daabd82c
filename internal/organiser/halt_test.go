package organiser

import (
	"testing"
	"time"
)

// A stop holds until the settings are read that know of it, whatever else is
// changed meanwhile and however long its writing takes; and then it is over.
func TestAStopHoldsUntilItIsWritten(t *testing.T) {
	h, now := NewHalts(), time.Now()
	stop, other := Stop{"gala", "a"}, Stop{"gala", "b"}
	h.Halt(stop, 5)
	for _, version := range []int64{5, 6, 7} { // somebody else's changes
		if !h.Holds("gala", version, now.Add(time.Hour)) {
			t.Fatalf("a stop of version 5, not written yet, holds nothing at version %d", version)
		}
	}
	h.Halt(other, 7)
	h.Written(stop, 8)
	if !h.Holds("gala", 8, now) {
		t.Error("what was written of one stop ends another")
	}
	h.Written(other, 8) // the sale was paused already: no version is its own
	if !h.Holds("gala", 7, now) {
		t.Error("written as version 8, they hold nothing while version 7 is read")
	}
	if h.Holds("gala", 8, now) || h.Holds("gala", 7, now) || h.Holds("else", 0, now) {
		t.Error("they hold on after the settings that know of them were read")
	}
	h.Halt(stop, 9) // asked once more under an old name, after a resumption
	h.Written(stop, 8)
	if h.Holds("gala", 9, now) {
		t.Error("a stop that was answered long ago halts what was resumed since")
	}
}

// What another process tells of holds as well, and whatever is lost or comes
// late ends by itself: no word of a stop outlives the resumption for good.
func TestAWordThatComesLateHoldsNothingForGood(t *testing.T) {
	now, stop := time.Now(), Stop{"gala", "a"}
	heard := func(h *Halts) { h.Heard(stop, 5, now) }
	written := func(h *Halts) { h.Written(stop, 6) }
	again := func(h *Halts) { h.Heard(stop, 5, now.Add(time.Second)) }
	for name, c := range map[string]struct {
		told    []func(*Halts)
		version int64
		after   time.Duration
		holds   bool
	}{
		"at once":                     {[]func(*Halts){heard}, 5, 0, true},
		"while nothing is written":    {[]func(*Halts){heard}, 5, time.Hour, true},
		"another change meanwhile":    {[]func(*Halts){heard}, 6, HeardFor - 1, true},
		"its writer has died":         {[]func(*Halts){heard}, 6, HeardFor, false},
		"after it was resumed":        {[]func(*Halts){heard}, 7, HeardFor - 1, true},
		"after it was resumed, later": {[]func(*Halts){heard}, 7, HeardFor, false},
		"written":                     {[]func(*Halts){heard, written}, 5, time.Hour, true},
		"written, and read":           {[]func(*Halts){heard, written}, 6, 0, false},
		"written, and told once more": {[]func(*Halts){written, heard}, 6, HeardFor, false},
		"said again each second":      {[]func(*Halts){heard, again}, 6, HeardFor, true},
	} {
		h := NewHalts()
		for _, tell := range c.told {
			tell(h)
		}
		if got := h.Holds("gala", c.version, now.Add(c.after)); got != c.holds {
			t.Errorf("%s: holds %t at version %d after %s, want %t", name, got, c.version, c.after, c.holds)
		}
	}
}
