package dynamo

import (
	"context"
	"errors"

	"waitroom/internal/admission"
)

// form is one of the four writes that a refill may be. DynamoDB knows neither
// min nor max: the condition finds out which side of each holds, and the door
// stays free for takers meanwhile.
type form struct {
	full bool // credit ← Cap, else credit + Add
	keep bool // the front stays, else it is set
}

// Refill implements admission.Store. It sends the form that fitted last time;
// when that is refused, it reads the door and sends the right one.
//
// Only the holder's next step adds credit or moves the front, and that has
// another beat. So what was read can change in one way before the write lands:
// takers make the credit fit below the cap after all. Then that form is the
// last to send.
func (s *Store) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	f := form{full: s.wasFull(r)}
	d, moved, err := s.refill(ctx, r, f)
	for range 2 {
		if err != nil || moved || d.Term != r.Term || d.Beat != r.Beat {
			break
		}
		f = form{full: d.Credit+r.Add > r.Cap, keep: d.Front > r.Front}
		d, moved, err = s.refill(ctx, r, f)
	}
	switch {
	case err != nil:
		return admission.Door{}, false, err
	case !moved && d.Term == r.Term && d.Beat == r.Beat:
		return d, false, errors.New("dynamo: a refill was refused that fits the door")
	case moved:
		s.setFull(r.Event, f.full)
	}
	return d, moved, nil
}

func (s *Store) refill(ctx context.Context, r admission.Refill, f form) (admission.Door, bool, error) {
	set := `SET beat = :next_beat, budget = budget + :budget, stopped = :stopped, step_at = :at`
	when := `epoch = :epoch AND term = :term AND beat = :beat`
	with := item{
		":term": num(r.Term), ":beat": num(r.Beat), ":next_beat": num(r.Beat + 1),
		":budget": num(r.Budget), ":stopped": yes(r.Stopped), ":at": ms(r.At),
		":front": num(r.Front), ":room": num(r.Cap - r.Add),
	}
	if f.full {
		set, when = set+`, credit = :cap`, when+` AND credit > :room`
		with[":cap"] = num(r.Cap)
	} else {
		set, when = set+`, credit = credit + :add`, when+` AND credit <= :room`
		with[":add"] = num(r.Add)
	}
	if f.keep {
		when += ` AND front > :front`
	} else {
		set, when = set+`, front = :front`, when+` AND front <= :front`
	}
	if r.Doc != nil {
		set += `, doc = :doc`
		with[":doc"] = bin(r.Doc)
	}
	return s.move(ctx, r.Event, r.Epoch, set, when, with)
}

// wasFull guesses the likelier form: what fitted last, 50 ms ago, fits again.
// A credit is never negative, so that an Add beyond the Cap needs no guess.
func (s *Store) wasFull(r admission.Refill) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Add > r.Cap || s.full[r.Event]
}

func (s *Store) setFull(event string, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full[event] = full
}
