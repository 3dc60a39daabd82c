package rehearsal

import (
	"math"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
)

// Ten minutes with nobody there bank nothing: 200 people who then come at once
// are let in at the pace.
func TestIdleTimeIsNotSaved(t *testing.T) {
	c := usual(5000, 200, 10)
	c.Audience.Arrive, c.Audience.Absent = audience.Arrivals{{Share: 1, From: 10 * time.Minute, Until: 10*time.Minute + time.Millisecond}}, 0
	c.Limit = 12 * time.Minute
	s := newStage(c).run()
	if len(s.saw.takes) != 200 {
		t.Fatalf("%d people let in, want all 200", len(s.saw.takes))
	}
	took := s.saw.takes[199] - s.saw.takes[0]
	t.Logf("200 people let in within %v", took)
	if over := admission.OverPace(s.saw.takes, 10); over > 0 || took < 19*time.Second {
		t.Errorf("200 people within %v, %.3f over the pace", took, over)
	}
	if took > 25*time.Second {
		t.Errorf("200 people took %v, at 10/s", took)
	}
}

// A pause lets nobody in from the next step on. What the line did not let in
// meanwhile it does not let in afterwards either; it goes on where it stood.
func TestPauseCatchesNothingUp(t *testing.T) {
	const from, to = 20 * time.Second, 60 * time.Second
	c := usual(5000, 20_000, 50)
	c.Limit = 90 * time.Second
	s := newStage(c)
	var front int64
	s.after(from, func() {
		s.sale.Control = admission.Pause
		s.release.Set(s.sale)
		front = s.door.Front
	})
	s.after(to, func() {
		if s.door.Front != front {
			t.Errorf("the front went from %d to %d in the pause", front, s.door.Front)
		}
		s.sale.Control = admission.Run
		s.release.Set(s.sale)
	})
	s.run()
	t.Logf("let in: %d in the 20 s before, %d in the pause, %d in the first second after, %d in 30 s after",
		s.takenBetween(0, from), s.takenBetween(from+admission.Tick, to), s.takenBetween(to, to+time.Second), s.takenBetween(to, to+30*time.Second))
	if n := s.takenBetween(from+admission.Tick, to); n > 0 {
		t.Errorf("%d people let in during the pause", n)
	}
	if n := s.takenBetween(to, to+30*time.Second); n < 1400 {
		t.Errorf("%d people in the 30 s after the pause, want nearly 1,500", n)
	}
	if over := admission.OverPace(s.saw.takes, 50); over > 0 {
		t.Errorf("over the pace by %.3f people", over)
	}
	if !s.saw.states[admission.Paused] {
		t.Error("the state was never paused")
	}
}

// What must be known and is not closes the line within 3 s, with the reason;
// when it is known again the line goes on, and sells out.
func TestDoubtCloses(t *testing.T) {
	for _, c := range []struct {
		reason admission.Reason
		doubt  func(s *stage, on bool)
	}{
		{admission.NoStock, func(s *stage, on bool) { s.noStock = on }},
		{admission.NoClaimers, func(s *stage, on bool) { s.noClaimers = on }},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			s := newStage(usual(1000, 8_000, 50).toPay(time.Minute))
			var reason admission.Reason
			s.after(5*time.Second, func() { c.doubt(s, true) })
			s.after(19*time.Second, func() { reason = s.last.Reason })
			s.after(20*time.Second, func() { c.doubt(s, false) })
			s.run().judge(t)
			if reason != c.reason {
				t.Errorf("reason %q, want %q", reason, c.reason)
			}
			late := 5*time.Second + 3*time.Second + admission.Tick
			if n := s.takenBetween(late, 20*time.Second); n > 0 {
				t.Errorf("%d people let in on doubt", n)
			}
			if s.takenBetween(0, 5*time.Second) == 0 || s.takenBetween(21*time.Second, 40*time.Second) == 0 {
				t.Error("nobody was let in before, or nobody after")
			}
		})
	}
}

// A second controller takes over again and again, at once or after a lease in
// which nobody released, and begins from nothing but the door and the passes
// that are out: the hall sells out, at the pace.
func TestTakeOverLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  time.Duration
	}{
		{"at once", 0},
		{"after a lease and a half", 2250 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) { takeOver(t, c.gap) })
	}
}

func takeOver(t *testing.T, gap time.Duration) {
	c := usual(2000, 15_000, 50).toPay(time.Minute)
	c.House.Replicas, c.House.Store = 2, 10*time.Millisecond
	s := newStage(c)
	fronts, share := []int64{0}, 0.0
	for i := range 10 {
		at := time.Duration(7+40*i) * time.Second
		s.after(at, func() { s.down = gap > 0 })
		s.after(at+gap, func() {
			before, _ := admission.Published(s.door)
			s.down = false
			s.takeOver()
			d := s.release.Step(s.time(), s.door, int64(len(s.holder)), s.atDoor())
			fronts = append(fronts, d.Refill.Front)
			if i == 3 {
				share = d.Figures.Share - before.Share
			}
			if d.Figures.State != admission.Open && d.Figures.State != admission.Exhausted {
				t.Errorf("after take-over %d the line is %s, %s", i, d.Figures.State, d.Figures.Reason)
			}
		})
	}
	s.run().judge(t)
	t.Log(s.row())
	for i := 1; i < len(fronts); i++ {
		if fronts[i] < fronts[i-1] {
			t.Errorf("the front fell from %d to %d", fronts[i-1], fronts[i])
		}
	}
	if math.Abs(share) > 0.02 {
		t.Errorf("a take-over moved the learnt share by %.3f", share)
	}
	if lost := s.report().lost(); lost > 8 {
		t.Errorf("%.1f %% found nothing", lost)
	}
}
