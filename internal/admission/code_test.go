package admission_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/admission"
)

// Whatever lands when, each holder has one slot and a code no more than its
// uses: a late call finds the slot that the holder's later call took, or finds
// it another's.
func TestOneHolderOneSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uses := rapid.Int64Range(1, 6).Draw(t, "uses")
		taken := map[int64]string{}
		type write struct {
			slot   int64
			holder string
		}
		var late []write
		land := func(w write) {
			if by, used := taken[w.slot]; !used || by == w.holder { // the store's condition
				taken[w.slot] = w.holder
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			u := admission.CodeUse{Uses: uses, Holder: fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "holder"))}
			slot, have, err := u.Slot(taken)
			switch {
			case have && taken[slot] != u.Holder, err == nil && (slot < 0 || slot >= uses):
				t.Fatalf("holder %s has slot %d of %v", u.Holder, slot, taken)
			case err != nil && (!errors.Is(err, admission.ErrUsedUp) || int64(len(taken)) < uses):
				t.Fatalf("%v, with %d of %d used", err, len(taken), uses)
			case err == nil && !have && rapid.Bool().Draw(t, "late"):
				late = append(late, write{slot, u.Holder})
			case err == nil:
				land(write{slot, u.Holder})
			}
			if len(late) > 0 && rapid.Bool().Draw(t, "lands") {
				land(late[0])
				late = late[1:]
			}
		}
		for _, w := range late {
			land(w)
		}
		seen := map[string]int64{}
		for slot, holder := range taken {
			if was, twice := seen[holder]; twice {
				t.Fatalf("holder %s has the slots %d and %d", holder, was, slot)
			}
			seen[holder] = slot
		}
	})
}

// A code is the same however it was copied, of one event, and never kept as it is.
func TestCodesAreReadAsPeopleCopyThem(t *testing.T) {
	want, ok := admission.CodeHash("gala", "FAN7-K2QX-99")
	for _, same := range []string{"fan7k2qx99", " FAN7 K2QX 99 ", "Fan7-k2qx-99"} {
		if got, good := admission.CodeHash("gala", same); !good || got != want || !ok {
			t.Errorf("%q is another code", same)
		}
	}
	if got, _ := admission.CodeHash("other", "FAN7K2QX99"); got == want {
		t.Error("one code opens two events")
	}
	for _, none := range []string{"", "short", "----------", "naïve-code", "a code\nof two lines", string(make([]byte, 100))} {
		if _, ok := admission.CodeHash("gala", none); ok {
			t.Errorf("%q is taken for a code", none)
		}
	}
}
