package admission

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/keyring"
)

// Pass is the signed admission that a called place is exchanged for. The same
// place has the same pass, to the letter, whoever asks again.
type Pass struct {
	Event     string
	Holder    string
	Epoch     int64
	Place     int64
	Take      int64     // the credit it was let in by
	IssuedAt  time.Time // when that was taken; to the second
	ExpiresAt time.Time // to the second
	Quota     int       // seats it buys at most
}

const (
	passType    = "waitroom-pass+jwt"
	maxPassText = 2048
)

type passClaims struct {
	jwt.RegisteredClaims
	Quota int `json:"quota"`
}

// PassKeys is a ring: the first private key signs, each of them verifies. A new
// key is added behind the first before it is used, an old one is kept, or its
// public half, until the last pass it signed has run out.
type PassKeys struct {
	issuer string
	signer *ecdsa.PrivateKey // nil: this process only verifies
	keyID  string
	known  map[string]*ecdsa.PublicKey
	jwks   []byte
}

// NewPassKey makes a private key for ParsePassKeys, as PEM.
func NewPassKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// ParsePassKeys reads P-256 keys from PEM, private or public, any number.
// issuer is the passes' iss.
func ParsePassKeys(issuer string, bundle []byte) (*PassKeys, error) {
	ring := &PassKeys{issuer: issuer, known: map[string]*ecdsa.PublicKey{}}
	jwks, err := keyring.Read(bundle, func(private crypto.Signer, public crypto.PublicKey) (any, error) {
		key, is := public.(*ecdsa.PublicKey)
		if !is || key.Curve != elliptic.P256() {
			return nil, errors.New("not a P-256 key")
		}
		entry, err := publish(key)
		if err != nil {
			return nil, err
		}
		if _, twice := ring.known[entry.KeyID]; twice {
			return nil, fmt.Errorf("%s is there twice", entry.KeyID)
		}
		if signer, is := private.(*ecdsa.PrivateKey); is && ring.signer == nil {
			ring.signer, ring.keyID = signer, entry.KeyID
		}
		ring.known[entry.KeyID] = key
		return entry, nil
	})
	if err != nil {
		return nil, fmt.Errorf("pass keys: %w", err)
	}
	ring.jwks = jwks
	return ring, nil
}

// jwk is a key as RFC 7517 publishes it.
type jwk struct {
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	KeyID string `json:"kid"`
	Curve string `json:"crv"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// publish names the key by its RFC 7638 thumbprint.
func publish(key *ecdsa.PublicKey) (jwk, error) {
	point, err := key.Bytes() // 4, X, Y
	if err != nil {
		return jwk{}, err
	}
	enc := base64.RawURLEncoding
	x, y := enc.EncodeToString(point[1:33]), enc.EncodeToString(point[33:65])
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, x, y))
	return jwk{"EC", "sig", "ES256", enc.EncodeToString(sum[:]), "P-256", x, y}, nil
}

// JWKS is the document that lets any gateway check our passes.
func (r *PassKeys) JWKS() []byte { return r.jwks }

// CanSign reports whether the ring has a private key.
func (r *PassKeys) CanSign() bool { return r.signer != nil }

// Sign writes the pass down.
func (r *PassKeys) Sign(p Pass) (string, error) {
	return r.sign(passType, passClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    r.issuer,
			Subject:   p.Holder,
			Audience:  jwt.ClaimStrings{p.Event},
			ID:        fmt.Sprintf("%d.%d.%d", p.Epoch, p.Place, p.Take),
			IssuedAt:  jwt.NewNumericDate(p.IssuedAt),
			ExpiresAt: jwt.NewNumericDate(p.ExpiresAt),
		},
		Quota: p.Quota,
	})
}

func (r *PassKeys) sign(kind string, claims jwt.Claims) (string, error) {
	if r.signer == nil {
		return "", errors.New("pass keys: no private key")
	}
	token := jwt.NewWithClaims(es256{jwt.SigningMethodES256}, claims)
	token.Header["typ"], token.Header["kid"] = kind, r.keyID
	return token.SignedString(r.signer)
}

// es256 signs as RFC 6979 does, without randomness: asked twice, a place gets
// one pass and not two spellings of it.
type es256 struct{ *jwt.SigningMethodECDSA }

func (m es256) Sign(text string, key any) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	der, err := key.(*ecdsa.PrivateKey).Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var point struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &point); err != nil {
		return nil, err
	}
	sig := make([]byte, 64)
	point.R.FillBytes(sig[:32])
	point.S.FillBytes(sig[32:])
	return sig, nil
}

// Check accepts a pass for the event at that epoch that has not run out.
func (r *PassKeys) Check(text, event string, epoch int64, now time.Time) (Pass, error) {
	p, err := r.Read(text, now)
	switch {
	case err != nil:
		return Pass{}, err
	case p.Event != event:
		return Pass{}, WrongEvent
	case p.Epoch != epoch:
		return Pass{}, EpochChanged
	}
	return p, nil
}

// Read accepts a pass of any event: for what belongs to a holder, such as an
// order. The algorithm is ours to say and never the token's.
func (r *PassKeys) Read(text string, now time.Time) (Pass, error) {
	if len(text) > maxPassText {
		return Pass{}, Malformed
	}
	var claims passClaims
	_, err := jwt.ParseWithClaims(text, &claims, r.keyOf(passType),
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding(), jwt.WithIssuer(r.issuer),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return now }))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return Pass{}, Expired
	case errors.Is(err, jwt.ErrTokenMalformed):
		return Pass{}, Malformed
	case err != nil:
		return Pass{}, BadSignature
	}
	return claims.pass()
}

// keyOf finds the key of a token of that kind: a pass is no receipt.
func (r *PassKeys) keyOf(kind string) jwt.Keyfunc {
	return func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		if key := r.known[id]; key != nil && token.Header["typ"] == kind {
			return key, nil
		}
		return nil, jwt.ErrTokenUnverifiable
	}
}

func (c passClaims) pass() (Pass, error) {
	p := Pass{Holder: c.Subject, ExpiresAt: c.ExpiresAt.UTC(), Quota: c.Quota}
	ids := strings.Split(c.ID, ".")
	if len(c.Audience) != 1 || len(ids) != 3 || c.IssuedAt == nil {
		return Pass{}, Malformed
	}
	p.Event, p.IssuedAt = c.Audience[0], c.IssuedAt.UTC()
	for i, to := range []*int64{&p.Epoch, &p.Place, &p.Take} {
		n, err := strconv.ParseInt(ids[i], 10, 64)
		if err != nil {
			return Pass{}, Malformed
		}
		*to = n
	}
	return p, nil
}
