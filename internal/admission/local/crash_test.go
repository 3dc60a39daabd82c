package local

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
)

// crashing has this test program be the process that is killed.
const crashing = "WAITROOM_TEST_LINE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashing); path != "" {
		if err := crowd(context.Background(), path, os.Getenv(crashing+"_ROUND")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// crowd joins and takes for ever, and says what was acknowledged, after it was.
func crowd(ctx context.Context, path, round string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	d, err := s.Open(ctx, admission.Door{Event: "e", Epoch: 1}, admission.Tail{})
	if err != nil {
		return err
	}
	if d, _, err = s.Acquire(ctx, d, "r"+round); err != nil {
		return err
	}
	var group sync.WaitGroup
	failed := make(chan error, 16)
	for g := range cap(failed) {
		group.Go(func() {
			for i := 0; ; i++ {
				holder := fmt.Sprintf("%s-%d-%d", round, g, i)
				number, err := s.Allot(ctx, "e", 1, 1, 1<<40)
				if err == nil {
					_, err = s.Join(ctx, admission.Place{Event: "e", Epoch: 1, Holder: holder, Index: number}, time.Now())
				}
				if err != nil {
					failed <- err
					return
				}
				fmt.Printf("join %s %d\n", holder, number)
			}
		})
	}
	group.Go(func() {
		for {
			r := admission.Refill{Event: "e", Epoch: 1, Term: d.Term, Beat: d.Beat, Add: 1000, Cap: 2000, Budget: 1}
			if d, _, err = s.Refill(ctx, r); err != nil {
				failed <- err
				return
			}
			if d, ok, err := s.Take(ctx, "e", 1, 1); err != nil {
				failed <- err
				return
			} else if ok {
				fmt.Printf("take %d %d\n", d.Taken, d.Taken)
			}
		}
	})
	return <-failed
}

// After kill -9, at any moment, every place and every take that was
// acknowledged is there, and no number is given again.
func TestAcknowledgedSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "line")
	places, given := map[string]int64{}, map[int64]string{}
	var taken int64
	for round := range 4 {
		heard := killed(t, path, fmt.Sprint(round), 100+300*round, func(what, holder string, n int64) {
			if what == "take" {
				taken = max(taken, n)
				return
			}
			if before, twice := given[n]; twice {
				t.Errorf("number %d was given to %s and to %s", n, before, holder)
			}
			places[holder], given[n] = n, holder
		})
		s, err := Open(path)
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		lost := 0
		for holder, n := range places {
			if p, err := s.Place(t.Context(), "e", 1, holder); err != nil || p.Index != n {
				lost++
			}
		}
		d, err := s.Door(t.Context(), "e")
		if err != nil || lost > 0 || d.Taken < taken {
			t.Errorf("after kill %d: %d of %d acknowledged places are lost, %d of %d takes are there (%v)", round, lost, len(places), d.Taken, taken, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("kill %d after %d answers: %d places, %d takes, none lost", round, heard, len(places), taken)
	}
}

// killed runs a crowd, kills it after so many answers, and passes on all that
// it said until it was dead.
func killed(t *testing.T, path, round string, after int, hear func(what, holder string, n int64)) (heard int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashing+"="+path, crashing+"_ROUND="+round)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var what, holder string
		var n int64
		if _, err := fmt.Sscan(lines.Text(), &what, &holder, &n); err != nil {
			continue // the last line may be cut
		}
		hear(what, holder, n)
		if heard++; heard == after {
			cmd.Process.Kill() //nolint:errcheck // Wait tells
		}
	}
	if err := cmd.Wait(); err == nil || heard < after {
		t.Fatalf("the crowd ended after %d answers, before it was killed: %v", heard, err)
	}
	return heard
}
