package crowd

import (
	"context"
	"time"
)

// undrawn is the number of somebody in a lobby.
const undrawn = -1

// drawn waits in the lobby for the draw, and then asks for the number. False:
// look again.
func (f *fan) drawn(ctx context.Context, doc status) bool {
	if doc.Draw == nil || doc.Draw.Seed == nil {
		next := 5 * time.Second
		if doc.Draw != nil {
			next = max(next, min(time.Minute, time.Until(doc.Draw.ClosesAt)/3))
		}
		wait(ctx, f.jitter(next))
		return false
	}
	// Not all in the same second: nobody is called at once.
	wait(ctx, time.Duration(f.rand.Float64()*float64(4*time.Second)))
	r := f.ask(ctx, "GET", f.path("/places/me"), f.ticket, "", nil)
	var got struct {
		Number *int64
		Ticket string
	}
	if r.status != 200 || !r.into(&got) || got.Number == nil {
		f.crowd.Tally.Busy.Add(1)
		wait(ctx, f.jitter(r.after(2*time.Second)))
		return false
	}
	f.number = *got.Number
	if got.Ticket != "" {
		f.ticket = got.Ticket
	}
	f.tell(r.at, told{Op: "drawn", Index: f.index, Number: f.number})
	return true
}
