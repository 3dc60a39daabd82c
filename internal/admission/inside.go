package admission

import "time"

// silence is how long after its last sign of life a pass counts as gone. Pages
// give one every 10 s (R4).
const silence = 20 * time.Second

// pass is one take, as its facts come in.
type pass struct {
	take  int64
	at    time.Time // let in
	until time.Time // its end; while LetIn did not come, what it would be by the settings
	told  bool      // LetIn came; before that it is a number in the door
	alive time.Time // last sign of life; zero: never one
	end   end

	wanted bool           // asked for tickets, whether it got any
	asked  int64          // how many
	gone   *time.Duration // at which age it counts as having left without asking
	early  bool           // let in before this holder: it is not learnt from
}

// end is how a pass stopped counting as inside.
type end int8

const (
	still    end = iota // inside
	bought              // claimed
	gaveBack            // told us that it buys nothing more
	silent              // gave signs of life, and stopped; one more brings it back
	ranOut              // its life is over
	unused              // nobody was let in by it: an unknown outcome
)

// find is the pass of a take; a fact may be the first to tell of it. Facts
// about passes that were over long ago find none.
func (r *Release) find(take int64, at time.Time) *pass {
	if p := r.passes[take]; p != nil {
		return p
	}
	if take < 1 || r.now.Sub(at) > r.sale.PassLife+remembered {
		return nil
	}
	return r.add(take, at, at.Add(r.sale.PassLife))
}

func (r *Release) add(take int64, at, until time.Time) *pass {
	p := &pass{take: take, at: at, until: until, early: take <= r.base}
	r.passes[take] = p
	r.inside = append(r.inside, p)
	return p
}

// remembered is how long a pass is after its end, so that a fact told again is
// known.
const remembered = time.Minute

// finish ends a pass that is still inside.
func (r *Release) finish(p *pass, how end, at time.Time) {
	if p.end != still {
		return
	}
	p.end = how
	if p.early || how == unused || how == bought {
		return
	}
	if p.alive.IsZero() && !p.wanted && how == gaveBack {
		r.learnt.left++
	}
	if p.alive.IsZero() && !p.wanted && how == ranOut {
		r.learnt.ranOut++
	}
	r.learnt.leaves(p, at)
}

// revive brings a pass back that was thought gone.
func (r *Release) revive(p *pass) {
	if p.end == still {
		return
	}
	r.learnt.unleave(p)
	p.end = still
	r.inside = append(r.inside, p)
}

// count is I (R4): the people inside who may still claim. Those called or at
// the door are not inside. It ends passes whose time is over, as it goes.
func (r *Release) count(now time.Time, share float64) float64 {
	var people float64
	remain := r.inside[:0]
	for _, p := range r.inside {
		if p.end == still {
			r.age(p, now)
		}
		if p.end != still {
			continue
		}
		remain = append(remain, p)
		people += r.weight(p, now, share)
	}
	clear(r.inside[len(remain):])
	r.inside = remain
	return people
}

// weight is how much of a person the pass counts for: one that shows life is
// one, whatever its age.
func (r *Release) weight(p *pass, now time.Time, share float64) float64 {
	if p.told && p.alive.IsZero() {
		return r.learnt.weight(now.Sub(p.at), share)
	}
	return 1
}

// age ends a pass by what the time says of it.
func (r *Release) age(p *pass, now time.Time) {
	switch age := now.Sub(p.at); {
	case !now.Before(p.until):
		r.finish(p, ranOut, now)
	case !p.told && age > silence: // a credit whose use nobody reported: used by nobody
		r.finish(p, unused, now)
	case !p.alive.IsZero() && now.Sub(p.alive) > silence: // else 99 % sold after 1,294 s instead of 261
		r.finish(p, silent, p.alive)
	}
}

// refresh renews, once a second, what is learnt from the ages of those inside,
// and forgets passes that no fact can be about any more.
func (r *Release) refresh(now time.Time, share float64) {
	if now.Sub(r.refreshed) < time.Second {
		return
	}
	r.refreshed = now
	var inside, quiet ages
	for _, p := range r.inside {
		if !p.early && !p.wanted {
			weight := r.weight(p, now, share)
			inside.add(now.Sub(p.at), weight)
			quiet.add(now.Sub(p.at), 1-weight)
		}
	}
	r.learnt.refresh(inside, quiet, share)
	if now.Sub(r.forgot) < time.Minute {
		return
	}
	r.forgot = now
	for take, p := range r.passes {
		if p.end != still && now.Sub(p.until) > remembered {
			delete(r.passes, take)
		}
	}
}
