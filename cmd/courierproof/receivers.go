package main

import (
	"context"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// receivers are the organisers': what they do stands in the path, and what came is
// remembered with its time.
type receivers struct {
	url     string
	mu      sync.Mutex
	arrived map[arrival]time.Time // the first time
	times   int                   // requests, repeats included
	tried   map[arrival]int
}

// arrival is one notice at one endpoint.
type arrival struct{ path, id string }

func open(ctx context.Context) (*receivers, func(), error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	r := &receivers{url: "http://" + l.Addr().String(), arrived: map[arrival]time.Time{}, tried: map[arrival]int{}}
	s := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go s.Serve(l) //nolint:errcheck // it ends by Close
	return r, func() { s.Close() }, nil
}

func (r *receivers) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	now := time.Now()
	io.Copy(io.Discard, req.Body) //nolint:errcheck // what it says is looked at elsewhere
	a := arrival{req.URL.Path, req.Header.Get("webhook-id")}
	r.mu.Lock()
	r.times++
	r.tried[a]++
	nth := r.tried[a]
	if _, before := r.arrived[a]; !before {
		r.arrived[a] = now
	}
	r.mu.Unlock()
	switch {
	case strings.HasPrefix(a.path, "/silent/"):
		<-req.Context().Done()
	case strings.HasPrefix(a.path, "/fails/"):
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(a.path, "/mixed/"): // one in a hundred is never taken, one in twenty not at first
		h := fnv.New32()
		h.Write([]byte(a.id)) //nolint:errcheck // a hash takes everything
		if n := h.Sum32() % 100; n == 0 || n <= 5 && nth == 1 {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
}

func (r *receivers) at(a arrival) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.arrived[a]
	return t, ok
}

func (r *receivers) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}
