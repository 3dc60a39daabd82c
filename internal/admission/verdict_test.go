package admission

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestView(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	for _, c := range []struct {
		place Place
		want  View
	}{
		{Place{Number: 7, State: Waiting}, ViewWaiting},
		{Place{Number: 6, State: Waiting}, ViewCalled},
		{Place{Number: 6, State: Passed, PassUntil: now.Add(1)}, ViewPassed},
		{Place{Number: 6, State: Passed, PassUntil: now}, ViewOver},
		{Place{Number: 6, State: Left}, ViewLeft},
		{Place{Number: 9, State: Left}, ViewLeft},
	} {
		if got := c.place.View(7, now); got != c.want {
			t.Errorf("%+v at front 7 is %s, want %s", c.place, got, c.want)
		}
	}
	if Ahead(10, 7) != 3 || Ahead(7, 7) != 0 || Ahead(3, 7) != 0 {
		t.Error("places ahead are those from the front to the place")
	}
}

// The published median is honest, and so is the ninth decile: of many lines
// whose people come by chance, half and nine in ten are served by then.
func TestETAIsHonest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	now := time.UnixMilli(1_790_000_000_000)
	f := Figures{State: Open, Rate: 50, Turn: 0.7, Called: 1 << 20}
	const ahead, runs = 5000, 2000
	p50, p90, known := f.ETA(ahead, now)
	var took []float64
	for range runs {
		people := 0.0
		for range ahead {
			if rng.Float64() < 0.7 {
				people++
			}
		}
		took = append(took, people/50)
	}
	slices.Sort(took)
	early50, _ := slices.BinarySearch(took, p50.Seconds())
	early90, _ := slices.BinarySearch(took, p90.Seconds())
	share50, share90 := float64(early50)/runs, float64(early90)/runs
	t.Logf("p50 %v: %.3f served by then; p90 %v: %.3f", p50, share50, p90, share90)
	if !known || math.Abs(share50-0.5) > 0.05 || math.Abs(share90-0.9) > 0.03 {
		t.Errorf("by p50 %.3f are served, by p90 %.3f", share50, share90)
	}
	f.Called = 0
	if _, wide, _ := f.ETA(ahead, now); wide < p90+5*time.Second {
		t.Errorf("p90 %v with a turn-up that nobody has seen yet, %v with one seen", wide, p90)
	}
}

func TestETAKnowsWhenItDoesNot(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	for _, s := range []SaleState{Paused, OnDoubt, Exhausted, Closed, ""} {
		if _, _, known := (Figures{State: s, Rate: 50, Turn: 0.7}).ETA(100, now); known {
			t.Errorf("an ETA while %q", s)
		}
	}
	if _, _, known := (Figures{State: Open, Turn: 0.7}).ETA(100, now); known {
		t.Error("an ETA without a rate")
	}
	soon := Figures{State: Scheduled, Rate: 50, Turn: 0.5, Opens: now.Add(time.Minute).UnixMilli()}
	if p50, _, known := soon.ETA(100, now); !known || p50 != time.Minute+time.Second {
		t.Errorf("ETA %v a minute before the opening, want 1m1s", p50)
	}
}

func TestPoll(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	f := Figures{State: Open, Rate: 50, Turn: 0.5}
	for _, c := range []struct {
		ahead int64
		want  time.Duration
	}{{0, 5 * time.Second}, {1500, 5 * time.Second}, {3000, 10 * time.Second}, {1 << 40, time.Minute}} {
		for _, s := range []SaleState{Open, Paused, Exhausted} { // as if it went on
			if f.State = s; f.Poll(c.ahead, now) != c.want {
				t.Errorf("%d ahead, %s: asks again after %v, want %v", c.ahead, s, f.Poll(c.ahead, now), c.want)
			}
		}
	}
	if f.Rate = 0; f.Poll(0, now) != time.Minute {
		t.Errorf("without a rate asks again after %v", f.Poll(0, now))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := Jitter(10*time.Second, rng)
		low, high = min(low, d), max(high, d)
	}
	if low < 8500*time.Millisecond || low > 8600*time.Millisecond || high > 11500*time.Millisecond || high < 11400*time.Millisecond {
		t.Errorf("10 s ± 15 %% went from %v to %v", low, high)
	}
}

func TestVerdict(t *testing.T) {
	f := Figures{Share: 0.5, Tickets: 2, Turn: 0.5, Inside: 10, AtDoor: 5, Coming: 5}
	s := Stock{Free: 30, Pending: 40}
	for _, c := range []struct {
		ahead   int64
		want    Verdict
		exceeds bool
	}{
		{19, Likely, false},    // 20 people + 9.5: 29.5 tickets
		{20, Possible, false},  // 30: just not
		{35, Possible, false},  // 35 places × 2 tickets = 70
		{36, Possible, true},   //
		{99, Possible, true},   // 69.5 wanted
		{100, Unlikely, true},  //
		{4000, Unlikely, true}, //
	} {
		if got, over := f.Verdict(c.ahead, s), f.Exceeds(c.ahead, s); got != c.want || over != c.exceeds {
			t.Errorf("%d ahead: %s, exceeds %v; want %s, %v", c.ahead, got, over, c.want, c.exceeds)
		}
	}
	crowded := Figures{Share: 1, Tickets: 2, Turn: 0.05, Inside: 100}
	if !crowded.Exceeds(1, s) {
		t.Error("one place ahead, but those inside want more than there is: the queue exceeds the tickets")
	}
}

func TestVerdictChangesOnTheSecondDocument(t *testing.T) {
	var s Steady
	for i, c := range []struct{ told, shown Verdict }{
		{Unlikely, Unlikely},
		{Likely, Unlikely},
		{Unlikely, Unlikely},
		{Likely, Unlikely},
		{Possible, Unlikely},
		{Possible, Possible},
		{Likely, Possible},
		{Likely, Likely},
		{Likely, Likely},
	} {
		if s = s.Next(c.told); s.Shown != c.shown {
			t.Fatalf("document %d says %s: shown %s, want %s", i, c.told, s.Shown, c.shown)
		}
	}
}
