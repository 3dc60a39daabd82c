package admission

import (
	"context"
	"errors"
	"time"

	"waitroom/internal/draw"
)

// Store keeps the line of every event. It is the truth for order: who stands
// where, how far the front has come, and how many people have been let in.
//
// Every implementation keeps these promises; admissiontest judges them:
//
//   - A method that returns nil has kept what it did: it survives a crash.
//   - A method that returns an error may have done it all the same. What each
//     caller may conclude then stands at the method.
//   - Conditions and changes of one call are one atomic step on one item.
//   - Reads are consistent: they show every change that was acknowledged.
//   - It never retries a call that is not harmless when applied twice.
//
// ErrEpoch means that the event was reset since; ErrNoEvent that Open was
// never called for it. Neither changed anything. The calls on one place judge
// that place's item alone: they may not notice a reset, which Allot and Take
// always do.
//
// Times come back in UTC, to the millisecond.
type Store interface {
	// Open makes the event's line as these two say if there is none, or if its
	// epoch is lower than theirs; a line that is there stays as it is. Harmless
	// when repeated. A line with a higher epoch answers ErrEpoch.
	Open(ctx context.Context, door Door, tail Tail) (Door, error)

	// Raise is for a line that came back from an older copy: it becomes as these two
	// say, tail and door each unless it is as far already. Harmless when repeated.
	Raise(ctx context.Context, door Door, tail Tail) (Door, error)

	// Allot reserves n ≥ 1 consecutive numbers and returns the first. ErrFull if
	// that would bring the tail beyond cap. After any other error the block is
	// burned: nobody may use its numbers, a hole in the line is harmless.
	Allot(ctx context.Context, event string, epoch, n, cap int64) (first int64, err error)

	// Tail is where the line ends, and what became of its lobby.
	Tail(ctx context.Context, event string) (Tail, error)

	// CloseLobby freezes how many are drawn: all who have an index now. The
	// first closing stands, whoever asks again; so after an error it is asked
	// again.
	CloseLobby(ctx context.Context, event string, epoch int64) (Tail, error)

	// Draw reveals what decides. Only a closed lobby is drawn (ErrLobby), and
	// once: the first draw stands, whoever asks again and with what.
	Draw(ctx context.Context, event string, epoch int64, seed draw.Seed, beacon string) (Tail, error)

	// Join gives the holder the place p, unless the holder has a live place:
	// then that one is returned and p's number is a hole. A place is live at
	// now while it waits, or while its pass has not run out. After an error
	// the caller asks again; the answer is then one place, the old or the new.
	Join(ctx context.Context, p Place, now time.Time) (Place, error)

	// Place finds a holder's place. ErrNoPlace if it has none in this epoch.
	Place(ctx context.Context, event string, epoch int64, holder string) (Place, error)

	// UseCode takes one of a code's uses for its holder, or finds the one that
	// the holder has: whatever became of earlier calls, and whenever they land,
	// a holder has one in an epoch. ErrUsedUp: others have them all. A use is not
	// given back. After an error the caller asks again. Of a code that has fewer
	// uses now than before, as many may be used as it had.
	UseCode(ctx context.Context, u CodeUse) error

	// Pass turns a waiting place into a passed one. p.Take, p.TakenAt and
	// p.PassUntil say by which credit. If the place passed already, that first
	// pass comes back and nothing changes. A place whose item is missing, or
	// has a lower index as an older copy has, is written: the signed ticket is the
	// place; but not over a pass that was good when this credit was taken: whoever
	// shows the tickets of two places that a loss brought back has one pass at a time.
	// ErrNoPlace then, and if it was left or has a higher index now. After an error the
	// credit counts as used.
	Pass(ctx context.Context, p Place) (Place, error)

	// Leave gives a waiting place up. Harmless when repeated. A passed place
	// comes back as it is. A place whose item is missing, or has a lower
	// index, is written as left, so that its ticket cannot pass later. ErrNoPlace
	// if the holder has a higher index now.
	Leave(ctx context.Context, p Place) (Place, error)

	// Door reads the door.
	Door(ctx context.Context, event string) (Door, error)

	// Acquire takes the lease from whoever held it when seen was read: see
	// Door.Acquire. False: somebody moved meanwhile; the Door is the new one.
	// After an error: read the Door, and see who owns it.
	Acquire(ctx context.Context, seen Door, owner string) (Door, bool, error)

	// Refill is the holder's step: see Door.Refill. False: the lease is
	// another's, or an earlier refill landed late; the Door says which. After
	// an error the credit counts as flowed in.
	Refill(ctx context.Context, r Refill) (Door, bool, error)

	// Take uses k ≥ 1 credits: see Door.Take. False: there are not k to be had;
	// nothing changed. After an error they count as used by nobody.
	Take(ctx context.Context, event string, epoch, k int64) (Door, bool, error)

	// PutReport replaces what a replica last reported for the event; nil forgets
	// it. Harmless when repeated.
	PutReport(ctx context.Context, event, replica string, body []byte) error

	// Reports are the last reports of all replicas, those of dead ones and from
	// before a reset too: their age and epoch are the reader's to judge.
	Reports(ctx context.Context, event string) (map[string][]byte, error)

	// Export walks all places of the event's epoch, in no order. For audits
	// and recovery only: it reads everything.
	Export(ctx context.Context, event string, epoch int64, each func(Place) error) error
}

// What a Store refuses. Each is definite: nothing changed.
var (
	ErrNoEvent = errors.New("no such line")
	ErrEpoch   = errors.New("epoch changed")
	ErrFull    = errors.New("the line is at its cap")
	ErrNoPlace = errors.New("no such place")
	ErrLobby   = errors.New("the lobby is not closed")
)

// State is where a place stands in its life, as stored. That it is called, or
// that its pass is over, follows from the front and the time.
type State string

const (
	Waiting State = "waiting"
	Passed  State = "passed"
	Left    State = "left"
)

// Place is a position in the line. Its key is event and holder, so that one
// holder has one live place.
type Place struct {
	Event    string
	Epoch    int64
	Holder   string // hex SHA-256 of the possession secret
	Index    int64  // as allotted, from 0: in order of joining; it names the place in the Store
	Number   int64  // in the line, lower is served first: the index, or what a draw made of it. No Store knows it
	State    State
	JoinedAt time.Time

	Take      int64 // number of the credit that let it in; 0 before
	TakenAt   time.Time
	PassUntil time.Time
}

// Bars reports whether what the store has of a holder keeps a later place of theirs
// from passing by p's credit: their pass is good.
func (p Place) Bars(later Place) bool {
	return p.Epoch == later.Epoch && p.State == Passed && p.PassUntil.After(later.TakenAt)
}

// Live reports whether the holder would get this same place by joining again.
func (p Place) Live(epoch int64, now time.Time) bool {
	return p.Epoch == epoch &&
		(p.State == Waiting || p.State == Passed && now.Before(p.PassUntil))
}
