package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"waitroom/internal/admission"
)

// A code with n uses has the slots 0 to n-1, an item each, which names its holder
// and is never given back. A holder's own item says first which slot they try, and
// they try another only when that one is somebody else's: so whichever write lands
// late finds a slot that is theirs, or another's for good, and nobody has two.
//
// Slots are spread over shards, each a partition key: thousands who share a code
// do not meet at one, and each of them reads one shard.

// shardSlots is how many slots are read to find a free one: 16 kB.
const shardSlots = 64

func codeKey(u admission.CodeUse) string { return "code#" + u.Event + "#" + u.Code }

func shardKey(u admission.CodeUse, shard int64) string {
	return codeKey(u) + "#" + strconv.FormatInt(shard, 10)
}

// slotItem is one use of a code. Its write may be repeated by the SDK: it names
// its holder, and nobody else's slot is written.
func slotItem(u admission.CodeUse, slot int64) item {
	it := key(shardKey(u, slot/shardSlots), strconv.FormatInt(slot, 10))
	it["epoch"], it["used_by"] = num(u.Epoch), text(u.Holder)
	return it
}

const slotFree = `attribute_not_exists(pk) OR epoch < :epoch OR epoch = :epoch AND used_by = :holder`

// noSlot is where who has tried none comes from.
const noSlot = -1

func tryKey(u admission.CodeUse) item {
	return key("use#"+u.Event+"#"+u.Code+"#"+u.Holder, "slot")
}

func tryItem(u admission.CodeUse, slot int64) item {
	it := tryKey(u)
	it["epoch"], it["tried"] = num(u.Epoch), num(slot)
	return it
}

// fromSlot lets a holder's try be written by whoever knows the one before: a slot
// is never tried again once it was another's.
const fromSlot = `attribute_not_exists(pk) OR epoch < :epoch OR epoch = :epoch AND tried = :from`

// UseCode implements admission.Store.
func (s *Store) UseCode(ctx context.Context, u admission.CodeUse) error {
	slot, err := s.tried(ctx, u)
	for range 4 * races { // many may be after the last few
		if err != nil {
			return err
		}
		if slot != noSlot {
			if got, err := s.takeSlot(ctx, u, slot); err != nil || got {
				return err
			}
		}
		if slot, err = s.next(ctx, u, slot); errors.Is(err, admission.ErrUsedUp) {
			return err
		}
	}
	return errRaces
}

// next is the slot that the holder tries after one that was another's, written
// down: a free one, or what a call of theirs that was faster wrote.
func (s *Store) next(ctx context.Context, u admission.CodeUse, after int64) (int64, error) {
	free, none := s.freeSlot(ctx, u)
	if none != nil && !errors.Is(none, admission.ErrUsedUp) {
		return 0, none
	}
	if none == nil {
		refused, err := s.put(ctx, tryItem(u, free), fromSlot, item{":epoch": num(u.Epoch), ":from": num(after)})
		if err == nil {
			return free, nil
		}
		if !refused {
			return 0, fmt.Errorf("dynamo: use code: %w", err)
		}
	}
	slot, err := s.tried(ctx, u)
	if err == nil && none != nil && slot == after {
		return 0, none // not even by another call of theirs
	}
	return slot, err
}

// tried is the slot that the holder last tried in this epoch.
func (s *Store) tried(ctx context.Context, u admission.CodeUse) (int64, error) {
	it, err := s.get(ctx, tryKey(u))
	if err != nil {
		return 0, fmt.Errorf("dynamo: code: %w", err)
	}
	if it == nil {
		return noSlot, nil
	}
	r := reader{item: it}
	epoch, slot := r.num("epoch"), r.num("tried")
	switch {
	case r.err != nil:
		return 0, fmt.Errorf("dynamo: a holder of code %s: %w", u.Code, r.err)
	case epoch > u.Epoch:
		return 0, admission.ErrEpoch
	case epoch < u.Epoch:
		return noSlot, nil
	}
	return slot, nil
}

// takeSlot takes the slot, or finds it the holder's. False: it is another's.
func (s *Store) takeSlot(ctx context.Context, u admission.CodeUse, slot int64) (bool, error) {
	refused, err := s.put(ctx, slotItem(u, slot), slotFree, item{":epoch": num(u.Epoch), ":holder": text(u.Holder)})
	if refused {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("dynamo: use code: %w", err)
	}
	return true, nil
}
