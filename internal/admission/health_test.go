package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/admission"
)

// What all who open payments know of the provider, together.
func TestLedgerHearsOfPayments(t *testing.T) {
	l, pool := ledger(t)
	ago := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return time.Since(at).Round(10 * time.Second).String()
	}
	for _, c := range []struct {
		rows, told, failed, since string
	}{
		{"", "never", "never", "never"},
		{"('a', 0, NULL, NULL, NULL)", "0s", "never", "never"},
		{"('a', 0, 30, 0, 20)", "0s", "0s", "20s"},
		{"('a', 0, NULL, 0, 50)", "0s", "0s", "50s"},
		{"('a', 0, 50, 0, 40), ('b', 0, 0, NULL, NULL)", "0s", "0s", "never"},             // another replica is answered
		{"('a', 0, 50, 0, 40), ('b', 0, 30, 10, 20)", "0s", "0s", "30s"},                  // nobody since the last answer to any
		{"('dead', 600, 700, 600, 650), ('b', 0, 0, NULL, NULL)", "0s", "10m0s", "never"}, // long ago
		{"('dead', 600, 0, NULL, NULL)", "10m0s", "never", "never"},                       // silent
	} {
		must(t, pool, `DELETE FROM payment_reports`)
		if c.rows != "" {
			must(t, pool, `INSERT INTO payment_reports (replica, at, calls_per_s, failures_per_s, answered_at, failed_at, failing_since)
				SELECT r, now() - make_interval(secs => a::float8), 1, 1, now() - make_interval(secs => b::float8),
				now() - make_interval(secs => c::float8), now() - make_interval(secs => d::float8)
				FROM (VALUES `+c.rows+`) AS w (r, a, b, c, d)`)
		}
		p, err := l.Books().Paying(t.Context(), "hall")
		if got := []string{ago(p.At), ago(p.Failed), ago(p.Since)}; err != nil || !slices.Equal(got, []string{c.told, c.failed, c.since}) {
			t.Errorf("%s: told %v ago, %v; want %s, %s, %s", c.rows, got, err, c.told, c.failed, c.since)
		}
	}
}

// One event's payments may all be refused for what that event is: its door knows, and
// no other's. Where two events' are and none is opened it is the account, and every
// door knows; one opening, of any event by any replica, ends that.
func TestOneEventsRefusalsShutItsOwnDoorAlone(t *testing.T) {
	l, pool := ledger(t)
	for _, c := range []struct {
		what, rows, here, there string // since when payments fail, for the events "hall" and "yard"
	}{
		{"nothing", "", "never", "never"},
		{"this event's", "('a', 'hall', NULL, 0, 60, 5)", "1m0s", "never"},
		{"another's", "('a', 'yard', NULL, 0, 60, 5)", "never", "1m0s"},
		{"of too few orders", "('a', 'hall', NULL, 0, 60, 4)", "never", "never"},
		{"after an opening elsewhere", "('a', 'hall', NULL, 0, 60, 5), ('b', 'hall', 30, NULL, NULL, 0)", "30s", "never"},
		{"before an opening elsewhere", "('a', 'hall', NULL, 40, 60, 5), ('b', 'hall', 30, NULL, NULL, 0)", "never", "never"},
		{"two events'", "('a', 'hut', NULL, 0, 60, 5), ('a', 'yurt', NULL, 0, 40, 1)", "40s", "40s"},
		{"two events', one an hour long", "('a', 'hall', NULL, 0, 3600, 5), ('a', 'yurt', NULL, 0, 40, 1)", "1h0m0s", "40s"},
		{"two events', of few orders", "('a', 'hut', NULL, 0, 60, 1), ('a', 'yurt', NULL, 0, 40, 1)", "never", "never"},
		{"two events', and a third's are opened", "('a', 'hall', NULL, 10, 60, 5), ('b', 'yard', NULL, 10, 60, 5), ('b', 'yurt', 0, NULL, NULL, 0)", "1m0s", "1m0s"},
		{"two events', after a third's was opened", "('a', 'hut', NULL, 0, 60, 5), ('b', 'yurt', NULL, 0, 60, 5), ('b', 'tent', 20, NULL, NULL, 0)", "20s", "20s"},
	} {
		must(t, pool, `DELETE FROM opening_reports`)
		if c.rows != "" {
			must(t, pool, `INSERT INTO opening_reports (replica, event_id, at, opened_at, refused_at, refusing_since, refused_orders)
				SELECT r, e, now(), now() - make_interval(secs => b::float8), now() - make_interval(secs => c::float8),
				now() - make_interval(secs => d::float8), n FROM (VALUES `+c.rows+`) AS w (r, e, b, c, d, n)`)
		}
		for event, want := range map[string]string{"hall": c.here, "yard": c.there} {
			p, err := l.Books().Paying(t.Context(), event)
			got := "never"
			if !p.Since.IsZero() {
				got = time.Since(p.Since).Round(10 * time.Second).String()
			}
			if err != nil || got != want {
				t.Errorf("%s: %s's payments fail since %s, want %s; %v", c.what, event, got, want, err)
			}
		}
	}
}

// Who is inside: live passes, until their order is paid, cancelled or expired;
// and takes that may be on their way.
func TestLedgerCountsWhoIsInside(t *testing.T) {
	l, pool := ledger(t)
	must(t, pool, `INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ('hall', 'me', 0, 4)`)
	for take, c := range []struct{ expires, order string }{
		{"", ""}, // takes begin at 1
		{"1 hour", ""},
		{"-1 second", ""},
		{"1 hour", "pending"},
		{"-1 second", "pending"}, // pays while the pass is over
		{"1 hour", "cancelled"},
		{"1 hour", "expired"},
		{"1 hour", "expired pending"}, // and claimed again
		{"1 hour", "back"},
		{"1 hour", "back pending"}, // claimed all the same
		{"1 hour", "now"},          // what it claimed before may be on its way
	} {
		if c.expires == "" {
			continue
		}
		must(t, pool, `INSERT INTO passes (event_id, epoch, take, place, holder, quota, taken_at, expires_at)
			VALUES ('hall', 1, $1, $1, 'h', 4, now() - interval '1 day', now() + $2::interval)`, take, c.expires)
		for _, status := range strings.Fields(c.order) {
			if ago := map[string]string{"back": (admission.BackAfter + time.Second).String(), "now": "-1 minute"}[status]; ago != "" {
				must(t, pool, `INSERT INTO passes_given_back (event_id, epoch, take, at) VALUES ('hall', 1, $1, now() - $2::interval)`, take, ago)
				continue
			}
			account := fmt.Sprint("buyer ", take)
			must(t, pool, `INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ('hall', $1, 0, 4) ON CONFLICT DO NOTHING`, account)
			must(t, pool, `INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, status, seat_count,
					amount_minor, currency, pay_by, ended_at)
				VALUES ($1::uuid, 'hall', $2, 'h', 1, 1, $3, $1::uuid::text, sha256('x'), $4::text, 3, 100, 'EUR', now(),
					CASE WHEN $4::text <> 'pending' THEN now() END)`, uuid.New(), account, take, status)
		}
	}
	for _, c := range []struct{ since, take, want int64 }{
		{10, 10, 6},
		{0, 10, 6},  // each of these has its pass
		{10, 12, 8}, // two are on their way
		{12, 12, 6}, // they never came
		{2, 3, 2},   // later ones are not counted
		{0, 0, 0},
	} {
		w, err := l.Books().Within(t.Context(), "hall", 1, c.since, c.take)
		if err != nil || w.People != c.want || w.Take != c.take {
			t.Errorf("since %d, up to %d: %+v, %v; want %d", c.since, c.take, w, err, c.want)
		}
	}
}
