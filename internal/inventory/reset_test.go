package inventory

import (
	"encoding/hex"
	"testing"
	"time"

	"waitroom/internal/pgtest"
)

// An event is begun anew whole: the next epoch, a seed that nobody has seen and its
// commitment, and a row that says so; or nothing of it, and why.
func TestAnEventIsBegunAnew(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 1, "")
	now := time.Now()
	s.drawn("lobby", "drand, round 8", time.Hour)
	s.drawn("rehearsed", "drand, round 7", -time.Second)
	s.drawn("closed", "", time.Hour)
	if _, err := CloseSale(t.Context(), s.pool, "closed"); err != nil {
		t.Fatal(err)
	}
	later := now.Add(2 * time.Hour)
	for _, c := range []struct {
		event string
		anew  Anew
		want  Change
		epoch int64
	}{
		{"nobody", Anew{}, NoSuchEvent, 0},
		{"closed", Anew{}, EventClosed, 0},
		{s.event, Anew{Beacon: "drand, round 9"}, NoDraw, 0},
		{s.event, Anew{LobbyClosesAt: later}, NoDraw, 0},
		{s.event, Anew{OpensAt: now.AddDate(-1, 0, 0)}, OpensPast, 0},
		{s.event, Anew{}, Changed, 2},
		{s.event, Anew{OpensAt: later}, Changed, 3},
		{"lobby", Anew{}, Changed, 2},
		{"lobby", Anew{OpensAt: now.Add(time.Hour)}, TooSoon, 0},
		{"lobby", Anew{LobbyOpensAt: later}, EndsFirst, 0},
		{"lobby", Anew{LobbyClosesAt: now.Add(90 * time.Minute)}, OldBeacon, 0},
		{"rehearsed", Anew{}, LobbyPast, 0},
		{"rehearsed", Anew{LobbyClosesAt: later, OpensAt: later.Add(time.Hour)}, OldBeacon, 0},
		{"rehearsed", Anew{LobbyClosesAt: later, OpensAt: later.Add(time.Hour), Beacon: "drand, round 9"}, Changed, 2},
	} {
		commits, rows := s.commits(c.event), s.changes(c.event)
		got, err := Reset(t.Context(), s.pool, c.event, Asker{}, c.anew)
		if err != nil || got.Change != c.want || got.Epoch != c.epoch {
			t.Errorf("%s by %+v: %+v (%v), want %s and epoch %d", c.event, c.anew, got, err, c.want, c.epoch)
		}
		after := s.commits(c.event)
		switch {
		case c.want != Changed && (len(after) != len(commits) || s.changes(c.event) != rows):
			t.Errorf("%s: refused, and something was written", c.event)
		case c.want == Changed && s.changes(c.event) != rows+1:
			t.Errorf("%s: no row says that it was begun anew", c.event)
		case c.want == Changed && len(commits) > 0 && (len(after) != len(commits)+1 || after[len(after)-1] != got.Commit || commits[len(commits)-1] == got.Commit):
			t.Errorf("%s: commitments %v, and it says %s", c.event, after, got.Commit)
		}
	}
}

// Orders of the line before are not forgotten by the way.
func TestOrdersStandInTheWayOfBeginningAnew(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 1, "")
	wantTally(t, []Answer{s.claimer(usual).Claim(t.Context(), s.attempt("ann", "k", s.seats[0]))}, map[string]int{"claimed": 1})
	if got, err := Reset(t.Context(), s.pool, s.event, Asker{}, Anew{}); err != nil || got.Change != OrdersStand || got.Pending != 1 {
		t.Errorf("with an order pending: %+v (%v), want orders_stand, 1 pending", got, err)
	}
	if got, err := Reset(t.Context(), s.pool, s.event, Asker{}, Anew{Orders: true}); err != nil || got.Change != Changed || got.Epoch != 2 {
		t.Errorf("told to: %+v (%v), want epoch 2", got, err)
	}
	if got, err := Reset(t.Context(), s.pool, s.event, Asker{}, Anew{}); err != nil || got.Change != Changed || got.Epoch != 3 {
		t.Errorf("an order of a line before the last: %+v (%v), want epoch 3", got, err)
	}
}

func (s *sale) commits(event string) (all []string) {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT commitment FROM draws WHERE event_id = $1 ORDER BY epoch`, event)
	if err != nil {
		s.t.Fatal(err)
	}
	for rows.Next() {
		var commit []byte
		if err := rows.Scan(&commit); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, hex.EncodeToString(commit))
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *sale) changes(event string) (n int) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM event_changes WHERE event_id = $1`, event).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
