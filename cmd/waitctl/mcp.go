package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"waitroom/internal/clerk"
)

// mcpCmd lends a language model the tools of internal/clerk. It opens no
// database: all that it does, it asks of the API, under a key.
type mcpCmd struct {
	API    string `env:"WAITROOM_API" required:"" help:"The operators' listener of a waitroom, as http(s)://host."`
	Key    string `env:"WAITROOM_KEY" secret:"" help:"An organiser's key with refunds:write, under which everything is asked. Not with --listen: there each caller brings its own, as a bearer."`
	Listen string `help:"Serve HTTP at this address instead of stdin and stdout."`
}

func (c *mcpCmd) Run(ctx context.Context) error {
	if u, err := url.Parse(c.API); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return refuse("--api %q: want http(s)://host", c.API)
	}
	desk := clerk.Desk{URL: c.API}
	switch {
	case c.Listen != "" && c.Key != "":
		return refuse("--key and --listen: over HTTP each caller brings its own key")
	case c.Listen != "":
		return c.serve(ctx, desk)
	case c.Key == "":
		return refuse("--key: an organiser's key is needed")
	}
	err := desk.Server(c.Key, build()).Run(ctx, clerk.Lines(os.Stdin, os.Stdout))
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (c *mcpCmd) serve(ctx context.Context, desk clerk.Desk) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "tools at http://%s\n", l.Addr())
	server := &http.Server{Handler: desk.Handler(build()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(end)
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
