package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
)

const idleWord = "idle"

// idling: what a connection takes in the server's memory that asked once and is kept.
// Its anchor is all that a replica takes (HTTP_CONNS, as shipped).
func idling(ctx context.Context, dir string, e Effort, _ io.Writer) (all []Figure, err error) {
	const most = 100_000
	line, err := still(ctx, file(dir, "idling"), short1k)
	if err != nil {
		return nil, err
	}
	app, err := public(ctx, &only{line})
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- app.Listener(l) }()
	defer func() { err = errors.Join(err, app.ShutdownWithContext(ctx), <-ended) }()
	some := max(1, e.Held/10) // they warm what all use
	first, err := comeAndStay(ctx, l.Addr().String(), some)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, first()) }()
	before := inUse()
	leave, err := comeAndStay(ctx, l.Addr().String(), e.Held)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if open := int(app.Server().GetOpenConnectionsCount()); open != some+e.Held {
		return nil, fmt.Errorf("%d connections are open, want %d", open, some+e.Held)
	}
	each := float64(inUse()-before) / float64(e.Held)
	return []Figure{times("idle_connection_memory", "bytes", each, each*most)}, nil
}

// comeAndStay has another process ask once over so many connections, and keep them.
func comeAndStay(ctx context.Context, addr string, n int) (leave func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, idleWord, addr, strconv.Itoa(n))
	stay, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	leave = func() error { return errors.Join(stay.Close(), cmd.Wait()) }
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		return nil, errors.Join(err, leave())
	}
	return leave, nil
}

// Idle is that process's whole life, if args ask for it.
func Idle(args []string) (asked bool, err error) {
	if len(args) != 4 || args[1] != idleWord {
		return false, nil
	}
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return true, err
	}
	open := make([]net.Conn, n)
	for i := range open {
		if open[i], err = net.Dial("tcp", args[2]); err == nil {
			err = askOnce(open[i], args[2])
		}
		if err != nil {
			return true, err
		}
	}
	fmt.Println("they stay")
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(open) // what nobody holds is closed
	return true, err
}

func askOnce(c net.Conn, addr string) error {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", statusPath, addr); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s: %w", answer.Status, err)
	}
	return nil
}
