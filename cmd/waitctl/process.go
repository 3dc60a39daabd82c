package main

import (
	"context"

	"waitroom/internal/daemon"
)

// processCmd runs a process of the house in a program of its own, for a demo
// that harms it. Production runs cmd/waitroom.
type processCmd struct {
	Waitroom waitroomCmd `cmd:"" help:"As cmd/waitroom, set by its environment."`
	Refunder refunderCmd `cmd:"" help:"As cmd/refunder, set by its environment."`
}

type waitroomCmd struct{ daemon.WaitroomConfig }

func (c *waitroomCmd) Run(ctx context.Context) error { return daemon.Waitroom(ctx, c.WaitroomConfig) }

type refunderCmd struct{ daemon.RefunderConfig }

func (c *refunderCmd) Run(ctx context.Context) error { return daemon.Refunder(ctx, c.RefunderConfig) }
