// Package process is the common life of every process: its settings, its log,
// its ops listener, and an end that loses nothing.
//
// The end, in order: not ready, while it still works, until whoever sends it
// traffic has seen so; stop taking work; finish what is in hand; close. The
// first three are bounded by settings; what does not finish in time is named.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Ops are the settings of a process's common life, to be embedded in its own.
type Ops struct {
	OpsAddr    string        `env:"OPS_ADDR" default:":9090" help:"Where /livez, /readyz and /metrics answer. Not for the public."`
	DrainGrace time.Duration `env:"DRAIN_GRACE" default:"5s" help:"How long it says not ready and still works, so that balancers see it. Too short: requests to a closed port."`
	DrainLimit time.Duration `env:"DRAIN_LIMIT" default:"20s" help:"How long what is in hand may take to finish. Too short: work is cut off and has to be resolved later."`
	LogLevel   slog.Level    `env:"LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
}

// Validate refuses what cannot work.
func (o Ops) Validate() error {
	_, _, err := net.SplitHostPort(o.OpsAddr)
	return errors.Join(
		Want(o.DrainGrace >= 0, "DRAIN_GRACE %s: cannot be negative", o.DrainGrace),
		Want(o.DrainLimit > 0, "DRAIN_LIMIT %s: the limit must be more than 0", o.DrainLimit),
		Want(err == nil, "OPS_ADDR: %w", err),
	)
}

type state int32

const (
	starting state = iota
	serving
	draining
)

func (s state) String() string { return [...]string{"starting", "ready", "draining"}[s] }

// Process is one running process. Its parts are added by the setup that Run
// is given, and by nobody later.
type Process struct {
	Name    string
	Log     *slog.Logger
	Metrics *prometheus.Registry // its own: several processes can share one program

	ops    Ops
	addr   net.Addr
	state  atomic.Int32
	checks []*check
	loops  *loopMetrics

	taking     context.Context // ends when no more work is to be taken
	stopTaking context.CancelFunc
	work       context.Context // ends when what is in hand has had its time
	endWork    context.CancelFunc
	running    sync.WaitGroup
	faults     faults

	stop, finish, close []hook
}

// Signals returns a context that ends at the first SIGTERM or SIGINT, or when the
// terminal goes, unless nohup said not to mind. A second one ends the program at
// once.
func Signals(ctx context.Context) context.Context {
	ends := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Run lives a process's life: the ops listener answers at once, setup builds
// the parts, then it is ready until ctx ends or a part fails, then it drains.
// Whatever setup has added is drained too when setup fails.
func Run(ctx context.Context, name string, ops Ops, log *slog.Logger, setup func(context.Context, *Process) error) error {
	p := newProcess(ctx, name, ops, log)
	closeOps, err := p.serveOps(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer closeOps()
	if err := setup(ctx, p); err != nil {
		p.ops.DrainGrace = 0 // nobody was told that it is ready
		return fmt.Errorf("%s: %w", name, errors.Join(err, p.drain()))
	}
	p.state.Store(int32(serving))
	p.Log.Info("ready", "ops", p.addr.String())
	select {
	case <-ctx.Done():
	case <-p.faults.any:
		p.Log.Error("a part failed", "error", p.faults.all())
	}
	if err := p.drain(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func newProcess(ctx context.Context, name string, ops Ops, log *slog.Logger) *Process {
	p := &Process{Name: name, Log: log, Metrics: prometheus.NewRegistry(), ops: ops, faults: faults{any: make(chan struct{})}}
	p.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.loops = newLoopMetrics(p.Metrics)
	alive := context.WithoutCancel(ctx)
	p.taking, p.stopTaking = context.WithCancel(alive)
	p.work, p.endWork = context.WithCancel(alive)
	return p
}

// Go runs a part until it returns. taking ends when the process is to take no
// more work: then the part finishes what it has (under Work) and returns nil.
// An error, or an end before that, brings the process down.
func (p *Process) Go(name string, f func(taking context.Context) error) {
	p.running.Go(func() {
		err := f(p.taking)
		if err == nil && p.taking.Err() == nil {
			err = errors.New("ended by itself")
		}
		if err != nil && !errors.Is(err, p.taking.Err()) {
			p.faults.add(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// Work is the context of work in hand: it outlives the order to take no more,
// up to the drain's limit.
func (p *Process) Work() context.Context { return p.work }

// OpsAddr is where the ops listener answers.
func (p *Process) OpsAddr() string { return p.addr.String() }
