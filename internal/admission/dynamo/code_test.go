package dynamo

import (
	"errors"
	"fmt"
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
	taken, err := s.slots(ctx, admission.CodeUse{Event: d.Event, Epoch: 1, Code: "c0de"})
	if err != nil {
		t.Fatal(err)
	}
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
