package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/admission/dynamo"
	"waitroom/internal/daemon"
	"waitroom/internal/process"
	"waitroom/internal/ticket"
)

// running is one process of the house.
type running struct {
	Ops   string // its ops listener's URL
	stop  context.CancelFunc
	ended chan struct{}
	err   error // why it ended, once it has
}

// start starts every process and waits until each has told where it answers.
func (h *House) start(ctx context.Context, b Build) error {
	passKey, err := admission.NewPassKey()
	if err != nil {
		return err
	}
	var ticketKey [32]byte
	rand.Read(ticketKey[:]) //nolint:errcheck // it never fails
	h.Keys = daemon.TokenKeys{
		TicketKeys: "demo:" + base64.StdEncoding.EncodeToString(ticketKey[:]), PassKeys: string(passKey), PassIssuer: "waitroom",
	}
	pay := daemon.PayCallbackConfig{
		TokenKeys: h.Keys, Addr: "127.0.0.1:0", Install: "demo", ProviderURL: h.ProviderURL, ProviderKey: "sk_demo",
		ProviderMethod: "ideal", WebhookSecrets: []string{h.webhook}, Tolerance: 5 * time.Minute,
		ProviderAccount: daemon.ProviderAccount{AccountRate: 2000}, Rate: 1500, SweepRate: 100, // the stand-in sets no bound of its own
		ReturnURL: "http://" + b.Addr + "/e/{event}/orders/{order}", CallLimit: 5 * time.Second, CallsInFlight: 32, NoticeConns: 4, PaymentConns: 4,
	}
	if b.Bin != "" {
		if pay.Addr, err = fixed(pay.Addr); err != nil {
			return err
		}
	}
	at, err := h.run(ctx, b, "paycallback", pay, func(ctx context.Context, c daemon.Common) error { pay.Common = c; return daemon.PayCallback(ctx, pay) })
	if err != nil {
		return err
	}
	h.Pay = "http://" + cmp.Or(at["pay"], pay.Addr)
	refunder := daemon.RefunderConfig{
		ProviderAccount: pay.ProviderAccount, ProviderURL: h.ProviderURL, ProviderKey: "sk_demo",
		Apart: 200 * time.Millisecond, CallsInFlight: 10, CallLimit: 3 * time.Second, OnItsWayFor: 10 * 24 * time.Hour, LookLateAfter: 7 * 24 * time.Hour, Conns: 4,
	}
	if _, err := h.run(ctx, b, "refunder", refunder, func(ctx context.Context, c daemon.Common) error {
		refunder.Common = c
		return daemon.Refunder(ctx, refunder)
	}); err != nil {
		return err
	}
	claims := daemon.ClaimerConfig{NATSURL: b.NATSURL, Queue: 2048, Workers: 4, Batch: 64}
	if _, err := h.run(ctx, b, "claimer", claims, func(ctx context.Context, c daemon.Common) error {
		claims.Common = c
		return daemon.Claimer(ctx, claims)
	}); err != nil {
		return err
	}
	expirer := daemon.ExpirerConfig{NATSURL: b.NATSURL, Every: 200 * time.Millisecond, Batch: 200}
	if _, err := h.run(ctx, b, "expirer", expirer, func(ctx context.Context, c daemon.Common) error {
		expirer.Common = c
		return daemon.Expirer(ctx, expirer)
	}); err != nil {
		return err
	}
	courier := daemon.CourierConfig{
		Every: 50 * time.Millisecond, InFlight: 64, Failing: 0.5, Limit: 5 * time.Second, Lease: 15 * time.Second, Conns: 4, Loopback: true,
		Factor: 2, Slack: 1, SuccessMin: 200, SuccessMax: 299, Jitter: 0.1, DisableAfter: 20, DisableFailingFor: 10 * time.Second, WaitAtMost: time.Hour,
	}
	if _, err := h.run(ctx, b, "courier", courier, func(ctx context.Context, c daemon.Common) error {
		courier.Common = c
		return daemon.Courier(ctx, courier)
	}); err != nil {
		return err
	}
	codeKey, err := ticket.NewKey()
	if err != nil {
		return err
	}
	room := daemon.WaitroomConfig{
		TokenKeys: h.Keys, SeatCodes: daemon.SeatCodes{SeatCodeKeys: string(codeKey)}, Addr: b.Addr, AdminAddr: "127.0.0.1:0", AdminToken: h.AdminToken, NATSURL: b.NATSURL,
		Line: b.Line, LineFile: filepath.Join(h.dir, "line.db"), Replica: "demo/" + uuid.NewString()[:8],
		Config: dynamo.Config{Table: "waitroom", Endpoint: b.DynamoDB, Timeout: time.Second, Conns: 256},
		Hold:   2 * time.Second, Lease: 1500 * time.Millisecond,
		PayURL: h.Pay, PayOrigins: h.Pay + " " + h.ProviderURL, Conns: 8, LedgerConns: 4, DeskConns: 3, ScanConns: 3, HTTPConns: 100_000,
		JoinsPerNetwork: b.JoinsPerNetwork, RedisURL: b.RedisURL, TrustedProxies: b.TrustedProxies,
		Identity:  b.Identity,
		Asking:    daemon.Asking{Install: "demo", RefundLimit: 100_00, RefundCalls: 5},
		Endpoints: daemon.Endpoints{Most: 20, Loopback: true},
	}
	if b.Replicas > 0 || b.Bin != "" {
		return h.startReplicas(ctx, b, room)
	}
	at, err = h.run(ctx, b, "waitroom", room, func(ctx context.Context, c daemon.Common) error { room.Common = c; return daemon.Waitroom(ctx, room) })
	if err != nil {
		return err
	}
	h.Public, h.Admin = "http://"+at["public"], "http://"+at["admin"]
	h.Replicas = []string{h.Public}
	return nil
}

// run starts one process and waits for its listeners: "ops" is the last. As a
// program of its own it listens where its settings say.
func (h *House) run(ctx context.Context, b Build, name string, settings any, f func(context.Context, daemon.Common) error) (map[string]string, error) {
	if b.Bin != "" {
		p, err := h.program(b, name, name, settings)
		if err != nil {
			return nil, err
		}
		return nil, p.Ready(ctx)
	}
	at, told := map[string]string{}, make(chan struct{})
	c := daemon.Common{
		Ops:         process.Ops{OpsAddr: "127.0.0.1:0", DrainGrace: 0, DrainLimit: 10 * time.Second},
		DatabaseURL: h.DatabaseURL, Logs: h.logs,
		Listening: func(name, addr string) {
			at[name] = addr
			if name == "ops" {
				close(told)
			}
		},
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &running{stop: stop, ended: make(chan struct{})}
	h.processes[name] = p
	go func() {
		if err := f(life, c); err != nil {
			p.err = fmt.Errorf("%s: %w", name, err)
		}
		if life.Err() == nil {
			h.failed <- errors.Join(fmt.Errorf("%s ended by itself", name), p.err)
		}
		close(p.ended)
	}()
	select {
	case <-told:
		p.Ops = "http://" + at["ops"]
		return at, nil
	case <-p.ended:
		return nil, errors.Join(fmt.Errorf("%s did not start", name), p.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Stop drains one process, as SIGTERM does, and says what it left undone.
func (h *House) Stop(name string) error {
	p := h.processes[name]
	p.stop()
	<-p.ended
	return p.err
}

// Ops is where a process says what it is doing.
func (h *House) Ops(name string) string { return h.processes[name].Ops }
