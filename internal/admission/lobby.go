package admission

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"waitroom/internal/draw"
)

// Lobby is how an event treats who comes before its opening: their order is
// drawn. All of it is fixed before the lobby opens, but the beacon's value.
type Lobby struct {
	OpensAt  time.Time
	ClosesAt time.Time
	Seed     draw.Seed // secret until the draw
	Beacon   string    // the name of the public value that decides too; "": none
	Value    string    // that value, once it is known
}

// ready reports whether all that decides is known.
func (l Lobby) ready() bool { return l.Beacon == "" || l.Value != "" }

// Tail is where the line ends, and what became of its lobby. Numbers are
// allotted in order of joining (the index); those of the lobby are drawn later.
type Tail struct {
	Next   int64 // the first index that nobody has been allotted yet
	Closed bool  // the lobby is: whoever joins now stands behind it
	Lobby  int64 // how many are drawn, once it is closed: index 0 … Lobby−1
	Drawn  bool
	Seed   draw.Seed // what decided, once drawn
	Beacon string
}

// drawing is a tail with its draw at hand.
type drawing struct {
	Tail
	shuffle *draw.Shuffle // nil: not drawn
}

func (l *Line) isDrawn() bool {
	d := l.drawing.Load()
	return d != nil && d.Drawn
}

// sawLobby takes in what became of the lobby; it closes once, and is drawn once.
func (l *Line) sawLobby(t Tail) {
	l.sawTail(t.Next)
	if old := l.drawing.Load(); old != nil && (old.Drawn || old.Closed == t.Closed && !t.Drawn) {
		return
	}
	d := &drawing{Tail: t}
	if t.Drawn {
		d.shuffle = draw.New(t.Seed.Mix(t.Beacon), t.Lobby)
		l.tell(func(r *Release) { r.Drawn() })
		signal(l.releaser.wake)
	}
	l.drawing.Store(d)
	l.tellLeavers(time.Now())
}

// leavers are places given up that nobody was told of yet, by index: in the lobby
// they have no number. They keep their lot, and the order is drawn over all; each
// replica hears of the others', so that none takes what it knows with it.
type leavers struct {
	mu      sync.Mutex
	indices map[int64]time.Time // when they were given up here; zero: at another replica
}

func (s *leavers) add(index int64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indices == nil {
		s.indices = map[int64]time.Time{}
	}
	if _, known := s.indices[index]; !known {
		s.indices[index] = at
	}
}

// lately are those given up here a short time ago, ascending.
func (s *leavers) lately(now time.Time) (list []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for index, at := range s.indices {
		if now.Sub(at) <= factsKept && len(list) < mostFacts {
			list = append(list, index)
		}
	}
	slices.Sort(list)
	return list
}

// known is how many they are.
func (s *leavers) known() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.indices))
}

// tellLeavers notes those of the leavers whose number is known now.
func (l *Line) tellLeavers(now time.Time) {
	l.leavers.mu.Lock()
	defer l.leavers.mu.Unlock()
	for index := range l.leavers.indices {
		if number, known := l.number(index); known {
			l.note(gaveUp, noted{id: number, at: now})
			delete(l.leavers.indices, index)
		}
	}
}

// hearLeavers takes in who left the lobby elsewhere.
func (l *Line) hearLeavers(rs []report, now time.Time) {
	for _, r := range rs {
		for _, index := range r.undrawn {
			l.leavers.add(index, time.Time{})
		}
	}
	l.tellLeavers(now)
}

// Ends is the tail as last seen, with what became of the lobby.
func (l *Line) Ends() Tail {
	if d := l.drawing.Load(); d != nil {
		return d.Tail
	}
	return Tail{}
}

// inLobby is what the holder of an undrawn place is told: to come again when
// the draw may be there.
func (l *Line) inLobby(index int64) Position {
	s := l.Standing()
	p := Position{Index: index, Number: Undrawn, View: ViewLobby, State: s.State, Reason: s.Reason, Stock: s.Stock, Version: s.Version, Verdict: Possible}
	next := PollMax
	if lobby := l.Sale().Lobby; lobby != nil {
		next = time.Duration(PollShare * float64(lobby.ClosesAt.Sub(s.At)))
	}
	p.Poll = Jitter(min(max(next, PollMin), PollMax), rand.New(dice{}))
	return p
}

// closeAfter is how long after its closing time a lobby is closed. Receipts end at
// that time by each replica's own clock: one whose clock is that much behind gives
// none to anybody who is not drawn.
const closeAfter = 2 * time.Second

// moveLobby closes the lobby when it is time, and draws it as soon as all that
// decides is known. Every replica may; the store lets each happen once.
func (l *Line) moveLobby(ctx context.Context, t Tail) (Tail, error) {
	lobby := l.Sale().Lobby
	if lobby == nil || t.Drawn || time.Now().Before(lobby.ClosesAt.Add(closeAfter)) {
		return t, nil
	}
	if !t.Closed {
		return l.cfg.Store.CloseLobby(ctx, l.event, l.epoch)
	}
	if lobby.ready() {
		return l.cfg.Store.Draw(ctx, l.event, l.epoch, lobby.Seed, lobby.Value)
	}
	return t, nil
}

// number is where who was allotted that index stands in the line. False: that
// is still to be drawn.
func (l *Line) number(index int64) (int64, bool) {
	if l.Sale().Lobby == nil {
		return index, true
	}
	switch d := l.drawing.Load(); {
	case d == nil || !d.Closed:
		return Undrawn, false
	case index >= d.Lobby:
		return index, true
	case d.shuffle == nil:
		return Undrawn, false
	default:
		return d.shuffle.Number(index), true
	}
}

// drawDoc is all that anybody needs to check the draw.
type drawDoc struct {
	OpensAt  string  `json:"lobby_opens_at"`
	ClosesAt string  `json:"lobby_closes_at"`
	Commit   string  `json:"commit"` // hex SHA-256 of the seed, since before the lobby opened
	Beacon   string  `json:"beacon"` // the name of the public value that decides too; "": there is none
	Count    *int64  `json:"count"`  // how many are drawn; null while the lobby is open
	Seed     *string `json:"seed"`   // hex; null until the draw
	Value    *string `json:"value"`  // the beacon's, as it was published
}

func commitOf(s draw.Seed) string {
	commit := s.Commit()
	return hex.EncodeToString(commit[:])
}

func (l *Line) toldDraw() *drawDoc {
	lobby := l.Sale().Lobby
	if lobby == nil {
		return nil
	}
	doc := &drawDoc{
		OpensAt: lobby.OpensAt.UTC().Format(stamp), ClosesAt: lobby.ClosesAt.UTC().Format(stamp),
		Commit: commitOf(lobby.Seed), Beacon: lobby.Beacon,
	}
	if d := l.drawing.Load(); d != nil && d.Closed {
		doc.Count = &d.Lobby
		if d.Drawn {
			seed := hex.EncodeToString(d.Seed[:])
			doc.Seed, doc.Value = &seed, &d.Tail.Beacon
		}
	}
	return doc
}
