package inventory

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Attempt is one purchase attempt: named seats, a quantity of a tier of general
// admission, or the best seats that are free. Account and Key name it for ever: asked again, it gets the
// order that it got the first time.
type Attempt struct {
	Event, Account, Holder string
	Epoch                  int64
	Place, Take            int64 // of the pass that it is made with; a take of 0: with none, where the event is open
	Quota                  int   // seats that the pass may hold, at most
	Key                    string
	BodyHash               [32]byte // of what was asked for; the same key with another is refused
	Seats                  []int64
	Tier                   string
	Quantity               int
	Best                   *Best
	Code                   []byte // the hash of the presale code that it is made with; nil: none
}

// mostSeats bounds what one attempt makes Postgres look at. An event's own
// order limit is lower, and its refusal is over_limit.
const mostSeats = 1000

// ErrBadAttempt is an attempt that no state of the sale could grant.
var ErrBadAttempt = errors.New("bad attempt")

// Validate refuses what makes no sense, before it costs anything.
func (a Attempt) Validate() error {
	switch {
	case !text(a.Event, 63), !text(a.Account, 200), !text(a.Holder, 200):
		return fmt.Errorf("%w: event, account and holder are texts of 1 to 63, 200 and 200 bytes", ErrBadAttempt)
	case a.Epoch < 1, a.Place < 0, a.Take < 0, a.Quota < 1:
		return fmt.Errorf("%w: epoch %d, place %d, take %d, quota %d are no pass's", ErrBadAttempt, a.Epoch, a.Place, a.Take, a.Quota)
	case !text(a.Key, 200) || strings.ContainsFunc(a.Key, func(r rune) bool { return r < '!' || r > '~' }):
		return fmt.Errorf("%w: a key is 1 to 200 visible ASCII characters", ErrBadAttempt)
	case a.wishes() != 1:
		return fmt.Errorf("%w: it wants seats, a quantity of a tier, or the best: one of the three", ErrBadAttempt)
	case a.Best != nil && !a.Best.sense():
		return fmt.Errorf("%w: the best are 1 to %d seats, at most as many of them for wheelchairs", ErrBadAttempt, mostSeats)
	case a.Code != nil && len(a.Code) != 32:
		return fmt.Errorf("%w: a code's hash has 32 bytes", ErrBadAttempt)
	case a.Tier != "" && !text(a.Tier, 400): // 100 characters, as the price_tiers table has it
		return fmt.Errorf("%w: a tier is a text of at most 400 bytes", ErrBadAttempt)
	case a.Tier == "" && a.Quantity != 0, a.Tier != "" && a.Quantity < 1, a.size() > mostSeats:
		return fmt.Errorf("%w: a quantity is 1 to %d", ErrBadAttempt, mostSeats)
	}
	seen := make(map[int64]bool, len(a.Seats))
	for _, s := range a.Seats {
		if seen[s] {
			return fmt.Errorf("%w: it wants seat %d twice", ErrBadAttempt, s)
		}
		seen[s] = true
	}
	return nil
}

func text(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// size is how many seats it wants.
func (a Attempt) size() int {
	if a.Best != nil {
		return a.Best.Count
	}
	return len(a.Seats) + a.Quantity
}

func (a Attempt) wishes() (n int) {
	for _, is := range []bool{len(a.Seats) > 0, a.Tier != "", a.Best != nil} {
		if is {
			n++
		}
	}
	return n
}

// Outcome is what became of an attempt.
type Outcome string

const (
	Claimed    Outcome = "claimed"
	Already    Outcome = "already"     // asked before: the same order again
	Taken      Outcome = "taken"       // some of its seats are not free
	SoldOut    Outcome = "sold_out"    // fewer are free than it wants: units of its tier, or seats of a block that fits
	OverLimit  Outcome = "over_limit"  // see Limit
	KeyReused  Outcome = "key_reused"  // its key was used for something else
	SaleClosed Outcome = "sale_closed" // closed, over, or of another epoch

	SaleNotOpen Outcome = "sale_not_open" // without a line: it is before the opening
	SalePaused  Outcome = "sale_paused"   // without a line: the organiser paused it

	CodeUnknown Outcome = "code_unknown" // the event has no such presale code
	CodeSpent   Outcome = "code_spent"   // others have what the code is good for; see Left
	CodeNeeded  Outcome = "code_needed"  // it is sold to presale codes, and this is none of them
	CoolDown    Outcome = "cool_down"    // the account let too many orders lapse; see Wait

	// Busy and Failed are promises too: nothing was done. Busy may go better
	// later, Failed will not.
	Busy   Outcome = "busy"
	Failed Outcome = "failed"
	// Unknown: it may have been granted or not. Asked again with the same key,
	// the answer is the truth.
	Unknown Outcome = "unknown"
)

// Limit is what an attempt would have gone over.
type Limit string

const (
	OrderLimit   Limit = "order"         // seats in one order
	AccountLimit Limit = "account"       // seats that the account holds or has paid for
	PassLimit    Limit = "pass"          // seats that were bought with the pass
	TierLimit    Limit = "tier"          // seats of one price tier that the account holds or has paid for
	PendingOrder Limit = "pending_order" // the account has to pay or cancel Answer.Order first
)

// Answer is an outcome with what belongs to it.
type Answer struct {
	Outcome Outcome
	Order   uuid.UUID     // claimed, already; over_limit by a pending order: that one
	Taken   []int64       // taken: the seats that are not free; code_needed: those that it does not open
	Limit   Limit         // over_limit
	Left    int           // sold_out: how many units are free, or seats side by side; code_spent: seats that are left of it
	Wait    time.Duration // cool_down: until the account may claim again
}
