package process

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
)

// check is one thing that the process cannot work without.
type check struct {
	name  string
	limit time.Duration
	ask   func(context.Context) error
	one   singleflight.Group
}

// Reason is why a process is not ready.
type Reason struct {
	Check string `json:"check"`
	Why   string `json:"why"`
}

// Check adds a question that has to be answered with nil for the process to be
// ready. It is asked when readiness is asked, and bounded by limit even if it
// does not mind its context; it never runs twice at a time.
func (p *Process) Check(name string, limit time.Duration, ask func(context.Context) error) {
	p.checks = append(p.checks, &check{name: name, limit: limit, ask: ask})
}

// Ready is nil when the process takes work now, else all the reasons why not.
func (p *Process) Ready() []Reason {
	if s := state(p.state.Load()); s != serving {
		return []Reason{{"process", s.String()}}
	}
	answers := make([]chan error, len(p.checks))
	for i, c := range p.checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- c.answer(p.work) }()
	}
	var reasons []Reason
	for i, c := range p.checks {
		if err := <-answers[i]; err != nil {
			reasons = append(reasons, Reason{c.name, err.Error()})
		}
	}
	return reasons
}

// answer joins a question that is still being asked.
func (c *check) answer(ctx context.Context) error {
	asked := c.one.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, c.limit)
		defer cancel()
		return nil, c.ask(ctx)
	})
	over := time.NewTimer(c.limit)
	defer over.Stop()
	select {
	case a := <-asked:
		return a.Err
	case <-over.C:
		return fmt.Errorf("no answer within %s", c.limit)
	}
}
