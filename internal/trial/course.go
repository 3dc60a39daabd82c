package trial

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
	"waitroom/internal/stack"
)

// phase is a time in which the provider behaves in one way, by the database's
// clock.
type phase struct {
	name       string
	from, till time.Time
	before     time.Duration // the oldest open operation's age at its start
	after      time.Duration // and at its end
}

// stood is what was seen while the refunder that has the outlet stood still.
type stood struct {
	wait                       time.Duration
	calls                      int // that arrived meanwhile
	first, retry, look, pushed int // that were due when it was let go
}

// course is the whole of it, in order.
func (b *bench) course(ctx context.Context) error {
	if err := stack.Until(ctx, "the refunder has the outlet", patience, func() (bool, error) { ok, _ := b.old.ready(ctx); return ok, nil }); err != nil {
		return err
	}
	slow := (b.CallLimit + 100*time.Millisecond).String() // nobody waits as long
	for _, p := range []struct {
		name          string
		kind, outcome string // of a call that there has to be in it
		batch         int
		scripts       []string
	}{
		{"fast", "first", "succeeded", 1, nil},
		{"slow by " + slow, "first", "timed_out", 16, []string{"share=1&before=" + slow}}, // as many as take all places in flight, and some
		{"done, then cut", "look", "cut_off", 1, []string{"share=1&say=rst&commit=true&method=POST", "share=0.5&say=rst&method=GET"}},
		{"refused", "first", "rejected", 1, []string{"share=1&say=refuse&status=400&code=charge_disputed&method=POST"}},
	} {
		if err := b.phase(ctx, p.name, p.kind, p.outcome, p.batch, p.scripts...); err != nil {
			return err
		}
	}
	if err := b.standstill(ctx); err != nil {
		return err
	}
	if err := b.recovery(ctx); err != nil {
		return err
	}
	return b.kill(ctx)
}

// phase has the provider behave so for a while, in which refunds go on coming,
// a batch of them at once, and until it has shown.
func (b *bench) phase(ctx context.Context, name, kind, outcome string, batch int, scripts ...string) error {
	if err := b.behave(ctx, scripts...); err != nil {
		return err
	}
	return b.during(ctx, name, func() error {
		if _, err := b.owe(ctx, batch); err != nil {
			return err
		}
		over := time.NewTimer(b.Phase)
		defer over.Stop()
		if err := b.feed(ctx, over.C); err != nil {
			return err
		}
		return b.drain(ctx, "there is a "+kind+" "+outcome, func() (bool, error) {
			n, err := b.count(ctx, `SELECT count(*) FROM refund_calls WHERE kind = $1 AND outcome = $2 AND submitted_at >= $3`, kind, outcome, b.began)
			return n > 0, err
		}, true)
	})
}

// during takes the time of what f does.
func (b *bench) during(ctx context.Context, name string, f func() error) error {
	p := phase{name: name}
	err := b.moment(ctx, &p.from, &p.before)
	if b.began = p.from; err == nil {
		err = f()
	}
	if err == nil {
		err = b.moment(ctx, &p.till, &p.after)
	}
	b.phases = append(b.phases, p)
	if err == nil {
		fmt.Fprintf(b.Out, "%s: %.1f s\n", name, p.till.Sub(p.from).Seconds())
	}
	return err
}

func (b *bench) moment(ctx context.Context, at *time.Time, oldest *time.Duration) error {
	var seconds float64
	err := b.db.QueryRow(ctx, `
		SELECT clock_timestamp(), coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0)::float8
		FROM refund_operations WHERE status IN ('queued', 'submitted', 'unknown')`).Scan(at, &seconds)
	*oldest = time.Duration(seconds * float64(time.Second))
	return err
}

// feed owes one refund after the other until it is over.
func (b *bench) feed(ctx context.Context, over <-chan time.Time) error {
	next := time.NewTicker(time.Duration(float64(time.Second) / b.PerSecond))
	defer next.Stop()
	for {
		if _, err := b.owe(ctx, 1); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-next.C:
		}
	}
}

// standstill stops the refunder while all four kinds of calls wait, has them and
// a batch be due at one instant, and starts a second refunder beside it.
func (b *bench) standstill(ctx context.Context) error {
	pushed, err := b.toPush(ctx)
	if err != nil {
		return err
	}
	if err := b.toLook(ctx); err != nil {
		return err
	}
	if err := b.toRetry(ctx); err != nil {
		return err
	}
	return b.during(ctx, "stands still", func() error {
		if err := b.old.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		if err := b.behave(ctx); err != nil {
			return err
		}
		for _, id := range pushed {
			if err := b.push(ctx, id); err != nil {
				return err
			}
		}
		if _, err := b.owe(ctx, b.Batch); err != nil {
			return err
		}
		if err := b.hurry(ctx); err != nil {
			return err
		}
		if err := b.second(ctx); err != nil {
			return err
		}
		return b.old.Signal(syscall.SIGCONT)
	})
}

// toPush has operations come to nothing in the time that is promised, as if it
// were over: they are a person's.
func (b *bench) toPush(ctx context.Context) ([]string, error) {
	return b.three(ctx, "share=1&say=rst&commit=true&method=POST", "manual", `UPDATE refund_operations SET give_up_at = now() WHERE id = ANY($1)`)
}

// toLook has operations in doubt whose looks wait.
func (b *bench) toLook(ctx context.Context) error {
	_, err := b.three(ctx, "share=1&say=rst&commit=true&method=POST", "unknown", `UPDATE refund_operations SET next_at = now() + interval '1 hour'
		WHERE id = ANY($1) AND status = 'unknown' AND call IS NULL AND next_at < now() + interval '30 minutes'`)
	return err
}

// toRetry has operations turned away for a while, whose next sends wait.
func (b *bench) toRetry(ctx context.Context) error {
	_, err := b.three(ctx, "share=1&say=429&retry_after=60s&method=POST", "queued", "")
	return err
}

// three brings three operations to where they wait, by a script and by what is
// done to them meanwhile. Some may get past it: a look was faster.
func (b *bench) three(ctx context.Context, script, status, meanwhile string) (ids []string, err error) {
	if err := b.behave(ctx, script); err != nil {
		return nil, err
	}
	for len(ids) < 3 {
		tried, err := b.owe(ctx, 3-len(ids))
		if err != nil {
			return nil, err
		}
		err = stack.Until(ctx, "three operations wait, "+status, patience, func() (bool, error) {
			if meanwhile != "" {
				if _, err := b.db.Exec(ctx, meanwhile, tried); err != nil {
					return false, err
				}
			}
			n, err := b.count(ctx, `SELECT count(*) FROM refund_operations WHERE id = ANY($1) AND call IS NULL
				AND (status = $2 AND sends > 0 AND (status <> 'unknown' OR next_at > now() + interval '30 minutes') OR status = 'confirmed')`, tried, status)
			return n == len(tried), err
		})
		if err != nil {
			return nil, err
		}
		rows, err := b.db.Query(ctx, `SELECT id FROM refund_operations WHERE id = ANY($1) AND status = $2`, tried, status)
		if err != nil {
			return nil, err
		}
		there, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		ids = append(ids, there...)
	}
	return ids, nil
}

func (b *bench) push(ctx context.Context, id string) error {
	return pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		verdict, err := refunds.Push(ctx, tx, id, "operator", "the provider is back")
		if err == nil && verdict != refunds.Done {
			err = fmt.Errorf("%s cannot be pushed: %s", id, verdict)
		}
		return err
	})
}

// second starts another refunder beside the one that stands still, and watches
// that nothing is sent.
func (b *bench) second(ctx context.Context) (err error) {
	if b.new, err = b.refunder(ctx); err != nil {
		return err
	}
	err = stack.Until(ctx, "the second refunder says that it waits", patience, func() (bool, error) {
		ok, why := b.new.ready(ctx)
		return !ok && strings.Contains(why, "another refunder has the outlet"), nil
	})
	if err != nil {
		return err
	}
	before, err := b.arrived(ctx)
	if err != nil {
		return err
	}
	b.stood.wait = max(2*time.Second, b.Phase/4) // four times and more what it takes to ask for the lock
	over := time.NewTimer(b.stood.wait)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := b.arrived(ctx)
	b.stood.calls = after - before
	if err != nil {
		return err
	}
	return b.db.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE sends = 0), count(*) FILTER (WHERE status = 'queued' AND sends > 0 AND NOT pushed),
		  count(*) FILTER (WHERE status = 'unknown' AND NOT pushed), count(*) FILTER (WHERE pushed)
		FROM refund_operations WHERE status IN ('queued', 'unknown') AND call IS NULL AND next_at <= now()`).
		Scan(&b.stood.first, &b.stood.retry, &b.stood.look, &b.stood.pushed)
}

// arrived is how many calls about refunds the provider got.
func (b *bench) arrived(ctx context.Context) (int, error) {
	body, status, err := fetch(ctx, b.provider.at+"/_admin/requests?path=/v1/refunds")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the provider's log: status %d", status)
	}
	return strings.Count(string(body), "\n"), err
}

// recovery lasts until all that waited has its end, while refunds go on coming.
func (b *bench) recovery(ctx context.Context) error {
	return b.during(ctx, "recovers", func() error {
		return b.drain(ctx, "what waited has its end", func() (bool, error) {
			n, err := b.count(ctx, `SELECT count(*) FROM refund_operations
				WHERE status IN ('queued', 'submitted', 'unknown') AND accepted_at <= $1`, b.phases[len(b.phases)-1].till)
			return n == 0, err
		}, true)
	})
}

// drain waits for an end, with new work coming or without.
func (b *bench) drain(ctx context.Context, what string, ended func() (bool, error), more bool) error {
	fed := time.Now()
	return stack.Until(ctx, what, 10*time.Minute, func() (bool, error) {
		if b.Hurry {
			if err := b.hurry(ctx); err != nil {
				return false, err
			}
		}
		if more && time.Since(fed).Seconds() >= 1/b.PerSecond {
			fed = time.Now()
			if _, err := b.owe(ctx, 1); err != nil {
				return false, err
			}
		}
		return ended()
	})
}

// kill ends the refunder after the provider refunded and before that was written
// down; the other one follows.
func (b *bench) kill(ctx context.Context) error {
	all := func() (bool, error) {
		n, err := b.count(ctx, `SELECT count(*) FROM refund_operations WHERE status IN ('queued', 'submitted', 'unknown')`)
		return n == 0, err
	}
	if err := b.drain(ctx, "all have their end", all, false); err != nil {
		return err
	}
	return b.during(ctx, "killed, and followed", func() error {
		victim := b.old
		if ok, _ := b.new.ready(ctx); ok { // it may have had to take over before
			victim = b.new
		}
		if err := b.inTheMiddle(ctx); err != nil {
			return err
		}
		if err := victim.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-victim.Ended()
		return b.drain(ctx, "the other refunder found both", all, false)
	})
}

// inTheMiddle returns while two refunds are made at the provider, and their
// answers are still to come.
func (b *bench) inTheMiddle(ctx context.Context) (err error) {
	for range 5 { // whoever is slow to look finds that the calls have timed out
		if err := b.behave(ctx, "times=2&after=5m&method=POST"); err != nil {
			return err
		}
		if b.killed, err = b.owe(ctx, 2); err != nil {
			return err
		}
		err = stack.Until(ctx, "the provider refunded both", patience, func() (bool, error) {
			ledger, _, err := fetch(ctx, b.provider.at+"/_admin/ledger")
			made := func(id string) bool { return strings.Contains(string(ledger), `"operation":"`+id+`"`) }
			return made(b.killed[0]) && made(b.killed[1]), err
		})
		if err != nil {
			return err
		}
		n, err := b.count(ctx, `SELECT count(*) FROM refund_operations WHERE id = ANY($1) AND status = 'submitted'`, b.killed)
		if err != nil || n == 2 {
			return err
		}
	}
	return errors.New("this machine is too slow to find a refund in its middle")
}
