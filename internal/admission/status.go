package admission

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"
)

// Document is the one status of an event that everybody may read, as bytes to
// send. A new one takes its place once a second.
type Document struct {
	Body, Gzip []byte
	// Strong: each names the bytes of one encoding.
	ETag, GzipETag string
	Standing       Standing
}

// Standing is what the document says, and what personal answers are made of.
type Standing struct {
	At      time.Time
	State   SaleState
	Reason  Reason
	Figures Figures
	Stock   Stock
	Front   int64
	Tail    int64
	Taken   int64
	Version int64 // of two documents of an event's epoch, the later has the higher

	released bool // somebody released this line, now or before
}

// Position is where one place stands.
type Position struct {
	Index    int64 // in the order of joining, of a place in the lobby; else not said
	Number   int64 // Undrawn in the lobby
	View     View
	Ahead    int64         // places that are called before it
	P50, P90 time.Duration // until it is called
	Known    bool          // false: nobody can say, P50 and P90 are nothing
	Verdict  Verdict
	Exceeds  bool          // those ahead want more than there is
	Late     bool          // called, and did not come within the call window: the grace lane
	Left     time.Duration // called: for which it is not late at least
	Poll     time.Duration // until it should ask again, jittered
	State    SaleState
	Reason   Reason
	Stock    Stock
	Version  int64 // as the document's that it is worked out from: of two, the later is true
}

// Status is the document now.
func (l *Line) Status() *Document { return l.doc.Load() }

// Standing is what this replica knows now, no older than a second.
func (l *Line) Standing() Standing { return l.doc.Load().Standing }

const (
	doorFresh  = 3 * time.Second // a door seen longer ago says nothing
	leaseFresh = 3 * time.Second // a releaser that did not move for so long does not release
)

// standing is what this replica can vouch for at now. It closes by itself what
// it cannot know, whoever holds the lease and whatever they said.
func (l *Line) standing(now time.Time) Standing {
	door, seen := l.door.last()
	if door.Epoch > l.epoch {
		return l.outdated(now)
	}
	figures, published := Published(door)
	published = published && figures.At != 0
	s := Standing{
		At: now, State: figures.State, Reason: figures.Reason, Figures: figures, Stock: l.Stock(),
		Front: door.Front, Taken: door.Taken, Version: door.Beat,
		released: published,
	}
	l.sawTail(door.Front)
	s.Tail = l.tail.Load()
	sale := l.Sale()
	if !published {
		s.State, s.Figures = Scheduled, first(sale)
		s.Figures.Waiting, s.Figures.Unsure = max(0, s.Tail-s.Front), figures.Unsure
	}
	if s.State.Early() { // of its lobby each replica knows for itself
		s.State = sale.awaits(now, l.isDrawn())
	}
	if state, reason := l.doubts(sale, s, now, seen); state != "" {
		s.State, s.Reason = state, reason
	}
	return s
}

// outdated is what is left to say of a line that was begun anew, until this
// replica reads of that: what it last said, closed. The door is another line's.
func (l *Line) outdated(now time.Time) Standing {
	s := Standing{Figures: first(l.Sale())}
	if said := l.doc.Load(); said != nil {
		s = said.Standing
	}
	s.At, s.State, s.Reason = now, OnDoubt, NoSettings
	return s
}

// doubts overrules what the holder published: with the organiser's own word,
// which this replica may know sooner, and with what it cannot see.
func (l *Line) doubts(sale Sale, s Standing, now, seen time.Time) (SaleState, Reason) {
	switch {
	case sale.Control == Close:
		return Closed, ByOrganiser
	case sale.over(now):
		return Closed, ByTime
	case sale.Control == Pause:
		return Paused, ByOrganiser
	case sale.Control != Run || now.Sub(sale.ReadAt) > settingsFresh:
		return OnDoubt, NoSettings
	case sale.NoDraw:
		return OnDoubt, NotDrawn
	case now.Sub(seen) > doorFresh:
		return OnDoubt, StoreUnknown
	case now.Sub(s.Stock.At) > stockFresh:
		return OnDoubt, NoStock
	case now.Before(sale.OpensAt.Add(-CallAhead)):
		return "", NoReason
	case !s.released || l.door.still(now) > leaseFresh:
		return OnDoubt, LeaseUnknown
	}
	return "", NoReason
}

// over reports whether the sale is closed for good.
func (s Sale) over(now time.Time) bool {
	return s.Control == Close || !s.ClosesAt.IsZero() && !now.Before(s.ClosesAt)
}

// takes reports whether a replica with these settings may let anybody in: the
// releaser decides that they may, its replicas only that they may not.
func (s Sale) takes(now time.Time) bool {
	return s.Control == Run && !s.NoDraw && !s.over(now) && now.Sub(s.ReadAt) <= settingsFresh
}

// first are the figures of a line that nobody has released yet.
func first(sale Sale) Figures {
	share, tickets := sale.expects()
	f := Figures{State: Scheduled, Wave: 1, Share: share, Tickets: tickets, Turn: 0.5, Opens: sale.OpensAt.UnixMilli(), By: ByRate}
	if sale.paced() {
		f.Rate = sale.Rate
	}
	return f
}

// republish makes the document anew, unless nothing happens any more.
func (l *Line) republish(now time.Time) {
	if now.Sub(l.Standing().At) < restPublish && l.rests(now) {
		return
	}
	l.publish(now)
}

// publish makes the document anew. One call at a time.
func (l *Line) publish(now time.Time) {
	s := l.standing(now)
	l.cfg.Metrics.bounds(l.event, l.Sale(), s.Figures)
	l.cfg.Metrics.waits.WithLabelValues(l.event, "held").Set(float64(l.turnstile.held()))
	l.cfg.Metrics.waits.WithLabelValues(l.event, "joins").Set(float64(len(l.entrance.numbers.waiting)))
	if old := l.doc.Load(); old == nil || old.Standing.State != s.State || old.Standing.Reason != s.Reason {
		l.log.Info("line", "state", s.State, "reason", s.Reason, "front", s.Front, "taken", s.Taken)
	}
	body, err := json.Marshal(l.told(s))
	if err != nil { // a figure that is no number: the document before stands, and grows old
		l.fault("document", err)
		return
	}
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:12])
	l.doc.Store(&Document{
		Body: body, Gzip: l.cfg.zips.zipped(body), ETag: `"` + name + `"`, GzipETag: `"` + name + `-gzip"`, Standing: s,
	})
}

// The document's words, as clients read them.
type (
	statusDoc struct {
		Event           string    `json:"event"`
		Title           string    `json:"title"`
		Epoch           int64     `json:"epoch"`
		Version         int64     `json:"version"`
		AsOf            string    `json:"as_of"`
		State           SaleState `json:"state"`
		Reason          Reason    `json:"reason"`
		OpensAt         string    `json:"opens_at"`
		Front           int64     `json:"front"`
		Tail            int64     `json:"tail"`
		Waiting         *int64    `json:"waiting"` // null: nobody knows, for the line's store was lost
		AtDoor          int64     `json:"at_door"`
		Inside          int64     `json:"inside"`
		Taken           int64     `json:"taken"`
		Coming          int64     `json:"coming"`
		Rate            float64   `json:"rate"`
		Capacity        limitsDoc `json:"capacity"`
		LetInLastMinute int64     `json:"let_in_last_minute"`
		Seats           seatsDoc  `json:"seats"`
		Share           float64   `json:"share"`
		Tickets         float64   `json:"tickets"`
		Turn            float64   `json:"turn"`
		TurnSeen        int64     `json:"turn_seen"`     // places that it was learnt from: how far off it may be
		ETA             *etaDoc   `json:"eta_s_per_100"` // null: nobody can say
		Poll            pollDoc   `json:"poll"`
		Standby         *int64    `json:"standby_ahead"` // null: no line would be too long
		Wave            int64     `json:"wave"`
		CallWindow      float64   `json:"call_window_s"`
		Draw            *drawDoc  `json:"draw"` // null: first come, first served
	}
	limitsDoc struct {
		By        Limit   `json:"limited_by"`
		Organiser float64 `json:"organiser_rate"`
		MaxInside *int64  `json:"max_inside"` // null: no cap
		Room      *int64  `json:"room"`       // under it; null: no cap
	}
	seatsDoc struct {
		Free     int64 `json:"free"`
		Pending  int64 `json:"pending"`
		Sold     int64 `json:"sold"`
		HeldBack int64 `json:"held_back"`
	}
	etaDoc struct {
		P50 float64 `json:"p50"`
		P90 float64 `json:"p90"`
	}
	pollDoc struct {
		Min    float64 `json:"min_s"`
		Max    float64 `json:"max_s"`
		Share  float64 `json:"share_of_eta"`
		Jitter float64 `json:"jitter"`
	}
)

const stamp = "2006-01-02T15:04:05.000Z07:00"

func (l *Line) told(s Standing) statusDoc {
	sale, f := l.Sale(), s.figures()
	d := statusDoc{
		Event: l.event, Title: sale.Title, Epoch: l.epoch, Version: s.Version,
		AsOf: s.At.UTC().Format(stamp), OpensAt: sale.OpensAt.UTC().Format(stamp),
		State: s.State, Reason: s.Reason, Front: s.Front, Tail: s.Tail, Taken: s.Taken,
		Waiting: f.Waiters(), AtDoor: f.AtDoor, Coming: f.Coming, Inside: f.Inside, LetInLastMinute: f.LastMinute,
		Rate: f.Rate, Capacity: limitsOf(sale, f),
		Seats: seatsDoc{s.Stock.Free, s.Stock.Pending, s.Stock.Sold, s.Stock.HeldBack},
		Share: f.Share, Tickets: f.Tickets, Turn: f.Turn, TurnSeen: f.Called, Wave: f.Wave,
		Poll:       pollDoc{PollMin.Seconds(), PollMax.Seconds(), short(PollShare), PollJitter},
		CallWindow: sale.CallWindow.Seconds(), Draw: l.toldDraw(),
	}
	if ahead, some := f.Standby(s.Stock); some {
		d.Standby = &ahead
	}
	if p50, p90, known := f.ETA(100, s.At); known {
		d.ETA = &etaDoc{short(p50.Seconds()), short(p90.Seconds())}
	}
	return d
}

// limitsOf says what bounds the rate in force, and how many come in at all.
func limitsOf(sale Sale, f Figures) limitsDoc {
	d := limitsDoc{By: f.By, Organiser: sale.Rate}
	if !sale.paced() {
		d.Organiser = 0 // a figure that is no number has no document
	}
	if sale.MaxInside > 0 {
		d.MaxInside, d.Room = &sale.MaxInside, &f.Room
	}
	return d
}

// Reach is how many people in the line what is left may do for: whoever has as
// many ahead is behind the stock. False: it does for any line.
func (s Standing) Reach() (people int64, some bool) { return s.figures().Standby(s.Stock) }

// figures are the holder's under the state that this replica vouches for.
func (s Standing) figures() Figures {
	f := s.Figures
	f.State, f.Reason = s.State, s.Reason
	return f
}

// position is where a place stands by the last document: what the page works
// out from it, worked out here.
func (l *Line) position(number int64, view View) Position {
	s := l.Standing()
	f := s.figures()
	p := Position{Number: number, View: view, State: s.State, Reason: s.Reason, Stock: s.Stock, Version: s.Version}
	if view == ViewWaiting { // by that document, or a later one could say more
		p.Ahead = Ahead(number, s.Front)
	}
	p.P50, p.P90, p.Known = f.ETA(p.Ahead, s.At)
	p.Verdict, p.Exceeds = f.Verdict(p.Ahead, s.Stock), f.Exceeds(p.Ahead, s.Stock)
	p.Poll = Jitter(f.Poll(p.Ahead, s.At), rand.New(dice{}))
	return p
}

// dice are the program's own, which any number of goroutines may throw.
type dice struct{}

func (dice) Uint64() uint64 { return rand.Uint64() }

// zips are compressors that wait for the next document: each has 800 kB, and a
// line needs one for some microseconds of each second.
type zips struct{ sync.Pool }

func (z *zips) zipped(body []byte) []byte {
	w, ok := z.Get().(*gzip.Writer)
	if !ok {
		w = gzip.NewWriter(nil)
	}
	defer z.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	w.Write(body) //nolint:errcheck // into memory
	w.Close()     //nolint:errcheck // into memory
	return b.Bytes()
}
