package admission

import "time"

// SaleState is what the line is doing.
type SaleState string

const (
	Scheduled SaleState = "scheduled"       // not yet; with a lobby: it has not opened, or is drawn
	InLobby   SaleState = "lobby"           // who comes now is drawn
	Drawing   SaleState = "drawing"         // the lobby has closed, its order is still to be drawn
	Open      SaleState = "open"            // people are let in, as stock and rate allow
	Paused    SaleState = "paused"          // the organiser said so
	OnDoubt   SaleState = "closed_on_doubt" // something that must be known is not
	Exhausted SaleState = "exhausted"       // nothing to sell, until something comes back
	Closed    SaleState = "closed"          // over
)

// Reason says why nobody is let in. The words are stable: clients match them.
type Reason string

const (
	NoReason     Reason = ""
	ByOrganiser  Reason = "organiser" // paused or closed by hand
	ByTime       Reason = "ended"     // past its closing time
	NoStock      Reason = "stock"     // no recount for 3 s
	NoClaimers   Reason = "claimers"  // no claimer reported for 3 s
	NoPayments   Reason = "payments"  // the payment provider has not answered for 10 s, or nobody asks it
	NoCount      Reason = "inside"    // how many are inside was never counted, and there is a cap
	NoSettings   Reason = "settings"  // the organiser's settings cannot be read
	NotDrawn     Reason = "draw"      // the lobby's order cannot be drawn, or not yet
	NoRate       Reason = "rate"      // never set, or senseless
	StoreUnknown Reason = "store"     // the line's store does not answer
	LeaseUnknown Reason = "lease"     // nobody is known to release
)

// How long what was known stays known.
const (
	stockFresh    = 3 * time.Second
	claimersFresh = 3 * time.Second
	settingsFresh = 10 * time.Second
)

// judge is what the line is doing now (R8), and why. Only the organiser's own
// word stands before what we cannot know; everything unknown stops the line.
func (r *Release) judge(now time.Time, door Door) (SaleState, Reason) {
	s := r.sale
	switch {
	case s.Control == Close:
		return Closed, ByOrganiser
	case !s.ClosesAt.IsZero() && !now.Before(s.ClosesAt):
		return Closed, ByTime
	case s.Control == Pause:
		return Paused, ByOrganiser
	case s.Control != Run || s.OpensAt.IsZero() || door.Epoch != s.Epoch:
		return OnDoubt, NoSettings
	case s.NoDraw:
		return OnDoubt, NotDrawn
	case now.Before(s.OpensAt.Add(-CallAhead)):
		return s.awaits(now, r.drawn), NoReason
	case !s.Open && !s.paced():
		return OnDoubt, NoRate
	case !s.sensible():
		return OnDoubt, NoSettings
	case now.Sub(s.ReadAt) > settingsFresh:
		return OnDoubt, NoSettings
	case now.Sub(r.stock.At) > stockFresh:
		return OnDoubt, NoStock
	case now.Sub(r.claimers) > claimersFresh:
		return OnDoubt, NoClaimers
	case r.paying.failing(now):
		return OnDoubt, NoPayments
	case s.MaxInside > 0 && r.within == nil:
		return OnDoubt, NoCount
	case now.Before(s.OpensAt):
		return s.awaits(now, r.drawn), NoReason
	case !r.ordered():
		return OnDoubt, NotDrawn
	case r.dry.exhausted:
		return Exhausted, NoReason
	}
	return Open, NoReason
}

// awaits is what a sale does that has not opened yet. Once it should have, a
// lobby that is not drawn is a doubt.
func (s Sale) awaits(now time.Time, drawn bool) SaleState {
	switch l := s.Lobby; {
	case l == nil || drawn || now.Before(l.OpensAt):
		return Scheduled
	case now.Before(l.ClosesAt):
		return InLobby
	}
	return Drawing
}

// Early says that the sale has not opened yet.
func (s SaleState) Early() bool { return s == Scheduled || s == InLobby || s == Drawing }

// lets says whether people may be let in: when exhausted it is the budget that
// lets nobody in, so that the first seat to come back finds the door open.
func (s SaleState) lets() bool { return s == Open || s == Exhausted }

// calls says whether places are called: from CallAhead before the opening.
func (r *Release) calls(now time.Time) bool {
	return r.state.lets() || r.state == Scheduled && r.ordered() && !now.Before(r.sale.OpensAt.Add(-CallAhead))
}

// ordered says whether the line's order is settled: nobody is called before.
func (r *Release) ordered() bool { return r.sale.Lobby == nil || r.drawn }

// dryFor is how long there must be nothing to sell before we say so; wetFor how
// long it must be since we last said that there was something again. Seats that
// come back one by one would else open and exhaust the sale every few seconds.
const (
	dryFor = 5 * time.Second
	wetFor = 10 * time.Second
)

// dry tells "exhausted" from a moment without free seats.
type dry struct {
	since     time.Time
	reopened  time.Time
	exhausted bool
}

// watch follows the stock. True: a new wave begins, as soon as one seat is
// free: any size to wait for needs a timer, or the last seats never sell.
func (d *dry) watch(now time.Time, free int64, expected float64) bool {
	if free >= 1 {
		again := d.exhausted
		d.since, d.exhausted = time.Time{}, false
		if again {
			d.reopened = now
		}
		return again
	}
	d.since, d.reopened = earlier(d.since, now), earlier(d.reopened, now)
	if expected >= empty {
		d.since = time.Time{} // about to return
		return false
	}
	if d.since.IsZero() {
		d.since = now
	}
	d.exhausted = d.exhausted || now.Sub(d.since) >= dryFor && now.Sub(d.reopened) >= wetFor
	return false
}
