// Package demo is a whole on-sale on one machine: every process, the servers
// that they need, a provider to pay at, fans, and a view of it all. It ends
// with the audit.
package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	RedisURL    string // for limits alone; never started, "" does without
}

// House is every process of a sale, run in this program, each with ports of its
// own.
type House struct {
	Public, Admin, Pay string // URLs
	DatabaseURL        string
	AdminToken         string
	Keys               daemon.TokenKeys
	Provider           *payprov.Provider
	ProviderURL        string
	OpensAt            time.Time

	dir       string
	logs      io.Writer
	opened    []func() error // undone last first
	processes map[string]*running
	failed    chan error
	webhook   string
}

// running is one process of the house.
type running struct {
	Ops   string // its ops listener's URL
	stop  context.CancelFunc
	ended chan struct{}
	err   error // why it ended, once it has
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
	// Limits on who joins from one network; see daemon.WaitroomConfig.
	JoinsPerNetwork int
	TrustedProxies  []string
}

// Open starts the servers, makes the event and starts every process. It returns
// when all of them are ready.
func Open(ctx context.Context, b Build) (_ *House, err error) {
	h := &House{
		dir: b.Dir, logs: b.Logs, processes: map[string]*running{}, failed: make(chan error, 8),
		AdminToken: rand.Text(), webhook: "whsec_" + rand.Text(),
	}
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
	if err := h.start(ctx, b); err != nil {
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

// start starts every process and waits until each has told where it answers.
func (h *House) start(ctx context.Context, b Build) error {
	passKey, err := admission.NewPassKey()
	if err != nil {
		return err
	}
	var ticketKey [32]byte
	rand.Read(ticketKey[:]) //nolint:errcheck // it never fails
	h.Keys = daemon.TokenKeys{
		TicketKeys: "demo:" + base64.StdEncoding.EncodeToString(ticketKey[:]), PassKeys: string(passKey), PassIssuer: "waitroom",
	}
	pay := daemon.PayCallbackConfig{
		TokenKeys: h.Keys, Addr: "127.0.0.1:0", Install: "demo", ProviderURL: h.ProviderURL, ProviderKey: "sk_demo",
		ProviderMethod: "ideal", WebhookSecrets: []string{h.webhook}, Tolerance: 5 * time.Minute,
		ReturnURL: "http://" + b.Addr + "/e/{event}/orders/{order}", CallLimit: 5 * time.Second, CallsInFlight: 32, NoticeConns: 4, PaymentConns: 4,
	}
	at, err := h.run(ctx, "paycallback", func(ctx context.Context, c daemon.Common) error { pay.Common = c; return daemon.PayCallback(ctx, pay) })
	if err != nil {
		return err
	}
	h.Pay = "http://" + at["pay"]
	claims := daemon.ClaimerConfig{NATSURL: b.NATSURL, Queue: 2048, Workers: 4, Batch: 64}
	if _, err := h.run(ctx, "claimer", func(ctx context.Context, c daemon.Common) error {
		claims.Common = c
		return daemon.Claimer(ctx, claims)
	}); err != nil {
		return err
	}
	expirer := daemon.ExpirerConfig{NATSURL: b.NATSURL, Every: 200 * time.Millisecond, Batch: 200}
	if _, err := h.run(ctx, "expirer", func(ctx context.Context, c daemon.Common) error {
		expirer.Common = c
		return daemon.Expirer(ctx, expirer)
	}); err != nil {
		return err
	}
	room := daemon.WaitroomConfig{
		TokenKeys: h.Keys, Addr: b.Addr, AdminAddr: "127.0.0.1:0", AdminToken: h.AdminToken, NATSURL: b.NATSURL,
		Line: b.Line, LineFile: filepath.Join(h.dir, "line.db"), Replica: "demo/" + uuid.NewString()[:8],
		Config: dynamo.Config{Table: "waitroom", Endpoint: b.DynamoDB, Timeout: time.Second, Conns: 256},
		Hold:   2 * time.Second, Lease: 1500 * time.Millisecond,
		PayURL: h.Pay, PayOrigins: h.Pay + " " + h.ProviderURL, Conns: 8, LedgerConns: 4, HTTPConns: 100_000,
		JoinsPerNetwork: b.JoinsPerNetwork, RedisURL: b.RedisURL, TrustedProxies: b.TrustedProxies,
	}
	at, err = h.run(ctx, "waitroom", func(ctx context.Context, c daemon.Common) error { room.Common = c; return daemon.Waitroom(ctx, room) })
	if err != nil {
		return err
	}
	h.Public, h.Admin = "http://"+at["public"], "http://"+at["admin"]
	return nil
}

// run starts one process and waits for its listeners: "ops" is the last.
func (h *House) run(ctx context.Context, name string, f func(context.Context, daemon.Common) error) (map[string]string, error) {
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
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &running{stop: stop, ended: make(chan struct{})}
	h.processes[name] = p
	go func() {
		if err := f(life, c); err != nil {
			p.err = fmt.Errorf("%s: %w", name, err)
		}
		if life.Err() == nil {
			h.failed <- errors.Join(fmt.Errorf("%s ended by itself", name), p.err)
		}
		close(p.ended)
	}()
	select {
	case <-told:
		p.Ops = "http://" + at["ops"]
		return at, nil
	case <-p.ended:
		return nil, errors.Join(fmt.Errorf("%s did not start", name), p.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Stop drains one process, as SIGTERM does, and says what it left undone.
func (h *House) Stop(name string) error {
	p := h.processes[name]
	p.stop()
	<-p.ended
	return p.err
}

// Ops is where a process says what it is doing.
func (h *House) Ops(name string) string { return h.processes[name].Ops }

// ready waits until the event can be joined, its seats are counted and somebody
// releases it.
func (h *House) ready(ctx context.Context, event string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	shared := h.Public + "/v1/public/events/" + event
	for {
		var doc struct{ State, Reason string }
		if ok(ctx, shared+"/status", &doc) && doc.State != "closed_on_doubt" && ok(ctx, shared+"/availability", &struct{}{}) {
			return nil
		}
		select {
		case err := <-h.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("the event is not served: %s %s: %w", doc.State, doc.Reason, ctx.Err())
		case <-again.C:
		}
	}
}

func ok(ctx context.Context, url string, into any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // read only
	return res.StatusCode == http.StatusOK && json.NewDecoder(res.Body).Decode(into) == nil
}

// Failed tells of a process that ended by itself.
func (h *House) Failed() <-chan error { return h.failed }

// Close drains every process, then stops the servers that were started, the
// database last.
func (h *House) Close() error {
	for _, p := range h.processes {
		p.stop()
	}
	var errs []error
	for _, p := range h.processes {
		<-p.ended
		errs = append(errs, p.err)
	}
	for _, undo := range slices.Backward(h.opened) {
		errs = append(errs, undo())
	}
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
