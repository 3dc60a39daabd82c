package bench

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/admission"
)

type passClaims struct {
	jwt.RegisteredClaims
	Quota int `json:"quota"`
}

// passes: signing and checking one, against golang-jwt's ES256 of the same
// claims. Ours signs without randomness, so that a place has one pass.
func passes(_ context.Context, _ string, e Effort, _ io.Writer) ([]Figure, error) {
	ring, key, err := passKeys()
	if err != nil {
		return nil, err
	}
	now := time.Now().Truncate(time.Second)
	p := admission.Pass{
		Event: event, Holder: aTicket(0).Holder(), Epoch: 1, Place: 123_456, Take: 1234,
		IssuedAt: now, ExpiresAt: now.Add(time.Hour), Quota: 4,
	}
	text, err := ring.Sign(p)
	if err != nil {
		return nil, err
	}
	sign := func() error {
		_, err := ring.Sign(p)
		return err
	}
	signed := func() error {
		_, err := jwt.NewWithClaims(jwt.SigningMethodES256, passClaims{jwt.RegisteredClaims{
			Issuer: "waitroom", Audience: jwt.ClaimStrings{event}, Subject: p.Holder, ID: "1.123456.1234",
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(p.ExpiresAt),
		}, p.Quota}).SignedString(key)
		return err
	}
	check := func() error {
		_, err := ring.Check(text, event, 1, now)
		return err
	}
	checked := func() error {
		_, err := jwt.ParseWithClaims(text, &passClaims{}, func(*jwt.Token) (any, error) { return &key.PublicKey, nil }, jwt.WithValidMethods([]string{"ES256"}))
		return err
	}
	ns, err := e.costs(sign, signed, check, checked)
	if err != nil {
		return nil, err
	}
	return []Figure{faster("pass_sign_vs_jwt", "ns", ns[0], ns[1]), faster("pass_check_vs_jwt", "ns", ns[2], ns[3])}, nil
}

func passKeys() (*admission.PassKeys, *ecdsa.PrivateKey, error) {
	text, err := admission.NewPassKey()
	if err != nil {
		return nil, nil, err
	}
	ring, err := admission.ParsePassKeys("waitroom", text)
	if err != nil {
		return nil, nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, nil, fmt.Errorf("pass key: no PEM")
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	return ring, key, err
}
