package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// wished is a change of what a sale does, under the name that its asker gave it.
type wished struct {
	asked
	who inventory.Asker
}

func (a *API) readWish(c *fiber.Ctx) (wished, error) {
	r, err := a.asks(organiser.LineWrite)(c)
	if err != nil {
		return wished{}, err
	}
	attempt, err := idempotencyKey(c)
	if err != nil {
		return wished{}, err
	}
	return wishOf(c, r, attempt), nil
}

func wishOf(c *fiber.Ctx, r asked, attempt string) wished {
	return wished{r, inventory.Asker{
		By: r.key.Name, Organiser: r.key.Organiser, Attempt: attempt,
		Request: sha256.Sum256([]byte(c.Path() + "\n" + string(c.BodyRaw()))),
	}}
}

// readStop asks as little as can be: a key that was good when keys were last
// read, however long ago, and no Idempotency-Key. Stopping twice is stopping.
func (a *API) readStop(c *fiber.Ctx) (wished, error) {
	r, err := leaveOf(c, a.Desk.Ring.Look(time.Now()), organiser.LineWrite)
	if err != nil {
		return wished{}, err
	}
	attempt := cmp.Or(c.Get("Idempotency-Key"), rand.Text())
	return wishOf(c, r, attempt), checkKey(attempt)
}

type steeredBody struct {
	Event   string            `json:"event"`
	Change  inventory.Change  `json:"change"`
	Control inventory.Control `json:"control"`
	Version *int64            `json:"version"` // null: not written down yet
}

func steeredOf(event string, s inventory.Steered) reply {
	return reply{body: steeredBody{event, s.Change, s.Control, &s.Version}}
}

func (a *API) steer(to inventory.Control) func(context.Context, wished) (reply, error) {
	return func(ctx context.Context, r wished) (reply, error) {
		out, err := inventory.Steer(ctx, a.Desk.Pool, r.event, to, r.who)
		if err != nil {
			return reply{}, a.unavailable("steer", err)
		}
		switch out.Change {
		case inventory.NoSuchEvent:
			return reply{}, problem("no_such_event", "")
		case inventory.EventClosed:
			return reply{}, problem("sale_closed", "Closed is final.")
		case inventory.AttemptReused:
			return reply{}, problem("key_reused", "")
		}
		a.Desk.Changed(ctx, r.event)
		return steeredOf(r.event, out), nil
	}
}

// pending is a stop that acts and is still to be written down.
const pending inventory.Change = "pending"

// stop lets nobody in any more, at once and whatever else is in doubt: it acts
// before it is written down, and is written down as soon as that can be done.
// It never asks whether it is meant.
func (a *API) stop(ctx context.Context, r wished) (reply, error) {
	stop := organiser.Stop{Event: r.event, Name: rand.Text()}
	a.Desk.Halt(stop)
	a.Log.Warn("stopped by hand", "event", r.event, "by", r.key.Organiser+"/"+r.key.Name)
	ctx, cancel := context.WithTimeout(ctx, stopDeadline)
	defer cancel()
	written, err := inventory.Stop(ctx, a.Desk.Pool, r.event, r.who)
	if err != nil {
		a.Log.Error("a stop could not be written down yet", "event", r.event, "error", err)
		a.keep(r, stop)
		return reply{status: fiber.StatusAccepted, body: steeredBody{Event: r.event, Change: pending, Control: inventory.Paused}}, nil
	}
	out := written[0]
	a.Desk.Halted(ctx, stop, out.Version)
	switch out.Change {
	case inventory.NoSuchEvent:
		return reply{}, problem("no_such_event", "")
	case inventory.EventClosed: // which nobody is let in to
		out.Change = inventory.Unchanged
	}
	return steeredOf(r.event, out), nil
}

// kept is a stop that is still to be written down.
type kept struct {
	stop organiser.Stop
	who  inventory.Asker
}

// keep writes a stop down, as often as it takes. One for each event is at it; it
// writes whatever came meanwhile, each under its attempt's name: so it is one stop,
// whoever resumed since is let be, and an older one's repeat is not a newer one.
func (a *API) keep(r wished, stop organiser.Stop) {
	d := a.Desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keeping == nil {
		d.keeping = map[string][]kept{}
	}
	d.keeping[r.event] = append(d.keeping[r.event], kept{stop, r.who})
	if len(d.keeping[r.event]) == 1 {
		go a.keepTrying(r.event)
	}
}

func (a *API) keepTrying(event string) {
	base := a.Limits.BaseCtx
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-base.Done():
			a.Log.Error("a stop was not written down before this process ended", "event", event)
			return
		case <-again.C:
		}
		stops := a.Desk.kept(event)
		a.Desk.Halt(stops[0].stop) // for whoever heard of it
		written, err := a.writeStops(base, event, stops)
		if err == nil && a.ended(base, event, stops, written) {
			return
		}
	}
}

func (a *API) writeStops(ctx context.Context, event string, stops []kept) ([]inventory.Steered, error) {
	ctx, cancel := context.WithTimeout(ctx, deskDeadline)
	defer cancel()
	askers := make([]inventory.Asker, len(stops))
	for i, k := range stops {
		askers[i] = k.who
	}
	return inventory.Stop(ctx, a.Desk.Pool, event, askers...)
}

// ended ends the stops that are written down, and reports whether none is kept
// any more.
func (a *API) ended(ctx context.Context, event string, stops []kept, written []inventory.Steered) bool {
	for i, out := range written {
		a.Log.Info("a stop is written down", "event", event, "change", out.Change)
		a.Desk.Halted(ctx, stops[i].stop, out.Version)
	}
	d := a.Desk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keeping[event] = d.keeping[event][len(written):]
	if len(d.keeping[event]) > 0 {
		return false
	}
	delete(d.keeping, event)
	return true
}

// kept are the event's stops that are still to be written down, oldest first.
func (d *Desk) kept(event string) []kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keeping[event])
}
