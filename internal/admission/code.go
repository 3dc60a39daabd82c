package admission

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// CodeUse is one use of an access code, by the holder of the place that it was
// given for.
type CodeUse struct {
	Event  string
	Epoch  int64
	Code   string // CodeHash, as hex
	Uses   int64  // that the code has
	Holder string
}

// ErrUsedUp means that others have all of a code's uses.
var ErrUsedUp = errors.New("the code is used up")

const (
	codeLeast = 6 // letters and digits
	codeMost  = 64
	// CodeUses is how often one code may be used at most: whoever is next has to
	// see who was before.
	CodeUses = 10_000
)

// CodeHash is how a code is kept: nobody reads it in a table or a file. Spaces,
// dashes and case are how people copy it and say nothing. False: it is no code.
func CodeHash(event, code string) (sum [sha256.Size]byte, ok bool) {
	code = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
	if len(code) < codeLeast || len(code) > codeMost {
		return sum, false
	}
	for _, b := range []byte(code) {
		if (b < '0' || b > '9') && (b < 'A' || b > 'Z') {
			return sum, false
		}
	}
	return sha256.Sum256([]byte(event + "\x00" + code)), true
}

// Slot is where the use stands, of slots 0 to Uses-1, given who has which. It
// is the first free one in an order that is the holder's own: slots are never
// given back, so that a call that lands late finds the same slot, or finds it
// another's, and a holder never has two. have: the holder has it already.
func (u CodeUse) Slot(taken map[int64]string) (slot int64, have bool, err error) {
	for slot, holder := range taken {
		if holder == u.Holder {
			return slot, true, nil
		}
	}
	if int64(len(taken)) >= u.Uses {
		return 0, false, ErrUsedUp
	}
	key, first := sha256.Sum256([]byte(u.Holder)), uint64(0)
	start, found := binary.BigEndian.Uint64(key[:]), false
	for s := range u.Uses {
		if _, used := taken[s]; used {
			continue
		}
		if rank := mixed(start + uint64(s)*0x9e3779b97f4a7c15); !found || rank < first {
			slot, first, found = s, rank, true
		}
	}
	return slot, false, nil
}

// mixed is splitmix64's finalizer (Steele, Lea, Flood 2014).
func mixed(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// UseCode takes one of the code's uses for the holder, or finds the one that
// the holder has. ErrUsedUp is definite; after ErrDoubt ask again.
func (l *Line) UseCode(ctx context.Context, holder string, code [sha256.Size]byte, uses int64) (err error) {
	u := CodeUse{Event: l.event, Epoch: l.epoch, Code: hex.EncodeToString(code[:]), Uses: uses, Holder: holder}
	for range writeTries {
		limited, cancel := context.WithTimeout(ctx, storeLimit)
		err = l.cfg.Store.UseCode(limited, u)
		cancel()
		switch {
		case err == nil, errors.Is(err, ErrUsedUp), errors.Is(err, ErrEpoch):
			return err
		}
	}
	return uncertain("use code", err)
}

// Holds says whether the holder has a live place.
func (l *Line) Holds(ctx context.Context, holder string) (bool, error) {
	place, err := l.entrance.find(ctx, holder)
	switch {
	case errors.Is(err, ErrNoPlace):
		return false, nil
	case err != nil:
		return false, uncertain("find place", err)
	}
	return place.Live(l.epoch, time.Now()), nil
}
