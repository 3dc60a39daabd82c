package notice_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
	"waitroom/internal/pgtest"
)

// A notice gets a delivery for each endpoint of its organiser that wants its kind,
// whatever the endpoint's state, and says how many; no other organiser hears of it,
// nor does an endpoint that is deleted, or that it is about.
func TestANoticeIsAddressedToItsOrganisersEndpoints(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	newEndpoint(t, pool, "all", "house")
	newEndpoint(t, pool, "draining", "house")
	newEndpoint(t, pool, "disabled", "house")
	newEndpoint(t, pool, "paid-alone", "house", "order.paid")
	newEndpoint(t, pool, "others", "other")
	newEndpoint(t, pool, "deleted", "house")
	for id, state := range map[string]string{"draining": "draining", "disabled": "disabled", "deleted": "disabled"} {
		if _, err := pool.Exec(t.Context(), `UPDATE endpoints SET state = $2, reason = 'asked',
			deleted_at = CASE WHEN id = 'deleted' THEN now() END WHERE id = $1`, id, state); err != nil {
			t.Fatal(err)
		}
	}
	err := write(
		t, pool, paid("a", 1),
		notice.Notice{Kind: "event.paused", Event: "hall", Subject: "hall", Version: 2},
		notice.Notice{Kind: "endpoint.disabled", Organiser: "house", Subject: "all", Version: 1},
		notice.Notice{Kind: "endpoint.disabled", Organiser: "nobody", Subject: "x", Version: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	relay := notice.NewRelay(pool, newNATS(t).connect())
	defer relay.Close(t.Context())
	if did, err := relay.Step(t.Context()); did.Addressed != 4 || did.Deliveries != 9 {
		t.Errorf("%+v (%v), want 4 notices addressed and 9 deliveries", did, err)
	}
	rows, err := pool.Query(t.Context(), `
		SELECT n.kind || ' ' || n.addressed || ':' || coalesce(string_agg(d.endpoint_id, ' ' ORDER BY d.id), '')
		FROM notices n LEFT JOIN deliveries d ON d.notice_id = n.id GROUP BY n.id ORDER BY n.id`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := []string{
		"order.paid 4:all disabled draining paid-alone", "event.paused 3:all disabled draining",
		"endpoint.disabled 2:disabled draining", "endpoint.disabled 0:",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("addressed %q (%v), want %q", got, err, want)
	}
}

// An organiser may have very many endpoints: a step writes the deliveries of so few
// notices as it can bear, at least of one, and nobody behind them waits for good.
func TestVeryManyEndpointsTakeMoreSteps(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	newEndpoint(t, pool, "other", "other")
	const many, told = 700, 9
	if _, err := pool.Exec(t.Context(), `INSERT INTO endpoints (id, organiser, url, secret)
		SELECT 'e' || i, 'house', 'https://example.org/', decode(repeat('00', 32), 'hex') FROM generate_series(1, $1) i`, many); err != nil {
		t.Fatal(err)
	}
	var all []notice.Notice
	for i := range told {
		all = append(all, paid(fmt.Sprint("order-", i), 1))
	}
	all = append(all, notice.Notice{Kind: "endpoint.disabled", Organiser: "other", Subject: "x", Version: 1})
	if err := write(t, pool, all...); err != nil {
		t.Fatal(err)
	}
	relay := notice.NewRelay(pool, newNATS(t).connect())
	defer relay.Close(t.Context())
	var steps []notice.Relayed
	for addressed := 0; addressed < len(all); {
		did, err := relay.Step(t.Context())
		if err != nil || did.Addressed == 0 {
			t.Fatalf("%+v (%v), with %d of %d addressed", did, err, addressed, len(all))
		}
		addressed += did.Addressed
		steps = append(steps, notice.Relayed{Addressed: did.Addressed, Deliveries: did.Deliveries})
	}
	three := notice.Relayed{Addressed: 3, Deliveries: 3 * many}
	want := []notice.Relayed{three, three, three, {Addressed: 1, Deliveries: 1}}
	if !slices.Equal(steps, want) {
		t.Errorf("steps %+v, want %+v", steps, want)
	}
}
