package audience

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Arrivals is when people come: each part evenly within its time.
type Arrivals []Part

// Part is a share of the audience that comes between two times, both since the
// opening; before it they are negative. As text: 0.6:-5m:0s.
type Part struct {
	Share       float64
	From, Until time.Duration
}

// Rush is how people come when a sale opens: four fifths in the first fifth of
// the time.
func Rush(from, within time.Duration) Arrivals {
	return Arrivals{{0.8, from, from + within/5}, {0.2, from, from + within}}
}

func (a Arrivals) draw(r *rand.Rand) time.Duration {
	var all float64
	for _, p := range a {
		all += p.Share
	}
	x, within := r.Float64()*all, r.Float64()
	for i, p := range a {
		if x -= p.Share; x < 0 || i == len(a)-1 {
			return p.From + time.Duration(within*float64(p.Until-p.From))
		}
	}
	return 0
}

// MarshalText writes a part as UnmarshalText reads it.
func (p Part) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%g:%s:%s", p.Share, p.From, p.Until), nil
}

// UnmarshalText reads SHARE:FROM:UNTIL.
func (p *Part) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 {
		return fmt.Errorf("%q: want SHARE:FROM:UNTIL, as in 0.6:-5m:0s", text)
	}
	var err error
	if p.Share, err = strconv.ParseFloat(parts[0], 64); err != nil || !(p.Share > 0 && p.Share <= 1) {
		return fmt.Errorf("%q: a share is more than 0 and at most 1", parts[0])
	}
	if p.From, err = time.ParseDuration(parts[1]); err != nil {
		return err
	}
	if p.Until, err = time.ParseDuration(parts[2]); err != nil {
		return err
	}
	if p.Until < p.From {
		return fmt.Errorf("%q: it ends before it begins", text)
	}
	return nil
}
