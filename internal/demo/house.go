// Package demo is a whole on-sale on one machine: every process, the servers
// that they need, a provider to pay at, fans, and a view of it all. It ends
// with the audit.
package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/daemon"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/process"
	"waitroom/internal/stack"
)

// Services are where the servers are that are not to be started. Empty ones
// are.
type Services struct {
	DatabaseURL string
	NATSURL     string
	DynamoDB    string // endpoint; only asked for when the line is kept there
}

// House is every process of a sale, run in this program, each with ports of its
// own.
type House struct {
	Public, Admin, Pay string // URLs
	DatabaseURL        string
	AdminToken         string
	Provider           *payprov.Provider
	ProviderURL        string
	OpensAt            time.Time

	dir     string
	logs    io.Writer
	opened  []func() error // undone last first
	living  sync.WaitGroup
	stop    context.CancelFunc
	failed  chan error
	webhook string
}

// Build is what a house is started with.
type Build struct {
	Services
	Line     string // local, or dynamodb
	Addr     string // of the public listener
	Dir      string // for the line's file
	Logs     io.Writer
	Disorder payprov.Disorder // how the provider's notices travel
	Event    inventory.Event  // opens OpensIn after it was made
	Hall     inventory.Hall
	OpensIn  time.Duration
}

// Open starts the servers, makes the event and starts every process. It returns
// when all of them are ready.
func Open(ctx context.Context, b Build) (_ *House, err error) {
	h := &House{dir: b.Dir, logs: b.Logs, failed: make(chan error, 8), AdminToken: rand.Text(), webhook: "whsec_" + rand.Text()}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if b.Addr, err = fixed(b.Addr); err != nil {
		return nil, err
	}
	if err := h.serve(ctx, &b); err != nil {
		return nil, err
	}
	h.DatabaseURL = b.DatabaseURL
	if err := pg.Migrate(ctx, b.DatabaseURL); err != nil {
		return nil, err
	}
	if err := h.create(ctx, b); err != nil {
		return nil, err
	}
	if err := h.provider(ctx, b.Disorder); err != nil {
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	if err := h.processes(ctx, alive, b); err != nil {
		return nil, err
	}
	h.Provider.Notify(payprov.Endpoint{URL: h.Pay + "/v1/provider/notices", Secret: h.webhook})
	return h, h.ready(ctx, b.Event.ID)
}

// fixed gives an address with port 0 a port: buyers are sent back to it, so it
// has to be known before anything listens.
func fixed(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
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
	change, err := inventory.CreateEvent(ctx, pool, b.Event, &b.Hall)
	if err != nil {
		return err
	}
	if change != inventory.Changed {
		return fmt.Errorf("event %s: %s", b.Event.ID, change)
	}
	return nil
}

// provider starts the stand-in for the payment provider.
func (h *House) provider(ctx context.Context, d payprov.Disorder) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h.ProviderURL = "http://" + l.Addr().String()
	h.Provider = payprov.New(payprov.Config{SecretKey: "sk_demo", PublicURL: h.ProviderURL, Disorder: d})
	server := &http.Server{Handler: h.Provider.Handler(), ReadHeaderTimeout: 5 * time.Second}
	h.living.Go(func() { server.Serve(l) }) //nolint:errcheck // it ends by Close
	h.opened = append(h.opened, server.Close, func() error { h.Provider.Close(); return nil })
	return nil
}

// processes starts all of them and waits until each has told where it answers.
func (h *House) processes(ctx, alive context.Context, b Build) error {
	passKey, err := admission.NewPassKey()
	if err != nil {
		return err
	}
	var ticketKey [32]byte
	rand.Read(ticketKey[:]) //nolint:errcheck // it never fails
	tokens := daemon.TokenKeys{
		TicketKeys: "demo:" + base64.StdEncoding.EncodeToString(ticketKey[:]), PassKeys: string(passKey), PassIssuer: "waitroom",
	}
	pay := daemon.PayCallbackConfig{
		TokenKeys: tokens, Addr: "127.0.0.1:0", Install: "demo", ProviderURL: h.ProviderURL, ProviderKey: "sk_demo",
		ProviderMethod: "ideal", WebhookSecrets: []string{h.webhook}, Tolerance: 5 * time.Minute,
		ReturnURL: "http://" + b.Addr + "/e/{event}/orders/{order}", CallLimit: 5 * time.Second, CallsInFlight: 32, NoticeConns: 4, PaymentConns: 4,
	}
	at, err := h.run(ctx, alive, "paycallback", func(ctx context.Context, c daemon.Common) error { pay.Common = c; return daemon.PayCallback(ctx, pay) })
	if err != nil {
		return err
	}
	h.Pay = "http://" + at["pay"]
	claims := daemon.ClaimerConfig{NATSURL: b.NATSURL, Queue: 2048, Workers: 4, Batch: 64}
	if _, err := h.run(ctx, alive, "claimer", func(ctx context.Context, c daemon.Common) error {
		claims.Common = c
		return daemon.Claimer(ctx, claims)
	}); err != nil {
		return err
	}
	expirer := daemon.ExpirerConfig{NATSURL: b.NATSURL, Every: 200 * time.Millisecond, Batch: 200}
	if _, err := h.run(ctx, alive, "expirer", func(ctx context.Context, c daemon.Common) error {
		expirer.Common = c
		return daemon.Expirer(ctx, expirer)
	}); err != nil {
		return err
	}
	room := daemon.WaitroomConfig{
		TokenKeys: tokens, Addr: b.Addr, AdminAddr: "127.0.0.1:0", AdminToken: h.AdminToken, NATSURL: b.NATSURL,
		Line: b.Line, LineFile: filepath.Join(h.dir, "line.db"), Replica: "demo/" + uuid.NewString()[:8],
		Config: dynamo.Config{Table: "waitroom", Endpoint: b.DynamoDB, Timeout: time.Second, Conns: 256},
		Hold:   2 * time.Second, Lease: 1500 * time.Millisecond,
		PayURL: h.Pay, PayOrigins: h.Pay + " " + h.ProviderURL, Conns: 8, LedgerConns: 4, HTTPConns: 100_000,
	}
	at, err = h.run(ctx, alive, "waitroom", func(ctx context.Context, c daemon.Common) error { room.Common = c; return daemon.Waitroom(ctx, room) })
	if err != nil {
		return err
	}
	h.Public, h.Admin = "http://"+at["public"], "http://"+at["admin"]
	return nil
}

// run starts one process and waits for its listeners: "ops" is the last.
func (h *House) run(ctx, alive context.Context, name string, f func(context.Context, daemon.Common) error) (map[string]string, error) {
	at, told := map[string]string{}, make(chan struct{})
	c := daemon.Common{
		Ops:         process.Ops{OpsAddr: "127.0.0.1:0", DrainGrace: 0, DrainLimit: 10 * time.Second},
		DatabaseURL: h.DatabaseURL, Logs: h.logs,
		Listening: func(name, addr string) {
			at[name] = addr
			if name == "ops" {
				close(told)
			}
		},
	}
	ended := make(chan error, 1)
	h.living.Go(func() {
		err := f(alive, c)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		ended <- err
		h.failed <- err
	})
	select {
	case <-told:
		return at, nil
	case err := <-ended:
		return nil, errors.Join(fmt.Errorf("%s did not start", name), err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready waits until the event can be joined and its seats are counted.
func (h *House) ready(ctx context.Context, event string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if ok(ctx, h.Public+"/v1/public/events/"+event+"/status") && ok(ctx, h.Public+"/v1/public/events/"+event+"/availability") {
			return nil
		}
		select {
		case err := <-h.failed:
			return errors.Join(errors.New("a process ended"), err)
		case <-ctx.Done():
			return fmt.Errorf("the event is not served: %w", ctx.Err())
		case <-again.C:
		}
	}
}

func ok(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // nothing is read
	return res.StatusCode == http.StatusOK
}

// Failed tells of a process that ended by itself.
func (h *House) Failed() <-chan error { return h.failed }

// Close drains every process, then stops the servers that were started.
func (h *House) Close() error {
	if h.stop != nil {
		h.stop()
	}
	var errs []error
	for i := len(h.opened) - 1; i >= 0; i-- {
		if i == 0 { // the database goes last, when nobody needs it
			h.living.Wait()
		}
		errs = append(errs, h.opened[i]())
	}
	h.living.Wait()
	return errors.Join(errs...)
}

// Export opens the line's export, for the audit.
func (h *House) Export(ctx context.Context, event string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.Admin+"/v1/admin/events/"+event+"/line", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+h.AdminToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close() //nolint:errcheck // nothing is read
		return nil, fmt.Errorf("export: %s", res.Status)
	}
	return res.Body, nil
}

// workDir makes a folder for a run, and a way to remove it.
func workDir() (string, func() error, error) {
	dir, err := os.MkdirTemp("", "waitroom-demo-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}
