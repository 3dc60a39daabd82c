package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"waitroom/internal/admission"
)

// A place's writes may be repeated by the SDK: each names its place, and finds
// what an earlier send of it wrote. A join that lands a second time after its
// place was left would stand again, at its old number: a place that nobody
// holds a ticket for. It is harmless as a hole is.

// races is how often a place's step may find that the item changed between its
// condition and the read that says why.
const races = 5

var errRaces = errors.New("dynamo: the place changes under every step")

const (
	noneInEpoch = `attribute_not_exists(pk) OR epoch < :epoch`
	notLive     = noneInEpoch + ` OR epoch = :epoch AND (life = :left OR life = :passed AND pass_until <= :now)`
	olderPlace  = noneInEpoch + ` OR epoch = :epoch AND place < :place`
	overBefore  = noneInEpoch + ` OR epoch = :epoch AND place < :place AND (life <> :passed OR pass_until <= :taken_at)`
	waitsThere  = `epoch = :epoch AND place = :place AND life = :waiting`
)

// Join implements admission.Store.
func (s *Store) Join(ctx context.Context, p admission.Place, now time.Time) (admission.Place, error) {
	p.State = admission.Waiting
	for range races {
		refused, err := s.put(ctx, placeItem(p), notLive, item{
			":epoch": num(p.Epoch), ":now": ms(now),
			":left": text(string(admission.Left)), ":passed": text(string(admission.Passed)),
		})
		if err == nil {
			return toPlace(placeItem(p))
		}
		if !refused {
			return admission.Place{}, fmt.Errorf("dynamo: join: %w", err)
		}
		old, _, err := s.place(ctx, p.Event, p.Holder)
		switch {
		case err != nil:
			return admission.Place{}, err
		case old.Epoch > p.Epoch:
			return admission.Place{}, admission.ErrEpoch
		case old.Live(p.Epoch, now):
			return old, nil
		}
	}
	return admission.Place{}, errRaces
}

// Pass implements admission.Store.
func (s *Store) Pass(ctx context.Context, p admission.Place) (admission.Place, error) {
	p.State = admission.Passed
	return s.settle(ctx, p, `SET life = :life, take = :take, taken_at = :taken_at, pass_until = :pass_until`, item{
		":take": num(p.Take), ":taken_at": ms(p.TakenAt), ":pass_until": ms(p.PassUntil),
	})
}

// Leave implements admission.Store.
func (s *Store) Leave(ctx context.Context, p admission.Place) (admission.Place, error) {
	p.State, p.Take, p.TakenAt, p.PassUntil = admission.Left, 0, time.Time{}, time.Time{}
	return s.settle(ctx, p, `SET life = :life`, item{})
}

// settle ends the waiting of p: it changes the waiting item, or writes the one
// that is missing, or that an older copy of the table has in its stead. Whoever settled it before is answered with what he made.
func (s *Store) settle(ctx context.Context, p admission.Place, set string, with item) (admission.Place, error) {
	with[":life"], with[":waiting"] = text(string(p.State)), text(string(admission.Waiting))
	with[":epoch"], with[":place"] = num(p.Epoch), num(p.Index)
	for range races {
		it, refused, err := s.update(ctx, s.again, placeKey(p.Event, p.Holder), set, waitsThere, with)
		if err == nil {
			return toPlace(it)
		}
		if !refused {
			return admission.Place{}, fmt.Errorf("dynamo: %s: %w", p.State, err)
		}
		old, found, err := s.place(ctx, p.Event, p.Holder)
		switch {
		case err != nil:
			return admission.Place{}, err
		case !found || old.Epoch < p.Epoch || old.Epoch == p.Epoch && old.Index < p.Index && (p.State != admission.Passed || !old.Bars(p)):
			instead, is := olderPlace, item{":epoch": num(p.Epoch), ":place": num(p.Index)}
			if p.State == admission.Passed {
				instead, is[":passed"], is[":taken_at"] = overBefore, text(string(admission.Passed)), ms(p.TakenAt)
			}
			refused, err := s.put(ctx, placeItem(p), instead, is)
			if err == nil {
				return toPlace(placeItem(p))
			}
			if !refused {
				return admission.Place{}, fmt.Errorf("dynamo: %s: %w", p.State, err)
			}
		case old.Epoch > p.Epoch:
			return admission.Place{}, admission.ErrEpoch
		case old.Index != p.Index:
			return admission.Place{}, admission.ErrNoPlace
		case old.State == admission.Left && p.State == admission.Passed:
			return admission.Place{}, admission.ErrNoPlace
		case old.State != admission.Waiting:
			return old, nil
		}
	}
	return admission.Place{}, errRaces
}

// Place implements admission.Store.
func (s *Store) Place(ctx context.Context, event string, epoch int64, holder string) (admission.Place, error) {
	p, found, err := s.place(ctx, event, holder)
	if err == nil && (!found || p.Epoch != epoch) {
		return admission.Place{}, admission.ErrNoPlace
	}
	return p, err
}

func (s *Store) place(ctx context.Context, event, holder string) (p admission.Place, found bool, err error) {
	it, err := s.get(ctx, placeKey(event, holder))
	if err != nil {
		return p, false, fmt.Errorf("dynamo: place: %w", err)
	}
	if it == nil {
		return p, false, nil
	}
	p, err = toPlace(it)
	return p, true, err
}
