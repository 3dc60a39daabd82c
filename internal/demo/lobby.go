package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
)

// LobbyClosed is how long before the opening the demo's lobby closes: the
// beacon, the draw and the first calls come between.
const LobbyClosed = 13 * time.Second

// beacon is the demo's public value: thrown once the lobby has closed.
func (h *House) beacon(ctx context.Context, url, event string) error {
	if !until(ctx, h.OpensAt.Add(time.Second-LobbyClosed)) {
		return nil
	}
	pool, err := pg.Open(ctx, url, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	for ctx.Err() == nil {
		change, err := inventory.SetBeacon(ctx, pool, event, rand.Text())
		switch {
		case err != nil || change == inventory.Changed:
			return err
		case change != inventory.LobbyOpen:
			return fmt.Errorf("the beacon of %s: %s", event, change)
		}
	}
	return errors.New("the beacon came too late")
}
