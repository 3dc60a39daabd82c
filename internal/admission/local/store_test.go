package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "line"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	s := newStore(t)
	admissiontest.Run(t, func(testing.TB) admission.Store { return s })
}

// lineOf opens event e and has n people join, many at once.
func lineOf(t testing.TB, s *Store, n int) {
	t.Helper()
	if _, err := s.Open(t.Context(), admission.Door{Event: "e", Epoch: 1}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	joins(t, t.Context(), s, n)
}

func joins(t testing.TB, ctx context.Context, s *Store, n int) {
	var group sync.WaitGroup
	for g := range 64 {
		group.Go(func() {
			for i := g; i < n; i += 64 {
				if _, err := s.Join(ctx, fan(i), time.UnixMilli(1e12)); err != nil {
					t.Errorf("join %d: %v", i, err)
					return
				}
			}
		})
	}
	group.Wait()
}

func fan(i int) admission.Place {
	return admission.Place{Event: "e", Epoch: 1, Holder: fmt.Sprintf("%064x", uint64(i)*0x9e3779b97f4a7c15), Index: int64(i)}
}

// What arrives while a commit is in flight is the next one, whole.
func TestOneCommitKeepsAllThatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		defer s.Close() //nolint:errcheck // the cleanup reports it
		lineOf(t, s, 0)
		before := s.commits.Load()
		release := holdUp(t, s)
		joined := crowdOf(t, s, batchMost)
		release()
		joined.Wait()
		if n := s.commits.Load() - before; n != 1 {
			t.Errorf("%d joins that waited together took %d commits, want 1", batchMost, n)
		}
		if s.db.NoSync || s.db.NoGrowSync {
			t.Error("the file is not synced at each commit")
		}
	})
}

// holdUp stops the committer until it is released.
func holdUp(t *testing.T, s *Store) (release func()) {
	held := make(chan struct{})
	go write(t.Context(), s, s.door, func(*change) (struct{}, error) { //nolint:errcheck // it changes nothing
		<-held
		return struct{}{}, nil
	})
	synctest.Wait()
	return func() { close(held) }
}

// crowdOf has n people wait for their places.
func crowdOf(t *testing.T, s *Store, n int) *sync.WaitGroup {
	group := new(sync.WaitGroup)
	for i := range n {
		group.Go(func() {
			if _, err := s.Join(t.Context(), fan(i), time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait()
	return group
}

// However many people wait to join, the door's next step is in the next
// commit: here the crowd's next step but that commit's stands still.
func TestTheDoorGoesBeforeTheCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		defer s.Close() //nolint:errcheck // the cleanup reports it
		lineOf(t, s, 0)
		release := holdUp(t, s)
		joined, over := 0, make(chan struct{})
		var crowd sync.WaitGroup
		for range 4 * batchMost {
			crowd.Go(func() {
				write(t.Context(), s, s.crowd, func(*change) (struct{}, error) { //nolint:errcheck // it is load
					if joined++; joined == batchMost {
						<-over
					}
					return struct{}{}, nil
				})
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		let := make(chan error)
		go func() {
			_, _, err := s.Refill(ctx, admission.Refill{Event: "e", Epoch: 1, Add: 1, Cap: 1})
			let <- err
		}()
		synctest.Wait()
		release()
		if err := <-let; err != nil {
			t.Errorf("a refill behind %d joins was not in the first commit of %d: %v", 4*batchMost, batchMost, err)
		}
		close(over)
		crowd.Wait()
	})
}

// Refusals wait for their batch but cost no sync of their own.
func TestRefusalsAreNotWritten(t *testing.T) {
	s := newStore(t)
	lineOf(t, s, 10)
	before := s.commits.Load()
	for range 20 {
		if _, ok, err := s.Take(t.Context(), "e", 1, 1); err != nil || ok {
			t.Fatalf("a take at a shut door: %v, %v", ok, err)
		}
		if _, err := s.Join(t.Context(), fan(3), time.UnixMilli(1e12)); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.commits.Load() - before; n != 0 {
		t.Errorf("40 calls that changed nothing took %d commits, want 0", n)
	}
}

func TestAHeldFileIsRefusedWithTheReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "line")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "another process holds it") || !strings.Contains(err.Error(), path) {
		t.Errorf("a second Open: %v, want that another process holds %s", err, path)
	}
	t.Logf("refused after %d ms", time.Since(began).Milliseconds())
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if s, err = Open(path); err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCallsAfterCloseAreRefused(t *testing.T) {
	s := newStore(t)
	lineOf(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Take(t.Context(), "e", 1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("a take: %v, want ErrClosed", err)
	}
	if _, err := s.Door(t.Context(), "e"); !errors.Is(err, ErrClosed) {
		t.Errorf("the door: %v, want ErrClosed", err)
	}
}

// After a commit that failed nobody knows what the disk holds: everything is
// refused until the file is opened again, and then it is as acknowledged.
func TestAFailedCommitClosesTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "line")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lineOf(t, s, 100)
	s.db.MaxSize = 1 // the disk is full
	if err := s.PutReport(t.Context(), "e", "r1", make([]byte, 64<<20)); err == nil {
		t.Fatal("the fault was not applied: the report was kept")
	}
	_, errRead := s.Door(t.Context(), "e")
	_, errWrite := s.Join(t.Context(), fan(1000), time.UnixMilli(1e12))
	for what, err := range map[string]error{"a read": errRead, "a join": errWrite} {
		if err == nil || !strings.Contains(err.Error(), "closed on doubt") {
			t.Errorf("%s after a failed commit: %v, want it refused on doubt", what, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing was written
	for i := range 100 {
		if _, err := s.Place(t.Context(), "e", 1, fan(i).Holder); err != nil {
			t.Errorf("place %d after opening again: %v", i, err)
		}
	}
	if got, err := s.Reports(t.Context(), "e"); err != nil || len(got) != 0 {
		t.Errorf("the report that failed is there (%v)", err)
	}
}

// A slow reader of the export holds nobody up, though the file grows under it,
// and gets every page.
func TestASlowExportHoldsNobodyUp(t *testing.T) {
	s := newStore(t)
	lineOf(t, s, 2*exportPage+1)
	got, grown := map[string]bool{}, false
	err := s.Export(t.Context(), "e", 1, func(p admission.Place) error {
		if !grown {
			grown = true
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			big := make([]byte, 32<<20)
			if err := s.PutReport(ctx, "e", "r1", big); err != nil {
				return fmt.Errorf("a write while the export stands still: %w", err)
			}
		}
		got[p.Holder] = true
		return nil
	})
	if err != nil || len(got) != 2*exportPage+1 {
		t.Errorf("exported %d places (%v), want %d", len(got), err, 2*exportPage+1)
	}
}
