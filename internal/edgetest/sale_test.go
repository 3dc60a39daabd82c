package edgetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"waitroom/internal/audience"
	visitors "waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// A whole sale goes through the edge: fans wait, look, choose and pay, and what is
// the same for all of them costs the origin two requests a second and document at
// the most, however many they are. The rest is what each of them does.
func TestASaleThroughTheEdge(t *testing.T) {
	e := open(t, demo.Build{}, nil)
	fans := visitors.New(visitors.Config{
		URLs: []string{e.url}, Event: demotest.EventID, Conns: 100,
		Audience: audience.Audience{
			Fans: 60, Arrive: audience.Rush(0, 2*time.Second), Share: 1, Seats: 2, MaxSeat: 4,
			Think: time.Second, Pay: time.Second, Reload: .2, DoubleClick: .2, Seed: 7,
		},
	})
	begun := time.Now()
	ctx, home := context.WithTimeout(t.Context(), 2*time.Minute)
	defer home()
	if err := fans.Run(ctx); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	if n := &fans.Tally; n.Paid.Load() < 40 || n.Faults.Load() > 0 {
		t.Errorf("of 60 fans with seats for all %d paid, with %d faults", n.Paid.Load(), n.Faults.Load())
	}
	counts := e.origin.counts()
	var shared []string
	personal := 0
	for document, n := range counts {
		if !strings.HasPrefix(document, "/v1/public/") {
			personal += n
			continue
		}
		shared = append(shared, document)
		if most := 2 * (int(took/time.Second) + 1); n > most {
			t.Errorf("%s was asked %d times in %s, want at most %d", document, n, took, most)
		}
	}
	slices.Sort(shared)
	for _, document := range shared {
		t.Logf("%3d at the origin: %s", counts[document], document)
	}
	t.Logf("%3d at the origin: all that is somebody's own; %d fans, %d orders paid, %s", personal, fans.Tally.Joined.Load(), fans.Tally.Paid.Load(), took.Round(time.Second))
}
