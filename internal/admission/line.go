package admission

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what all lines of a replica share.
type Config struct {
	Replica string // its name, unlike any other's that runs
	Store   Store
	Books   Books
	Tickets *TicketKeys
	Passes  *PassKeys
	// Recount counts the event's seats, and those of pending orders that may
	// end within theta.
	Recount func(ctx context.Context, event string, theta time.Duration) (Stock, error)

	Hold  time.Duration // how long a request stands at the door; 0: HoldFor
	Held  int           // how many places may stand at one line's door; 0: HeldAtOnce
	Lease time.Duration // how long a releaser must stand still to be replaced; 0: LeaseFor

	Log     *slog.Logger
	Metrics *Metrics

	zips *zips // NewLine's
}

// Books are what the line keeps and reads beside its Store: see Ledger. A nil
// error of LetIn means that the pass survives a crash.
type Books struct {
	// LetIn writes a pass down, before it is handed out. Harmless when repeated. Refused
	// while its holder has a pass that is good, by another place.
	// ErrWritten: it was before, with another quota or end; PassOf has it.
	LetIn func(ctx context.Context, e Entry) error
	// GiveBack writes down that a pass buys nothing (more): Within leaves it out,
	// whoever asks. Harmless when repeated. After an error it may be written.
	GiveBack func(ctx context.Context, p Pass) error
	// Inside are the passes that have not run out.
	Inside func(ctx context.Context, event string, epoch int64) ([]Entry, error)
	// After are the passes by later takes than that one.
	After func(ctx context.Context, event string, epoch, take int64) ([]Entry, error)
	// Bought are the orders made since, whatever became of them.
	Bought func(ctx context.Context, event string, epoch int64, since time.Time) ([]Bought, error)
	// PassOf is the pass that a place got, if it has one.
	PassOf func(ctx context.Context, event string, epoch, place int64) (e Entry, found bool, err error)
	// Keep writes down where a line is: each figure, unless a further one is
	// there already. Recall is what was kept, with all passes counted in.
	Keep   func(ctx context.Context, c Checkpoint) error
	Recall func(ctx context.Context, event string, epoch int64) (Checkpoint, error)
	// Load is what the claimers last reported; without any At is zero.
	Load func(ctx context.Context) (Load, error)
	// Paying is what was last reported of the payment provider, as far as it
	// concerns the event.
	Paying func(ctx context.Context, event string) (Paying, error)
	// Within counts who is inside, of those let in up to the take. Takes after
	// since of which nothing is known may be on their way, and count.
	Within func(ctx context.Context, event string, epoch, since, take int64) (Within, error)
	// Evidence keeps a refill or a take for the release log. It never waits.
	Evidence func(Evidence)
}

// every is how often a replica looks, tells and counts.
const every = time.Second

// Line is one event's line in one replica. Several replicas are one line: all
// that they share is in the Store.
type Line struct {
	cfg   *Config
	event string
	epoch int64
	log   *slog.Logger

	sale  atomic.Pointer[Sale]
	stock atomic.Pointer[Stock]
	doc   atomic.Pointer[Document]
	theta atomic.Int64 // what the next recount looks ahead, if we release
	tail  atomic.Int64
	// drawing is what became of the lobby, once that was seen.
	drawing atomic.Pointer[drawing]
	leavers leavers
	kept    atomic.Pointer[Checkpoint] // as last written down
	open    atomic.Bool
	over    atomic.Int64 // UnixNano since which the sale has been seen closed; 0: it is not
	// silent: what was last reported is that nothing is here.
	silent atomic.Bool

	door      *sight
	facts     *facts
	others    others
	entrance  *entrance
	turnstile *turnstile
	releaser  *releaser
	recount   chan struct{} // a hint that the stock has changed
}

// NewLine makes the line of a sale. It does nothing until Run.
func NewLine(cfg *Config, sale Sale) *Line {
	if cfg.zips == nil {
		cfg.zips = &zips{}
	}
	l := &Line{
		cfg: cfg, event: sale.Event, epoch: sale.Epoch, recount: make(chan struct{}, 1),
		log: cfg.Log.With("event", sale.Event, "epoch", sale.Epoch),
	}
	l.others.epoch = sale.Epoch
	l.facts = newFacts(func(n int) { cfg.Metrics.lost.WithLabelValues("facts").Add(float64(n)) })
	l.door = newSight(func(ctx context.Context) (Door, error) { return cfg.Store.Door(ctx, l.event) })
	l.entrance, l.turnstile, l.releaser = newEntrance(l), newTurnstile(l), newReleaser(l)
	l.Set(sale)
	l.publish(time.Now())
	return l
}

// Event is which line it is.
func (l *Line) Event() string { return l.event }

// Epoch is which of the event's lines it is: a reset begins another.
func (l *Line) Epoch() int64 { return l.epoch }

// Sale is what the organiser set, as last read.
func (l *Line) Sale() Sale { return *l.sale.Load() }

// Stock is the last recount; zero before the first.
func (l *Line) Stock() Stock {
	if s := l.stock.Load(); s != nil {
		return *s
	}
	return Stock{}
}

// Set takes settings that were read anew. A pause acts at this replica's door
// at once, at the others' within a step of the holder's own reading.
func (l *Line) Set(sale Sale) {
	old := l.sale.Swap(&sale)
	l.tell(func(r *Release) { r.Set(sale) })
	if old != nil && (old.Control != sale.Control || !old.OpensAt.Equal(sale.OpensAt)) {
		signal(l.releaser.wake)
	}
}

// StockChanged is a hint: recount now. Losing it costs a second.
func (l *Line) StockChanged() { signal(l.recount) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (l *Line) isOpen() bool { return l.open.Load() }

// Run lives the line's life in this replica until ctx ends; then whoever is
// held is answered, and passes that are being written are finished.
func (l *Line) Run(ctx context.Context) {
	if !l.start(ctx) {
		return
	}
	l.look(ctx)
	l.count(ctx)
	l.publish(time.Now())
	l.open.Store(true)
	var parts sync.WaitGroup
	parts.Go(func() { l.entrance.numbers.run(ctx, context.WithoutCancel(ctx)) })
	parts.Go(func() { l.turnstile.run(ctx) })
	parts.Go(func() { l.releaser.run(ctx) })
	for _, f := range []func(context.Context){l.look, l.report, l.releaser.gather} {
		parts.Go(func() { repeat(ctx, every, nil, l.unlessAtRest(f)) })
	}
	parts.Go(func() { repeat(ctx, every, l.recount, l.count) })
	parts.Go(func() { repeat(ctx, every, nil, func(context.Context) { l.republish(time.Now()) }) })
	parts.Wait()
	l.turnstile.close()
	l.turnstile.issuing.Wait()
	l.entrance.close()
}

// restsAfter is how long after its sale a line lives as before: everybody who was
// in it finds out, passes end, what is on its way is written.
const restsAfter = 10 * time.Minute

// What a line at rest says and counts, it says and counts so seldom: there may be
// a thousand of them, and nothing happens in any.
const (
	restPublish = 10 * time.Second
	restCount   = 10 * time.Minute
)

// rests says that the sale has long been over. Then nobody releases, nothing is
// reported and the store is not asked, but for who asks where they stand: or each
// event that ever was would cost each replica a few calls a second for good.
func (l *Line) rests(now time.Time) bool {
	if !l.Sale().over(now) {
		l.over.Store(0)
		return false
	}
	l.over.CompareAndSwap(0, now.UnixNano())
	return now.Sub(time.Unix(0, l.over.Load())) > restsAfter
}

// unlessAtRest is f while the line does not rest.
func (l *Line) unlessAtRest(f func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		if !l.rests(time.Now()) {
			f(ctx)
		}
	}
}

// Drain answers everybody who is held and holds nobody any more. Joining and
// passes that are being written go on.
func (l *Line) Drain() { l.turnstile.close() }

// start makes the line in the store. Until it is there nobody joins.
func (l *Line) start(ctx context.Context) bool {
	for ctx.Err() == nil {
		begun := time.Now()
		door, err := l.opened(ctx)
		if err == nil {
			l.door.saw(door, begun)
			return true
		}
		l.fault("open", err)
		l.publish(time.Now())
		pause(ctx, every) //nolint:errcheck // the loop looks
	}
	return false
}

// repeat calls f now, then each interval, and when it is hinted at.
func repeat(ctx context.Context, interval time.Duration, hint <-chan struct{}, f func(context.Context)) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for ctx.Err() == nil {
		f(ctx)
		select {
		case <-ctx.Done():
		case <-t.C:
		case <-hint:
		}
	}
}

// look keeps the door in sight and the tail known, also while nobody asks.
func (l *Line) look(ctx context.Context) {
	door, err := l.door.within(ctx, every/2)
	if err == nil && door.Epoch > l.epoch {
		return // what is there is another line's
	}
	if errors.Is(err, ErrNoEvent) { // the store never had the line, or lost it
		_, err = l.opened(ctx)
	}
	if err != nil && ctx.Err() == nil {
		l.fault("door", err)
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	tail, err := l.cfg.Store.Tail(ctx, l.event)
	if err == nil {
		tail, err = l.moveLobby(ctx, tail)
	}
	if err != nil {
		l.fault("tail", err)
		return
	}
	l.sawLobby(tail)
	if err := l.keep(ctx, tail); err != nil {
		l.fault("checkpoint", err)
	}
}

// sawTail takes in a tail; it never falls.
func (l *Line) sawTail(tail int64) {
	for {
		old := l.tail.Load()
		if tail <= old || l.tail.CompareAndSwap(old, tail) {
			return
		}
	}
}

// count recounts the stock; seldom, once the sale is over, and hardly ever when it
// has long been.
func (l *Line) count(ctx context.Context) {
	now, least := time.Now(), time.Duration(0)
	switch {
	case l.rests(now):
		least = restCount
	case l.Sale().over(now):
		least = 10 * every
	}
	if now.Sub(l.Stock().At) < least {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stockFresh)
	defer cancel()
	asked := time.Now()
	stock, err := l.cfg.Recount(ctx, l.event, time.Duration(l.theta.Load()))
	if err != nil {
		l.fault("stock", err)
		return
	}
	stock.At = asked
	l.stock.Store(&stock)
	l.tell(func(r *Release) { r.Restock(stock) })
}

// report tells the other replicas what this one saw, and hears them.
func (l *Line) report(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	l.putReport(ctx)
	bodies, err := l.cfg.Store.Reports(ctx, l.event)
	if err != nil {
		l.fault("reports", err)
		return
	}
	now := time.Now()
	if unread := l.others.hear(bodies, l.cfg.Replica, now); unread > 0 {
		l.fault("reports", errReport)
	}
	if dead := l.others.gone(now); dead != "" {
		if err := l.cfg.Store.PutReport(ctx, l.event, dead, nil); err != nil {
			l.fault("report", err) // heard again, it is forgotten again
		}
	}
	door, _ := l.door.last()
	l.hearLeavers(l.others.lately(reportDead, now), now)
	l.turnstile.hear(l.others.lately(max(l.cfg.Hold, HoldFor)+reportSilent, now), door.Taken)
	l.releaser.hear(l.others.lately(reportDead, now))
}

// putReport says nothing twice: a replica that nobody comes to costs nothing.
func (l *Line) putReport(ctx context.Context) {
	now := time.Now()
	door, _ := l.door.last()
	r := report{at: now, epoch: l.epoch, taken: door.Taken, letIn: l.turnstile.lately(now), facts: l.facts.lately(now), proving: l.turnstile.proving(now)}
	r.undrawn = l.leavers.lately(now)
	r.atDoor, r.late, r.graced = l.turnstile.atDoor(now)
	r.shut = !l.Sale().takes(now) || l.turnstile.shuts(now)
	l.turnstile.look(door, now)
	if r.empty() && l.silent.Load() {
		return
	}
	body, lost := r.fitted()
	l.facts.lost(lost)
	if err := l.cfg.Store.PutReport(ctx, l.event, l.cfg.Replica, body); err != nil {
		l.fault("report", err)
		return
	}
	l.silent.Store(r.empty())
}

// note keeps what was seen here, for the report and for the releaser if that
// is us.
func (l *Line) note(k factKind, f noted) {
	l.facts.note(k, f)
	l.tell(func(r *Release) { k.tell(r, f) })
}

// tell says something to the releaser, if that is us.
func (l *Line) tell(f func(*Release)) { l.releaser.tell(f) }

// fault counts what could not be read or written. It is logged by who watches
// the counter's rate: a store that is away fails many times a second.
func (l *Line) fault(what string, err error) {
	l.cfg.Metrics.faults.WithLabelValues(what).Inc()
	l.log.Debug("line fault", "what", what, "error", err)
}
