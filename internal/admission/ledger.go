package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Entry is a row of the passes: somebody was let in.
type Entry struct {
	Pass
	TakenAt time.Time // of which the pass says the second
	Back    time.Time // of those inside: when it was given back; zero: it was not
}

// Bought is an order, as the releaser sees it.
type Bought struct {
	Take, Tickets int64
	At            time.Time
}

// Evidence is a row of the release log: credit that flowed in, or was taken.
type Evidence struct {
	Event            string
	Epoch, Term, Seq int64
	Kind             string // refill or take
	Milli            int64  // thousandths of a person
	Front            int64
	At               time.Time
}

const (
	passesWaiting = 20_000  // passes that may wait to be written
	passesMost    = 500     // in one statement
	evidenceMost  = 200_000 // rows that may wait; the oldest give way
	evidenceRows  = 5_000   // in one statement
	ledgerLimit   = 3 * time.Second
)

// Ledger keeps in Postgres what must outlive the line's store: each pass before
// it is handed out, and the release log. It is one for all lines of a replica.
type Ledger struct {
	pool    *pgxpool.Pool
	metrics *Metrics
	passes  *batches[Entry]
	backs   *batches[Pass]

	mu   sync.Mutex
	rows []Evidence
}

// NewLedger writes through pool, which should be its own and small.
func NewLedger(pool *pgxpool.Pool, metrics *Metrics) *Ledger {
	l := &Ledger{pool: pool, metrics: metrics}
	l.passes = newBatches(passesWaiting, passesMost, l.write)
	l.backs = newBatches(passesWaiting, passesMost, l.takeBack)
	return l
}

// Books are what lines need of it.
func (l *Ledger) Books() Books {
	return Books{
		LetIn: l.passes.do, GiveBack: l.backs.do, Inside: l.inside, After: l.after, PassOf: l.passOf, Keep: l.keep, Recall: l.recall,
		Bought: l.bought, Load: l.load, Paying: l.paying, Within: l.within, Evidence: l.evidence,
	}
}

// Run writes until ctx ends, then what is left of the release log.
func (l *Ledger) Run(ctx context.Context) {
	work := context.WithoutCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { l.passes.run(ctx, work) })
	parts.Go(func() { l.backs.run(ctx, work) })
	repeat(ctx, every, nil, func(context.Context) { l.flush(work) })
	parts.Wait()
	l.flush(work)
}

var errOtherPass = errors.New("the ledger has another pass for this place or take")

// ErrWritten means that the pass of this place and take was written before, and
// is good for something else: that one stands.
var ErrWritten = errors.New("the pass was written before, by other settings")

// write inserts passes, all in one statement. When the server refuses the
// batch it is halved, until the one that it refuses stands alone.
func (l *Ledger) write(ctx context.Context, batch []Entry) []error {
	errs := make([]error, len(batch))
	err := l.insert(ctx, batch, errs)
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return errs
	case len(batch) > 1 && errors.As(err, &refused):
		half := len(batch) / 2
		return append(l.write(ctx, batch[:half]), l.write(ctx, batch[half:])...)
	}
	return all(len(batch), fmt.Errorf("write passes: %w", err))
}

// insert writes a batch. A pass may be in it twice, by other settings: whoever's
// is not the row to the letter reads what is there. A holder has one pass at a time:
// after a loss of the line's store, tickets of places that they gave up are places.
func (l *Ledger) insert(ctx context.Context, batch []Entry, errs []error) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	c := columnsOf(batch)
	rows, err := l.pool.Query(ctx, `
		WITH written AS (
			INSERT INTO passes (event_id, epoch, take, place, holder, quota, taken_at, expires_at)
			SELECT event_id, epoch, take, place, holder, quota, taken_at, expires_at
			FROM (SELECT w.event_id, w.epoch, w.take, w.place, w.holder, w.quota, w.taken_at, w.expires_at, first_value(place) OVER (PARTITION BY event_id, epoch, holder ORDER BY take) AS theirs
			  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::int[], $7::timestamptz[], $8::timestamptz[])
			    AS w (event_id, epoch, take, place, holder, quota, taken_at, expires_at)) w
			WHERE place = theirs AND NOT EXISTS (
			  SELECT FROM passes o
			  WHERE (o.event_id, o.epoch, o.holder) = (w.event_id, w.epoch, w.holder) AND o.place <> w.place AND o.expires_at > clock_timestamp())
			ORDER BY event_id, epoch, take
			ON CONFLICT DO NOTHING
			RETURNING event_id, epoch, take, place, holder, quota, expires_at
		)
		SELECT n - 1
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::int[], $8::timestamptz[])
		  WITH ORDINALITY AS w (event_id, epoch, take, place, holder, quota, expires_at, n)
		WHERE NOT EXISTS (
		  SELECT FROM written x
		  WHERE (x.event_id, x.epoch, x.take, x.place, x.holder, x.quota, x.expires_at)
		      = (w.event_id, w.epoch, w.take, w.place, w.holder, w.quota, w.expires_at))`,
		c.event, c.epoch, c.take, c.place, c.holder, c.quota, c.taken, c.expires)
	if err != nil {
		return err
	}
	before, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, i := range before {
		if errs[i], err = l.there(ctx, batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// there says why a pass was not written: it was there, or another was. Passes
// are never changed, so the answer stays true.
func (l *Ledger) there(ctx context.Context, e Entry) (differs, err error) {
	was, found, err := l.passOf(ctx, e.Event, e.Epoch, e.Place)
	switch {
	case err != nil:
		return nil, err
	case !found || was.Take != e.Take || was.Holder != e.Holder:
		return fmt.Errorf("%w: place %d, take %d", errOtherPass, e.Place, e.Take), nil
	case was.Quota != e.Quota || !was.ExpiresAt.Equal(e.ExpiresAt):
		return ErrWritten, nil
	}
	return nil, nil
}

// columns are passes as arrays, for unnest.
type columns struct {
	event, holder      []string
	epoch, take, place []int64
	quota              []int32
	taken, expires     []time.Time
}

func columnsOf(batch []Entry) (c columns) {
	for _, e := range batch {
		c.event, c.holder = append(c.event, e.Event), append(c.holder, e.Holder)
		c.epoch, c.take, c.place = append(c.epoch, e.Epoch), append(c.take, e.Take), append(c.place, e.Place)
		c.quota = append(c.quota, int32(e.Quota))
		c.taken, c.expires = append(c.taken, e.TakenAt), append(c.expires, e.ExpiresAt)
	}
	return c
}

func (l *Ledger) inside(ctx context.Context, event string, epoch int64) ([]Entry, error) {
	return l.entries(ctx, `
		SELECT take, place, holder, quota, taken_at, expires_at, at
		FROM passes LEFT JOIN passes_given_back USING (event_id, epoch, take)
		WHERE event_id = $1 AND epoch = $2 AND expires_at > now()`, event, epoch)
}

func (l *Ledger) after(ctx context.Context, event string, epoch, take int64) ([]Entry, error) {
	return l.entries(ctx, `
		SELECT take, place, holder, quota, taken_at, expires_at, NULL::timestamptz FROM passes
		WHERE event_id = $1 AND epoch = $2 AND take > $3`, event, epoch, take)
}

func (l *Ledger) passOf(ctx context.Context, event string, epoch, place int64) (Entry, bool, error) {
	found, err := l.entries(ctx, `
		SELECT take, place, holder, quota, taken_at, expires_at, NULL::timestamptz FROM passes
		WHERE event_id = $1 AND epoch = $2 AND place = $3`, event, epoch, place)
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	return found[0], true, nil
}

func (l *Ledger) keep(ctx context.Context, c Checkpoint) error {
	var lobby *int64
	if c.Closed {
		lobby = &c.Lobby
	}
	_, err := l.pool.Exec(ctx, `
		INSERT INTO line_checkpoints AS c (event_id, epoch, opened, ceiling, front, taken, term, beat, lobby, drawn)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (event_id, epoch) DO UPDATE SET
		  opened = c.opened OR excluded.opened, ceiling = greatest(c.ceiling, excluded.ceiling),
		  front = greatest(c.front, excluded.front), taken = greatest(c.taken, excluded.taken),
		  term = greatest(c.term, excluded.term), beat = greatest(c.beat, excluded.beat),
		  lobby = coalesce(c.lobby, excluded.lobby), drawn = c.drawn OR excluded.drawn, at = now()`,
		c.Event, c.Epoch, c.Opened, c.Ceiling, c.Front, c.Taken, c.Term, c.Beat, lobby, c.Drawn)
	return err
}

// recall finds nothing for a line that is new. Whoever has a pass was called
// and let in, whatever the checkpoint knew.
func (l *Ledger) recall(ctx context.Context, event string, epoch int64) (Checkpoint, error) {
	c := Checkpoint{Event: event, Epoch: epoch}
	var lobby *int64
	err := l.pool.QueryRow(ctx, `
		SELECT opened, ceiling, greatest(front, coalesce(place, -1) + 1), greatest(taken, take), term, beat, lobby, drawn
		FROM line_checkpoints, LATERAL (
		  SELECT max(place) AS place, max(take) AS take FROM passes WHERE event_id = $1 AND epoch = $2) p
		WHERE event_id = $1 AND epoch = $2`, event, epoch).
		Scan(&c.Opened, &c.Ceiling, &c.Front, &c.Taken, &c.Term, &c.Beat, &lobby, &c.Drawn)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, nil
	}
	if lobby != nil {
		c.Closed, c.Lobby = true, *lobby
	}
	return c, err
}

func (l *Ledger) entries(ctx context.Context, sql string, event string, epoch int64, more ...any) ([]Entry, error) {
	rows, err := l.pool.Query(ctx, sql, append([]any{event, epoch}, more...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Entry, error) {
		e := Entry{Pass: Pass{Event: event, Epoch: epoch}}
		var back *time.Time
		err := row.Scan(&e.Take, &e.Place, &e.Holder, &e.Quota, &e.TakenAt, &e.ExpiresAt, &back)
		if back != nil {
			e.Back = *back
		}
		e.IssuedAt = e.TakenAt.Truncate(time.Second)
		return e, err
	})
}

func (l *Ledger) bought(ctx context.Context, event string, epoch int64, since time.Time) ([]Bought, error) {
	rows, err := l.pool.Query(ctx, `
		SELECT take, seat_count::bigint, created_at FROM orders
		WHERE event_id = $1 AND epoch = $2 AND created_at >= $3`, event, epoch, since)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Bought])
}

// evidence keeps a row until the next flush.
func (l *Ledger) evidence(e Evidence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rows) >= evidenceMost {
		l.rows = l.rows[1:]
		l.metrics.lost.WithLabelValues("evidence").Inc()
	}
	l.rows = append(l.rows, e)
}

// flush writes the release log up to now. What cannot be written stays, and is
// tried again a second later.
func (l *Ledger) flush(ctx context.Context) {
	l.mu.Lock()
	rows := l.rows
	l.rows = nil
	l.mu.Unlock()
	l.metrics.waits.WithLabelValues("", "evidence").Set(float64(len(rows)))
	for len(rows) > 0 {
		some := rows[:min(len(rows), evidenceRows)]
		if err := l.log(ctx, some); err != nil {
			l.metrics.faults.WithLabelValues("evidence").Inc()
			break
		}
		rows = rows[len(some):]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(rows, l.rows...)
	if over := len(l.rows) - evidenceMost; over > 0 {
		l.rows = l.rows[over:]
		l.metrics.lost.WithLabelValues("evidence").Add(float64(over))
	}
}

// log writes rows; one that is there already is the same.
func (l *Ledger) log(ctx context.Context, rows []Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	var event, kind []string
	var epoch, term, seq, milli, front []int64
	var at []time.Time
	for _, e := range rows {
		event, kind = append(event, e.Event), append(kind, e.Kind)
		epoch, term, seq = append(epoch, e.Epoch), append(term, e.Term), append(seq, e.Seq)
		milli, front, at = append(milli, e.Milli), append(front, e.Front), append(at, e.At)
	}
	_, err := l.pool.Exec(ctx, `
		INSERT INTO release_log (event_id, epoch, term, seq, kind, amount_milli, front, at)
		SELECT event_id, epoch, term, seq, kind, amount_milli, front, at
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::timestamptz[])
		  AS w (event_id, epoch, term, seq, kind, amount_milli, front, at)
		ON CONFLICT DO NOTHING`, event, epoch, term, seq, kind, milli, front, at)
	return err
}

// Sales are the settings of all events, as they are now.
func (l *Ledger) Sales(ctx context.Context) ([]Sale, error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	asked := time.Now()
	rows, err := l.pool.Query(ctx, `
		SELECT id, e.epoch, title, venue, control, opens_at, closes_at, coalesce(release_rate, 0),
			order_limit, pass_quota, extract(epoch FROM pass_life)::float8, extract(epoch FROM call_window)::float8,
			line_cap, coalesce(share_prior, 0), coalesce(tickets_prior, 0), stock_slack,
			coalesce(max_inside, 0), coalesce(payment_quota, 0), accounts = 'required', codes = 'required', admission = 'open', gate,
			seed, lobby_opens_at, lobby_closes_at, coalesce(beacon, ''), coalesce(value, ''),
			d.event_id IS NULL AND EXISTS (SELECT FROM draws o WHERE o.event_id = e.id AND o.epoch < e.epoch)
		FROM events e LEFT JOIN draws d ON (d.event_id, d.epoch) = (e.id, e.epoch)
		ORDER BY opens_at, id`)
	if err != nil {
		return nil, fmt.Errorf("read the sales: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Sale, error) {
		s := Sale{ReadAt: asked}
		var closes, lobbyOpens, lobbyCloses *time.Time
		var seed []byte
		var lobby Lobby
		var life, window float64
		err := row.Scan(&s.Event, &s.Epoch, &s.Title, &s.Venue, &s.Control, &s.OpensAt, &closes, &s.Rate,
			&s.OrderLimit, &s.PassQuota, &life, &window, &s.LineCap, &s.SharePrior, &s.TicketsPrior, &s.Slack,
			&s.MaxInside, &s.PaymentQuota, &s.Accounts, &s.Codes, &s.Open, &s.Gate,
			&seed, &lobbyOpens, &lobbyCloses, &lobby.Beacon, &lobby.Value, &s.NoDraw)
		if closes != nil {
			s.ClosesAt = *closes
		}
		if lobbyOpens != nil && lobbyCloses != nil {
			copy(lobby.Seed[:], seed)
			lobby.OpensAt, lobby.ClosesAt = *lobbyOpens, *lobbyCloses
			s.Lobby = &lobby
		}
		s.PassLife, s.CallWindow = seconds(life), seconds(window)
		return s, err
	})
}
