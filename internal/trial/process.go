package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"waitroom/internal/stack"
)

// program is one built binary at work.
type program struct {
	stack.Child
	name string
	log  *log
	at   string // where it answers: the refunder's ops listener, the provider's API
}

// log keeps what a program writes, and hears where it answers.
type log struct {
	mu   sync.Mutex
	text []byte
	said chan string
	once sync.Once
}

// Write is told whole lines, by slog.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	for line := range bytes.Lines(p) {
		var said struct{ Msg, Ops, Addr string }
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		if at := said.Ops + said.Addr; (said.Msg == "ready" || said.Msg == "listening") && at != "" {
			l.once.Do(func() { l.said <- "http://" + at })
		}
	}
	return len(p), nil
}

// end is the last of it, for an error.
func (l *log) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text[max(0, len(l.text)-3000):])
}

// patience is for what takes no time unless the machine is very slow.
const patience = 2 * time.Minute

func start(ctx context.Context, bin, name string, env ...string) (*program, error) {
	cmd := exec.Command(filepath.Join(bin, name))
	p := &program{name: name, log: &log{said: make(chan string, 1)}}
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), p.log, p.log
	var err error
	if p.Child, err = stack.Run(cmd); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case p.at = <-p.log.said:
		return p, nil
	case <-p.Ended():
		return nil, fmt.Errorf("%s ended at its start:\n%s", name, p.log.end())
	case <-over.C:
		return nil, fmt.Errorf("%s does not start:\n%s", name, p.log.end())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready is what a program says of itself.
func (p *program) ready(ctx context.Context) (ok bool, why string) {
	body, status, err := fetch(ctx, p.at+"/readyz")
	if err != nil {
		return false, err.Error()
	}
	return status == http.StatusOK, string(body)
}

func fetch(ctx context.Context, url string) (body []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err = io.ReadAll(res.Body)
	return body, res.StatusCode, err
}
