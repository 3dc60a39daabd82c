package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/stack"
)

// fixed gives an address with port 0 a port: buyers are sent back to it, so it
// has to be known before anything listens. It is below those that the kernel
// gives to connections, or it could be somebody's by then.
// One that is somebody's already is told before anything is started.
func fixed(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, err
	}
	if port != "0" {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return addr, err
		}
		return addr, l.Close()
	}
	for range 50 {
		var l net.Listener
		l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(20_000+rand.IntN(10_000))))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}

// serve starts the servers that nobody named.
func (h *House) serve(ctx context.Context, b *Build) error {
	start := func(url *string, f func() (*stack.Server, error)) error {
		if *url != "" {
			return nil
		}
		s, err := f()
		if err != nil {
			return err
		}
		h.opened = append(h.opened, s.Stop)
		*url = s.URL
		return nil
	}
	if err := start(&b.DatabaseURL, func() (*stack.Server, error) { return stack.Postgres(ctx, "") }); err != nil {
		return err
	}
	if err := start(&b.NATSURL, stack.NATS); err != nil {
		return err
	}
	if b.Line == "local" {
		return nil
	}
	return start(&b.DynamoDB, func() (*stack.Server, error) { return stack.Dynalite(ctx) })
}

// create makes the event with its hall.
func (h *House) create(ctx context.Context, b Build) error {
	pool, err := pg.Open(ctx, b.DatabaseURL, "demo", pg.Limits{Conns: 1, Statement: time.Minute})
	if err != nil {
		return err
	}
	defer pool.Close()
	h.OpensAt = time.Now().Add(b.OpensIn)
	b.Event.OpensAt = h.OpensAt
	if b.Lobby {
		b.Event.Draw = &inventory.Draw{
			LobbyOpensAt: time.Now(), LobbyClosesAt: h.OpensAt.Add(-LobbyClosed), Beacon: "what the demo throws once the lobby has closed",
		}
	}
	change, err := inventory.CreateEvent(ctx, pool, b.Event, &b.Hall)
	if err != nil {
		return err
	}
	switch change {
	case inventory.Changed:
		return nil
	case inventory.EventExists:
		return fmt.Errorf("%w: %s", ErrEventExists, b.Event.ID)
	}
	return fmt.Errorf("event %s: %s", b.Event.ID, change)
}

// provider starts the stand-in for the payment provider.
func (h *House) provider(ctx context.Context, d payprov.Disorder, faults []payprov.Script) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h.ProviderURL = "http://" + l.Addr().String()
	h.Provider = payprov.New(payprov.Config{SecretKey: "sk_demo", PublicURL: h.ProviderURL, Disorder: d})
	if err := h.Provider.Play(faults...); err != nil {
		return err
	}
	server := &http.Server{Handler: h.Provider.Handler(), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(l) //nolint:errcheck // it ends by Close
	}()
	h.opened = append(h.opened,
		func() error { defer func() { <-served }(); return server.Close() },
		func() error { h.Provider.Close(); return nil })
	return nil
}

// providerKnows is the provider's ledger and its log of requests, as anybody at
// its address reads them.
func (h *House) providerKnows(ctx context.Context) (ledger, requests io.Reader, err error) {
	read := func(what string) (io.Reader, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.ProviderURL+"/_admin/"+what, nil)
		if err != nil {
			return nil, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close() //nolint:errcheck // read only
		all, err := io.ReadAll(res.Body)
		return bytes.NewReader(all), err
	}
	if ledger, err = read("ledger"); err != nil {
		return nil, nil, err
	}
	requests, err = read("requests")
	return ledger, requests, err
}
