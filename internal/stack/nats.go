package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS runs a server in this process, on a free port of this machine. It keeps
// nothing: what NATS carries is requests and hints. A crash leaves it with nothing.
func NATS() (*Server, error) {
	n := &natsServer{port: server.RANDOM_PORT}
	if err := n.start(); err != nil {
		return nil, err
	}
	n.port = n.of.Addr().(*net.TCPAddr).Port
	return &Server{URL: n.of.ClientURL(), Kind: "nats " + server.VERSION + " in process", stop: n.stop, crash: n.crash}, nil
}

type natsServer struct {
	of   *server.Server
	port int
}

func (n *natsServer) start() (err error) {
	n.of, err = server.NewServer(&server.Options{
		ServerName: "waitroom", Host: "127.0.0.1", Port: n.port,
		NoLog: true, NoSigs: true, // signals are the process's own
	})
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	n.of.Start()
	if !n.of.ReadyForConnections(10 * time.Second) {
		return errors.Join(errors.New("nats: not ready for connections within 10 s"), n.stop())
	}
	return nil
}

func (n *natsServer) stop() error {
	n.of.Shutdown()
	n.of.WaitForShutdown()
	return nil
}

func (n *natsServer) crash(context.Context) error { return errors.Join(n.stop(), n.start()) }
