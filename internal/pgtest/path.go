package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Path is a way to a database of URL's whose connections can fall silent, as they do
// when a machine or a network between is gone: nothing comes through any more, and
// nobody says so. New ones work.
type Path struct {
	URL string

	network, to string
	mu          sync.Mutex
	all         []*passage
}

// passage is one connection on its way.
type passage struct {
	near, far net.Conn
	mu        sync.Mutex
	silent    bool
}

// Through opens a path.
func Through(t testing.TB, db string) *Path {
	t.Helper()
	c, err := pgconn.ParseConfig(db)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	u, err := url.Parse(db)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	p := &Path{}
	p.network, p.to = pgconn.NetworkAddress(c.Host, c.Port)
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	p.URL = u.String()
	t.Cleanup(func() { l.Close(); p.Silence(); p.Cut() }) //nolint:errcheck // nothing is left to do
	go p.serve(l)
	return p
}

func (p *Path) serve(l net.Listener) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(p.network, p.to)
		if err != nil {
			near.Close() //nolint:errcheck // its dialler sees that it is closed
			continue
		}
		w := &passage{near: near, far: far}
		p.mu.Lock()
		p.all = append(p.all, w)
		p.mu.Unlock()
		go w.carry(near, far)
		go w.carry(far, near)
	}
}

// carry ends with the first of both, unless they are silent: then neither hears of it.
func (w *passage) carry(from, to net.Conn) {
	io.Copy(hush{to, w}, from) //nolint:errcheck // both ends see it
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.silent {
		to.Close() //nolint:errcheck // nobody is there
	}
}

// hush writes nothing of what it takes once it is to be silent.
type hush struct {
	net.Conn
	of *passage
}

func (h hush) Write(b []byte) (int, error) {
	h.of.mu.Lock()
	silent := h.of.silent
	h.of.mu.Unlock()
	if silent {
		return len(b), nil
	}
	return h.Conn.Write(b)
}

// Silence lets nothing through the connections that there are.
func (p *Path) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.all {
		w.mu.Lock()
		w.silent = true
		w.mu.Unlock()
	}
}

// Cut ends those that are silent: both ends hear of it at last.
func (p *Path) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.all {
		w.mu.Lock()
		if w.silent {
			w.near.Close() //nolint:errcheck // it may be
			w.far.Close()  //nolint:errcheck // it may be
		}
		w.mu.Unlock()
	}
}
