package admissiontest

import (
	"time"

	"pgregory.net/rapid"

	"waitroom/internal/admission"
)

func (m *model) ticket(rt *rapid.T) admission.Place {
	holder := rapid.SampledFrom([]string{"ada", "ben", "cy"}).Draw(rt, "holder")
	return admission.Place{
		Event: m.event, Epoch: m.epoch(rt), Holder: hash(holder), State: admission.Waiting,
		Index: rapid.Int64Range(0, 2).Draw(rt, "number"), JoinedAt: noon,
	}
}

func (m *model) join(rt *rapid.T) {
	p, now := m.ticket(rt), noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "min"))*time.Minute)
	p.JoinedAt = now
	got, err := m.store.Join(m.t.Context(), p, now)
	old, found := m.places[p.Holder]
	switch {
	case found && old.Epoch > p.Epoch:
		m.refused(rt, err, admission.ErrEpoch)
		return
	case found && old.Live(p.Epoch, now):
		p = old
	}
	m.placed(rt, p, got, err)
}

func (m *model) pass(rt *rapid.T) {
	p := passed(m.ticket(rt), rapid.Int64Range(1, 9).Draw(rt, "take"), noon, time.Duration(rapid.IntRange(1, 4).Draw(rt, "life"))*time.Minute)
	got, err := m.store.Pass(m.t.Context(), p)
	p.State = admission.Passed
	old, found := m.places[p.Holder]
	switch {
	case !found || old.Epoch < p.Epoch || old.Epoch == p.Epoch && old.Index < p.Index && !old.Bars(p):
	case old.Epoch > p.Epoch:
		m.refused(rt, err, admission.ErrEpoch)
		return
	case old.Index != p.Index || old.State == admission.Left:
		m.refused(rt, err, admission.ErrNoPlace)
		return
	case old.State == admission.Passed:
		p = old
	default:
		p.JoinedAt = old.JoinedAt
	}
	m.placed(rt, p, got, err)
}

func (m *model) leave(rt *rapid.T) {
	p := m.ticket(rt)
	got, err := m.store.Leave(m.t.Context(), p)
	p.State = admission.Left
	old, found := m.places[p.Holder]
	switch {
	case !found || old.Epoch < p.Epoch || old.Epoch == p.Epoch && old.Index < p.Index:
	case old.Epoch > p.Epoch:
		m.refused(rt, err, admission.ErrEpoch)
		return
	case old.Index != p.Index:
		m.refused(rt, err, admission.ErrNoPlace)
		return
	case old.State == admission.Waiting:
		p.JoinedAt = old.JoinedAt
	default:
		p = old
	}
	m.placed(rt, p, got, err)
}

func (m *model) placed(rt *rapid.T, want, got admission.Place, err error) {
	if err != nil || got != want {
		rt.Fatalf("the place is %+v (%v), want %+v", got, err, want)
	}
	m.places[want.Holder] = want
}
