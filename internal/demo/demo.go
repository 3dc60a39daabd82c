package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/course"
	"waitroom/internal/crowd"
	"waitroom/internal/inventory"
	"waitroom/internal/pg"
	"waitroom/internal/stack"
	schema "waitroom/sql"
)

// Config is one demo.
type Config struct {
	Build
	Crowd crowd.Config
	Limit time.Duration // the fans are sent home then, sold out or not
	File  string        // the report, as JSON; a page of the same name lies beside it
	// Witness is a file for all that people were told. Empty: it goes with the run.
	Witness string
	Out     io.Writer
	// Columns are those of the terminal that Out is, and the view stays in one
	// place; nil: it is none.
	Columns func() int
	// Stay keeps the house open afterwards, until the context ends.
	Stay bool
	// Harm is done to the house during the sale, which ends without it if the seats
	// are gone first. Nil: none.
	Harm func(context.Context, *House) error
}

// What ends a demo without a report, and is nobody's fault.
var (
	ErrEnded       = errors.New("ended before the sale was over")
	ErrEventExists = errors.New("the event exists already")
)

// Run opens a house, lets the crowd come, waits for the end and audits it.
func Run(ctx context.Context, c Config) (r Report, err error) {
	dir, remove, err := stack.TempDir("demo")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	logs, err := os.Create(filepath.Join(dir, "processes.log"))
	if err != nil {
		return r, err
	}
	defer logs.Close() //nolint:errcheck // it goes with the folder
	if c.Build.Logs == nil {
		c.Build.Logs = logs
	}
	c.Build.Dir = dir
	h, err := Open(ctx, c.Build)
	if err != nil {
		return r, orEnded(ctx, err)
	}
	defer func() { err = h.end(err) }()
	if err := h.OpenStart(ctx, startAddr, c.Event.ID); err != nil {
		return r, orEnded(ctx, err)
	}
	fmt.Fprintf(c.Out, "begin here: %s\non sale: %s/e/%s\n", h.Start, h.Public, c.Event.ID)
	r, err = sell(ctx, c, h, cmp.Or(c.Witness, filepath.Join(dir, "witness.ndjson")))
	if err != nil || !c.Stay {
		return r, orEnded(ctx, err)
	}
	fmt.Fprintf(c.Out, "still open, from %s; Ctrl-C ends it\n", h.Start)
	<-ctx.Done()
	return r, nil
}

// startAddr is where the page to begin at is, if nobody has that port.
const startAddr = "127.0.0.1:8070"

// orEnded is ErrEnded for whatever broke because we were told to end.
func orEnded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrEnded
	}
	return err
}

// sell is the sale itself, from the first fan to the audit.
func sell(ctx context.Context, c Config, h *House, log string) (Report, error) {
	witness, err := os.Create(log)
	if err != nil {
		return Report{}, err
	}
	defer witness.Close() //nolint:errcheck // read back before
	c.Crowd.URLs, c.Crowd.Event, c.Crowd.OpensAt, c.Crowd.Witness = h.Replicas, c.Event.ID, h.OpensAt, witness
	fans := crowd.New(c.Crowd)
	coming, home := context.WithCancel(ctx)
	defer home()
	beside := func(f func() error) {
		go func() {
			if err := f(); err != nil {
				h.failed <- err
			}
		}()
	}
	if c.Lobby {
		beside(func() error { return h.beacon(coming, h.DatabaseURL, c.Event.ID) })
	}
	harmed := make(chan struct{})
	go func() {
		defer close(harmed)
		if c.Harm == nil {
			return
		}
		if err := c.Harm(coming, h); err != nil {
			h.failed <- err
		}
	}()
	gone := make(chan error, 1)
	go func() { gone <- fans.Run(coming) }()

	w := &watch{c: c, h: h, fans: fans, view: view{out: c.Out, columns: c.Columns}, gone: gone, harmed: harmed, sendHome: home}
	if err := w.until(ctx); err != nil {
		return Report{}, err
	}
	r := w.report()
	if err := audited(ctx, c, h, log, &r); err != nil {
		return r, err
	}
	fmt.Fprintln(c.Out, r.Summary())
	if c.File != "" {
		if err := r.Write(c.File); err != nil {
			return r, err
		}
		fmt.Fprintf(c.Out, "report: %s and %s\n", c.File, htmlBeside(c.File))
	}
	return r, nil
}

// watch looks at the sale once a second, as anybody could, and sees its end.
type watch struct {
	c      Config
	h      *House
	fans   *crowd.Crowd
	view   view
	gone   chan error // told once the last fan is home; nil when it was
	home   bool
	harmed <-chan struct{} // closed once no more harm is done
	// sendHome makes the fans stop where they are.
	sendHome context.CancelFunc

	samples []course.Sample
	limited bool  // the time was over before the sale was
	last    tally // at the last sample
	wave    int64
	soldAt  float64 // seconds since the opening
}

// tally is what was counted up to a moment.
type tally struct {
	at             time.Time
	taken, claimed int64
}

// settled is how long a sold-out sale is watched before it counts as over.
const settled = 2 * time.Second

// until returns when everything is sold, or nobody is left who could buy, and
// nothing is pending. When the time is over the fans are sent home, and what
// they hold is waited for.
func (w *watch) until(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	limit := time.NewTimer(w.c.Limit)
	defer limit.Stop()
	over := 0 * time.Second
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.h.Failed():
			return err
		case err := <-w.gone:
			if err != nil {
				return err
			}
			w.home, w.gone = true, nil
		case <-limit.C:
			w.limited = true
			w.sendHome()
		case now := <-tick.C:
			s, err := w.look(ctx, now)
			if err != nil {
				continue
			}
			w.view.show(s, w.fans.Tally.Done.Load())
			if s.State == "exhausted" && s.HeldBack > 0 {
				if err := w.free(ctx); err != nil {
					return err
				}
				continue
			}
			if s.T > 0 && s.Pending == 0 && (s.Free == 0 && s.HeldBack == 0 || w.home) {
				over += time.Second
			} else {
				over = 0
			}
			if over >= settled {
				return w.leave(ctx)
			}
		}
	}
}

// free puts the house's own seats on sale, as an organiser does who sees that
// all else is sold: a second wave.
func (w *watch) free(ctx context.Context) error {
	pool, err := pg.Open(ctx, w.h.DatabaseURL, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = inventory.FreeHeld(ctx, pool, w.c.Event.ID, len(w.c.Hall.Seats))
	return err
}

// leave sends everybody home, and waits for the money: what came too late is
// part of the sale's end, and so is its way back.
func (w *watch) leave(ctx context.Context) error {
	w.sendHome()
	if w.gone != nil {
		if err := <-w.gone; err != nil {
			return err
		}
	}
	<-w.harmed
	fmt.Fprintf(w.c.Out, "everybody is home; now the money comes to rest: late payments go back, what is in doubt is looked for (%s at most)\n", settledWithin)
	if err := w.h.moneyRests(ctx); err != nil {
		return err
	}
	return w.h.everythingTold(ctx)
}

// look reads the shared document.
func (w *watch) look(ctx context.Context, now time.Time) (course.Sample, error) {
	var doc struct {
		State   string
		Reason  string
		Front   int64
		Waiting int64
		AtDoor  int64 `json:"at_door"`
		Inside  int64
		Taken   int64
		Rate    float64
		Wave    int64
		Share   float64
		Tickets float64
		Seats   struct {
			Free, Pending, Sold int64
			HeldBack            int64 `json:"held_back"`
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.h.Public+"/v1/public/events/"+w.c.Event.ID+"/status", nil)
	if err != nil {
		return course.Sample{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return course.Sample{}, err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		return course.Sample{}, err
	}
	s := course.Sample{
		T: now.Sub(w.h.OpensAt).Seconds(), State: doc.State, Reason: doc.Reason, Wave: doc.Wave, Line: doc.Waiting, Front: doc.Front,
		AtDoor: doc.AtDoor, Inside: doc.Inside, Rate: doc.Rate, Share: doc.Share, Tickets: doc.Tickets,
		Free: doc.Seats.Free, Pending: doc.Seats.Pending, Sold: doc.Seats.Sold, HeldBack: doc.Seats.HeldBack,
	}
	t := tally{now, doc.Taken, w.fans.Tally.Claimed.Load()}
	if len(w.samples) > 0 {
		seconds := max(now.Sub(w.last.at).Seconds(), 0.001)
		s.LetIn, s.Claims = float64(t.taken-w.last.taken)/seconds, float64(t.claimed-w.last.claimed)/seconds
	}
	w.last = t
	w.samples = append(w.samples, s)
	w.wave = max(w.wave, s.Wave)
	if s.Free > 0 || s.Pending > 0 || s.HeldBack > 0 {
		w.soldAt = s.T
	}
	return s, nil
}

func (w *watch) report() Report {
	r := Report{
		Fans: w.c.Crowd.Fans, Rate: *w.c.Event.Rate, Seed: w.c.Crowd.Seed, Line: w.c.Line,
		Waves: w.wave, Seconds: w.soldAt, FoundNothing: w.fans.Tally.FoundNothing.Load(),
		Odd: w.fans.Odd(), Samples: w.samples, Limited: w.limited, Setting: w.c.setting(w.h.OpensAt),
		Harmed: int(w.h.Harmed.Load()),
	}
	waits := w.fans.Waits()
	slices.Sort(waits)
	if n := len(waits); n > 0 {
		r.WaitP50, r.WaitP95 = waits[n/2], waits[n*95/100]
	}
	return r
}

// audited reads the end of the sale from raw rows, and holds it against every
// promise.
func audited(ctx context.Context, c Config, h *House, log string, r *Report) error {
	db, err := pgx.Connect(ctx, h.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // read only
	if err := r.count(ctx, db, c.Event.ID); err != nil {
		return err
	}
	if r.Told, err = h.told(ctx, db, c.Event.ID); err != nil {
		return err
	}
	queries, err := schema.Audits()
	if err != nil {
		return err
	}
	line, err := h.Export(ctx, c.Event.ID)
	if err != nil {
		return err
	}
	defer line.Close() //nolint:errcheck // read only
	told, err := os.Open(log)
	if err != nil {
		return err
	}
	defer told.Close() //nolint:errcheck // read only
	ledger, requests, err := h.providerKnows(ctx)
	if err != nil {
		return err
	}
	a := audit.Run(ctx, audit.Sources{
		DB: db, Queries: queries, Event: c.Event.ID, Line: line, Witness: told, Ledger: ledger, Requests: requests,
	})
	a.Fprint(c.Out)
	r.judge(a)
	return nil
}
