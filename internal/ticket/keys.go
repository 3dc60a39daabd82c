package ticket

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"waitroom/internal/keyring"
)

// Keys is a ring: the first private key signs, each of them verifies. A new key is
// added behind the first before it is used, so that scanners know it by then; an
// old one is kept, or its public half, until the doors of the last event whose
// codes it signed are closed.
type Keys struct {
	signer ed25519.PrivateKey // nil: this ring only verifies
	signs  keyTag
	known  map[keyTag]ed25519.PublicKey
	jwks   []byte
}

// keyTag is what a code says of its key: 12 bits, which are told apart within a ring.
type keyTag uint16

// NewKey makes a private key for ParseKeys, as PEM.
func NewKey() ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ParseKeys reads Ed25519 keys from PEM, private or public, any number.
func ParseKeys(bundle []byte) (*Keys, error) {
	ring := &Keys{known: map[keyTag]ed25519.PublicKey{}}
	jwks, err := keyring.Read(bundle, func(private crypto.Signer, public crypto.PublicKey) (any, error) {
		key, is := public.(ed25519.PublicKey)
		if !is {
			return nil, errors.New("not an Ed25519 key")
		}
		tag, entry := publish(key)
		if err := ring.add(tag, key); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.KeyID, err)
		}
		if signer, is := private.(ed25519.PrivateKey); is && ring.signer == nil {
			ring.signer, ring.signs = signer, tag
		}
		return entry, nil
	})
	if err != nil {
		return nil, fmt.Errorf("seat code keys: %w", err)
	}
	ring.jwks = jwks
	return ring, nil
}

func (k *Keys) add(tag keyTag, public ed25519.PublicKey) error {
	if _, taken := k.known[tag]; taken {
		return errors.New("it is there twice, or codes could not tell it from another: make a new one")
	}
	k.known[tag] = public
	return nil
}

// jwk is a key as RFC 8037 publishes it.
type jwk struct {
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	KeyID string `json:"kid"`
	Curve string `json:"crv"`
	X     string `json:"x"`
}

func publish(key ed25519.PublicKey) (keyTag, jwk) {
	enc := base64.RawURLEncoding
	x := enc.EncodeToString(key)
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":%q}`, x))
	return keyTag(binary.BigEndian.Uint16(sum[:]) >> 4), jwk{"OKP", "sig", "EdDSA", enc.EncodeToString(sum[:]), "Ed25519", x}
}

// JWKS is the document by which anybody checks codes.
func (k *Keys) JWKS() []byte { return k.jwks }

// CanSign reports whether the ring has a private key.
func (k *Keys) CanSign() bool { return k.signer != nil }

// ParseJWKS reads keys that were published: a ring that signs nothing. Keys of
// other kinds are passed over, as RFC 7517 asks.
func ParseJWKS(set []byte) (*Keys, error) {
	var doc struct{ Keys []jwk }
	if err := json.Unmarshal(set, &doc); err != nil {
		return nil, fmt.Errorf("jwks: %w", err)
	}
	ring := &Keys{known: map[keyTag]ed25519.PublicKey{}, jwks: set}
	for _, entry := range doc.Keys {
		if entry.Type != "OKP" || entry.Curve != "Ed25519" {
			continue
		}
		x, err := base64.RawURLEncoding.DecodeString(entry.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("jwks: key %q is no Ed25519 key", entry.KeyID)
		}
		tag, _ := publish(x)
		if err := ring.add(tag, x); err != nil {
			return nil, fmt.Errorf("jwks: key %q: %w", entry.KeyID, err)
		}
	}
	if len(ring.known) == 0 {
		return nil, errors.New("jwks: no Ed25519 keys")
	}
	return ring, nil
}

func (k *Keys) sign(text []byte) []byte { return ed25519.Sign(k.signer, text) }

func verify(key ed25519.PublicKey, text, signature []byte) bool {
	return ed25519.Verify(key, text, signature)
}
