package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// lobby is how the event's order was drawn: what was fixed beforehand, and what
// the line says came of it.
type lobby struct {
	fixed map[int64]fixedDraw // by epoch
	told  *toldDraw
}

type fixedDraw struct {
	seed  []byte
	value string
}

// toldDraw is in the export's last entry.
type toldDraw struct {
	Epoch int64  `json:"epoch"`
	Count int64  `json:"count"`
	Seed  string `json:"seed"`
	Value string `json:"value"`
}

func readLobby(ctx context.Context, tx pgx.Tx, event string) (lobby, error) {
	l := lobby{fixed: map[int64]fixedDraw{}}
	rows, err := tx.Query(ctx, `SELECT epoch, seed, coalesce(value, '') FROM draws WHERE event_id = $1`, event)
	if err != nil {
		return l, fmt.Errorf("audit: %w", err)
	}
	var epoch int64
	var d fixedDraw
	_, err = pgx.ForEachRow(rows, []any{&epoch, &d.seed, &d.value}, func() error { l.fixed[epoch] = d; return nil })
	return l, err
}

// sound says why the draw that the line tells of is not the one that was fixed.
func (l lobby) sound() error {
	if l.told == nil {
		return nil
	}
	fixed, there := l.fixed[l.told.Epoch]
	switch {
	case !there:
		return fmt.Errorf("epoch %d was drawn, and no draw was fixed", l.told.Epoch)
	case hex.EncodeToString(fixed.seed) != l.told.Seed:
		return errors.New("the draw's seed is not the one that was fixed before the lobby opened")
	case fixed.value != l.told.Value:
		return fmt.Errorf("the draw's value is %q, written down was %q", l.told.Value, fixed.value)
	}
	return nil
}

// number is where who joined as that index stands. False: their order is to be
// drawn, and was not.
func (l lobby) number(epoch, index int64) (int64, bool) {
	if _, drawn := l.fixed[epoch]; !drawn {
		return index, true
	}
	if l.told == nil || l.told.Epoch != epoch {
		return 0, false
	}
	if index >= l.told.Count {
		return index, true
	}
	return shuffled(l.fixed[epoch].seed, l.fixed[epoch].value, l.told.Count, index), true
}

// shuffled is the swap-or-not shuffle as it is specified, and nothing of the
// house's own.
func shuffled(seed []byte, value string, count, index int64) int64 {
	mixed := sha256.Sum256(append(append([]byte{}, seed...), value...))
	for round := range 90 {
		head := append(append([]byte{}, mixed[:]...), byte(round))
		sum := sha256.Sum256(head)
		pivot := int64(binary.LittleEndian.Uint64(sum[:8]) % uint64(count))
		flip := (pivot + count - index) % count
		position := max(index, flip)
		source := sha256.Sum256(binary.LittleEndian.AppendUint32(head, uint32(position/256)))
		if source[(position%256)/8]>>(position%8)%2 == 1 {
			index = flip
		}
	}
	return index
}

// judge holds every place's number against the draw.
func (l lobby) judge(holders map[string]place) Check {
	c := Check{Promise: "P7", Name: "a number is the draw's, or the order of joining"}
	if err := l.sound(); err != nil {
		c.fail("%v", err)
	}
	for _, p := range holders {
		c.Counted++
		want, known := l.number(p.Epoch, p.Index)
		switch {
		case !known && p.Take > 0:
			c.fail("index %d was let in by take %d before its number was drawn", p.Index, p.Take)
		case known && p.Number != nil && *p.Number != want:
			c.fail("index %d has number %d, the draw says %d", p.Index, *p.Number, want)
		case known && p.Number == nil:
			c.fail("index %d has no number, the draw says %d", p.Index, want)
		}
	}
	return c
}
