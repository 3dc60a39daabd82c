package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/stack"
)

// replica is one waiting room in a process of its own, so that it can be killed
// and held up without its house.
type replica struct {
	public, admin, ops string // addresses, the same after a restart
	env                []string
	house              *House

	mu    sync.Mutex
	child stack.Child
}

// startReplicas starts several waiting rooms on one line. The first is the house's public
// face, at the address that was asked for.
func (h *House) startReplicas(ctx context.Context, b Build, room daemon.WaitroomConfig) error {
	for i := range b.Replicas {
		r := &replica{house: h}
		for _, at := range []*string{&r.public, &r.admin, &r.ops} {
			var err error
			if *at, err = fixed("127.0.0.1:0"); err != nil {
				return err
			}
		}
		if i == 0 {
			r.public = b.Addr
		}
		r.env = append(os.Environ(), h.environment(r, room, i)...)
		if err := r.start(); err != nil {
			return err
		}
		h.opened = append(h.opened, func() error { return r.get().End(10 * time.Second) })
		h.replicas = append(h.replicas, r)
		h.Replicas = append(h.Replicas, "http://"+r.public)
	}
	h.Public, h.Admin = h.Replicas[0], "http://"+h.replicas[0].admin
	for _, r := range h.replicas {
		if err := r.ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// environment is a waiting room's settings as cmd/waitroom reads them.
func (h *House) environment(r *replica, c daemon.WaitroomConfig, i int) []string {
	return []string{
		"ADDR=" + r.public, "ADMIN_ADDR=" + r.admin, "OPS_ADDR=" + r.ops, "DRAIN_GRACE=0s",
		"ADMIN_TOKEN=" + c.AdminToken, "DATABASE_URL=" + h.DatabaseURL, "NATS_URL=" + c.NATSURL,
		"TICKET_KEYS=" + c.TicketKeys, "PASS_KEYS=" + c.PassKeys, "PASS_ISSUER=" + c.PassIssuer, "SEAT_CODE_KEYS=" + c.SeatCodeKeys,
		"LINE_STORE=dynamodb", "DYNAMODB_ENDPOINT=" + c.Endpoint, "DYNAMODB_TABLE=" + c.Table,
		"PAY_URL=" + c.PayURL, "PAY_ORIGINS=" + c.PayOrigins, "SECURE_COOKIES=false",
		"INSTALL=" + c.Asking.Install, fmt.Sprintf("REFUND_LIMIT_MINOR=%d", c.Asking.RefundLimit), fmt.Sprintf("REFUND_CALLS_PER_S=%g", c.Asking.RefundCalls),
		fmt.Sprintf("REPLICA=replica-%d", i),
	}
}

func (r *replica) get() stack.Child {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.child
}

// start runs this program's own waiting room.
func (r *replica) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "process", "waitroom")
	cmd.Env, cmd.Stdout, cmd.Stderr = r.env, r.house.logs, r.house.logs
	child, err := stack.Run(cmd)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.child = child
	return nil
}

func (r *replica) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if res, err := get(ctx, "http://"+r.ops+"/readyz"); err == nil {
			res.Body.Close() //nolint:errcheck // nothing is read
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("replica at %s is not ready: %w", r.public, ctx.Err())
		case <-r.get().Ended():
			return errors.New("a replica ended at its start; its log says why")
		case <-again.C:
		}
	}
}

func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// releases reports whether this replica holds the line's lease now.
func (r *replica) releases(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	res, err := get(ctx, "http://"+r.ops+"/metrics")
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // read only
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "waitroom_line_holding{") && strings.HasSuffix(lines.Text(), " 1") {
			return true
		}
	}
	return false
}

// harm is done to whoever releases at that time: the worst that can be hit.
type harm struct {
	at   time.Duration // after the opening
	stop time.Duration // it stands still for so long, longer than a lease; 0: it is killed, and restarted after 3 s
}

var harms = [...]harm{
	{at: 5 * time.Second, stop: 4 * time.Second},
	{at: 15 * time.Second},
	{at: 25 * time.Second, stop: 3 * time.Second},
	{at: 35 * time.Second, stop: 6 * time.Second},
	{at: 48 * time.Second},
	{at: 60 * time.Second, stop: 2 * time.Second},
}

// harm does all of it, or as much as there is time for.
func (h *House) harm(ctx context.Context) error {
	for _, x := range harms {
		if !until(ctx, h.OpensAt.Add(x.at)) {
			return nil
		}
		r := h.releasing(ctx)
		if err := r.suffer(ctx, x); err != nil {
			return err
		}
		h.Harmed.Add(1)
	}
	return nil
}

// releasing is the replica that holds the lease; the last, if none says so.
func (h *House) releasing(ctx context.Context) *replica {
	for _, r := range h.replicas {
		if r.releases(ctx) {
			return r
		}
	}
	return h.replicas[len(h.replicas)-1]
}

func (r *replica) suffer(ctx context.Context, x harm) error {
	if x.stop > 0 {
		if err := r.get().Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		until(ctx, time.Now().Add(x.stop))
		return r.get().Signal(syscall.SIGCONT)
	}
	if err := r.get().Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-r.get().Ended()
	until(ctx, time.Now().Add(3*time.Second))
	return r.start()
}

// until waits for a moment. False: ctx ended first.
func until(ctx context.Context, at time.Time) bool {
	wait := time.NewTimer(time.Until(at))
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wait.C:
		return true
	}
}
