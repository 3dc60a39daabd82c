package inventory

import "time"

// Patience is when a queue counts as standing, and not as working off a burst.
type Patience struct {
	Target   time.Duration // that the shortest wait may be; 0: however long
	Interval time.Duration // over which the shortest wait is looked for
}

// delay is controlled delay (Nichols and Jacobson, 2012), in the form that suits
// requests (Maurer, Fail at Scale, 2015): a burst is worked off, however long it is;
// a queue of which even the shortest wait of an interval was above the target
// stands, and as long as it does, whoever has waited for twice the target is
// turned away before anything is done for them. So what is answered is answered in
// time, and nobody is turned away from a queue that runs dry.
type delay struct {
	until  time.Time // the end of this interval
	least  time.Duration
	stands bool
}

// tooLong is asked of each attempt as it leaves the queue.
func (d *delay) tooLong(now time.Time, waited time.Duration, p Patience) bool {
	if p.Target == 0 {
		return false
	}
	if d.until.IsZero() || now.After(d.until.Add(p.Interval)) { // nobody came for an interval, and more
		*d = delay{until: now.Add(p.Interval), least: waited}
	} else if now.After(d.until) {
		*d = delay{until: now.Add(p.Interval), least: waited, stands: d.least > p.Target}
	}
	if d.least = min(d.least, waited); d.least <= p.Target {
		d.stands = false
	}
	return d.stands && waited > 2*p.Target
}
