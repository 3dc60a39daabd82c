package httpapi_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/httpapi"
)

// noLines serves no event: of a pass its signature is all that is known.
type noLines struct{}

func (noLines) Line(string) (*admission.Line, bool) { return nil, false }
func (noLines) All() []*admission.Line              { return nil }

// stage is a replica as it runs in one step of a rotation.
type stage struct {
	name string
	ring *admission.PassKeys
	app  *fiber.App
}

func newStage(t *testing.T, name string, keys ...[]byte) stage {
	t.Helper()
	ring, err := admission.ParsePassKeys("waitroom", []byte(joinPEM(keys)))
	if err != nil {
		t.Fatal(err)
	}
	app, err := (&httpapi.API{Lines: noLines{}, Tokens: httpapi.Tokens{Passes: ring}, Limits: httpapi.Limits{BaseCtx: t.Context()}}).Public()
	if err != nil {
		t.Fatal(err)
	}
	return stage{name, ring, app}
}

func joinPEM(keys [][]byte) string {
	var all []string
	for _, k := range keys {
		all = append(all, string(k))
	}
	return strings.Join(all, "")
}

func (s stage) get(t *testing.T, path, token string) answer {
	t.Helper()
	req := httptest.NewRequest("GET", path, nil)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := s.app.Test(req, 30_000)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body, err}
}

func (s stage) sign(t *testing.T, p admission.Pass) string {
	t.Helper()
	text, err := s.ring.Sign(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// gatewayKnows says whether a gateway that holds the stage's key set accepts
// the pass, with a plain JWT library.
func (s stage) gatewayKnows(t *testing.T, pass string) bool {
	t.Helper()
	keys := keysOf(t, s.get(t, "/.well-known/jwks.json", ""))
	_, err := jwt.Parse(pass, func(token *jwt.Token) (any, error) {
		if key := keys[fmt.Sprint(token.Header["kid"])]; key != nil {
			return key, nil
		}
		return nil, fmt.Errorf("key %v is not published", token.Header["kid"])
	}, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("waitroom"), jwt.WithAudience("gala"), jwt.WithExpirationRequired())
	return err == nil
}

// Keys rotate without a pass being refused: at each step, old replicas and new
// ones, and gateways with the key set of either, take the passes of both.
func TestKeysRotateWithOverlap(t *testing.T) {
	a, b := newKey(t), newKey(t)
	steps := []stage{
		newStage(t, "before", a),
		newStage(t, "the new key is published", a, public(t, b)),
		newStage(t, "the new key signs", b, public(t, a)),
		newStage(t, "the old key is gone", b),
	}
	now := time.Now().Truncate(time.Second)
	pass := admission.Pass{
		Event: "gala", Holder: admission.HolderOf("somebody"), Epoch: 1, Place: 7, Take: 3,
		IssuedAt: now, ExpiresAt: now.Add(10 * time.Minute), Quota: 2,
	}
	both := func(old, next stage) (refused int) {
		for _, signer := range []stage{old, next} {
			text := signer.sign(t, pass)
			for _, judge := range []stage{old, next} {
				if judge.get(t, "/v1/verify?event=gala", text).status != 204 || !judge.gatewayKnows(t, text) {
					refused++
				}
			}
		}
		return refused
	}
	// The last step comes when what the old key signed has run out: it is one
	// between replicas that sign with the new key alone.
	for i := range len(steps) - 1 {
		if n := both(steps[i], steps[i+1]); n > 0 {
			t.Errorf("%q to %q: %d of 4 judgements refuse a good pass", steps[i].name, steps[i+1].name, n)
		}
	}
	if both(steps[0], steps[3]) == 0 {
		t.Error("a step without overlap refuses nothing: this test could not tell")
	}
	for i, want := range []int{1, 2, 2, 1} {
		if n := len(keysOf(t, steps[i].get(t, "/.well-known/jwks.json", ""))); n != want {
			t.Errorf("%s: %d keys are published, want %d", steps[i].name, n, want)
		}
	}
	if kid(t, steps[1].sign(t, pass)) != kid(t, steps[0].sign(t, pass)) || kid(t, steps[2].sign(t, pass)) == kid(t, steps[0].sign(t, pass)) {
		t.Error("publishing a key is not signing with it; and then it signs")
	}
	if steps[3].get(t, "/v1/verify?event=gala", steps[0].sign(t, pass)).status != 401 {
		t.Error("a key that is gone still opens")
	}
	keys := steps[1].get(t, "/.well-known/jwks.json", "")
	if got := keys.header.Get("Cache-Control"); got != "public, max-age=300, stale-while-revalidate=600, stale-if-error=86400" || keys.header.Get("ETag") == "" {
		t.Errorf("the key set is kept %q under ETag %q", got, keys.header.Get("ETag"))
	}
	if strings.Contains(string(keys.body), `"d"`) {
		t.Error("a private key is published")
	}
}

func newKey(t *testing.T) []byte {
	t.Helper()
	key, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// public is a private key's other half.
func public(t *testing.T, private []byte) []byte {
	t.Helper()
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER(t, private)})
}

func kid(t *testing.T, pass string) string {
	t.Helper()
	token, _, err := jwt.NewParser().ParseUnverified(pass, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(token.Header["kid"])
}

// A gateway is told whose pass it is, by header or by the pages' cookie; it may
// keep that for as long as it says, which is never as long as the pass; and
// what it did not name well is refused.
func TestVerifyTellsAGatewayWhatItNeeds(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	ours := h.signer("waitroom", []byte(h.Keys.PassKeys))
	now := time.Now().Truncate(time.Second)
	good := admission.Pass{
		Event: demotest.EventID, Holder: admission.HolderOf(g.secret), Epoch: 1, Place: g.number, Take: g.take,
		IssuedAt: now, ExpiresAt: now.Add(time.Minute), Quota: 4,
	}
	verify, cookie := "/v1/verify?event="+demotest.EventID, map[string]string{"Cookie": "theme=dark; pass." + demotest.EventID + "=" + ours(good)}
	for name, c := range map[string]call{
		"a bearer":       {method: "GET", path: verify, token: ours(good)},
		"a cookie":       {method: "GET", path: verify, header: cookie},
		"any event's":    {method: "GET", path: "/v1/verify", token: ours(good)},
		"a HEAD request": {method: "HEAD", path: verify, token: ours(good), page: true},
	} {
		a := h.want(h.do(c), 204, "")
		for key, want := range map[string]string{
			"Waitroom-Event": demotest.EventID, "Waitroom-Holder": good.Holder, "Waitroom-Place": fmt.Sprint(g.number),
			"Waitroom-Quota": "4", "Waitroom-Expires": fmt.Sprint(good.ExpiresAt.Unix()), "X-Accel-Expires": "5",
			"Cache-Control": "private, no-store", "Vary": "Authorization, Cookie",
		} {
			if got := a.header.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
		if len(a.body) > 0 || len(a.header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: a body of %d bytes, cookies %q", name, len(a.body), a.header.Values("Set-Cookie"))
		}
	}
	for name, c := range map[string]call{
		"none":                           {method: "GET", path: verify},
		"a cookie where none is named":   {method: "GET", path: "/v1/verify", header: cookie},
		"another event's cookie":         {method: "GET", path: "/v1/verify?event=other", header: map[string]string{"Cookie": "pass.other=" + ours(good)}},
		"a bad bearer and a good cookie": {method: "GET", path: verify, token: "x", header: cookie},
	} {
		if a := h.do(c); a.status != 401 || a.header.Get("X-Accel-Expires") != "" || a.header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %s, to be kept %q %q; want 401, not kept", name, a, a.header.Get("X-Accel-Expires"), a.header.Get("Cache-Control"))
		}
	}
	h.want(h.do(call{method: "GET", path: "/v1/verify?event=", token: ours(good)}), 400, "bad_request")
}

// What a gateway keeps ends before the pass does, however the seconds fall.
func TestVerifiedIsNeverKeptLongerThanThePass(t *testing.T) {
	ends := time.Unix(1_900_000_000, 0)
	for left := time.Duration(0); left < 8*time.Second; left += 50 * time.Millisecond {
		now := ends.Add(-left)
		n := httpapi.KeepFor(ends, now)
		if last := now.Unix() + n; n > 0 && last >= ends.Unix() || n < 0 || n > 5 { // nginx serves it while its second is not past last
			t.Errorf("%s before the end: kept %d s, good through second %d of %d", left, n, last, ends.Unix())
		}
	}
	if n := httpapi.KeepFor(ends, ends.Add(time.Hour)); n != 0 {
		t.Errorf("an hour after the end: kept %d s", n)
	}
}
