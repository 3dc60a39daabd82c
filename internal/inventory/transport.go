package inventory

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
)

// Where attempts are asked, and who answers: any one of the claimers. Each is also
// asked by its name, see Roster.
const (
	claimsSubject = "waitroom.claims"
	claimersGroup = "claimers"
)

var (
	// ErrBusy promises that nothing was done: nobody was there to ask, or the
	// queue was full.
	ErrBusy = errors.New("claims are busy")
	// ErrUnknown says that the attempt may have been granted. Asked again with
	// the same key, the answer is the truth.
	ErrUnknown = errors.New("the claim's outcome is unknown")
	// ErrFailed promises that nothing was done, and that asking again will not
	// help: the fault is ours.
	ErrFailed = errors.New("the claim failed")
)

// request is an attempt on its way. The time that remains travels, not the
// hour: clocks differ.
type request struct {
	RemainingMS int64   `json:"remaining_ms"`
	Event       string  `json:"event"`
	Account     string  `json:"account"`
	Holder      string  `json:"holder"`
	Epoch       int64   `json:"epoch"`
	Place       int64   `json:"place"`
	Take        int64   `json:"take"`
	Quota       int     `json:"quota"`
	Key         string  `json:"key"`
	BodyHash    []byte  `json:"body_hash"`
	Seats       []int64 `json:"seats,omitempty"`
	Tier        string  `json:"tier,omitempty"`
	Quantity    int     `json:"quantity,omitempty"`
	Best        *Best   `json:"best,omitempty"`
	Code        []byte  `json:"code,omitempty"`
}

type response struct {
	Outcome Outcome       `json:"outcome"`
	Order   uuid.UUID     `json:"order,omitzero"`
	Taken   []int64       `json:"taken,omitempty"`
	Limit   Limit         `json:"limit,omitempty"`
	Left    int           `json:"left,omitempty"`
	Wait    time.Duration `json:"wait,omitempty"`
}

// Ask asks the claimers for seats, and waits until ctx ends, which has to have
// a deadline. It does not ask twice.
func Ask(ctx context.Context, nc *nats.Conn, a Attempt) (Answer, error) {
	return ask(ctx, nc, claimsSubject, a)
}

// Ask is the package's Ask, of the event's own claimer where it has one. That it
// is not there promises that nothing was done: then any other is asked.
func (r *Roster) Ask(ctx context.Context, nc *nats.Conn, a Attempt) (Answer, error) {
	if name := r.claimerOf(a.Event); name != "" {
		if answer, err := ask(ctx, nc, subjectOf(name), a); !errors.Is(err, nats.ErrNoResponders) {
			return answer, err
		}
	}
	return Ask(ctx, nc, a)
}

// subjectOf is where one claimer is asked. Names are no subjects: they have dots.
func subjectOf(name string) string { return claimsSubject + ".at." + hex.EncodeToString([]byte(name)) }

func ask(ctx context.Context, nc *nats.Conn, subject string, a Attempt) (Answer, error) {
	if err := a.Validate(); err != nil {
		return Answer{}, err
	}
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return Answer{}, errors.New("a claim is asked for without a deadline")
	}
	data, err := json.Marshal(request{
		time.Until(deadline).Milliseconds(), a.Event, a.Account, a.Holder, a.Epoch, a.Place, a.Take, a.Quota,
		a.Key, a.BodyHash[:], a.Seats, a.Tier, a.Quantity, a.Best, a.Code,
	})
	if err != nil {
		return Answer{}, err
	}
	msg, err := nc.RequestWithContext(ctx, subject, data)
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		return Answer{}, fmt.Errorf("%w: %w", ErrBusy, err)
	case err != nil:
		return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return read(msg.Data)
}

func read(data []byte) (Answer, error) {
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	switch r.Outcome {
	case Claimed, Already, Taken, SoldOut, OverLimit, KeyReused, SaleClosed, SaleNotOpen, SalePaused, CodeUnknown, CodeSpent, CodeNeeded, CoolDown:
		return Answer(r), nil
	case Busy:
		return Answer{}, ErrBusy
	case Failed:
		return Answer{}, ErrFailed
	}
	return Answer{}, fmt.Errorf("%w: %q", ErrUnknown, r.Outcome)
}

// Serve answers attempts that come over NATS, to any claimer or to this one by
// name. stop takes no more, hands what has come in to the claimer, and returns; the
// answers follow as they fall.
func Serve(nc *nats.Conn, c *Claimer, name string) (stop func(context.Context) error, err error) {
	take := func(m *nats.Msg) {
		var r request
		if err := json.Unmarshal(m.Data, &r); err != nil || len(r.BodyHash) != 32 {
			c.log.Error("unreadable claim", "error", err)
			respond(m, Answer{Outcome: Failed})
			return
		}
		until := time.Now().Add(time.Duration(r.RemainingMS) * time.Millisecond)
		c.Submit(r.attempt(), until, func(a Answer) { respond(m, a) })
	}
	all, err := nc.QueueSubscribe(claimsSubject, claimersGroup, take)
	if err != nil {
		return nil, fmt.Errorf("subscribe to claims: %w", err)
	}
	own, err := nc.Subscribe(subjectOf(name), take)
	if err != nil {
		all.Unsubscribe() //nolint:errcheck // nothing came, and the fault is told
		return nil, fmt.Errorf("subscribe to claims: %w", err)
	}
	stopAll, stopOwn := drained(nc, all), drained(nc, own)
	return func(ctx context.Context) error { return errors.Join(stopOwn(ctx), stopAll(ctx)) }, nil
}

// drained ends a subscription when what it has is handed in.
func drained(nc *nats.Conn, sub *nats.Subscription) func(context.Context) error {
	over := sub.StatusChanged(nats.SubscriptionClosed)
	return func(ctx context.Context) error {
		if !nc.IsConnected() { // nothing can come, and no answer go
			return sub.Unsubscribe()
		}
		if err := sub.Drain(); err != nil {
			return fmt.Errorf("drain claims: %w", err)
		}
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("drain claims: %w", ctx.Err())
		}
	}
}

func (r request) attempt() Attempt {
	return Attempt{
		r.Event, r.Account, r.Holder, r.Epoch, r.Place, r.Take, r.Quota,
		r.Key, [32]byte(r.BodyHash), r.Seats, r.Tier, r.Quantity, r.Best, r.Code,
	}
}

// respond does not care whether the answer arrives: who did not get it asks
// again with the same key.
func respond(m *nats.Msg, a Answer) {
	data, err := json.Marshal(response(a))
	if err == nil {
		m.Respond(data) //nolint:errcheck // see above
	}
}
