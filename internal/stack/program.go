package stack

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// program is a server of which the process is all: what it keeps, it keeps in
// a folder that goes with it.
type program struct {
	kind   string
	cmd    func(dir string, port int) *exec.Cmd
	url    func(port int) string
	answer func(ctx context.Context, url string) bool
	end    syscall.Signal // ends it at once; 0: SIGKILL
}

// start tries three ports: a free one may be taken before the program has it.
func (p program) start(ctx context.Context) (s *Server, err error) {
	for range 3 {
		port, errPort := freePort()
		if errPort != nil {
			return nil, errPort
		}
		if s, err = p.startAt(ctx, port); err == nil || ctx.Err() != nil {
			return s, err
		}
	}
	return nil, err
}

func (p program) startAt(ctx context.Context, port int) (*Server, error) {
	dir, clean, err := TempDir(p.kind)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := p.cmd(dir, port)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	end := cmp.Or(p.end, syscall.SIGKILL)
	proc, err := spawn(cmd, end)
	if err != nil {
		clean() //nolint:errcheck // the start's error is the one to tell
		return nil, fmt.Errorf("%s: %w", p.kind, err)
	}
	stop := func() error {
		proc.end(end, 5*time.Second) //nolint:errcheck // it keeps nothing that could be lost
		return clean()
	}
	url := p.url(port)
	if err := poll(ctx, proc.done, func(ctx context.Context) bool { return p.answer(ctx, url) }); err != nil {
		why := tail(log.Name())
		stop() //nolint:errcheck // the start's error is the one to tell
		return nil, fmt.Errorf("%s did not start: %w: %s", p.kind, err, why)
	}
	return &Server{URL: url, Kind: p.kind, stop: stop, signal: proc.signal}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
