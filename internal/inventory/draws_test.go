package inventory

import (
	"testing"
	"time"

	"waitroom/internal/draw"
	"waitroom/internal/pgtest"
)

// drawn makes an event whose lobby closes so long from now.
func (s *sale) drawn(id, beacon string, closes time.Duration) {
	s.t.Helper()
	now := time.Now()
	rate := 1.0
	change, err := CreateEvent(s.t.Context(), s.pool, Event{
		ID: id, Title: "A draw", Currency: "EUR", OpensAt: now.Add(closes + time.Hour), Rate: &rate, LineCap: 100,
		OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: time.Minute, CallWindow: time.Minute,
		PayWithin: time.Minute, PayExtension: time.Minute,
		Draw: &Draw{LobbyOpensAt: now.Add(closes - time.Hour), LobbyClosesAt: now.Add(closes), Beacon: beacon},
	}, nil)
	if err != nil || change != Changed {
		s.t.Fatalf("create: %s (%v)", change, err)
	}
}

// A draw is fixed when the event is made: only the beacon's value comes later,
// once, after the lobby has closed. The database itself holds everybody to it.
func TestDrawIsFixedBeforeItsLobbyOpens(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 1, "")
	s.drawn("closed", "drand, round 7", -time.Second)
	s.drawn("open", "drand, round 8", time.Hour)
	s.drawn("without", "", -time.Second)
	for _, step := range []struct {
		event, value string
		want         Change
	}{
		{"open", "aa", LobbyOpen},
		{"without", "aa", NoBeacon},
		{s.event, "aa", NoBeacon},
		{"nobody", "aa", NoSuchEvent},
		{"closed", "aa", Changed},
		{"closed", "aa", Unchanged},
		{"closed", "bb", Fixed},
	} {
		if got, err := SetBeacon(t.Context(), s.pool, step.event, step.value); got != step.want || err != nil {
			t.Errorf("the value %s for %s: %s (%v), want %s", step.value, step.event, got, err, step.want)
		}
	}
	for _, sql := range []string{
		`UPDATE draws SET seed = sha256('chosen') WHERE event_id = 'open'`,
		`UPDATE draws SET beacon = 'another' WHERE event_id = 'open'`,
		`UPDATE draws SET value = 'early' WHERE event_id = 'open'`,
		`UPDATE draws SET value = 'again' WHERE event_id = 'closed'`,
		`UPDATE draws SET lobby_closes_at = now() + interval '1 day' WHERE event_id = 'open'`,
		`UPDATE draws SET value = 'x' WHERE event_id = 'without'`,
		`DELETE FROM draws`,
	} {
		if _, err := s.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("the database took %s", sql)
		}
	}
	var seed, commit []byte
	if err := s.pool.QueryRow(t.Context(), `SELECT seed, commitment FROM draws WHERE event_id = 'open'`).Scan(&seed, &commit); err != nil {
		t.Fatal(err)
	}
	if want := draw.Seed(seed).Commit(); string(commit) != string(want[:]) {
		t.Errorf("committed to %x, want %x", commit, want)
	}
}
