package admission

import (
	"context"
	"crypto/sha256"
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
	// CodeUses is how often one code may be used at most: the last of its uses have
	// to be looked for.
	CodeUses = 10_000
)

// PlainCode is a code without what is only how people copy it: spaces, dashes and case.
func PlainCode(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// CodeHash is how a code is kept, however it was copied: nobody reads it in a table or
// a file. False: it is no code.
func CodeHash(event, code string) (sum [sha256.Size]byte, ok bool) {
	code = PlainCode(code)
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
