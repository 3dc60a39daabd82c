package payprov

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Script says which requests go wrong, and how. The first that matches a
// request, in the order in which they were given, is met.
type Script struct {
	// What it matches; an empty field matches any. All are patterns of
	// path.Match: "/v1/payment_intents/*/cancel", "refund:*".
	Method, Path, Operation, Key string

	Times int     // the next so many; 0 is one, or with a Share without end
	Share float64 // of those that match, by the provider's seed; 0 is all

	Before time.Duration // held for so long, then carried out: its key is in use
	After  time.Duration // held for so long before the answer: its key is free again
	Say    Say           // what is answered in the place of the truth
	Commit bool          // carried out, whatever is said

	Status     int           // of Refuse: 402 (the default), 400, 401, 403, 404; of HTML: 200 (the default), 403, 500, 502, 503, 504
	Code       string        // of Refuse: card_declined, charge_disputed, …; of TooMany: rate_limit, lock_timeout
	RetryAfter time.Duration // of TooMany, in whole seconds
	Location   string        // of Redirect; default: the same address

	Refund Course // how a refund goes that it creates
}

// Say is what is answered. A definite no is never said of what was carried
// out: no client could see through that.
type Say string

// What can be said. All but Truth, Half and OtherAmount can come before
// anything is carried out; all but InUse, TooMany and Refuse after it.
const (
	Truth       Say = ""
	FIN         Say = "fin"    // the connection is closed without an answer
	RST         Say = "rst"    // the connection is reset
	Half        Say = "half"   // the answer breaks off in its middle
	ServerError Say = "500"    // and it is the first answer: the key keeps it
	InUse       Say = "409"    // the key is in use
	TooMany     Say = "429"    // with Retry-After
	Empty       Say = "{}"     // 200 and an empty object
	HTML        Say = "html"   // a page with Status: somebody stands between
	Redirect    Say = "307"    // to Location
	OtherAmount Say = "amount" // the truth, but for an amount that is one more
	Refuse      Say = "refuse" // Status and Code: the key keeps it, unless nobody was let in (401, 403)
)

// Validate names all that could not be played.
func (s Script) Validate() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for _, pattern := range []string{s.Method, s.Path, s.Operation, s.Key} {
		_, err := path.Match(pattern, "")
		want(err == nil, "%q is no pattern", pattern)
	}
	switch s.Say {
	case Truth, FIN, RST, Half, ServerError, Empty, HTML, Redirect, OtherAmount:
	case InUse, TooMany, Refuse:
		want(!s.Commit, "say %s: nothing that was carried out is refused", s.Say)
	default:
		want(false, "say %q: want fin, rst, half, 500, 409, 429, {}, html, 307, amount or refuse", s.Say)
	}
	want(s.Times >= 0, "times %d: want 1 or more", s.Times)
	want(s.Share >= 0 && s.Share <= 1, "share %v: want 0 to 1", s.Share)
	want(s.RetryAfter%time.Second == 0, "retry after %s: want whole seconds", s.RetryAfter)
	want(s.Before >= 0 && s.After >= 0 && s.RetryAfter >= 0, "a wait is not negative")
	want(s.Status == 0 || slices.Contains(statuses(s.Say), s.Status), "status %d of %q: want one of %v", s.Status, s.Say, statuses(s.Say))
	errs = append(errs, s.Refund.validate())
	return errors.Join(errs...)
}

// statuses are those that a Script can choose for what it says.
func statuses(s Say) []int {
	switch s {
	case Refuse:
		return []int{400, 401, 402, 403, 404}
	case HTML:
		return []int{200, 403, 500, 502, 503, 504}
	}
	return nil
}

func (s Script) matches(r *http.Request) bool {
	for _, m := range [][2]string{
		{s.Method, r.Method}, {s.Path, r.URL.Path}, {s.Operation, operationOf(r)}, {s.Key, keyOf(r)},
	} {
		if ok, _ := path.Match(m[0], m[1]); !ok && m[0] != "" {
			return false
		}
	}
	return true
}

// carriesOut holds where the request itself is carried out.
func (s Script) carriesOut() bool {
	return s.Commit || s.Say == Truth || s.Say == Half || s.Say == OtherAmount
}

// String is how the log names it: "commit+rst", "429", "before=3s".
func (s Script) String() string {
	var parts []string
	if s.Before > 0 {
		parts = append(parts, "before="+s.Before.String())
	}
	if s.Commit {
		parts = append(parts, "commit")
	}
	if s.After > 0 {
		parts = append(parts, "after="+s.After.String())
	}
	if s.Say != Truth {
		parts = append(parts, string(s.Say))
	}
	if s.Refund != (Course{}) {
		parts = append(parts, s.Refund.String())
	}
	return strings.Join(parts, "+")
}
