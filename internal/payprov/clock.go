package payprov

import (
	"sync/atomic"
	"time"
)

// clock is the provider's own: it stamps what is created, ends the life of
// keys and settles refunds. It runs with the machine's and can be moved ahead
// of it, never back. Notices are signed by the machine's, or no receiver would
// take them.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Advance moves the provider's clock forward by d; a d that is not positive
// moves nothing.
func (p *Provider) Advance(d time.Duration) {
	p.clock.ahead.Add(int64(max(d, 0)))
	p.nudge()
}

// Now is the time by the provider's clock.
func (p *Provider) Now() time.Time { return p.clock.now() }
