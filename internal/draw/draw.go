// Package draw decides by lot who of a lobby stands where in the line, so that
// anybody can check it afterwards.
//
// The seed is fixed before the lobby opens and only its Commit is published;
// the beacon is a value that nobody can know before the lobby has closed. Both
// together (Mix) shuffle the lobby: whoever joined it as number index gets
// Number. It is the swap-or-not shuffle of Hoang, Morris and Rogaway (2012) as
// Ethereum's consensus specification has it (compute_shuffled_index, 90 rounds,
// SHA-256), so each number is worked out alone, when asked for: to draw a
// million people is to publish two values.
package draw

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// Seed is 256 bits of the operator's, secret until the draw.
type Seed [sha256.Size]byte

const rounds = 90

// NewSeed is one that nobody can guess.
func NewSeed() (s Seed) {
	rand.Read(s[:]) //nolint:errcheck // it never fails
	return s
}

// Commit is what is published of the seed before the lobby opens.
func (s Seed) Commit() [sha256.Size]byte { return sha256.Sum256(s[:]) }

// Mix adds the beacon, as the text that was published: the seed that decides.
func (s Seed) Mix(beacon string) Seed { return sha256.Sum256(append(s[:], beacon...)) }

// Shuffle is one draw, ready to be asked. It may be asked by many at once.
type Shuffle struct {
	seed   Seed
	count  uint64
	pivots [rounds]uint64
}

// New prepares the draw of count people by the mixed seed.
func New(mixed Seed, count int64) *Shuffle {
	s := &Shuffle{seed: mixed, count: uint64(max(0, count))}
	if s.count == 0 {
		return s
	}
	var in [sha256.Size + 1]byte
	copy(in[:], mixed[:])
	for r := range s.pivots {
		in[sha256.Size] = byte(r)
		sum := sha256.Sum256(in[:])
		s.pivots[r] = binary.LittleEndian.Uint64(sum[:]) % s.count
	}
	return s
}

// Count is how many are drawn.
func (s *Shuffle) Count() int64 { return int64(s.count) }

// Number is the place in the line of who joined the lobby as index, both from
// 0. Who came when the lobby was closed keeps their index: behind all drawn.
func (s *Shuffle) Number(index int64) int64 {
	at := uint64(index)
	if index < 0 || at >= s.count {
		return index
	}
	var in [sha256.Size + 5]byte
	copy(in[:], s.seed[:])
	for r, pivot := range s.pivots {
		flip := (pivot + s.count - at) % s.count
		high := max(at, flip)
		in[sha256.Size] = byte(r)
		binary.LittleEndian.PutUint32(in[sha256.Size+1:], uint32(high/256))
		lots := sha256.Sum256(in[:])
		if lots[high%256/8]>>(high%8)&1 == 1 {
			at = flip
		}
	}
	return int64(at)
}
