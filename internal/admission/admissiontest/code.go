package admissiontest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"waitroom/internal/admission"
)

// use is one of so many uses of the line's one code.
func (l opened) use(holder string, uses int64) admission.CodeUse {
	return admission.CodeUse{Event: l.event, Epoch: 1, Code: hash("code"), Uses: uses, Holder: hash(holder)}
}

func testCodes(t *testing.T, open Open) {
	t.Run("of 40 at once as many use a code as it has uses", func(t *testing.T) { testCodeCrowd(t, open) })
	t.Run("one holder has one use, however often and whenever they ask", func(t *testing.T) { testCodeAgain(t, open) })
	t.Run("codes, events and epochs have uses of their own", func(t *testing.T) { testCodeApart(t, open) })
}

func testCodeCrowd(t *testing.T, open Open) {
	for _, uses := range []int64{1, 7} {
		l := newLine(t, open)
		handles := []admission.Store{l.Store, open(t), open(t)}
		var mu sync.Mutex
		got := map[string]error{}
		together(40, func(i int) {
			holder := fmt.Sprint(i / 2) // each asks twice at the same moment
			err := handles[i%3].UseCode(t.Context(), l.use(holder, uses))
			if err != nil && !errors.Is(err, admission.ErrUsedUp) {
				t.Errorf("use: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if was, asked := got[holder]; asked && errors.Is(was, admission.ErrUsedUp) != errors.Is(err, admission.ErrUsedUp) {
				t.Errorf("holder %s was told %v and %v", holder, was, err)
			}
			got[holder] = err
		})
		var have int64
		for holder, err := range got {
			if err == nil {
				have++
			}
			if again := l.UseCode(t.Context(), l.use(holder, uses)); !errors.Is(again, err) {
				t.Errorf("holder %s was told %v, asked again: %v", holder, err, again)
			}
		}
		if have != uses {
			t.Errorf("%d of 20 holders have a use of a code with %d", have, uses)
		}
	}
}

func testCodeAgain(t *testing.T, open Open) {
	l := newLine(t, open)
	f := NewFaulty(l.Store)
	f.Next("UseCode", faults...)
	f.Next("UseCode", Late, Late)
	for range len(faults) + 2 {
		if err := f.UseCode(t.Context(), l.use("ada", 3)); err == nil {
			t.Fatal("the fault was not applied")
		}
	}
	together(20, func(int) {
		if err := l.UseCode(t.Context(), l.use("ada", 3)); err != nil {
			t.Errorf("ada: %v", err)
		}
	})
	for _, other := range []string{"ben", "cy"} {
		if err := l.UseCode(t.Context(), l.use(other, 3)); err != nil {
			t.Errorf("%s: %v; ada has more than one of 3 uses", other, err)
		}
	}
	if f.Land() != 2 {
		t.Fatal("no call was late: the fault was not applied")
	}
	if err := l.UseCode(t.Context(), l.use("dan", 3)); !errors.Is(err, admission.ErrUsedUp) {
		t.Errorf("a fourth holder: %v, want ErrUsedUp", err)
	}
	if err := l.UseCode(t.Context(), l.use("dan", 4)); err != nil {
		t.Errorf("a fourth holder of a code that has one use more now: %v", err)
	}
	if err := l.UseCode(t.Context(), l.use("eve", 2)); !errors.Is(err, admission.ErrUsedUp) {
		t.Errorf("a code that has fewer uses now than it had used: %v, want ErrUsedUp", err)
	}
	if err := l.UseCode(t.Context(), l.use("ada", 2)); err != nil {
		t.Errorf("ada, of the fewer: %v", err)
	}
}

func testCodeApart(t *testing.T, open Open) {
	l, m := newLine(t, open), newLine(t, open)
	ctx := t.Context()
	if err := l.UseCode(ctx, l.use("ada", 1)); err != nil {
		t.Fatal(err)
	}
	other := l.use("ben", 1)
	other.Code = hash("another")
	if err := l.UseCode(ctx, other); err != nil {
		t.Errorf("another code: %v", err)
	}
	if err := m.UseCode(ctx, m.use("ben", 1)); err != nil {
		t.Errorf("another event's code: %v", err)
	}
	if _, err := l.Store.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	anew := l.use("ben", 1)
	anew.Epoch = 2
	if err := l.UseCode(ctx, anew); err != nil {
		t.Errorf("after the reset: %v, want a use", err)
	}
	if err := l.UseCode(ctx, l.use("ada", 1)); !errors.Is(err, admission.ErrEpoch) {
		t.Errorf("ada in the old epoch: %v, want ErrEpoch", err)
	}
	anew.Holder = hash("cy")
	if err := l.UseCode(ctx, anew); !errors.Is(err, admission.ErrUsedUp) {
		t.Errorf("a second holder after the reset: %v, want ErrUsedUp", err)
	}
}
