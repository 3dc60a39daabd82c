package process

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serveOps listens where operators and balancers ask. It is the first to open
// and the last to close: it answers while the process starts and drains.
func (p *Process) serveOps(ctx context.Context) (stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.ops.OpsAddr)
	if err != nil {
		return nil, fmt.Errorf("ops listener: %w", err)
	}
	p.addr = l.Addr()
	s := &http.Server{
		Handler:           p.opsHandler(),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
	}
	go s.Serve(l) //nolint:errcheck // it ends by Close alone
	return func() { s.Close() }, nil
}

func (p *Process) opsHandler() http.Handler {
	mux := http.NewServeMux()
	// Alive means that it can answer. That what it needs is away is no reason
	// to restart it.
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("ok\n")) //nolint:errcheck // the asker has gone
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		reasons := p.Ready()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if reasons != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		json.NewEncoder(w).Encode(struct { //nolint:errcheck // the asker has gone
			Process string   `json:"process"`
			Ready   bool     `json:"ready"`
			Reasons []Reason `json:"reasons,omitempty"`
		}{p.Name, reasons == nil, reasons})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{Registry: p.Metrics}))
	return mux
}
