package dynamo

import (
	"flag"
	"net/http"
	"os"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
	"waitroom/internal/stack"
)

// TestMain has the random calls be few: each is an exchange with the stand-in.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		flag.Set("rapid.checks", "12") //nolint:errcheck // it is rapid's own flag
	}
	os.Exit(m.Run())
}

// table is one that a test may use: the stand-in's, or with
// WAITROOM_TEST_DYNAMODB set to its name one of the AWS account that the
// environment has credentials for.
func table(t testing.TB) Config {
	t.Helper()
	cfg := Config{Table: os.Getenv("WAITROOM_TEST_DYNAMODB"), Timeout: 5 * time.Second, Conns: 128}
	if cfg.Table != "" {
		return cfg
	}
	s, err := stack.Dynalite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	cfg.Table, cfg.Endpoint = "waitroom", s.URL
	return cfg
}

// open is a handle with connections of its own.
func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EnsureTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// wired is a handle over a wire that can misbehave.
func wired(t testing.TB, cfg Config) (*Store, *admissiontest.Wire) {
	t.Helper()
	carry := &http.Transport{MaxIdleConnsPerHost: cfg.Conns}
	t.Cleanup(carry.CloseIdleConnections)
	w := admissiontest.NewWire(carry)
	cfg.Transport = w
	return open(t, cfg), w
}

func TestStore(t *testing.T) {
	cfg := table(t)
	_, w := wired(t, cfg)
	cfg.Transport = w
	admissiontest.Run(t, func(t testing.TB) admission.Store { return open(t, cfg) })
	if stale := w.Stale(); len(stale) > 0 {
		t.Errorf("%d reads did not ask for consistency, the first: %s", len(stale), stale[0])
	}
}
