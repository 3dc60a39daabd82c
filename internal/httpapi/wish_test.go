package httpapi

import (
	"testing"
	"time"
)

// The same wish is the same request, however its seats are sorted and its code is copied.
func TestAWishIsTheSameHoweverItIsSpelt(t *testing.T) {
	first := wish{Seats: []string{"A-1", "A-2"}, Code: "FAN-2026"}
	if second := (wish{Seats: []string{"A-2", "A-1"}, Code: "fan 2026"}); first.hash() != second.hash() {
		t.Errorf("%v and %v are not the same", first, second)
	}
	if other := (wish{Seats: first.Seats, Code: "FAN-2027"}); first.hash() == other.hash() {
		t.Errorf("%v and %v are the same", first, other)
	}
}

// Whoever would wait for longer than anybody may is no fool: it waits as long as one may.
func TestAnyWholeNumberOfSecondsIsAWait(t *testing.T) {
	for prefer, want := range map[string]time.Duration{
		"":                                      claimWait,
		"wait=0":                                0,
		"respond-async, wait=2":                 2 * time.Second,
		"wait=65536":                            claimMost,
		"wait=18446744073709551616":             claimMost,
		"wait=99999999999999999999999999999999": claimMost,
	} {
		if got, err := preferWait(prefer); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", prefer, got, err, want)
		}
	}
	for _, prefer := range []string{"wait=", "wait=-1", "wait=2.5", "wait=soon"} {
		if got, err := preferWait(prefer); err == nil {
			t.Errorf("%q: %s, want a refusal", prefer, got)
		}
	}
}
