package demo

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"time"

	"waitroom/internal/stack"
)

// Program is a process of the house that is a program of its own, so that it can
// be killed and held up without its house. It answers at the same addresses after
// a restart.
type Program struct {
	Name string

	house *House
	ops   string // address
	args  []string
	env   []string

	mu    sync.Mutex
	child stack.Child
	ends  bool // it is meant to
}

// program starts a process by its settings, as a program of its own. Its file is
// the built one in b.Bin, or else this program's own.
func (h *House) program(b Build, file, name string, settings any) (p *Program, err error) {
	p = &Program{Name: name, house: h, args: []string{filepath.Join(b.Bin, file)}}
	if b.Bin == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		p.args = []string{self, "process", file}
	}
	if p.ops, err = fixed("127.0.0.1:0"); err != nil {
		return nil, err
	}
	p.env = append(environment(settings), "DATABASE_URL="+h.DatabaseURL, "OPS_ADDR="+p.ops, "DRAIN_GRACE=0s")
	if b.Rewire != nil {
		if p.env, err = b.Rewire(name, p.env); err != nil {
			return nil, err
		}
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	h.opened = append(h.opened, p.end)
	h.programs = append(h.programs, p)
	return p, nil
}

// environment is what a process's settings are in its environment. What is not set
// is left to its default.
func environment(settings any) (env []string) {
	v := reflect.ValueOf(settings)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name := field.Tag.Get("env")
		switch {
		case field.Anonymous:
			env = append(env, environment(value.Interface())...)
		case name == "" || value.IsZero() && value.Kind() != reflect.Bool:
		case value.Kind() == reflect.Slice:
			var all []string
			for i := range value.Len() {
				all = append(all, fmt.Sprint(value.Index(i)))
			}
			env = append(env, name+"="+strings.Join(all, ","))
		default:
			env = append(env, fmt.Sprintf("%s=%v", name, value))
		}
	}
	return env
}

// Start starts it, for the first time or again. Whoever started it and did not
// kill it is told when it ends.
func (p *Program) Start() error {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), p.env...), p.house.logs, p.house.logs
	child, err := stack.Run(cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.child, p.ends = child, false
	go func() {
		<-child.Ended()
		if !p.ending() {
			p.house.failed <- fmt.Errorf("%s ended by itself", p.Name)
		}
	}()
	return nil
}

// get is the child as it is now; ends says that it may end from here on.
func (p *Program) get(ends bool) stack.Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends = p.ends || ends
	return p.child
}

func (p *Program) ending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ends
}

// Kill ends it as a power cut does, and returns once it is gone.
func (p *Program) Kill() error {
	child := p.get(true)
	if err := child.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-child.Ended()
	return nil
}

// Stop has it stand still, and returns once nothing of it runs; GoOn lets it go on.
func (p *Program) Stop() error { return p.get(false).Stop() }

// GoOn ends what Stop began.
func (p *Program) GoOn() error { return p.get(false).Signal(syscall.SIGCONT) }

func (p *Program) end() error { return p.get(true).End(10 * time.Second) }

// Ready returns once it says that it is.
func (p *Program) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if res, err := get(ctx, "http://"+p.ops+"/readyz"); err == nil {
			res.Body.Close() //nolint:errcheck // nothing is read
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", p.Name, ctx.Err())
		case <-p.get(false).Ended():
			return fmt.Errorf("%s ended at its start; its log says why", p.Name)
		case <-again.C:
		}
	}
}

func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// Releases reports whether this waiting room holds the line's lease now.
func (p *Program) Releases(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	res, err := get(ctx, "http://"+p.ops+"/metrics")
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // read only
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "waitroom_line_holding{") && strings.HasSuffix(lines.Text(), " 1") {
			return true
		}
	}
	return false
}

// Programs are the processes that are programs of their own.
func (h *House) Programs() []*Program { return h.programs }

// Releasing is the waiting room that holds the lease; the last, if none says so.
func (h *House) Releasing(ctx context.Context) *Program {
	for _, r := range h.replicas {
		if r.Releases(ctx) {
			return r
		}
	}
	return h.replicas[len(h.replicas)-1]
}
