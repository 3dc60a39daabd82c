package ordeal

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/stack"
)

// Harm is one thing that is done to a house.
type Harm struct {
	Name string
	// do returns once the fault is over, with what shows that it was done.
	do func(context.Context, *bench) (seen string, err error)
}

// Names of harms that the short ordeal does.
const (
	ClaimerBeforeCommit = "claimer: killed before the commit"
	WaitroomAfterCredit = "waitroom: killed after the credit"
	PostgresCrashed     = "Postgres: crashed and restarted"
	CourierKilled       = "courier: killed at random"
)

// All are all harms, in the order in which they are done.
func All() []Harm {
	take, pass := `taken = taken + :k`, `pass_until = :pass_until`
	return []Harm{
		atRandom("claimer"), atRandom("waitroom"), atRandom("paycallback"), atRandom("expirer"), atRandom("refunder"),
		{CourierKilled, randomly("courier")},
		{"claimer: killed after the seats' update", atPoint("claimer", claimerSeats)},
		{ClaimerBeforeCommit, claimerInside},
		{"claimer: killed in the commit", atPoint("claimer", claimerCommit)},
		{"claimer: killed after the commit, before the answer", beforeAnswer},
		{"claimer: stands still inside its transaction", claimerStands},
		{WaitroomAfterCredit, atStore(take, true, regexp.MustCompile(`"taken":\{"N":"(\d+)"`), "take %s is counted, and the word of it did not arrive")},
		{"waitroom: killed before the pass", atStore(pass, false, regexp.MustCompile(`":take":\{"N":"(\d+)"`), "take %s is its, and its pass was not written")},
		{"waitroom: killed after the pass, before the answer", atStore(pass, true, regexp.MustCompile(`"take":\{"N":"(\d+)"`), "the pass of take %s is in the line, and nobody was told")},
		{"paycallback: killed in the commit of a payment", atPoint("paycallback", paidCommit)},
		{"expirer: killed in the commit of an end", atPoint("expirer", expirerCommit)},
		{"refunder: killed in the commit of a refund", atPoint("refunder", refunderCommit)},
		{"courier: killed in the commit of a delivery", atPoint("courier", courierCommit)},
		{PostgresCrashed, postgresCrashed},
		{"Postgres: crashed in the commit of a claim", postgresInCommit},
		{"NATS: wiped", natsWiped},
		{"Redis: flushed", redisFlushed},
		{"dynalite: stands still for 10 s", dynaliteStands},
	}
}

// chosen are the harms of these names.
func chosen(names []string) (list []Harm, err error) {
	for _, x := range All() {
		if len(names) == 0 || slices.Contains(names, x.Name) {
			list = append(list, x)
		}
	}
	if len(list) == 0 || len(names) > 0 && len(list) != len(names) {
		return nil, fmt.Errorf("of the harms %q there are %d", names, len(list))
	}
	return list, nil
}

// program is a process of the house; of the waiting rooms that which releases.
func (b *bench) program(ctx context.Context, name string) (*demo.Program, error) {
	if name == "waitroom" {
		return b.house.Releasing(ctx), nil
	}
	for _, p := range b.house.Programs() {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no %s", name)
}

// again starts a process that was killed, a while later.
func (b *bench) again(ctx context.Context, p *demo.Program) error {
	if err := b.pause(ctx, 100*time.Millisecond, time.Second); err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	return p.Ready(ctx)
}

func atRandom(program string) Harm {
	return Harm{program + ": killed at random", randomly(program)}
}

func randomly(program string) func(context.Context, *bench) (string, error) {
	return func(ctx context.Context, b *bench) (string, error) {
		p, err := b.program(ctx, program)
		if err != nil {
			return "", err
		}
		if err := b.pause(ctx, 0, time.Second); err != nil {
			return "", err
		}
		held := program == "waitroom" && p.Releases(ctx)
		if err := p.Kill(); err != nil {
			return "", err
		}
		seen := p.Name + " was gone"
		if held {
			seen += ", with the lease"
		}
		return seen, b.again(ctx, p)
	}
}

// atPoint kills a process whose transaction stands at a point.
func atPoint(program string, at point) func(context.Context, *bench) (string, error) {
	return func(ctx context.Context, b *bench) (string, error) {
		p, err := b.program(ctx, program)
		if err != nil {
			return "", err
		}
		s, err := b.reach(ctx, p, at)
		if err != nil {
			return "", err
		}
		if err := p.Kill(); err != nil {
			return "", err
		}
		if err := s.letGo(ctx); err != nil {
			return "", err
		}
		fate, err := b.end(ctx, s)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("transaction %s waited there; then it was %s", s.xid, fate), b.again(ctx, p)
	}
}

var claimed = regexp.MustCompile(`"order":"([0-9a-f-]{36})"`)

// beforeAnswer kills the claimer when an order is committed whose answer is still
// with us.
func beforeAnswer(ctx context.Context, b *bench) (string, error) {
	p, err := b.program(ctx, "claimer")
	if err != nil {
		return "", err
	}
	b.answers.hold()
	var order string
	err = stack.Until(ctx, "a claim is answered", healed, func() (there bool, err error) {
		m := claimed.FindSubmatch(b.answers.kept())
		if m == nil {
			return false, nil
		}
		order = string(m[1])
		err = b.db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM orders WHERE id = $1)`, order).Scan(&there)
		return there, err
	})
	if err != nil {
		return "", err
	}
	if err := p.Kill(); err != nil {
		return "", err
	}
	b.answers.drop()
	return fmt.Sprintf("order %.8s… is committed, and its answer was lost", order), b.again(ctx, p)
}

// inside stops the claimer in the middle of a transaction that has taken seats: the
// server has done all that it was told, and waits for the next word.
func inside(ctx context.Context, b *bench) (p *demo.Program, s *stood, err error) {
	if p, err = b.program(ctx, "claimer"); err != nil {
		return nil, nil, err
	}
	return p, s, stack.Until(ctx, "the claimer stops in the middle of a transaction", healed, func() (bool, error) {
		if s, err = b.reach(ctx, p, claimerSeats); err != nil {
			return false, err
		}
		if err := s.letGo(ctx); err != nil {
			return false, err
		}
		open, err := b.leftOpen(ctx, s)
		if err == nil && !open { // all of it had been sent at once: the server committed
			err = p.GoOn()
		}
		return open, err
	})
}

// claimerInside kills it there: nobody will ever say commit.
func claimerInside(ctx context.Context, b *bench) (string, error) {
	p, s, err := inside(ctx, b)
	if err != nil {
		return "", err
	}
	if err := p.Kill(); err != nil {
		return "", err
	}
	fate, err := b.end(ctx, s)
	if err == nil && fate != "aborted" {
		err = fmt.Errorf("transaction %s, which nobody had ended, was %s", s.xid, fate)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("transaction %s was open, with its seats; then it was %s", s.xid, fate), b.again(ctx, p)
}

// claimerStands leaves it there. The server gives it up after 5 s, and the claimer
// finds that out when it is let go.
func claimerStands(ctx context.Context, b *bench) (string, error) {
	p, s, err := inside(ctx, b)
	if err != nil {
		return "", err
	}
	began := time.Now()
	fate, err := b.end(ctx, s)
	if err != nil {
		return "", err
	}
	ended := time.Since(began)
	if err := wait(ctx, 2*time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf("transaction %s was open; the server %s it after %.1f s", s.xid, fate, ended.Seconds()), p.GoOn()
}

// leftOpen is whether the server has done all that it was told, and the transaction
// is open.
func (b *bench) leftOpen(ctx context.Context, s *stood) (open bool, err error) {
	err = stack.Until(ctx, "the server has done what it was told", healed, func() (bool, error) {
		var state string
		err := b.db.QueryRow(ctx, `
			SELECT coalesce((SELECT state FROM pg_stat_activity WHERE pid = $1 AND backend_xid::text = $2), 'over')`, s.session, s.xid).Scan(&state)
		open = strings.HasPrefix(state, "idle in transaction")
		return state != "active", err
	})
	return open, err
}

// atStore kills the waiting room whose exchange with the line's store is kept back.
func atStore(with string, answered bool, number *regexp.Regexp, seen string) func(context.Context, *bench) (string, error) {
	return func(ctx context.Context, b *bench) (string, error) {
		var p *demo.Program
		var take string
		err := stack.Until(ctx, "a waiting room comes to the point", healed, func() (bool, error) {
			t := b.store.set(with, answered, number)
			defer b.store.lift(t)
			var c catch
			select {
			case c = <-t.caught:
			case <-time.After(healed):
				return false, nil
			case <-ctx.Done():
				return false, ctx.Err()
			}
			var err error
			if p, err = b.program(ctx, c.program); err != nil {
				return false, err
			}
			if err := p.Stop(); err != nil {
				return false, err
			}
			if take = c.take; take == "" || c.waited.Err() != nil { // it had given this one up
				return false, p.GoOn()
			}
			return true, p.Kill()
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(p.Name+": "+seen, take), b.again(ctx, p)
	}
}

func postgresCrashed(ctx context.Context, b *bench) (string, error) {
	const started = `SELECT extract(epoch FROM pg_postmaster_start_time())::float8`
	var before, after float64
	if err := b.db.QueryRow(ctx, started).Scan(&before); err != nil {
		return "", err
	}
	if err := b.postgres.Crash(ctx); err != nil {
		return "", err
	}
	err := stack.Until(ctx, "Postgres answers", healed, func() (bool, error) {
		return b.db.QueryRow(ctx, started).Scan(&after) == nil, nil
	})
	if err == nil && after <= before {
		err = fmt.Errorf("it is still the server of before")
	}
	return "another server has the data, after recovery", err
}

// postgresInCommit crashes it while it commits a claim: the claimer cannot know what
// became of it, and has to find out.
func postgresInCommit(ctx context.Context, b *bench) (string, error) {
	p, err := b.program(ctx, "claimer")
	if err != nil {
		return "", err
	}
	s, err := b.reach(ctx, p, claimerCommit)
	if err != nil {
		return "", err
	}
	if _, err := postgresCrashed(ctx, b); err != nil {
		return "", err
	}
	s.letGo(ctx) //nolint:errcheck // it went with the server
	fate, err := b.end(ctx, s)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("transaction %s waited there; then it was %s", s.xid, fate), p.GoOn()
}

func natsWiped(ctx context.Context, b *bench) (string, error) {
	return "every connection was cut, and the new server knows nothing", b.nats.Crash(ctx)
}

func redisFlushed(ctx context.Context, b *bench) (string, error) {
	keys, err := stack.FlushRedis(ctx, b.redis.URL)
	if err == nil && keys == 0 {
		err = fmt.Errorf("there was nothing in it")
	}
	return fmt.Sprintf("%d keys were gone", keys), err
}

// dynaliteStands holds the line's store up: nobody can be let in.
func dynaliteStands(ctx context.Context, b *bench) (string, error) {
	if err := b.dynalite.Signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	if err := wait(ctx, 5*time.Second); err != nil { // what had its credit before is let in
		return "", err
	}
	before, err := b.tally(ctx)
	if err != nil {
		return "", err
	}
	if err := wait(ctx, 5*time.Second); err != nil {
		return "", err
	}
	after, err := b.tally(ctx)
	if err != nil {
		return "", err
	}
	if n := after.letIn - before.letIn; n > 0 {
		return "", fmt.Errorf("%d people were let in while the line's store stood still", n)
	}
	return "nobody was let in while it stood", b.dynalite.Signal(syscall.SIGCONT)
}
