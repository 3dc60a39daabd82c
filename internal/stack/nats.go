package stack

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS runs a server in this process, on a free port of this machine. It keeps
// nothing: what NATS carries is requests and hints.
func NATS() (*Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "waitroom", Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoLog: true, NoSigs: true, // signals are the process's own
	})
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s.Start()
	stop := func() error {
		s.Shutdown()
		s.WaitForShutdown()
		return nil
	}
	if !s.ReadyForConnections(10 * time.Second) {
		return nil, errors.Join(errors.New("nats: not ready for connections within 10 s"), stop())
	}
	return &Server{URL: s.ClientURL(), Kind: "nats " + server.VERSION + " in process", stop: stop}, nil
}
