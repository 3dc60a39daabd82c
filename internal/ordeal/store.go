package ordeal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// store is the waiting rooms' way to DynamoDB, on which we stand: one exchange can
// be kept back, on its way there or on its way back.
type store struct {
	mu      sync.Mutex
	trap    *trap
	servers []*http.Server
}

// trap keeps the first exchange back that fits, of whichever waiting room.
type trap struct {
	with     string         // what its request says
	answered bool           // it is kept back once the store has done it, not before
	number   *regexp.Regexp // finds the take in what is kept back
	caught   chan catch
	let      chan struct{} // closed: it is dropped
}

// catch is what was kept back.
type catch struct {
	program string
	take    string
	waited  context.Context // ends when nobody waits for it any more
}

// open is one waiting room's way.
func (s *store) open(ctx context.Context, program, to string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	through := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.exchange(w, r, through, program, to)
	})}
	s.servers = append(s.servers, server)
	go server.Serve(l) //nolint:errcheck // it ends by Close
	return "http://" + l.Addr().String(), nil
}

func (s *store) exchange(w http.ResponseWriter, r *http.Request, through *http.Transport, program, to string) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the asker has gone
	}
	s.keep(r, program, asked, nil)
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, bytes.NewReader(asked))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header = r.Header
	res, err := through.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler) // as the store would: no answer
	}
	defer res.Body.Close() //nolint:errcheck // read only
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if res.StatusCode == http.StatusOK {
		s.keep(r, program, asked, answer)
	}
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	w.Write(answer) //nolint:errcheck // the asker has gone
}

// keep keeps an exchange back if the trap is for it, for ever.
func (s *store) keep(r *http.Request, program string, asked, answer []byte) {
	s.mu.Lock()
	t := s.trap
	if t == nil || t.answered != (answer != nil) || !bytes.Contains(asked, []byte(t.with)) {
		s.mu.Unlock()
		return
	}
	s.trap = nil
	s.mu.Unlock()
	in := asked
	if answer != nil {
		in = answer
	}
	c := catch{program: program, waited: r.Context()}
	if m := t.number.FindSubmatch(in); m != nil {
		c.take = string(m[1])
	}
	t.caught <- c
	<-t.let
	panic(http.ErrAbortHandler)
}

// set lays a trap.
func (s *store) set(with string, answered bool, number *regexp.Regexp) *trap {
	t := &trap{with: with, answered: answered, number: number, caught: make(chan catch, 1), let: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trap = t
	return t
}

// lift takes the trap away, with what it holds.
func (s *store) lift(t *trap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trap == t {
		s.trap = nil
	}
	close(t.let)
}

func (s *store) close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}
