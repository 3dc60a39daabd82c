// Package demo is a whole on-sale on one machine: every process, the servers
// that they need, a provider to pay at, fans, and a view of it all. It ends
// with the audit.
package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
)

// Services are where the servers are that are not to be started. Empty ones
// are.
type Services struct {
	DatabaseURL string
	NATSURL     string
	DynamoDB    string // endpoint; only asked for when the line is kept there
	RedisURL    string // for limits alone; never started, "" does without
}

// House is every process of a sale, each with ports of its own: run in this
// program, or as programs of their own.
type House struct {
	Public, Admin, Pay string // URLs
	Start, Key         string // the page to begin at, and the key that it shows; only a demo has them
	DatabaseURL        string
	AdminToken         string
	Keys               daemon.TokenKeys
	Provider           *payprov.Provider
	ProviderURL        string
	Office             *office // where the organiser is told
	OpensAt            time.Time
	Replicas           []string     // URLs of all waiting rooms; Public is the first
	Harmed             atomic.Int32 // how often a replica was killed or stopped

	dir       string
	logs      io.Writer
	opened    []func() error // undone last first
	processes map[string]*running
	failed    chan error
	programs  []*Program
	replicas  []*Program // the waiting rooms among them
	webhook   string
}

// Build is what a house is started with.
type Build struct {
	Services
	Line     string // local, or dynamodb
	Addr     string // of the public listener
	Dir      string // for the line's file
	Logs     io.Writer
	Disorder payprov.Disorder // how the provider's notices travel
	Faults   []payprov.Script // which requests to it go wrong, and how
	Event    inventory.Event  // opens OpensIn after it was made
	Hall     inventory.Hall
	OpensIn  time.Duration
	Replicas int // waiting rooms, each a process of its own; 0: one, in this process
	// Bin is the folder of the built programs: then every process is one of them,
	// but for the provider. Empty: all but replicas run in this program.
	Bin string
	// Rewire may lead a program's connections elsewhere, by its environment. Nil:
	// they are as they are.
	Rewire func(program string, env []string) ([]string, error)
	Lobby  bool // who comes before the opening is drawn
	// Limits on who joins from one network; see daemon.WaitroomConfig.
	JoinsPerNetwork int
	TrustedProxies  []string
	Identity        daemon.Identity // what events may ask of who joins
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
			err = h.end(err)
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
	if err := h.provider(ctx, b.Disorder, b.Faults); err != nil {
		return nil, err
	}
	if err := h.openOffice(ctx, cmp.Or(b.Event.Organiser, "house")); err != nil {
		return nil, err
	}
	if err := h.start(ctx, b); err != nil {
		return nil, err
	}
	h.Provider.Notify(payprov.Endpoint{URL: h.Pay + "/v1/provider/notices", Secret: h.webhook})
	return h, h.ready(ctx, b.Event.ID)
}

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
func (h *House) Close() error { return h.end(nil) }

// end is Close after err: what a process ended with may be told there already.
func (h *House) end(err error) error {
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
	for _, e := range errs {
		if e != nil && !errors.Is(err, e) {
			err = errors.Join(err, e)
		}
	}
	return err
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
