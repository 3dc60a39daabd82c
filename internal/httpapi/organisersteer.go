package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	out, err := a.writeStop(ctx, r)
	if err != nil {
		a.Log.Error("a stop could not be written down yet", "event", r.event, "error", err)
		a.keep(r, stop)
		return reply{status: fiber.StatusAccepted, body: steeredBody{Event: r.event, Change: pending, Control: inventory.Paused}}, nil
	}
	a.Desk.Halted(ctx, stop, out.Version)
	switch out.Change {
	case inventory.NoSuchEvent:
		return reply{}, problem("no_such_event", "")
	case inventory.EventClosed: // which nobody is let in to
		out.Change = inventory.Unchanged
	}
	return steeredOf(r.event, out), nil
}

// writeStop writes a stop down. If its name was another wish's, that is no
// reason to go on selling.
func (a *API) writeStop(ctx context.Context, r wished) (inventory.Steered, error) {
	out, err := inventory.Steer(ctx, a.Desk.Pool, r.event, inventory.Paused, r.who)
	if err == nil && out.Change == inventory.AttemptReused {
		r.who.Attempt = ""
		out, err = inventory.Steer(ctx, a.Desk.Pool, r.event, inventory.Paused, r.who)
	}
	return out, err
}

// keep writes a stop down, as often as it takes; one at a time for each event,
// whose end is the end of all that came meanwhile. Under its attempt's name it is
// one stop: whoever resumed since is let be.
func (a *API) keep(r wished, stop organiser.Stop) {
	d := a.Desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keeping == nil {
		d.keeping = map[string][]organiser.Stop{}
	}
	d.keeping[r.event] = append(d.keeping[r.event], stop)
	if len(d.keeping[r.event]) == 1 {
		go a.keepTrying(r, stop)
	}
}

func (a *API) keepTrying(r wished, stop organiser.Stop) {
	base := a.Limits.BaseCtx
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-base.Done():
			a.Log.Error("a stop was not written down before this process ended", "event", r.event)
			return
		case <-again.C:
		}
		a.Desk.Halt(stop) // for whoever heard of it
		ctx, cancel := context.WithTimeout(base, deskDeadline)
		out, err := a.writeStop(ctx, r)
		cancel()
		if err == nil {
			a.Log.Info("a stop is written down", "event", r.event, "change", out.Change)
			for _, kept := range a.Desk.kept(r.event) {
				a.Desk.Halted(base, kept, out.Version)
			}
			return
		}
	}
}

// kept are the stops that were being kept; none is any more.
func (d *Desk) kept(event string) []organiser.Stop {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer delete(d.keeping, event)
	return d.keeping[event]
}
