package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Receipt proves, to anybody who has the published keys, that its holder joined
// the lobby as that index, and to what seed the draw was committed then.
type Receipt struct {
	Event  string
	Epoch  int64
	Holder string
	Index  int64
	Commit string // hex SHA-256 of the seed
	At     time.Time
}

const receiptType = "waitroom-lobby-receipt+jwt"

type receiptClaims struct {
	jwt.RegisteredClaims
	Epoch  int64  `json:"epoch"`
	Index  int64  `json:"index"`
	Commit string `json:"commit"`
}

// receipt is what somebody in the lobby keeps. Who joins from its closing time on
// has none, also while that is still to be written, and is drawn or not.
func (l *Line) receipt(p Place) (string, error) {
	lobby := l.Sale().Lobby
	if lobby == nil || !p.JoinedAt.Before(lobby.ClosesAt) {
		return "", nil
	}
	return l.cfg.Passes.SignReceipt(Receipt{
		Event: l.event, Epoch: l.epoch, Holder: p.Holder, Index: p.Index, Commit: commitOf(lobby.Seed), At: p.JoinedAt,
	})
}

// SignReceipt writes a receipt down.
func (r *PassKeys) SignReceipt(k Receipt) (string, error) {
	return r.sign(receiptType, receiptClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: r.issuer, Subject: k.Holder, Audience: jwt.ClaimStrings{k.Event}, IssuedAt: jwt.NewNumericDate(k.At),
		},
		Epoch: k.Epoch, Index: k.Index, Commit: k.Commit,
	})
}

// ParseJWKS reads the keys that were published: a ring that accepts any
// issuer's receipts by them, and signs nothing.
func ParseJWKS(set []byte) (*PassKeys, error) {
	var doc struct{ Keys []jwk }
	if err := json.Unmarshal(set, &doc); err != nil {
		return nil, fmt.Errorf("jwks: %w", err)
	}
	ring := &PassKeys{known: map[string]*ecdsa.PublicKey{}}
	for _, k := range doc.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		y, errY := base64.RawURLEncoding.DecodeString(k.Y)
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
		if err := errors.Join(errX, errY, err); err != nil {
			return nil, fmt.Errorf("jwks: key %q: %w", k.KeyID, err)
		}
		ring.known[k.KeyID] = key
	}
	if len(ring.known) == 0 {
		return nil, errors.New("jwks: no keys")
	}
	return ring, nil
}

// ReadReceipt accepts a receipt of any event, however old: the draw it is about
// may be long over.
func (r *PassKeys) ReadReceipt(text string) (Receipt, error) {
	if len(text) > maxPassText {
		return Receipt{}, Malformed
	}
	var c receiptClaims
	_, err := jwt.ParseWithClaims(text, &c, r.keyOf(receiptType),
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding())
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return Receipt{}, Malformed
	case err != nil:
		return Receipt{}, BadSignature
	case r.issuer != "" && c.Issuer != r.issuer:
		return Receipt{}, BadSignature
	case len(c.Audience) != 1 || c.IssuedAt == nil:
		return Receipt{}, Malformed
	}
	return Receipt{
		Event: c.Audience[0], Epoch: c.Epoch, Holder: c.Subject, Index: c.Index, Commit: c.Commit, At: c.IssuedAt.UTC(),
	}, nil
}
