package admission

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"time"
)

// Ticket accepts a place ticket of this line, or says why not (Refusal). drawn
// says that the place's number came of the draw since the ticket was written:
// its holder is to get it anew (Reissue).
func (l *Line) Ticket(text string) (t Ticket, drawn bool, err error) {
	t, err = l.cfg.Tickets.Check(text, l.event, l.epoch)
	if err == nil && t.Number == Undrawn {
		t.Number, drawn = l.number(t.Index)
	}
	return t, drawn, err
}

// Reissue writes a ticket down again, as it is now.
func (l *Line) Reissue(t Ticket) string { return l.cfg.Tickets.Sign(t) }

// Proven is the ticket of somebody who has shown that they are a person. It says
// so to every replica.
func (l *Line) Proven(text string) string {
	t, _, err := l.Ticket(text)
	if err != nil {
		return text
	}
	t.Proven = true
	return l.Reissue(t)
}

// Admitted accepts a pass of this line, or says why not (Refusal).
func (l *Line) Admitted(text string) (Pass, error) {
	return l.cfg.Passes.Check(text, l.event, l.epoch, time.Now())
}

// ticketOf is the ticket of a place: the same whenever it is asked for.
func (l *Line) ticketOf(p Place) string {
	t := Ticket{Event: l.event, Epoch: l.epoch, Index: p.Index, Number: p.Number, IssuedAt: p.JoinedAt}
	hex.Decode(t.Hash[:], []byte(p.Holder)) //nolint:errcheck // HolderOf made it
	return l.cfg.Tickets.Sign(t)
}

// Leave gives the ticket's place up. It is free at once. A place that passed
// stays as it is. After ErrDoubt it may have been left.
func (l *Line) Leave(ctx context.Context, t Ticket) (View, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	now := time.Now()
	before, err := l.cfg.Store.Place(ctx, l.event, l.epoch, t.Holder())
	if err != nil && !errors.Is(err, ErrNoPlace) {
		return "", uncertain("leave", err)
	}
	place, err := l.cfg.Store.Leave(ctx, Place{
		Event: l.event, Epoch: l.epoch, Holder: t.Holder(), Index: t.Index, JoinedAt: t.IssuedAt,
	})
	switch {
	case errors.Is(err, ErrNoPlace): // the holder joined again since
		return ViewOver, nil
	case err != nil:
		return "", uncertain("leave", err)
	}
	if place.State != Left {
		return place.View(math.MaxInt64, now), nil
	}
	if before.State != Left || before.Index != t.Index { // one who left counts once, however often it is said
		l.leavers.add(t.Index, now)
		l.tellLeavers(now)
	}
	if t.Number != Undrawn {
		l.turnstile.left(t.Number)
	}
	return place.View(math.MaxInt64, now), nil
}

// Waiting is where a place stands that was not called; false: it was, or it takes
// more to tell.
func (l *Line) Waiting(t Ticket) (p Position, waits bool) {
	door, _ := l.door.last()
	if t.Number == Undrawn || t.Number < door.Front || door.Epoch > l.epoch {
		return p, false
	}
	return l.position(t.Number, ViewWaiting), true
}

// Me says where the ticket's place stands. While it waits that is known from
// memory alone; once it is called, its own row says what became of it.
func (l *Line) Me(ctx context.Context, t Ticket) (Position, error) {
	door, _ := l.door.last()
	if door.Epoch > l.epoch { // it was begun anew, which this replica has not read of yet
		return Position{}, ErrEpoch
	}
	if t.Number == Undrawn {
		return l.inLobby(t.Index), nil
	}
	if p, waits := l.Waiting(t); waits {
		return p, nil
	}
	place, err := l.place(ctx, t)
	switch {
	case errors.Is(err, ErrEpoch):
		return Position{}, err
	case err != nil: // called is what it is, as far as we know
		l.fault("place", err)
		return l.position(t.Number, ViewCalled), nil
	}
	p := l.position(t.Number, place.View(door.Front, time.Now()))
	if p.View == ViewCalled {
		p.Late, p.Left = l.turnstile.wouldBeLate(place)
	}
	return p, nil
}

// Alive: the page of somebody let in says that they are still there.
func (l *Line) Alive(p Pass) { l.note(alive, noted{id: p.Take, at: time.Now()}) }

// Gone: somebody let in leaves, and buys nothing (more). It is written down, for
// the room that it makes outlives whoever releases. After an error it is not done:
// it is asked again, which is harmless.
func (l *Line) Gone(ctx context.Context, p Pass) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	if err := l.cfg.Books.GiveBack(ctx, p); err != nil {
		l.fault("give back", err)
		return uncertain("give back", err)
	}
	l.note(gone, noted{id: p.Take, at: time.Now()})
	return nil
}

// FoundNothing: somebody let in asked for so many tickets and got none of them.
// What is learnt from it is no more than the pass could have bought: a handful
// of people who say that they wanted a thousand each would close the door on
// everybody else.
func (l *Line) FoundNothing(p Pass, tickets int64) {
	tickets = min(tickets, int64(p.Quota), l.Sale().OrderLimit)
	l.note(nothing, noted{id: p.Take, amount: tickets, at: time.Now()})
}

// Export walks all places of the line, in no order.
func (l *Line) Export(ctx context.Context, each func(Place) error) error {
	return l.cfg.Store.Export(ctx, l.event, l.epoch, func(p Place) error {
		p.Number, _ = l.number(p.Index)
		return each(p)
	})
}
