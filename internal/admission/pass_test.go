package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/keyring"
)

func newPassPEM(t testing.TB) []byte {
	t.Helper()
	key, err := NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func testPassKeys(t testing.TB, bundle ...[]byte) *PassKeys {
	t.Helper()
	if bundle == nil {
		bundle = [][]byte{newPassPEM(t)}
	}
	var all []byte
	for _, b := range bundle {
		all = append(all, b...)
	}
	ring, err := ParsePassKeys("waitroom", all)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func publicHalf(t testing.TB, private []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(private)
	_, public, err := keyring.Parse(block)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func somePass() Pass {
	at := time.Unix(1_900_000_000, 0).UTC()
	return Pass{
		Event: "hall-1", Holder: HolderOf("a secret of theirs"), Epoch: 3, Place: 1756, Take: 17,
		IssuedAt: at, ExpiresAt: at.Add(10 * time.Minute), Quota: 4,
	}
}

func signed(t testing.TB, ring *PassKeys, p Pass) string {
	t.Helper()
	text, err := ring.Sign(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPassComesBackAsSigned(t *testing.T) {
	ring, want := testPassKeys(t), somePass()
	text := signed(t, ring, want)
	got, err := ring.Check(text, "hall-1", 3, want.IssuedAt)
	if err != nil || got != want {
		t.Fatalf("checked %+v, %v; want %+v", got, err, want)
	}
	if again := signed(t, ring, want); again != text {
		t.Fatal("the same place has two passes")
	}
}

func TestPassIsRefusedWithAReason(t *testing.T) {
	private := newPassPEM(t)
	ring, pass := testPassKeys(t, private), somePass()
	good := signed(t, ring, pass)
	head, rest, _ := strings.Cut(good, ".")
	body, sig, _ := strings.Cut(rest, ".")
	during := pass.IssuedAt
	for name, c := range map[string]struct {
		text, event string
		epoch       int64
		now         time.Time
		want        Refusal
	}{
		"empty":                      {"", "hall-1", 3, during, Malformed},
		"no JWT":                     {"a.b", "hall-1", 3, during, Malformed},
		"too long":                   {strings.Repeat("A", 1<<16), "hall-1", 3, during, Malformed},
		"another event":              {good, "hall-2", 3, during, WrongEvent},
		"epoch before":               {good, "hall-1", 4, during, EpochChanged},
		"over":                       {good, "hall-1", 3, pass.ExpiresAt, Expired},
		"another's signature":        {signed(t, testPassKeys(t), pass), "hall-1", 3, during, BadSignature},
		"no signature":               {head + "." + body + ".", "hall-1", 3, during, BadSignature},
		"algorithm none":             {base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"`+passType+`"}`)) + "." + body + ".", "hall-1", 3, during, BadSignature},
		"HMAC by the public key":     {confused(t, private, pass), "hall-1", 3, during, BadSignature},
		"another issuer":             {signedBy(t, "elsewhere", private, pass), "hall-1", 3, during, BadSignature},
		"another's claims":           {head + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"me"}`)) + "." + sig, "hall-1", 3, during, BadSignature},
		"an ordinary JWT of our key": {ordinary(t, ring, private), "hall-1", 3, during, BadSignature},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ring.Check(c.text, c.event, c.epoch, c.now)
			if !errors.Is(err, c.want) {
				t.Fatalf("refused with %v, want %v", err, c.want)
			}
		})
	}
}

func signedBy(t testing.TB, issuer string, private []byte, p Pass) string {
	ring, err := ParsePassKeys(issuer, private)
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, ring, p)
}

// confused is the classic attack: HMAC under the published key.
func confused(t testing.TB, private []byte, p Pass) string {
	ring := testPassKeys(t, private)
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer: "waitroom", Audience: jwt.ClaimStrings{p.Event}, Subject: p.Holder, ID: "3.1.1",
		ExpiresAt: jwt.NewNumericDate(p.ExpiresAt),
	})
	token.Header["typ"], token.Header["kid"] = passType, ring.keyID
	text, err := token.SignedString(publicHalf(t, private))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ordinary is a JWT that our key signed for another use.
func ordinary(t testing.TB, ring *PassKeys, private []byte) string {
	block, _ := pem.Decode(private)
	key, _, err := keyring.Parse(block)
	if err != nil {
		t.Fatal(err)
	}
	p := somePass()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: "waitroom", Audience: jwt.ClaimStrings{p.Event}, ID: "3.1.1",
		IssuedAt: jwt.NewNumericDate(p.IssuedAt), ExpiresAt: jwt.NewNumericDate(p.ExpiresAt),
	})
	token.Header["kid"] = ring.keyID
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPassKeysRotate(t *testing.T) {
	old, young := newPassPEM(t), newPassPEM(t)
	before, published := testPassKeys(t, old), testPassKeys(t, old, young)
	swapped, after := testPassKeys(t, young, publicHalf(t, old)), testPassKeys(t, young)
	p := somePass()
	first, second := signed(t, before, p), signed(t, swapped, p)
	for name, c := range map[string]struct {
		ring *PassKeys
		text string
	}{
		"published before use":   {published, second},
		"kept after the swap":    {swapped, first},
		"the new key's own pass": {after, second},
	} {
		if _, err := c.ring.Check(c.text, "hall-1", 3, p.IssuedAt); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := after.Check(first, "hall-1", 3, p.IssuedAt); !errors.Is(err, BadSignature) {
		t.Errorf("a pass of a key taken out: %v", err)
	}
	if verifier := testPassKeys(t, publicHalf(t, old)); verifier.CanSign() {
		t.Error("a public key signs")
	}
}

// Any library can check our passes by the published document alone.
func TestJWKSHasTheKeys(t *testing.T) {
	ring := testPassKeys(t, newPassPEM(t), newPassPEM(t))
	var set struct {
		Keys []struct{ Kty, Crv, Alg, Kid, X, Y, D string }
	}
	if err := json.Unmarshal(ring.JWKS(), &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Keys) != 2 || set.Keys[0].Kid != ring.keyID {
		t.Fatalf("published %d keys, want 2, the signing one first: %s", len(set.Keys), ring.JWKS())
	}
	for _, k := range set.Keys {
		if k.Kty != "EC" || k.Crv != "P-256" || k.Alg != "ES256" || len(k.X) != 43 || len(k.Y) != 43 || k.D != "" {
			t.Errorf("published %+v", k)
		}
	}
}

func TestPassKeysThatAreNone(t *testing.T) {
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(wide)
	if err != nil {
		t.Fatal(err)
	}
	good := newPassPEM(t)
	for name, bundle := range map[string][]byte{
		"nothing":       nil,
		"not PEM":       []byte("secret"),
		"another curve": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"a certificate": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		"twice":         append(append([]byte{}, good...), good...),
		"a torn second": append(append([]byte{}, good...), good[:40]...),
	} {
		if _, err := ParsePassKeys("waitroom", bundle); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func BenchmarkPassCheck(b *testing.B) {
	ring, p := testPassKeys(b), somePass()
	text := signed(b, ring, p)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Check(text, "hall-1", 3, p.IssuedAt); err != nil {
			b.Fatal(err)
		}
	}
}
