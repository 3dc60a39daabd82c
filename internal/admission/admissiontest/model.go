package admissiontest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"waitroom/internal/admission"
)

// model is a line by the book: the door's own transitions, and the interface's
// sentences about places written down once more.
type model struct {
	store  admission.Store
	t      testing.TB
	event  string
	door   admission.Door
	seen   []admission.Door // doors of before, for stale callers
	tail   int64
	places map[string]admission.Place
}

// testModel runs random calls against a store and the model, and compares each
// answer.
func testModel(t *testing.T, open Open) {
	s := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{store: s, t: t, event: uuid.NewString(), places: map[string]admission.Place{}}
		m.door = admission.Door{Event: m.event, Epoch: 1}
		if _, err := s.Open(t.Context(), admission.Door{Event: m.event, Epoch: 1}, admission.Tail{}); err != nil {
			rt.Fatal(err)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"open": m.open, "allot": m.allot, "acquire": m.acquire, "refill": m.refill, "take": m.take,
			"join": m.join, "pass": m.pass, "leave": m.leave, "": m.check,
		})
	})
}

func (m *model) epoch(rt *rapid.T) int64 {
	if rapid.IntRange(0, 9).Draw(rt, "stale") == 0 {
		return m.door.Epoch - 1
	}
	return m.door.Epoch
}

// from is the door as a caller saw it: mostly as it is.
func (m *model) from(rt *rapid.T) admission.Door {
	if len(m.seen) > 0 && rapid.IntRange(0, 5).Draw(rt, "old") == 0 {
		return rapid.SampledFrom(m.seen).Draw(rt, "seen")
	}
	return m.door
}

func (m *model) open(rt *rapid.T) {
	epoch := m.door.Epoch + rapid.SampledFrom([]int64{-1, 0, 0, 0, 0, 0, 0, 1}).Draw(rt, "more")
	d, err := m.store.Open(m.t.Context(), admission.Door{Event: m.event, Epoch: epoch}, admission.Tail{})
	if epoch < m.door.Epoch {
		m.refused(rt, err, admission.ErrEpoch)
		return
	}
	if epoch > m.door.Epoch {
		m.door, m.tail = admission.Door{Event: m.event, Epoch: epoch}, 0
	}
	m.same(rt, d, err)
}

func (m *model) allot(rt *rapid.T) {
	epoch, n := m.epoch(rt), rapid.Int64Range(1, 5).Draw(rt, "n")
	most := m.tail + rapid.Int64Range(0, 20).Draw(rt, "room")
	first, err := m.store.Allot(m.t.Context(), m.event, epoch, n, most)
	switch {
	case epoch != m.door.Epoch:
		m.refused(rt, err, admission.ErrEpoch)
	case m.tail+n > most:
		m.refused(rt, err, admission.ErrFull)
	case err != nil || first != m.tail:
		rt.Fatalf("allotted %d (%v), want %d", first, err, m.tail)
	default:
		m.tail += n
	}
}

func (m *model) acquire(rt *rapid.T) {
	seen := m.from(rt)
	d, ok, err := m.store.Acquire(m.t.Context(), seen, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "owner"))
	owner := d.Owner
	next, want := m.door.Acquire(seen, owner)
	m.stepped(rt, seen.Epoch, d, ok, err, next, want)
}

func (m *model) refill(rt *rapid.T) {
	seen := m.from(rt)
	r := admission.Refill{
		Event: m.event, Epoch: seen.Epoch, Term: seen.Term, Beat: seen.Beat,
		Add:     rapid.Int64Range(0, 3000).Draw(rt, "add"),
		Cap:     rapid.Int64Range(0, 4000).Draw(rt, "cap"),
		Front:   max(0, m.door.Front+rapid.Int64Range(-3, 5).Draw(rt, "front")),
		Budget:  rapid.Int64Range(-3, 6).Draw(rt, "budget"),
		Stopped: rapid.IntRange(0, 5).Draw(rt, "stopped") == 0,
		At:      noon.Add(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "at ms")) * time.Millisecond),
		Doc:     rapid.SampledFrom([][]byte{nil, {}, []byte("on sale"), []byte("paused")}).Draw(rt, "doc"),
	}
	d, ok, err := m.store.Refill(m.t.Context(), r)
	next, want := m.door.Refill(r)
	m.stepped(rt, seen.Epoch, d, ok, err, next, want)
}

func (m *model) take(rt *rapid.T) {
	epoch, k := m.epoch(rt), rapid.Int64Range(1, 3).Draw(rt, "k")
	d, ok, err := m.store.Take(m.t.Context(), m.event, epoch, k)
	next, want := m.door.Take(epoch, k)
	m.stepped(rt, epoch, d, ok, err, next, want)
}

// stepped compares one of the door's steps with what it should be.
func (m *model) stepped(rt *rapid.T, epoch int64, d admission.Door, ok bool, err error, next admission.Door, want bool) {
	if epoch != m.door.Epoch {
		m.refused(rt, err, admission.ErrEpoch)
		return
	}
	if ok != want {
		rt.Fatalf("the step was done: %v (%v), want %v, at %+v", ok, err, want, m.door)
	}
	if ok {
		m.seen = append(m.seen, m.door)
		m.door = next
	}
	m.same(rt, d, err)
}

func (m *model) same(rt *rapid.T, d admission.Door, err error) {
	if err != nil || !sameDoor(d, m.door) {
		rt.Fatalf("the door is %+v (%v), want %+v", d, err, m.door)
	}
}

func (m *model) refused(rt *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		rt.Fatalf("%v, want %v", err, want)
	}
}

// check reads everything back.
func (m *model) check(rt *rapid.T) {
	d, err := m.store.Door(m.t.Context(), m.event)
	m.same(rt, d, err)
	if at, err := m.store.Tail(m.t.Context(), m.event); err != nil || at.Next != m.tail {
		rt.Fatalf("the tail is %d (%v), want %d", at.Next, err, m.tail)
	}
	for holder, want := range m.places {
		p, err := m.store.Place(m.t.Context(), m.event, want.Epoch, holder)
		if err != nil || p != want {
			rt.Fatalf("the place is %+v (%v), want %+v", p, err, want)
		}
	}
}
