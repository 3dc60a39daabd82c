package dynamo

import (
	"context"
	"fmt"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// Open implements admission.Store. It starts the tail before the door, so that
// whoever sees a door in an epoch can allot numbers in it. Between the two the
// old line refuses numbers with ErrEpoch; repeating Open mends it.
func (s *Store) Open(ctx context.Context, from admission.Door, end admission.Tail) (admission.Door, error) {
	for _, it := range []item{tailItem(from, end), doorItem(from)} {
		refused, err := s.put(ctx, it, `attribute_not_exists(pk) OR epoch < :epoch`, item{":epoch": num(from.Epoch)})
		if err != nil && !refused {
			return admission.Door{}, fmt.Errorf("dynamo: open: %w", err)
		}
	}
	return s.doorIn(ctx, from.Event, from.Epoch)
}

// Raise implements admission.Store. The tail comes first, as when a line is opened.
func (s *Store) Raise(ctx context.Context, to admission.Door, end admission.Tail) (admission.Door, error) {
	for _, step := range []struct {
		item   item
		behind string
		far    int64
	}{{tailItem(to, end), `tail < :far`, end.Next}, {doorItem(to), `beat < :far`, to.Beat}} {
		refused, err := s.put(ctx, step.item, `epoch = :epoch AND `+step.behind, item{":epoch": num(to.Epoch), ":far": num(step.far)})
		if err != nil && !refused {
			return admission.Door{}, fmt.Errorf("dynamo: raise: %w", err)
		}
	}
	return s.doorIn(ctx, to.Event, to.Epoch)
}

// Allot implements admission.Store.
func (s *Store) Allot(ctx context.Context, event string, epoch, n, limit int64) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("allot %d numbers: want at least 1", n)
	}
	it, refused, err := s.update(ctx, s.once, tailKey(event),
		`SET tail = tail + :n`,
		`epoch = :epoch AND tail <= :room`,
		item{":n": num(n), ":epoch": num(epoch), ":room": num(limit - n)})
	if refused {
		return 0, s.whyNone(ctx, event, epoch)
	}
	if err != nil {
		return 0, fmt.Errorf("dynamo: allot: %w", err)
	}
	_, t, err := toTail(it)
	return t.Next - n, err
}

// whyNone reads why no numbers were allotted. What it finds is still the
// reason: an epoch and its tail only grow.
func (s *Store) whyNone(ctx context.Context, event string, epoch int64) error {
	it, err := s.get(ctx, tailKey(event))
	if err != nil {
		return fmt.Errorf("dynamo: allot: %w", err)
	}
	if it == nil {
		return admission.ErrNoEvent
	}
	at, _, err := toTail(it)
	if err != nil {
		return err
	}
	if at != epoch {
		return admission.ErrEpoch
	}
	return admission.ErrFull
}

// Tail implements admission.Store.
func (s *Store) Tail(ctx context.Context, event string) (admission.Tail, error) {
	_, t, err := s.tail(ctx, event)
	return t, err
}

func (s *Store) tail(ctx context.Context, event string) (epoch int64, t admission.Tail, err error) {
	it, err := s.get(ctx, tailKey(event))
	if err != nil {
		return 0, t, fmt.Errorf("dynamo: tail: %w", err)
	}
	if it == nil {
		return 0, t, admission.ErrNoEvent
	}
	return toTail(it)
}

// tailIn reads the tail and refuses another epoch.
func (s *Store) tailIn(ctx context.Context, event string, epoch int64) (admission.Tail, error) {
	at, t, err := s.tail(ctx, event)
	if err == nil && at != epoch {
		return admission.Tail{}, admission.ErrEpoch
	}
	return t, err
}

// CloseLobby implements admission.Store.
func (s *Store) CloseLobby(ctx context.Context, event string, epoch int64) (admission.Tail, error) {
	return s.settleLobby(ctx, event, epoch, `SET lobby = tail`, `attribute_not_exists(lobby)`, item{})
}

// Draw implements admission.Store.
func (s *Store) Draw(ctx context.Context, event string, epoch int64, seed draw.Seed, beacon string) (admission.Tail, error) {
	t, err := s.settleLobby(ctx, event, epoch, `SET seed = :seed, beacon = :beacon`,
		`attribute_exists(lobby) AND attribute_not_exists(seed)`,
		item{":seed": bin(seed[:]), ":beacon": text(beacon)})
	if err == nil && !t.Closed {
		err = admission.ErrLobby
	}
	return t, err
}

// settleLobby does one step of the lobby's life, or finds that it was done.
func (s *Store) settleLobby(ctx context.Context, event string, epoch int64, set, when string, with item) (admission.Tail, error) {
	with[":epoch"] = num(epoch)
	it, refused, err := s.update(ctx, s.again, tailKey(event), set, `epoch = :epoch AND `+when, with)
	if refused {
		return s.tailIn(ctx, event, epoch)
	}
	if err != nil {
		return admission.Tail{}, fmt.Errorf("dynamo: lobby: %w", err)
	}
	_, t, err := toTail(it)
	return t, err
}

func tailItem(d admission.Door, t admission.Tail) item {
	it := tailKey(d.Event)
	it["epoch"], it["tail"] = num(d.Epoch), num(t.Next)
	if t.Closed {
		it["lobby"] = num(t.Lobby)
	}
	if t.Drawn {
		it["seed"], it["beacon"] = bin(t.Seed[:]), text(t.Beacon)
	}
	return it
}

func toTail(it item) (epoch int64, t admission.Tail, err error) {
	r := reader{item: it}
	epoch, t.Next = r.num("epoch"), r.num("tail")
	if _, t.Closed = it["lobby"]; t.Closed {
		t.Lobby = r.num("lobby")
	}
	if _, t.Drawn = it["seed"]; t.Drawn {
		copy(t.Seed[:], r.bin("seed"))
		t.Beacon = r.text("beacon")
	}
	return epoch, t, r.err
}
