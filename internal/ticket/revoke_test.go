package ticket_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/ticket"
)

// Whoever follows the feed by its numbers gets every revocation once, whatever
// commits in whatever order meanwhile.
func TestTheFeedMissesNone(t *testing.T) {
	const seats, readers = 60, 3
	d := open(t, seats)
	want := map[string]bool{}
	var sold []uuid.UUID
	for i := range seats {
		order := d.sell(fmt.Sprint("holder-", i), 1)
		got, flaw := d.keys.Read(d.Event, d.codes(order)[0])
		if flaw != "" {
			t.Fatal(flaw)
		}
		want[got.ID()] = true
		sold = append(sold, order)
	}
	done := make(chan struct{})
	var refunding, reading sync.WaitGroup
	for part := range 4 {
		refunding.Go(func() {
			for i := part; i < seats; i += 4 {
				if err := d.refund(t.Context(), sold[i]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range readers {
		reading.Go(func() {
			got, after := map[string]bool{}, int64(0)
			for over := false; ; {
				list, err := ticket.Revocations(t.Context(), d.pool, d.Event, after, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range list {
					if r.No != after+1 || got[r.Ticket] || !want[r.Ticket] {
						t.Errorf("after %d comes %+v (seen before: %t, one of ours: %t)", after, r, got[r.Ticket], want[r.Ticket])
						return
					}
					after, got[r.Ticket] = r.No, true
				}
				if over && len(list) == 0 {
					break
				}
				select {
				case <-done:
					over = true
				default:
				}
			}
			if len(got) != seats {
				t.Errorf("a reader got %d of %d revocations", len(got), seats)
			}
		})
	}
	refunding.Wait()
	close(done)
	reading.Wait()
}

// What commits late comes behind what was read meanwhile, and not before it.
func TestALateCommitIsNotMissed(t *testing.T) {
	d := open(t, 2)
	slow, quick := d.sell("slow", 1), d.sell("quick", 1)
	tx, err := d.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // after Commit it is a no-op
	// Drawn first, committed last.
	if _, err := tx.Exec(t.Context(), `UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE order_id = $1`, slow); err != nil {
		t.Fatal(err)
	}
	d.mustRefund(quick)
	read := func(after int64) ticket.Revocation {
		t.Helper()
		list, err := ticket.Revocations(t.Context(), d.pool, d.Event, after, 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("after %d: %+v, %v; want one", after, list, err)
		}
		return list[0]
	}
	if r := read(0); r.No != 1 || r.Seat != "seat-1" {
		t.Errorf("first is %+v", r)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := read(1); r.No != 2 || r.Seat != "seat-0" {
		t.Errorf("second is %+v", r)
	}
}

// A scan and a refund of one seat at once: either it was admitted first and revoked
// then, or it is told revoked. The record and the database's own agree.
func TestAScanAndARefundAtOnce(t *testing.T) {
	const n = 40
	d := open(t, n)
	counts := map[ticket.Outcome]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		order := d.sell(fmt.Sprint("holder-", i), 1)
		code := d.codes(order)[0]
		all.Go(func() {
			var both sync.WaitGroup
			both.Go(func() {
				if err := d.refund(t.Context(), order); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				_, out, err := d.record(ticket.Scan{ID: fmt.Sprint(i), Code: code})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				counts[out]++
				mu.Unlock()
			})
			both.Wait()
		})
		if i%4 == 3 { // as many as there are connections
			all.Wait()
		}
	}
	all.Wait()
	if counts[ticket.Admitted]+counts[ticket.Revoked] != n {
		t.Errorf("%v, want %d admitted or revoked", counts, n)
	}
	wrong := d.Count(t, `SELECT count(*) FROM scans c JOIN code_revocations r USING (seat_id, order_id, claimed_at)
		WHERE c.outcome = 'admitted' AND c.at > r.at OR c.outcome = 'revoked' AND c.at < r.at`)
	if wrong != 0 {
		t.Errorf("%d scans are not as the revocations have it", wrong)
	}
}

// The record is kept by the database: no code path admits twice, changes what was
// recorded, or forgets it.
func TestTheRecordCannotBeChanged(t *testing.T) {
	d := open(t, 2)
	order := d.sell("ann", 2)
	d.want(ticket.Scan{ID: "1", Code: d.codes(order)[0]}, ticket.Admitted, "")
	d.mustRefund(order)
	for _, sql := range []string{
		`INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, let_in, outcome, seat_id, order_id, claimed_at)
			SELECT event_id, device, 'again', request, gate, by, scanned_at, let_in, outcome, seat_id, order_id, claimed_at FROM scans`,
		`UPDATE scans SET outcome = 'not_paid'`, `DELETE FROM scans`, `DELETE FROM code_revocations`,
		`UPDATE code_revocations SET at = now()`, `UPDATE code_revocations SET no = 7, seat_id = seat_id + 1`,
	} {
		if _, err := d.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("nobody minded: %s", sql)
		}
	}
	if list, err := ticket.Revocations(t.Context(), d.pool, d.Event, 0, 1); err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := d.pool.Exec(t.Context(), `UPDATE code_revocations SET no = 9`); err == nil {
		t.Error("a number is given anew")
	}
}
