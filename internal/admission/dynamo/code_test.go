package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// A write that lands after it was given up and asked for again takes no second
// use, whoever came between: not of the holder's, and not of anybody else's.
func TestALateUseOfACodeIsNoSecondOne(t *testing.T) {
	const uses = 5
	cfg := table(t)
	s, w, d := line(t, cfg)
	other := open(t, cfg)
	ctx := t.Context()
	use := func(s *Store, holder string) error {
		return s.UseCode(ctx, admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de", Uses: uses, Holder: holder})
	}
	for i := range uses - 1 {
		mine, next := fmt.Sprint("mine", i), fmt.Sprint("next", i)
		w.Next("PutItem", admissiontest.Late, admissiontest.Late, admissiontest.Late) // as often as the SDK tries
		if err := use(s, mine); err == nil {
			t.Fatal("the fault was not applied")
		}
		if i%2 == 1 { // somebody is faster, where the late one would land
			if err := use(other, next); err != nil && !errors.Is(err, admission.ErrUsedUp) {
				t.Fatal(err)
			}
		}
		if err := use(s, mine); err != nil && !errors.Is(err, admission.ErrUsedUp) {
			t.Fatal(err)
		}
		if w.Land() == 0 {
			t.Fatal("nothing was late")
		}
	}
	taken := slots(t, s, admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de", Uses: uses})
	seen := map[string]int64{}
	for slot, holder := range taken {
		if was, twice := seen[holder]; twice {
			t.Errorf("%s has the slots %d and %d", holder, was, slot)
		}
		seen[holder] = slot
	}
	if len(taken) != uses {
		t.Errorf("%d of %d uses are taken, by %v", len(taken), uses, seen)
	}
}

// slots are the code's uses, with whose they are.
func slots(t *testing.T, s *Store, u admission.CodeUse) map[int64]string {
	t.Helper()
	all := map[int64]string{}
	for shard := range (u.Uses + shardSlots - 1) / shardSlots {
		taken, err := s.slotsIn(t.Context(), u, shard)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, taken)
	}
	return all
}

// Who joins by a code that many share reads what stands under their own name and
// one shard of the code's uses, however many are taken; and when it is used up,
// what is theirs alone.
func TestAJoinByASharedCodeReadsLittle(t *testing.T) {
	cfg := table(t)
	s, w, d := line(t, cfg)
	use := func(s *Store, uses int64, holder any) error {
		return s.UseCode(t.Context(), admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de", Uses: uses, Holder: fmt.Sprint(holder)})
	}
	reads := func() (gets, queries int) { return w.Sends("GetItem"), w.Sends("Query") }
	const before = 150
	for i := range before {
		if err := use(s, admission.CodeUses, i); err != nil {
			t.Fatal(err)
		}
	}
	reads()
	for i := range 10 {
		if err := use(s, admission.CodeUses, before+i); err != nil {
			t.Fatal(err)
		}
	}
	if gets, queries := reads(); gets != 10 || queries != 10 {
		t.Errorf("10 joins after %d: %d items and %d shards are read, want 10 of each", before, gets, queries)
	}
	used := map[int64]bool{}
	for slot := range slots(t, s, admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de", Uses: admission.CodeUses}) {
		used[slot/shardSlots] = true
	}
	if len(used) < 30 {
		t.Errorf("%d uses stand in %d shards: they do not spread", before, len(used))
	}
}

// A code that is used up costs nobody a look at all its uses: not who comes again,
// and not another replica, which reads that once.
func TestACodeThatIsUsedUpIsNotLookedThrough(t *testing.T) {
	cfg := table(t)
	s, w, d := line(t, cfg)
	other, seen := wired(t, cfg)
	const uses, people = 2*shardSlots + 3, 150
	use := func(s *Store, holder any) error {
		return s.UseCode(t.Context(), admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de", Uses: uses, Holder: fmt.Sprint(holder)})
	}
	var all sync.WaitGroup
	var got atomic.Int64
	for worker := range 8 { // each of them asks once
		all.Go(func() {
			for i := worker; i < people; i += 8 {
				switch err := use(s, i); {
				case err == nil:
					got.Add(1)
				case !errors.Is(err, admission.ErrUsedUp):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got.Load() != uses {
		t.Fatalf("%d of %d have one of %d uses", got.Load(), people, uses)
	}
	for name, h := range map[string]struct {
		*Store
		*admissiontest.Wire
	}{"the replica": {s, w}, "another": {other, seen}} {
		h.Sends("GetItem")
		h.Sends("Query")
		for i := range 10 {
			if err := use(h.Store, fmt.Sprint("late", i)); !errors.Is(err, admission.ErrUsedUp) {
				t.Errorf("%s: %v, want ErrUsedUp", name, err)
			}
		}
		if gets, queries := h.Sends("GetItem"), h.Sends("Query"); gets > 21 || queries > 1 {
			t.Errorf("%s: 10 who come too late read %d items and %d shards, want 21 and 1 at most", name, gets, queries)
		}
	}
}
