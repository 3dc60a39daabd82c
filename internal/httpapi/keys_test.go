package httpapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// published reads the keys as any gateway would.
func (h *house) published() map[string]*ecdsa.PublicKey {
	h.t.Helper()
	return keysOf(h.t, h.want(h.do(call{method: "GET", path: "/.well-known/jwks.json"}), 200, ""))
}

func keysOf(t *testing.T, a answer) map[string]*ecdsa.PublicKey {
	t.Helper()
	var set struct {
		Keys []struct{ Kty, Alg, Kid, Crv, X, Y string }
	}
	a.into(t, &set)
	keys := map[string]*ecdsa.PublicKey{}
	for _, k := range set.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		y, errY := base64.RawURLEncoding.DecodeString(k.Y)
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if k.Kty != "EC" || k.Alg != "ES256" || k.Crv != "P-256" || errX != nil || errY != nil || err != nil {
			t.Fatalf("key %+v: %v", k, err)
		}
		keys[k.Kid] = key
	}
	return keys
}

// Any gateway can check a pass with a plain JWT library and the published
// keys, or ask.
func TestPassesAreCheckedByPublishedKeys(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	keys := h.published()
	token, err := jwt.Parse(g.pass, func(token *jwt.Token) (any, error) {
		if key := keys[fmt.Sprint(token.Header["kid"])]; key != nil {
			return key, nil
		}
		return nil, fmt.Errorf("key %v is not published", token.Header["kid"])
	}, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("waitroom"), jwt.WithAudience(demotest.EventID),
		jwt.WithSubject(admission.HolderOf(g.secret)), jwt.WithExpirationRequired())
	if err != nil {
		t.Fatal(err)
	}
	claims := token.Claims.(jwt.MapClaims)
	if want := fmt.Sprintf("1.%d.%d", g.number, g.take); claims["jti"] != want || claims["quota"] != 4.0 {
		t.Errorf("pass %v, want jti %s and a quota of 4", claims, want)
	}
	h.want(h.do(call{method: "GET", path: "/v1/verify", token: g.pass}), 204, "")
	h.want(h.do(call{method: "GET", path: "/v1/verify?event=" + demotest.EventID, token: g.pass}), 204, "")
}

// A pass that is not ours, not for this event, not of this line or no longer
// good opens nothing.
func TestForgedPassesOpenNothing(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	now := time.Now().Truncate(time.Second)
	good := admission.Pass{
		Event: demotest.EventID, Holder: admission.HolderOf(g.secret), Epoch: 1, Place: g.number, Take: g.take,
		IssuedAt: now, ExpiresAt: now.Add(time.Minute), Quota: 4,
	}
	ours := h.signer("waitroom", []byte(h.Keys.PassKeys))
	expired, foreign, old := good, good, good
	expired.IssuedAt, expired.ExpiresAt = now.Add(-time.Hour), now.Add(-time.Second)
	foreign.Event = "elsewhere"
	old.Epoch = 2
	pem2, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	h.want(h.do(call{method: "GET", path: "/v1/verify", token: ours(good)}), 204, "") // the forger's tools do work
	for name, token := range map[string]string{
		"expired": ours(expired), "of another event": ours(foreign), "of another epoch": ours(old),
		"of another issuer":    h.signer("somebody", []byte(h.Keys.PassKeys))(good),
		"by another key":       h.signer("waitroom", pem2)(good),
		"alg none":             h.forge(g.pass, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"HS256 by the PEM":     h.forge(g.pass, jwt.SigningMethodHS256, h.publicPEM()),
		"HS256 by the DER":     h.forge(g.pass, jwt.SigningMethodHS256, h.publicDER()),
		"without an expiry":    h.forge(g.pass, nil, "exp"),
		"of no type":           h.forge(g.pass, nil, "typ"),
		"signature left out":   g.pass[:len(g.pass)-86],
		"a ticket":             g.ticket,
		"longer than any pass": g.pass + g.pass + g.pass + g.pass + g.pass + g.pass,
	} {
		refused := func(c call, code string) {
			t.Helper()
			if a := h.do(c); a.status != 401 || a.code() != code {
				t.Errorf("a pass %s at %s %s: %s, want 401 %s", name, c.method, c.path, a, code)
			}
		}
		verify := "/v1/verify?event=" + demotest.EventID
		refused(call{method: "GET", path: verify, token: token}, "pass_invalid")
		if name == "of another epoch" { // 410 where a page can tell its reader to join again
			h.want(h.claim(guest{pass: token}, "k", named("A-1")), 410, "epoch_changed")
			continue
		}
		refused(call{method: "POST", path: orders, token: token, key: "k", body: named("A-1")}, "pass_invalid")
		refused(call{method: "POST", path: "/v1/events/" + demotest.EventID + "/passes/me/alive", token: token}, "pass_invalid")
	}
	if n := h.one(`SELECT count(*) FROM orders`); n != 0 {
		t.Errorf("%d orders by forged passes", n)
	}
}

func (h *house) signer(issuer string, key []byte) func(admission.Pass) string {
	h.t.Helper()
	ring, err := admission.ParsePassKeys(issuer, key)
	if err != nil {
		h.t.Fatal(err)
	}
	return func(p admission.Pass) string {
		text, err := ring.Sign(p)
		if err != nil {
			h.t.Fatal(err)
		}
		return text
	}
}

// forge signs a pass's claims by another method; with none, by our own key and
// without one of its fields.
func (h *house) forge(pass string, method jwt.SigningMethod, key any) string {
	h.t.Helper()
	token, _, err := jwt.NewParser().ParseUnverified(pass, jwt.MapClaims{})
	if err != nil {
		h.t.Fatal(err)
	}
	if method == nil {
		delete(token.Header, key.(string))
		delete(token.Claims.(jwt.MapClaims), key.(string))
		method, key = jwt.SigningMethodES256, h.privateKey()
	}
	forged := jwt.NewWithClaims(method, token.Claims)
	for k, v := range token.Header {
		if k != "alg" {
			forged.Header[k] = v
		}
	}
	if _, typed := token.Header["typ"]; !typed {
		delete(forged.Header, "typ")
	}
	text, err := forged.SignedString(key)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

func (h *house) privateKey() *ecdsa.PrivateKey { return privateKey(h.t, []byte(h.Keys.PassKeys)) }

func privateKey(t *testing.T, text []byte) *ecdsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode(text)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (h *house) publicDER() []byte { return publicDER(h.t, []byte(h.Keys.PassKeys)) }

func publicDER(t *testing.T, private []byte) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&privateKey(t, private).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func (h *house) publicPEM() []byte { return public(h.t, []byte(h.Keys.PassKeys)) }
