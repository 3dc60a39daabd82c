package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/webhooks"
)

// office is an organiser's, with a database of its own.
type office struct {
	*testing.T
	pool *pgxpool.Pool
}

// openOffice has patience: on a busy machine those who wait for each other wait long.
func openOffice(t *testing.T) office {
	return office{t, pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 8, Lock: time.Minute, Statement: time.Minute, Idle: time.Minute}))}
}

const target = "https://hooks.example.com/waitroom"

func asker(organiser, attempt string) webhooks.Asker {
	return webhooks.Asker{Organiser: organiser, By: "desk", Attempt: attempt}
}

// endpoint adds one of acme's.
func (o office) endpoint(id string) webhooks.Changed {
	o.Helper()
	c, err := webhooks.Add(o.Context(), o.pool, asker("acme", ""), webhooks.Addition{ID: id, Settings: webhooks.DefaultSettings(target), Most: 100})
	return o.want(c, err, webhooks.Done)
}

func (o office) want(c webhooks.Changed, err error, want webhooks.Answer) webhooks.Changed {
	o.Helper()
	if err != nil || c.Answer != want {
		o.Fatalf("answered %q, %v; want %q", c.Answer, err, want)
	}
	return c
}

func (o office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.pool.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o office) text(sql string, args ...any) (s string) {
	o.Helper()
	if err := o.pool.QueryRow(o.Context(), sql, args...).Scan(&s); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	return s
}

// deliver writes n deliveries down for an endpoint, in a status, as a courier
// leaves them; the kth notice is k minutes old.
func (o office) deliver(endpoint, status string, n int) {
	o.Helper()
	o.exec(`
		WITH told AS (
		  INSERT INTO notices (kind, organiser, subject, version, body, at, addressed, relayed_at)
		  SELECT 'order.paid', 'acme', gen_random_uuid(), k, '{"order": "x"}', now() - k * interval '1 minute', 1, now()
		  FROM generate_series($3::int, 1, -1) k RETURNING id, at
		)
		INSERT INTO deliveries (notice_id, endpoint_id, status, attempts, courier, leased_until, reason, ended_at)
		SELECT id, $1, $2, CASE WHEN $2 = 'waiting' THEN 0 ELSE 1 END,
		  CASE WHEN $2 = 'sending' THEN 'c1' END, CASE WHEN $2 = 'sending' THEN now() + interval '1 minute' END,
		  CASE WHEN $2 = 'dead' THEN 'max_attempts' END, CASE WHEN $2 IN ('dead', 'delivered') THEN now() END
		FROM told ORDER BY at`, endpoint, status, n)
}

// atOnce runs n of the same at one instant.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}

// What may be asked for is what there is, but for the test.
func TestKindsAreTheSchemas(t *testing.T) {
	o := openOffice(t)
	def := o.text(`SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'notices_kind_check'`)
	var there []string
	for _, m := range regexp.MustCompile(`'([a-z_.]+)'`).FindAllStringSubmatch(def, -1) {
		there = append(there, m[1])
	}
	want := append(webhooks.Kinds(), "endpoint.test")
	slices.Sort(there)
	slices.Sort(want)
	if diff := cmp.Diff(there, want); diff != "" {
		t.Errorf("kinds (-schema +asked for):\n%s", diff)
	}
}

// Added twenty times at once under one name, it is one endpoint, and its secret is
// shown once.
func TestAnEndpointIsAddedOnceAndItsSecretShownOnce(t *testing.T) {
	o := openOffice(t)
	wish := webhooks.Addition{Settings: webhooks.DefaultSettings(target), Most: 5}
	var mu sync.Mutex
	var ids, secrets []string
	atOnce(20, func(int) {
		c, err := webhooks.Add(t.Context(), o.pool, asker("acme", "a1"), wish)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || c.Answer != webhooks.Done {
			t.Errorf("answered %q, %v", c.Answer, err)
		}
		ids = append(ids, c.Endpoint.ID)
		if c.Secret != "" {
			secrets = append(secrets, c.Secret)
		}
	})
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 || len(secrets) != 1 {
		t.Fatalf("%d secrets, endpoints %v; want one of each", len(secrets), ids)
	}
	kept := o.text(`SELECT encode(secret, 'base64') FROM endpoints`)
	if secrets[0] != "whsec_"+kept {
		t.Error("the secret that was shown is not the one that signs")
	}
	if raw, err := base64.StdEncoding.DecodeString(kept); err != nil || len(raw) != 32 {
		t.Errorf("a secret of %d bytes, want 32: %v", len(raw), err)
	}
	other := asker("acme", "a1")
	other.Request[0] = 1
	c, err := webhooks.Add(t.Context(), o.pool, other, wish)
	o.want(c, err, webhooks.KeyReused)
}

// At the cap, of many additions at once just as many are done as are left.
func TestAnOrganiserHasSoManyEndpoints(t *testing.T) {
	o := openOffice(t)
	var mu sync.Mutex
	got := map[webhooks.Answer]int{}
	atOnce(12, func(i int) {
		c, err := webhooks.Add(t.Context(), o.pool, asker("acme", fmt.Sprint("a", i)), webhooks.Addition{Settings: webhooks.DefaultSettings(target), Most: 5})
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got[c.Answer]++
	})
	if got[webhooks.Done] != 5 || got[webhooks.TooMany] != 7 {
		t.Errorf("%v, want 5 done and 7 too many", got)
	}
	c, err := webhooks.Add(t.Context(), o.pool, asker("other", ""), webhooks.Addition{ID: "theirs", Settings: webhooks.DefaultSettings(target), Most: 5})
	o.want(c, err, webhooks.Done)
	c, err = webhooks.Add(t.Context(), o.pool, asker("third", ""), webhooks.Addition{ID: "theirs", Settings: webhooks.DefaultSettings(target), Most: 5})
	o.want(c, err, webhooks.IDTaken)
	c, err = webhooks.Delete(t.Context(), o.pool, o.text(`SELECT min(id) FROM endpoints WHERE organiser = 'acme'`), asker("acme", ""))
	o.want(c, err, webhooks.Done)
	c, err = webhooks.Add(t.Context(), o.pool, asker("acme", "again"), webhooks.Addition{Settings: webhooks.DefaultSettings(target), Most: 5})
	o.want(c, err, webhooks.Done)
}

// What no endpoint can have is refused by its name, and is no endpoint's.
func TestSenselessSettingsAreNamed(t *testing.T) {
	o := openOffice(t)
	whole := webhooks.DefaultSettings(target)
	for setting, spoil := range map[string]func(*webhooks.Settings){
		"url":            func(s *webhooks.Settings) { s.URL = "http://hooks.example.com/" },
		"kinds":          func(s *webhooks.Settings) { s.Kinds = []string{"order.paid", "order.lost"} },
		"max_attempts":   func(s *webhooks.Settings) { s.MaxAttempts = 0 },
		"backoff_base_s": func(s *webhooks.Settings) { s.BackoffBase = -1 },
		"dispatch_gap_s": func(s *webhooks.Settings) { s.DispatchGap = 25 * time.Hour },
		"min_interval_s": func(s *webhooks.Settings) { s.MinInterval = 25 * time.Hour },
		"per_minute":     func(s *webhooks.Settings) { s.PerMinute = 0 },
		"in_flight":      func(s *webhooks.Settings) { s.InFlight = 101 },
	} {
		s := whole
		spoil(&s)
		var flaw *webhooks.Flaw
		_, err := webhooks.Add(t.Context(), o.pool, asker("acme", ""), webhooks.Addition{ID: "bad", Settings: s, Most: 5})
		if !errors.As(err, &flaw) || flaw.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	for _, url := range []string{"", "https:///x", "ftp://a.example", "https://u:p@a.example/", "https://a.example/#x", "http://127.0.0.1:9/", "javascript:x", "https://" + strings.Repeat("a", 2000)} {
		if webhooks.DefaultSettings(url).Check(false) == nil {
			t.Errorf("%.60q is taken", url)
		}
	}
	if flaw := webhooks.DefaultSettings("http://127.0.0.1:8099/x").Check(true); flaw != nil {
		t.Errorf("loopback, where it is allowed: %v", flaw)
	}
	if n := o.text(`SELECT count(*)::text FROM endpoints`); n != "0" {
		t.Errorf("%s endpoints", n)
	}
}

// Two edits of one version: one is done, and the other learns that it was edited.
func TestTwoEditsOfOneVersionAreOne(t *testing.T) {
	o := openOffice(t)
	e := o.endpoint("e").Endpoint
	var mu sync.Mutex
	got := map[webhooks.Answer]int{}
	atOnce(10, func(i int) {
		s := e.Settings
		s.PerMinute = 10 + i
		c, err := webhooks.Edit(t.Context(), o.pool, "e", e.Version, s, false, asker("acme", ""))
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got[c.Answer]++
	})
	if got[webhooks.Done] != 1 || got[webhooks.Edited] != 9 {
		t.Errorf("%v, want one done", got)
	}
	now, _, err := webhooks.Find(t.Context(), o.pool, "acme", "e")
	if err != nil || now.Version != e.Version+1 {
		t.Fatalf("version %d, %v", now.Version, err)
	}
	c, err := webhooks.Edit(t.Context(), o.pool, "e", now.Version, now.Settings, false, asker("acme", ""))
	o.want(c, err, webhooks.Unchanged)
	if c.Endpoint.Version != now.Version {
		t.Error("what was put back raised the version")
	}
	// Kinds are a set, and times what Postgres keeps of them.
	s := now.Settings
	s.Kinds = []string{"order.paid", "event.paused", "order.paid"}
	c, err = webhooks.Edit(t.Context(), o.pool, "e", 0, s, false, asker("acme", ""))
	if o.want(c, err, webhooks.Done); !slices.Equal(c.Endpoint.Kinds, []string{"event.paused", "order.paid"}) {
		t.Errorf("kinds %v", c.Endpoint.Kinds)
	}
	past, _, err := webhooks.History(t.Context(), o.pool, "acme", "e", 0, 10)
	if err != nil || len(past) != 3 || past[0].Did != "edited" || past[0].By != "desk" {
		t.Fatalf("%+v, %v", past, err)
	}
	var old, is map[string]any
	if errors.Join(json.Unmarshal(past[0].Old, &old), json.Unmarshal(past[0].New, &is)) != nil || len(is) != 1 || len(old["kinds"].([]any)) != 0 || len(is["kinds"].([]any)) != 2 {
		t.Errorf("from %s to %s; want the kinds alone", past[0].Old, past[0].New)
	}
}

// Two rotations at once are one: nobody is shown a secret that does not sign.
func TestTwoRotationsAtOnceAreOne(t *testing.T) {
	o := openOffice(t)
	first := o.endpoint("e").Secret
	signs := func() string {
		return o.text(`SELECT 'whsec_' || encode(secret, 'base64') || coalesce(' whsec_' || encode(old_secret, 'base64'), '') FROM endpoints WHERE id = 'e'`)
	}
	var mu sync.Mutex
	got := map[webhooks.Answer]int{}
	var shown string
	atOnce(8, func(i int) {
		c, err := webhooks.Rotate(t.Context(), o.pool, "e", webhooks.Rotation{Overlap: time.Hour}, asker("acme", fmt.Sprint("r", i)))
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if got[c.Answer]++; c.Answer == webhooks.Done {
			shown = c.Secret
		}
	})
	if got[webhooks.Done] != 1 || got[webhooks.Rotating] != 7 {
		t.Errorf("%v, want one done", got)
	}
	if s := signs(); s != shown+" "+first {
		t.Errorf("the new one and the one before do not both sign")
	}
	rotate := func(r webhooks.Rotation, attempt string) webhooks.Changed {
		t.Helper()
		c, err := webhooks.Rotate(t.Context(), o.pool, "e", r, asker("acme", attempt))
		return o.want(c, err, webhooks.Done)
	}
	second := rotate(webhooks.Rotation{Overlap: time.Hour, Replace: true}, "lost")
	if s := signs(); s != second.Secret+" "+first {
		t.Errorf("replaced: the lost one is not gone, or the old one is")
	}
	if again := rotate(webhooks.Rotation{Overlap: time.Hour, Replace: true}, "lost"); again.Secret != "" || again.Endpoint.Version != second.Endpoint.Version {
		t.Errorf("the same attempt rotated again: version %d, want %d", again.Endpoint.Version, second.Endpoint.Version)
	}
	third := rotate(webhooks.Rotation{}, "leaked")
	if s := signs(); s != third.Secret || third.Endpoint.OldSecretUntil != nil {
		t.Errorf("without an overlap another still signs")
	}
	o.exec(`UPDATE endpoints SET old_secret = secret, old_secret_until = now() - interval '1 second'`)
	rotate(webhooks.Rotation{Overlap: time.Hour}, "later")
	if _, err := webhooks.Rotate(t.Context(), o.pool, "e", webhooks.Rotation{Overlap: 8 * 24 * time.Hour}, asker("acme", "")); err == nil {
		t.Error("eight days of overlap are taken")
	}
	record := o.text(`SELECT coalesce(string_agg(coalesce(old::text, '') || coalesce(new::text, ''), ' '), '') || (SELECT string_agg(answer::text, ' ') FROM organiser_attempts) FROM endpoint_changes`)
	for _, s := range []string{first, shown, second.Secret, third.Secret} {
		if strings.Contains(record, strings.TrimPrefix(s, "whsec_")) {
			t.Error("a secret stands in the record")
		}
	}
}

// Another organiser's endpoint, and a deleted one, are answered like none, by
// everything.
func TestAnothersEndpointIsNone(t *testing.T) {
	o := openOffice(t)
	o.endpoint("e")
	o.endpoint("gone")
	o.deliver("e", "dead", 1)
	c, err := webhooks.Delete(t.Context(), o.pool, "gone", asker("acme", ""))
	o.want(c, err, webhooks.Done)
	for who, id := range map[string]string{"other": "e", "acme": "gone"} {
		w := asker(who, "")
		for what, do := range map[string]func() (webhooks.Changed, error){
			"edit": func() (webhooks.Changed, error) {
				return webhooks.Edit(t.Context(), o.pool, id, 0, webhooks.DefaultSettings(target), false, w)
			},
			"rotate": func() (webhooks.Changed, error) {
				return webhooks.Rotate(t.Context(), o.pool, id, webhooks.Rotation{}, w)
			},
			"state": func() (webhooks.Changed, error) {
				return webhooks.SetState(t.Context(), o.pool, id, webhooks.Active, w)
			},
			"delete": func() (webhooks.Changed, error) { return webhooks.Delete(t.Context(), o.pool, id, w) },
			"test":   func() (webhooks.Changed, error) { return webhooks.Test(t.Context(), o.pool, id, w) },
			"replay all": func() (webhooks.Changed, error) {
				r, err := webhooks.ReplaySince(t.Context(), o.pool, id, webhooks.Replaying{}, asker(who, "r"), forever)
				return webhooks.Changed{Answer: r.Answer}, err
			},
		} {
			if c, err := do(); err != nil || c.Answer != webhooks.NoEndpoint {
				t.Errorf("%s of %s by %s: %q, %v", what, id, who, c.Answer, err)
			}
		}
		if all, err := webhooks.HealthOf(t.Context(), o.pool, who, id); err != nil || len(all) != 0 {
			t.Errorf("health of %s by %s: %v, %v", id, who, all, err)
		}
	}
	if _, found, err := webhooks.History(t.Context(), o.pool, "other", "e", 0, 10); err != nil || found {
		t.Errorf("another's history: %t, %v", found, err)
	}
	if past, found, err := webhooks.History(t.Context(), o.pool, "acme", "gone", 0, 10); err != nil || !found || past[0].Did != "deleted" {
		t.Errorf("the history of what was deleted: %t, %+v, %v", found, past, err)
	}
	all, err := webhooks.Deliveries(t.Context(), o.pool, webhooks.Which{Organiser: "other", Most: 10})
	if err != nil || len(all) != 0 {
		t.Errorf("another's deliveries: %v, %v", all, err)
	}
	c, err = webhooks.Replay(t.Context(), o.pool, 1, asker("other", ""))
	o.want(c, err, webhooks.NoDelivery)
}

func forever() bool { return true }
