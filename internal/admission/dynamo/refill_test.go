package dynamo

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

func sameDoor(a, b admission.Door) bool {
	a.Doc, b.Doc = nil, nil
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// Whatever the handle guessed, a refill ends as the door's transition says, in
// one write when it goes on as before and in two when that changed.
func TestRefillSendsTheFormThatFits(t *testing.T) {
	s, w, d := line(t, table(t))
	for i, c := range []struct {
		name      string
		take      int64
		add, most int64
		front     int64 // more than the door's
		writes    int
	}{
		{"adds as before", 0, 1000, 90_000, 3, 1},
		{"adds again", 20, 1000, 90_000, 0, 1},
		{"meets its cap", 0, 9000, 33_000, 2, 2},
		{"stays at its cap", 0, 9000, 33_000, 1, 1},
		{"fits below it again", 5, 2000, 33_000, 1, 2},
		{"a lower front changes nothing", 0, 10, 33_000, -2, 2},
		{"a lower front at the cap", 0, 50_000, 33_000, -2, 2},
		{"an emptied door", 0, 0, 0, 0, 1},
		{"more than the cap needs no guess", 0, 5000, 900, 0, 1},
	} {
		if c.take > 0 {
			ok := false
			var err error
			if d, ok, err = s.Take(t.Context(), d.Event, 1, c.take); err != nil || !ok {
				t.Fatalf("take: %v, %v", ok, err)
			}
		}
		r := step(d, c.add, c.most)
		r.Front += c.front
		want, _ := d.Refill(r)
		w.Sends("UpdateItem")
		got, ok, err := s.Refill(t.Context(), r)
		if err != nil || !ok || !sameDoor(got, want) {
			t.Fatalf("%d, %s: %+v, %v, %v; want %+v", i, c.name, got, ok, err, want)
		}
		if n := w.Sends("UpdateItem"); n != c.writes {
			t.Errorf("%d, %s: %d writes, want %d", i, c.name, n, c.writes)
		}
		d = got
	}
}

// A taker that comes between the look at a full door and the write sends the
// refill to its third form, and nobody is lost.
func TestRefillGivesWayToATaker(t *testing.T) {
	cfg := table(t)
	s, w, d := line(t, cfg)
	taker := open(t, cfg)
	r := step(d, 1000, 50_000)
	writes := 0
	w.Always(func(call string) admissiontest.Fault {
		if call != "UpdateItem" {
			return admissiontest.None
		}
		if writes++; writes == 2 {
			var ok bool
			var err error
			if d, ok, err = taker.Take(t.Context(), d.Event, 1, 2); err != nil || !ok {
				t.Errorf("take: %v, %v", ok, err)
			}
		}
		return admissiontest.None
	})
	got, ok, err := s.Refill(t.Context(), r)
	if want, _ := d.Refill(r); err != nil || !ok || !sameDoor(got, want) {
		t.Errorf("refilled %+v, %v, %v; want %+v", got, ok, err, want)
	}
	if writes != 3 {
		t.Errorf("%d writes, want 3: the taker did not come between", writes)
	}
}

// The door stays within one write unit of 1 KB: takes and refills cost one
// each. So the document that the holder publishes has room for 700 bytes.
func TestDoorIsOneWriteUnit(t *testing.T) {
	s, _, d := line(t, table(t))
	r := step(d, 1<<40, 1<<40)
	r.Front, r.Budget, r.Doc = 1<<40, 1<<40, make([]byte, 700)
	if _, ok, err := s.Refill(t.Context(), r); err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	it, err := s.get(t.Context(), doorKey(d.Event))
	if err != nil {
		t.Fatal(err)
	}
	if n := size(t, it); n > 1024 {
		t.Errorf("the door's item has %d bytes, want at most 1024", n)
	} else {
		t.Logf("the door's item has %d bytes", n)
	}
}

// size is what DynamoDB charges for: names in UTF-8, numbers a byte for each
// two digits and one more (two to be safe), a boolean one byte.
func size(t *testing.T, it item) (n int) {
	for name, v := range it {
		n += len(name)
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			n += len(v.Value)
		case *types.AttributeValueMemberB:
			n += len(v.Value)
		case *types.AttributeValueMemberN:
			n += len(v.Value)/2 + 2
		case *types.AttributeValueMemberBOOL:
			n++
		default:
			t.Errorf("%s is a %T, which the door needs not", name, v)
		}
	}
	return n
}
