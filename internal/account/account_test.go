package account_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/account"
)

// signer is an organiser's sign-in.
type signer struct {
	id  string
	key *ecdsa.PrivateKey
}

func newSigner(t testing.TB, id string) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{id, key}
}

func (s signer) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: s.key.Public(), KeyID: s.id, Algorithm: "ES256", Use: "sig"}
}

func jwks(t testing.TB, keys ...jose.JSONWebKey) []byte {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s signer) sign(t testing.TB, method jwt.SigningMethod, key crypto.PrivateKey, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = s.id
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const issuer = "https://sign-in.example"

// claims are good ones but for what without takes away and with changes.
func claims(change jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{"iss": issuer, "aud": []string{"shop", "waitroom"}, "sub": "fan-7", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for k, v := range change {
		if v == nil {
			delete(c, k)
			continue
		}
		c[k] = v
	}
	return c
}

func config(keys []byte) account.Config {
	return account.Config{
		Issuer: issuer, Audience: "waitroom", Keys: keys, Algorithms: []string{"ES256"}, Secret: []byte(strings.Repeat("s", 32)),
	}
}

func made(t testing.TB, c account.Config) *account.Issuer {
	t.Helper()
	i, err := account.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Only a token of the organiser's, for us, in time and signed as we say is
// somebody's.
func TestOnlyTheOrganisersTokensAreTaken(t *testing.T) {
	ours, other := newSigner(t, "a"), newSigner(t, "a")
	i := made(t, config(jwks(t, newSigner(t, "old").public(), ours.public())))
	es256 := func(change jwt.MapClaims) string {
		return ours.sign(t, jwt.SigningMethodES256, ours.key, claims(change))
	}
	good, err := i.Holder(t.Context(), "gala", es256(nil), now)
	if err != nil || len(good) != 64 {
		t.Fatalf("a good token: %q, %v", good, err)
	}
	public, _ := json.Marshal(ours.public())
	for name, c := range map[string]struct {
		token string
		want  account.Refusal
	}{
		"expired":               {es256(jwt.MapClaims{"exp": now.Add(-time.Second).Unix()}), account.Expired},
		"without an expiry":     {es256(jwt.MapClaims{"exp": nil}), account.Expired},
		"not yet":               {es256(jwt.MapClaims{"nbf": now.Add(time.Hour).Unix()}), account.NotTheirs},
		"another issuer's":      {es256(jwt.MapClaims{"iss": issuer + "/"}), account.NotTheirs},
		"for another audience":  {es256(jwt.MapClaims{"aud": "waitroom2"}), account.NotTheirs},
		"for nobody":            {es256(jwt.MapClaims{"aud": nil}), account.NotTheirs},
		"without a subject":     {es256(jwt.MapClaims{"sub": nil}), account.Nobody},
		"with a long subject":   {es256(jwt.MapClaims{"sub": strings.Repeat("x", 300)}), account.Nobody},
		"by another key":        {other.sign(t, jwt.SigningMethodES256, other.key, claims(nil)), account.Unverified},
		"alg none":              {ours.sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)), account.Unverified},
		"HS256 by the key":      {ours.sign(t, jwt.SigningMethodHS256, public, claims(nil)), account.Unverified},
		"an algorithm not ours": {newES384(t), account.Unverified},
		"cut short":             {es256(nil)[:80], account.Unverified},
		"nothing":               {"", account.Unverified},
		"much too long":         {strings.Repeat("x", 20<<10), account.Unverified},
	} {
		if holder, err := i.Holder(t.Context(), "gala", c.token, now); !errors.Is(err, c.want) || holder != "" {
			t.Errorf("a token %s: %q, %v; want %v", name, holder, err, c.want)
		}
	}
}

func newES384(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{"a", nil}.sign(t, jwt.SigningMethodES384, key, claims(nil))
}

// A holder is the same for one account whatever the token, another in another
// event, and cannot be worked out by who knows the account.
func TestAHolderSaysNothingOfTheAccount(t *testing.T) {
	ours := newSigner(t, "a")
	i := made(t, config(jwks(t, ours.public())))
	holder := func(i *account.Issuer, event, subject string, at time.Time) string {
		t.Helper()
		h, err := i.Holder(t.Context(), event, ours.sign(t, jwt.SigningMethodES256, ours.key, claims(jwt.MapClaims{"sub": subject, "iat": at.Unix()})), now)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := holder(i, "gala", "fan-7", now)
	if again := holder(i, "gala", "fan-7", now.Add(time.Minute)); again != first {
		t.Error("the same account by another token is another holder")
	}
	c := config(jwks(t, ours.public()))
	c.Secret = []byte(strings.Repeat("t", 32))
	for name, other := range map[string]string{
		"another account": holder(i, "gala", "fan-8", now), "another event": holder(i, "gala2", "fan-7", now),
		"another secret": holder(made(t, c), "gala", "fan-7", now),
		"shifted":        holder(i, "gal", "afan-7", now),
	} {
		if other == first {
			t.Errorf("%s is the same holder", name)
		}
	}
}

// Settings by which anybody could be anybody stop the start.
func TestLooseSettingsAreRefused(t *testing.T) {
	keys := jwks(t, newSigner(t, "a").public())
	private := newSigner(t, "a")
	for name, change := range map[string]func(*account.Config){
		"no issuer":             func(c *account.Config) { c.Issuer = "" },
		"no audience":           func(c *account.Config) { c.Audience = "" },
		"a short secret":        func(c *account.Config) { c.Secret = c.Secret[:31] },
		"no algorithm":          func(c *account.Config) { c.Algorithms = nil },
		"none":                  func(c *account.Config) { c.Algorithms = []string{"none"} },
		"a shared secret":       func(c *account.Config) { c.Algorithms = []string{"ES256", "HS256"} },
		"no keys":               func(c *account.Config) { c.Keys = []byte(`{"keys":[]}`) },
		"keys that are no JWKS": func(c *account.Config) { c.Keys = []byte("key") },
		"a private key":         func(c *account.Config) { c.Keys = jwks(t, jose.JSONWebKey{Key: private.key, KeyID: "a"}) },
		"a secret key":          func(c *account.Config) { c.Keys = jwks(t, jose.JSONWebKey{Key: []byte("secret"), KeyID: "a"}) },
		"discovery in clear":    func(c *account.Config) { c.Keys, c.Issuer = nil, "http://sign-in.example" },
	} {
		c := config(keys)
		change(&c)
		if _, err := account.New(c); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// An issuer is found by its address, its new keys are fetched when a token names
// one, and while it is away nobody is refused for it: they are asked to come
// again. However many tokens name keys that there are not, it is asked seldom.
func TestKeysAreDiscovered(t *testing.T) {
	one, two := newSigner(t, "one"), newSigner(t, "two")
	var away atomic.Bool
	var fetched atomic.Int64
	var keys atomic.Pointer[[]byte]
	set := func(text []byte) { keys.Store(&text) }
	set(jwks(t, one.public()))
	var at string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/.well-known/openid-configuration":
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"id_token_signing_alg_values_supported":["none","ES256"]}`, at, at+"/keys")
		default:
			fetched.Add(1)
			w.Write(*keys.Load()) //nolint:errcheck // it is read or not
		}
	}))
	t.Cleanup(server.Close)
	at = server.URL
	c := config(nil)
	c.Issuer = at
	i := made(t, c)
	by := func(s signer) error {
		t.Helper()
		_, err := i.Holder(t.Context(), "gala", s.sign(t, jwt.SigningMethodES256, s.key, claims(jwt.MapClaims{"iss": at})), now)
		return err
	}
	away.Store(true)
	if err := by(one); !errors.Is(err, account.ErrAway) {
		t.Fatalf("while the issuer is away: %v, want ErrAway", err)
	}
	away.Store(false)
	if err := by(one); !errors.Is(err, account.ErrAway) {
		t.Errorf("right after it was away: %v, want ErrAway: it is not asked by each who comes", err)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for limit := time.Now().Add(time.Minute); by(one) != nil; <-again.C {
		if time.Now().After(limit) {
			t.Fatalf("back again for a minute: %v", by(one))
		}
	}
	set(jwks(t, one.public(), two.public()))
	if err := by(two); err != nil {
		t.Fatalf("by a new key: %v", err)
	}
	away.Store(true)
	if err := by(one); err != nil {
		t.Errorf("by a key that is known, while the issuer is away: %v", err)
	}
	away.Store(false)
	before := fetched.Load()
	for range 200 {
		if err := by(newSigner(t, "nobody's")); err == nil {
			t.Fatal("a key that there is not signs")
		}
	}
	if n := fetched.Load() - before; n > 20 { // five at once, and one each two seconds
		t.Errorf("200 tokens of unknown keys: %d fetches", n)
	}
	if err := by(two); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}
