package ordeal

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
)

// wire is a way to a server that we stand on: what goes to the server can be kept
// back, what comes from it goes through.
type wire struct {
	listener net.Listener
	to       *url.URL

	mu      sync.Mutex
	holding bool
	pipes   map[*pipe]struct{}
}

// pipe is one connection on it.
type pipe struct {
	from, to net.Conn
	kept     []byte
}

func openWire(ctx context.Context, to string) (*wire, error) {
	at, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	w := &wire{to: at, pipes: map[*pipe]struct{}{}}
	if w.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go func() {
		for {
			from, err := w.listener.Accept()
			if err != nil {
				return // closed
			}
			go w.carry(from)
		}
	}()
	return w, nil
}

func (w *wire) url() string {
	if w == nil {
		return ""
	}
	at := *w.to
	at.Host = w.listener.Addr().String()
	return at.String()
}

// carry is one connection's life.
func (w *wire) carry(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", w.to.Host)
	if err != nil {
		return // as if the server had not answered
	}
	p := &pipe{from: from, to: to}
	w.mu.Lock()
	w.pipes[p] = struct{}{}
	w.mu.Unlock()
	go func() {
		io.Copy(from, to) //nolint:errcheck // either side may end it
		from.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if w.pass(p, buf[:n]) != nil || err != nil {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pipes, p)
	to.Close()
}

func (w *wire) pass(p *pipe, data []byte) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding {
		p.kept = append(p.kept, data...)
	} else if len(data) > 0 {
		_, err = p.to.Write(data)
	}
	return err
}

// hold keeps back what goes to the server from now on.
func (w *wire) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = true
}

// kept is what is kept back now.
func (w *wire) kept() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all [][]byte
	for p := range w.pipes {
		all = append(all, p.kept)
	}
	return bytes.Join(all, nil)
}

// drop lets nothing of it through, ever: whoever sent it is dead.
func (w *wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holding = false
	for p := range w.pipes {
		p.kept = nil
		p.from.Close()
		p.to.Close()
	}
}

func (w *wire) close() {
	if w == nil {
		return
	}
	w.listener.Close()
	w.drop()
}
