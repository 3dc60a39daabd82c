// Command payprov is a stand-in payment provider that speaks Stripe's wire. It
// is for the demo and for tests: it moves no money, and everything it knows is
// lost when it ends.
package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"waitroom/internal/payprov"
	"waitroom/internal/process"
)

func main() {
	var c config
	process.Parse(&c, "payprov", about)
	log := process.Logger(os.Stdout, "payprov", c.LogLevel)
	if err := process.Run(process.Signals(context.Background()), "payprov", c.Ops, log, c.setup); err != nil {
		log.Error("ended", "error", err)
		os.Exit(1)
	}
}

func (c config) setup(ctx context.Context, p *process.Process) error {
	faults, err := c.scripts()
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	provider := payprov.New(c.provider())
	if err := provider.Play(faults...); err != nil {
		return err
	}
	s := &http.Server{Handler: provider.Handler(), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	s.RegisterOnShutdown(provider.Close) // or a request that a script holds would hold the stop
	p.Go("http", func(context.Context) error {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	p.OnStop("http", s.Shutdown)
	p.OnClose("provider", func(context.Context) error { provider.Close(); return nil })
	p.Log.Info("listening", "addr", l.Addr().String())
	return nil
}
