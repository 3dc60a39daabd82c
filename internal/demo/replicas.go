package demo

import (
	"context"
	"fmt"
	"time"

	"waitroom/internal/daemon"
)

// startReplicas starts several waiting rooms on one line. The first is the house's public
// face, at the address that was asked for.
func (h *House) startReplicas(ctx context.Context, b Build, room daemon.WaitroomConfig) (err error) {
	room.Common.Replicas = max(1, b.Replicas)
	for i := range room.Common.Replicas {
		room.Replica = fmt.Sprintf("replica-%d", i)
		if room.AdminAddr, err = fixed("127.0.0.1:0"); err != nil {
			return err
		}
		if i > 0 {
			if room.Addr, err = fixed("127.0.0.1:0"); err != nil {
				return err
			}
		} else {
			h.Public, h.Admin = "http://"+room.Addr, "http://"+room.AdminAddr
		}
		p, err := h.program(b, "waitroom", fmt.Sprintf("waitroom-%d", i), room)
		if err != nil {
			return err
		}
		h.replicas = append(h.replicas, p)
		h.Replicas = append(h.Replicas, "http://"+room.Addr)
	}
	for _, p := range h.replicas {
		if err := p.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// harm is done to whoever releases at that time: the worst that can be hit.
type harm struct {
	at   time.Duration // after the opening
	stop time.Duration // it stands still for so long, longer than a lease; 0: it is killed, and restarted after 3 s
}

var harms = [...]harm{
	{at: 5 * time.Second, stop: 4 * time.Second},
	{at: 15 * time.Second},
	{at: 25 * time.Second, stop: 3 * time.Second},
	{at: 35 * time.Second, stop: 6 * time.Second},
	{at: 48 * time.Second},
	{at: 60 * time.Second, stop: 2 * time.Second},
}

// HarmReplicas kills and stops whoever releases, again and again, as long as there
// is time.
func HarmReplicas(ctx context.Context, h *House) error {
	for _, x := range harms {
		if !until(ctx, h.OpensAt.Add(x.at)) {
			return nil
		}
		if err := h.Releasing(ctx).suffer(ctx, x); err != nil {
			return err
		}
		h.Harmed.Add(1)
	}
	return nil
}

func (p *Program) suffer(ctx context.Context, x harm) error {
	if x.stop > 0 {
		if err := p.Stop(); err != nil {
			return err
		}
		until(ctx, time.Now().Add(x.stop))
		return p.GoOn()
	}
	if err := p.Kill(); err != nil {
		return err
	}
	until(ctx, time.Now().Add(3*time.Second))
	return p.Start()
}

// until waits for a moment. False: ctx ended first.
func until(ctx context.Context, at time.Time) bool {
	wait := time.NewTimer(time.Until(at))
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wait.C:
		return true
	}
}
