package admission

import (
	"cmp"
	"slices"
	"time"
)

// What the holder is told. Times are those of whoever saw it.

// Came: a called place asked for its pass.
func (r *Release) Came(number int64, at time.Time) { r.front.comes(number, r.past(at)) }

// GaveUp: the holder of a place left before getting its pass.
func (r *Release) GaveUp(number int64, at time.Time) { r.front.leaves(number, r.called, r.past(at)) }

// LetIn: the take was used for this place's pass, at this time. It ends when it
// says, whatever the settings are by then.
func (r *Release) LetIn(take, number int64, at, until time.Time) {
	at = r.past(at)
	r.front.comes(number, at)
	p := r.passes[take]
	if p == nil && take >= 1 && r.now.Sub(until) <= remembered {
		p = r.add(take, at, until)
	}
	if p != nil {
		p.until = until
	}
	if p != nil && !p.told {
		p.told, p.at = true, at
		if p.end == unused {
			r.revive(p)
		}
	}
}

// Earlier: these passes were handed out before this term. Whoever was let in
// within the last minute counts in what is told of it; takes that nobody had, which
// a loss of the store leaves, do not. Whoever gave the pass back is not inside.
func (r *Release) Earlier(passes []Entry) {
	byTake := slices.SortedFunc(slices.Values(passes), func(a, b Entry) int { return cmp.Compare(a.Take, b.Take) })
	for i, e := range byTake {
		r.LetIn(e.Take, e.Place, e.TakenAt, e.ExpiresAt)
		if !e.Back.IsZero() {
			r.Gone(e.Take, e.Back)
		}
		if r.now.Sub(e.TakenAt) < time.Minute {
			r.minute.note(e.TakenAt, r.base-int64(len(byTake)-i))
		}
	}
}

// Alive: the pass's page gave a sign of life.
func (r *Release) Alive(take int64, at time.Time) {
	at = r.past(at)
	p := r.find(take, at)
	if p == nil || !at.After(p.alive) {
		return
	}
	p.told, p.alive = true, at
	if p.end == silent || p.end == unused {
		r.revive(p)
	}
}

// Claimed: the pass bought so many tickets (they may not be paid yet).
func (r *Release) Claimed(take, tickets int64, at time.Time) {
	at = r.past(at)
	p := r.find(take, at)
	if p == nil || p.end == bought {
		return
	}
	p.told = true
	r.learnt.asks(p, tickets, at)
	r.revive(p)
	r.finish(p, bought, at)
	r.stock.claimed(tickets, at)
}

// FoundNothing: the pass asked for so many tickets and got none of them.
// Whoever then takes fewer has Claimed besides; it counts as one who wanted.
func (r *Release) FoundNothing(take, tickets int64, at time.Time) {
	at = r.past(at)
	if p := r.find(take, at); p != nil {
		p.told = true
		r.learnt.asks(p, tickets, at)
	}
}

// Gone: the pass was given back; it buys nothing more.
func (r *Release) Gone(take int64, at time.Time) {
	at = r.past(at)
	if p := r.find(take, at); p != nil {
		p.told = true
		r.finish(p, gaveBack, at)
	}
}

// past keeps a fast clock elsewhere from telling of the future.
func (r *Release) past(at time.Time) time.Time { return earlier(at, r.now) }

// Drawn: the lobby's order is settled.
func (r *Release) Drawn() { r.drawn = true }

// Restock takes a recount. An older one than the last changes nothing.
func (r *Release) Restock(stock Stock) { r.stock.restock(stock) }

// Claimers: at this time a claimer reported that it can take claims.
func (r *Release) Claimers(at time.Time) { r.claimers = later(r.claimers, at) }

// Load: what the claimers bear. Told again, it changes nothing.
func (r *Release) Load(l Load) {
	if l.At.IsZero() {
		return
	}
	r.Claimers(l.At)
	l.At = r.past(l.At)
	if r.sale.paced() {
		r.capacity.hear(l, r.sale.Rate)
	}
}

// Paying: what is known of the payment provider.
func (r *Release) Paying(p Paying) { r.paying = p }

// Within: how many people are inside, by the organiser's cap. A sale with a cap
// lets nobody in before this was told once.
func (r *Release) Within(w Within) {
	if r.within == nil || w.Take >= r.within.Take {
		r.stays.see(w, r.now)
		r.within = &w
	}
}

// Latecomers: of those who stand at the doors, so many are in the grace lane.
func (r *Release) Latecomers(n int64) { r.late = n }

// Stuck: of the others at the doors, so many stand where nobody is let in.
func (r *Release) Stuck(n int64) { r.stuck = n }

// Theta is how far ahead the recount looks for pending orders that may end:
// about the time from a pass to its claim, so that whoever is let in now finds
// what comes back (R7).
func (r *Release) Theta() time.Duration { return min(r.learnt.mean(), time.Minute) }

// Landed: the reply to the last Step's refill came (or a read of the door that
// shows it) at this time. Not told, the next Step assumes that it only just
// landed, and lets less credit flow: time lost is lost.
func (r *Release) Landed(at time.Time) { r.flow.reply = at }
