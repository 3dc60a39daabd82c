// Package ordeal is a sale under the knife: every process is its own built
// program, the servers are real, and while people buy, each process is killed in
// turn, at random and at named points, and each server is crashed, wiped or held
// up. In the end all seats are sold, the audit is clean, and what people were told
// is so.
//
// The programs know nothing of it. A point is reached from outside: in Postgres by
// a trigger of the ordeal's own that waits for a lock that we hold, elsewhere by
// standing on the wire. That a process stood at its point when it was killed is
// seen, or the ordeal fails.
package ordeal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/demo"
	"waitroom/internal/pg"
	"waitroom/internal/stack"
)

// Setting is one ordeal.
type Setting struct {
	Bin  string // the folder of the built programs
	Out  io.Writer
	Logs io.Writer // of the programs; nil: dropped with the run
	// Witness is a file for all that people were told; empty: it goes with the run.
	Witness string
	Seed    uint64 // of the crowd, and of the moments of chance
	Sale    Sale
	// Harms are names of those to do, in the order of All; none: all.
	Harms []string
}

// bench is everything that the ordeal needs, at work.
type bench struct {
	Setting
	house *demo.House
	db    *pgxpool.Pool
	rand  *rand.Rand

	postgres, nats, redis, dynalite *stack.Server

	answers *wire  // the claimer's way to NATS
	store   *store // the waiting rooms' way to DynamoDB
	rows    []Row
}

// Run holds the ordeal. An error says that it could not be held, or that a point
// was not reached.
func Run(ctx context.Context, s Setting) (r Report, err error) {
	b := &bench{Setting: s, rand: rand.New(rand.NewPCG(s.Seed, 0)), store: &store{}}
	defer func() {
		b.answers.close()
		err = errors.Join(err, b.store.close())
		for _, server := range []*stack.Server{b.dynalite, b.redis, b.nats, b.postgres} {
			if server != nil {
				err = errors.Join(err, server.Stop())
			}
		}
	}()
	if err := b.servers(ctx); err != nil {
		return r, err
	}
	harms, err := chosen(s.Harms)
	if err != nil {
		return r, err
	}
	config, err := s.Sale.config(s)
	if err != nil {
		return r, err
	}
	config.Services = demo.Services{DatabaseURL: b.postgres.URL, NATSURL: b.nats.URL, DynamoDB: b.dynalite.URL, RedisURL: b.redis.URL}
	config.Bin, config.Rewire = s.Bin, func(program string, env []string) ([]string, error) { return b.rewire(ctx, program, env) }
	config.Harm = func(ctx context.Context, h *demo.House) error { return b.course(ctx, h, harms) }
	if config.Witness == "" {
		dir, remove, failed := stack.TempDir("ordeal")
		if failed != nil {
			return r, failed
		}
		defer func() { err = errors.Join(err, remove()) }()
		config.Witness = filepath.Join(dir, "witness.ndjson")
	}
	r.Sale, err = demo.Run(ctx, config)
	r.Rows, r.Wanted = b.rows, len(harms)
	if err != nil {
		return r, err
	}
	return r, b.heard(ctx, config.Witness, &r)
}

// heard draws the history of the claims, and judges it.
func (b *bench) heard(ctx context.Context, witness string, r *Report) (err error) {
	if r.Sold, err = b.sold(ctx); err != nil {
		return err
	}
	log, err := os.Open(witness)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // read only
	if r.History, err = ReadHistory(log, r.Sold); err != nil {
		return err
	}
	r.Claims = r.History.Verdict()
	return nil
}

// servers starts those that the sale needs.
func (b *bench) servers(ctx context.Context) error {
	for _, s := range []struct {
		server **stack.Server
		start  func() (*stack.Server, error)
	}{
		{&b.postgres, func() (*stack.Server, error) { return stack.Postgres(ctx, "") }},
		{&b.nats, stack.NATS},
		{&b.redis, func() (*stack.Server, error) { return stack.Redis(ctx) }},
		{&b.dynalite, func() (*stack.Server, error) { return stack.Dynalite(ctx) }},
	} {
		var err error
		if *s.server, err = s.start(); err != nil {
			return err
		}
	}
	return nil
}

// rewire leads the claimer's way to NATS and the waiting rooms' to the line's store
// through us.
func (b *bench) rewire(ctx context.Context, program string, env []string) (_ []string, err error) {
	via := func(setting string, open func(to string) (string, error)) error {
		i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, setting+"=") })
		if i < 0 {
			return fmt.Errorf("%s has no %s", program, setting)
		}
		at, err := open(strings.TrimPrefix(env[i], setting+"="))
		env[i] = setting + "=" + at
		return err
	}
	switch {
	case program == "claimer":
		err = via("NATS_URL", func(to string) (string, error) {
			b.answers, err = openWire(ctx, to)
			return b.answers.url(), err
		})
	case strings.HasPrefix(program, "waitroom-"):
		err = via("DYNAMODB_ENDPOINT", func(to string) (string, error) { return b.store.open(ctx, program, to) })
	}
	return env, err
}

// course does the harms in turn while the sale goes on, each once sales go on again
// after the one before, and then lets the rest of the people in faster.
func (b *bench) course(ctx context.Context, h *demo.House, harms []Harm) (err error) {
	b.house = h
	b.db, err = pg.Open(ctx, h.DatabaseURL, "ordeal", pg.Limits{Conns: 4, Lock: time.Minute, Statement: time.Minute, Idle: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer b.db.Close()
	if err := b.lay(ctx); err != nil {
		return err
	}
	if _, err := b.goesOn(ctx, tally{}); err != nil { // it has to have begun
		return fmt.Errorf("the sale does not begin: %w", err)
	}
	for _, x := range harms {
		if err := b.pause(ctx, 200*time.Millisecond, 1500*time.Millisecond); err != nil {
			return err
		}
		if err := b.harm(ctx, x); err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
	}
	return b.hurry(ctx)
}

// harm does one, and waits until sales go on.
func (b *bench) harm(ctx context.Context, x Harm) error {
	before, err := b.tally(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	seen, err := x.do(ctx, b)
	if err != nil {
		return err
	}
	row := Row{Name: x.Name, At: began.Sub(b.house.OpensAt), Took: time.Since(began), Seen: seen, SoldBefore: before.seats}
	over, err := b.tally(ctx)
	if err != nil {
		return err
	}
	if row.Back, err = b.goesOn(ctx, over); err != nil {
		return err
	}
	after, err := b.tally(ctx)
	if err != nil {
		return err
	}
	row.SoldAfter = after.seats
	b.rows = append(b.rows, row)
	fmt.Fprintf(b.Out, "%s: %s; let in again after %.1f s, claimed %.1f s, paid %.1f s\n",
		row.Name, row.Seen, row.Back.LetIn.Seconds(), row.Back.Claimed.Seconds(), row.Back.Paid.Seconds())
	return nil
}

// pause waits for a moment of chance.
func (b *bench) pause(ctx context.Context, least, most time.Duration) error {
	return wait(ctx, least+time.Duration(b.rand.Int64N(int64(most-least))))
}

func wait(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
