package rehearsal

import "time"

// kind is what happens.
type kind uint8

const (
	joins kind = iota
	polls
	comes
	signs
	claims
	goes
	pays
	cancels
	lapses
	ofPeople // kinds before it are
	ticks
	lands
	second
	script
)

type event struct {
	at   time.Duration
	kind kind
	id   int32
}

// events is a heap of four children a node: 100,000 people poll a million
// times.
type events []event

func (h *events) push(e event) {
	*h = append(*h, e)
	q, i := *h, len(*h)-1
	for i > 0 && q[(i-1)/4].at > q[i].at {
		q[(i-1)/4], q[i] = q[i], q[(i-1)/4]
		i = (i - 1) / 4
	}
}

func (h *events) pop() event {
	q := *h
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		least := i
		for c := 4*i + 1; c <= 4*i+4 && c < last; c++ {
			if q[c].at < q[least].at {
				least = c
			}
		}
		if least == i {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	*h = q
	return top
}

// most is the most that happened in any second.
type most struct {
	lately []time.Duration
	n      int
}

func (m *most) note(at time.Duration) {
	for len(m.lately) > 0 && at-m.lately[0] >= time.Second {
		m.lately = m.lately[1:]
	}
	m.lately = append(m.lately, at)
	m.n = max(m.n, len(m.lately))
}
