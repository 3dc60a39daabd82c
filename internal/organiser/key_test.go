package organiser_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/pgtest"
)

func create(t *testing.T, pool *pgxpool.Pool, k organiser.Key) string {
	t.Helper()
	token, made, err := organiser.Create(t.Context(), pool, k)
	if err != nil || made != organiser.Done {
		t.Fatalf("%s, %v", made, err)
	}
	return token
}

func read(t *testing.T, r *organiser.Ring) organiser.Look {
	t.Helper()
	if err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Look(time.Now())
}

// What is kept of a key opens nothing: a token is 256 random bits, and nowhere
// in the database, nor its bits.
func TestAKeyIsShownOnce(t *testing.T) {
	pool := pgtest.New(t)
	k := organiser.Key{Organiser: "acme", Name: "desk", Scopes: []organiser.Scope{organiser.LineRead}}
	token := create(t, pool, k)
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "wrk_"))
	if err != nil || len(secret) != 32 {
		t.Fatalf("token %q has %d bytes, %v; want 32", token, len(secret), err)
	}
	var kept string
	var has bool
	err = pool.QueryRow(t.Context(), `SELECT k::text, hash = sha256($1::bytea) FROM organiser_keys k`, []byte(token)).Scan(&kept, &has)
	if err != nil || !has || strings.Contains(kept, token[4:]) {
		t.Errorf("kept %s (its SHA-256: %t), %v", kept, has, err)
	}
	if got, made, err := organiser.Create(t.Context(), pool, k); err != nil || made != organiser.NameTaken || got != "" {
		t.Errorf("the same name again: %q %s, %v", got, made, err)
	}
	if again := create(t, pool, organiser.Key{Organiser: "other", Name: "desk", Scopes: k.Scopes}); again == token {
		t.Error("two keys have one token")
	}
}

// A ring knows the keys that are good now, each with its own scopes, and whose
// event is whose; what was revoked or has expired is unknown at the next look.
func TestARingKnowsGoodKeys(t *testing.T) {
	pool := pgtest.New(t)
	ring := organiser.NewRing(pool)
	soon := time.Now().Add(time.Hour)
	both := create(t, pool, organiser.Key{Organiser: "acme", Name: "both", Scopes: []organiser.Scope{organiser.LineWrite, organiser.LineRead, organiser.LineRead}})
	reads := create(t, pool, organiser.Key{Organiser: "acme", Name: "reads", Scopes: []organiser.Scope{organiser.LineRead}, ExpiresAt: &soon})
	for _, sql := range []string{
		`INSERT INTO events (id, title, currency, opens_at, organiser) VALUES ('theirs', 'x', 'EUR', now(), 'acme')`,
		`INSERT INTO events (id, title, currency, opens_at) VALUES ('ours', 'x', 'EUR', now())`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if l := ring.Look(time.Now()); l.Fresh() {
		t.Error("a ring that read nothing is fresh")
	}
	look := read(t, ring)
	if k, ok := look.Key(both); !ok || k.Name != "both" || !slices.Equal(k.Scopes, []organiser.Scope{"line:read", "line:write"}) {
		t.Errorf("both is %+v, %t", k, ok)
	}
	if k, ok := look.Key(reads); !ok || k.May(organiser.LineWrite) || !k.May(organiser.LineRead) {
		t.Errorf("reads is %+v, %t", k, ok)
	}
	for _, token := range []string{"", "wrk_", both[:len(both)-1], both + "A", strings.ToLower(both)} {
		if k, ok := look.Key(token); ok {
			t.Errorf("%q is key %s", token, k.Name)
		}
	}
	if !look.Owns("acme", "theirs") || look.Owns("acme", "ours") || !look.Owns("house", "ours") || look.Owns("acme", "none") || look.Owns("", "none") {
		t.Error("whose event is whose is not known")
	}
	if ids := look.Events("acme"); !slices.Equal(ids, []string{"theirs"}) {
		t.Errorf("acme has %q", ids)
	}
	if _, ok := ring.Look(soon).Key(reads); ok {
		t.Error("an expired key is good")
	}
	if ring.Look(time.Now().Add(2*organiser.Fresh)).Fresh() || !ring.Look(time.Now()).Fresh() {
		t.Error("fresh is not what was just read")
	}
	for want, name := range map[organiser.Made]string{organiser.Done: "both", organiser.NoSuchKey: "none"} {
		if made, err := organiser.Revoke(t.Context(), pool, "acme", name); err != nil || made != want {
			t.Errorf("revoke %s: %s, %v; want %s", name, made, err, want)
		}
	}
	if made, err := organiser.Revoke(t.Context(), pool, "acme", "both"); err != nil || made != organiser.WasSo {
		t.Errorf("revoked again: %s, %v", made, err)
	}
	if _, ok := read(t, ring).Key(both); ok {
		t.Error("a revoked key is good")
	}
	if keys, err := organiser.Keys(t.Context(), pool, "acme"); err != nil || len(keys) != 2 || keys[0].RevokedAt == nil {
		t.Errorf("listed %+v, %v", keys, err)
	}
}

func TestSenselessKeysAreRefused(t *testing.T) {
	now := time.Now()
	good := organiser.Key{Organiser: "acme", Name: "desk.2", Scopes: organiser.Scopes()}
	if err := good.Check(now); err != nil {
		t.Fatal(err)
	}
	past := now.Add(-time.Second)
	for says, spoil := range map[string]func(*organiser.Key){
		"organiser":    func(k *organiser.Key) { k.Organiser = "Acme" },
		"name":         func(k *organiser.Key) { k.Name = "(waitctl)" },
		"opens":        func(k *organiser.Key) { k.Scopes = nil },
		"line:writes":  func(k *organiser.Key) { k.Scopes = []organiser.Scope{"line:writes"} },
		"have expired": func(k *organiser.Key) { k.ExpiresAt = &past },
	} {
		bad := good
		spoil(&bad)
		if err := bad.Check(now); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want a word of %q", bad, err, says)
		}
	}
}
