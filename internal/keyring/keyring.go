// Package keyring reads what the house signs with: a bundle of keys, private or
// public, any number, of which each is known and the first private one signs.
package keyring

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// Read hands each key of a PEM bundle to add, in order: private is nil where only
// the public half is there. What add says of a key is what is published of it; the
// document of all (RFC 7517) comes back. Anything else in the bundle is refused.
func Read(bundle []byte, add func(private crypto.Signer, public crypto.PublicKey) (published any, err error)) (jwks []byte, err error) {
	set := []any{}
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		private, public, err := Parse(block)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", block.Type, err)
		}
		entry, err := add(private, public)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", block.Type, err)
		}
		set, bundle = append(set, entry), rest
	}
	if len(set) == 0 || len(bytes.TrimSpace(bundle)) > 0 {
		return nil, errors.New("want PEM blocks of keys and nothing else")
	}
	return json.Marshal(map[string][]any{"keys": set})
}

// Parse reads one key, of whatever kind it is.
func Parse(block *pem.Block) (private crypto.Signer, public crypto.PublicKey, err error) {
	var key any
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
		return nil, public, err
	default:
		return nil, nil, errors.New("no key")
	}
	if err != nil {
		return nil, nil, err
	}
	private, signs := key.(crypto.Signer)
	if !signs {
		return nil, nil, errors.New("a key that signs nothing")
	}
	return private, private.Public(), nil
}
