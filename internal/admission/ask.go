package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Answer is what somebody who asks for a pass is told.
type Answer struct {
	Position                 // where they stand
	Pass       string        // when View is ViewPassed
	Admitted   Pass          // what the pass says
	RetryAfter time.Duration // when waiting or called: when to ask again
}

// Pass asks for the pass of a called place. The request is held until the place
// is let in, or for as long as requests are held: then it comes again. A place
// that passed already gets the same pass at once, and uses no credit.
//
// Who is let in next has to meet the conditions first, whenever they come to the
// door anew; what one of them answers comes back. Whoever does not meet one keeps
// the place, and the lane that they came in, for as long as proving may take.
//
// It answers ErrEpoch when the event was reset, ErrBusy at the replica's bound,
// and ctx's error when that ends first; a pass that came of it meanwhile comes
// back when asked again. All doubt is the answer "called, come again".
func (l *Line) Pass(ctx context.Context, t Ticket, conditions ...Condition) (Answer, error) {
	if t.Number == Undrawn {
		p := l.inLobby(t.Index)
		return Answer{Position: p, RetryAfter: p.Poll}, nil
	}
	if front := l.front(ctx, t.Number); t.Number >= front {
		return l.notYet(t.Number, ViewWaiting), nil
	}
	if place, standing := l.turnstile.knows(t); standing {
		return l.turnstile.hold(ctx, place)
	}
	place, err := l.place(ctx, t)
	switch {
	case errors.Is(err, ErrEpoch):
		return Answer{}, err
	case err != nil:
		l.fault("place", err)
		return l.unheld(t.Number), nil
	}
	switch view := place.View(t.Number+1, time.Now()); view {
	case ViewPassed:
		return l.turnstile.again(ctx, place), nil
	case ViewCalled:
		if err := l.turnstile.meets(ctx, place, conditions); err != nil {
			return Answer{Position: l.position(t.Number, view)}, err
		}
		return l.turnstile.hold(ctx, place)
	default:
		return Answer{Position: l.position(t.Number, view)}, nil
	}
}

// front is how far places have been called; read anew when number would have to
// wait by what this replica knows, for the page may know more.
func (l *Line) front(ctx context.Context, number int64) int64 {
	door, _ := l.door.last()
	if number >= door.Front {
		if fresh, err := l.door.within(ctx, 2*Tick); err == nil {
			return fresh.Front
		}
	}
	return door.Front
}

// place is what the store has of the ticket's place. The signed ticket is the
// place: what the store lacks, it says.
func (l *Line) place(ctx context.Context, t Ticket) (Place, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	place, err := l.cfg.Store.Place(ctx, l.event, l.epoch, t.Holder())
	switch {
	case errors.Is(err, ErrNoPlace), err == nil && place.Index < t.Index: // lost, or what an older copy of the store has
		return l.signed(ctx, t)
	case err != nil:
		return Place{}, err
	case place.Index != t.Index: // the holder joined again since: this one is over
		place.Index, place.State, place.PassUntil = t.Index, Passed, time.Time{}
		place.Number = t.Number
		return place, nil
	}
	place.Number = t.Number
	return l.had(ctx, place)
}

// had is the place with the end of the pass that its holder had. A pass is good from
// when the ledger has it: a place that passed, whose pass could not be written there
// for as long as that would have lasted, is not over. Nobody had it, and it is handed
// out yet, by the credit that was taken for it.
func (l *Line) had(ctx context.Context, p Place) (Place, error) {
	now := time.Now()
	if p.State != Passed || now.Before(p.PassUntil) {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	e, found, err := l.cfg.Books.PassOf(ctx, l.event, l.epoch, p.Number)
	switch {
	case err != nil:
		return Place{}, err
	case !found:
		p.PassUntil = now.Add(l.Sale().PassLife)
	case e.Holder == p.Holder:
		p.PassUntil = e.ExpiresAt
	}
	return p, nil
}

// signed is the place of a ticket that the store has nothing of: it lost that.
// Whether it got its pass before is in the ledger.
func (l *Line) signed(ctx context.Context, t Ticket) (Place, error) {
	p := Place{
		Event: l.event, Epoch: l.epoch, Holder: t.Holder(), Index: t.Index, Number: t.Number, State: Waiting, JoinedAt: t.IssuedAt,
	}
	if t.Number == Undrawn {
		return p, nil
	}
	e, found, err := l.cfg.Books.PassOf(ctx, l.event, l.epoch, t.Number)
	if found && e.Holder == p.Holder {
		p.State, p.Take, p.TakenAt, p.PassUntil = Passed, e.Take, e.TakenAt, e.ExpiresAt
	}
	return p, err
}

// again hands out the pass of a place that has one.
func (t *turnstile) again(ctx context.Context, place Place) Answer {
	text, pass, err := t.line.readmit(ctx, place)
	if err != nil {
		t.line.fault("ledger", err) // one place's doubt: the door goes on for the others
		return t.line.unheld(place.Number)
	}
	if !time.Now().Before(pass.ExpiresAt) {
		return Answer{Position: t.line.position(place.Number, ViewOver)}
	}
	t.line.cfg.Metrics.passes.WithLabelValues("again").Inc()
	return t.line.passed(place.Number, text, pass)
}

// outcome is the answer to a place that was chosen.
func (l *Line) outcome(a *ask) Answer {
	switch {
	case a.pass.State == Left:
		return Answer{Position: l.position(a.place.Number, ViewLeft)}
	case a.sentAway:
		return l.unheld(a.place.Number)
	case a.text == "":
		return l.notYet(a.place.Number, ViewCalled)
	case !time.Now().Before(a.pass.PassUntil):
		return Answer{Position: l.position(a.place.Number, ViewOver)}
	}
	return l.passed(a.place.Number, a.text, a.told)
}

func (l *Line) passed(number int64, text string, p Pass) Answer {
	return Answer{Position: l.position(number, ViewPassed), Pass: text, Admitted: p}
}

// unheld is for who stands at no door, by a fault: they come again no sooner than if
// they had stood there, or all who are called would ask a store that does not answer.
func (l *Line) unheld(number int64) Answer {
	a := l.notYet(number, ViewCalled)
	a.RetryAfter += l.cfg.Hold
	return a
}

// notYet tells somebody when to ask again. Who stands at the door comes back
// at once, spread over what R2 leaves beside the hold.
func (l *Line) notYet(number int64, view View) Answer {
	p := l.position(number, view)
	a := Answer{Position: p, RetryAfter: p.Poll}
	if view == ViewCalled {
		a.RetryAfter = time.Duration(float64(l.cfg.Hold) * PollJitter * rand.Float64())
	}
	if l.turnstile.drained() { // held nowhere here; another replica will
		a.RetryAfter += time.Second
	}
	return a
}
