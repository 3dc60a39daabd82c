package ordeal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// Sold is an order as the rows have it in the end.
type Sold struct {
	Holder, Attempt string
	Seats           []string
	Ended           time.Time // of an order that expired or was cancelled; else zero
}

// History is what people asked of the seats, when, and what they were told when, in
// parts that have no seat in common.
type History struct {
	Claims     int // requests that were sent
	Unanswered int // of them: nobody knows from the answer whether they had an effect
	Ends       int
	Parts      []Part
}

// Part is the history of some seats.
type Part struct {
	seats, attempts int
	done            []porcupine.Operation
}

// deed is a claim of some seats by an attempt, or the end of its order.
type deed struct {
	attempt int
	seats   []int
	end     bool
}

// said is what a claim was answered.
type said struct {
	outcome string // claimed, seats_taken; "": nothing, and it had an effect
	taken   []int
}

// endTakes is longer than any transaction lives after it has read its clock.
const endTakes = 30 * time.Second

// claimSaid is one claim of the witness log.
type claimSaid struct {
	Op, Holder, Attempt, Outcome string
	Asked, At                    time.Time
	Seats, Taken                 []string
	Wish                         struct{ Seats []string }
}

// ReadHistory draws the history from what people wrote down, and from the rows what
// nobody was told: whether a claim without an answer had an effect, and when orders
// ended. Refusals for want of a block or of units are not in it: which seats they are
// about they do not say.
func ReadHistory(log io.Reader, sold []Sold) (History, error) {
	claims, err := readClaims(log)
	if err != nil {
		return History{}, err
	}
	d := drawing{seat: map[string]int{}, attempt: map[string]int{}, asked: map[string]bool{}}
	order := map[string]Sold{}
	for _, s := range sold {
		order[s.Holder+" "+s.Attempt] = s
	}
	h := History{Claims: len(claims)}
	for _, c := range claims {
		name := c.Holder + " " + c.Attempt
		switch c.Outcome {
		case "claimed":
			d.claim(name, c.Seats, said{outcome: "claimed"}, c.Asked, c.At.UnixNano())
		case "seats_taken":
			d.claim(name, c.Wish.Seats, said{outcome: "seats_taken", taken: d.seats(c.Taken)}, c.Asked, c.At.UnixNano())
		case "unknown", "busy":
			h.Unanswered++
			if s, there := order[name]; there && !d.asked[name] { // the first of them may have had it, and at any time
				d.claim(name, s.Seats, said{}, c.Asked, math.MaxInt64)
			}
		}
	}
	for name, s := range order {
		if !d.asked[name] {
			return h, fmt.Errorf("attempt %s has an order, and nobody wrote down that it asked for one", name)
		}
		if !s.Ended.IsZero() {
			h.Ends++
			d.did(deed{attempt: d.number(name), seats: d.seats(s.Seats), end: true}, said{}, s.Ended, s.Ended.Add(endTakes).UnixNano())
		}
	}
	h.Parts = d.parts()
	return h, nil
}

func readClaims(log io.Reader) (claims []claimSaid, err error) {
	dec := json.NewDecoder(log)
	for {
		var c claimSaid
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("witness log: %w", err)
		}
		if c.Op == "claim" {
			claims = append(claims, c)
		}
	}
	slices.SortFunc(claims, func(a, b claimSaid) int { return a.Asked.Compare(b.Asked) })
	return claims, nil
}

// drawing numbers seats and attempts as they come.
type drawing struct {
	seat, attempt map[string]int
	asked         map[string]bool // attempts of whose claims one may have had an effect
	done          []porcupine.Operation
}

func (d *drawing) number(attempt string) int { return numberOf(d.attempt, attempt) }

func (d *drawing) seats(guids []string) (all []int) {
	for _, g := range guids {
		all = append(all, numberOf(d.seat, g))
	}
	return all
}

func numberOf(known map[string]int, name string) int {
	n, there := known[name]
	if !there {
		n = len(known)
		known[name] = n
	}
	return n
}

func (d *drawing) claim(name string, guids []string, out said, asked time.Time, answered int64) {
	if out.outcome != "seats_taken" {
		d.asked[name] = true
	}
	d.did(deed{attempt: d.number(name), seats: d.seats(guids)}, out, asked, answered)
}

func (d *drawing) did(in deed, out said, from time.Time, until int64) {
	d.done = append(d.done, porcupine.Operation{ClientId: in.attempt, Input: in, Output: out, Call: from.UnixNano(), Return: until})
}

// parts are the histories of seats that no claim has in common, each with seats and
// attempts of its own numbering: a short history is searched at once, a long one never.
func (d *drawing) parts() (all []Part) {
	first := make([]int, len(d.seat)) // of the seats that belong together
	for i := range first {
		first[i] = i
	}
	root := func(i int) int {
		for first[i] != i {
			i = first[i]
		}
		return i
	}
	for _, op := range d.done {
		seats := op.Input.(deed).seats
		for _, s := range seats {
			first[root(s)] = root(seats[0])
		}
	}
	type numbering struct {
		at             int
		seats, attempt map[int]int
	}
	by := map[int]*numbering{}
	renumber := func(known map[int]int, n int) int {
		if _, there := known[n]; !there {
			known[n] = len(known)
		}
		return known[n]
	}
	for _, op := range d.done {
		in, out := op.Input.(deed), op.Output.(said)
		if len(in.seats) == 0 {
			continue
		}
		n := by[root(in.seats[0])]
		if n == nil {
			n = &numbering{len(all), map[int]int{}, map[int]int{}}
			by[root(in.seats[0])] = n
			all = append(all, Part{})
		}
		own := func(seats []int) (list []int) {
			for _, s := range seats {
				list = append(list, renumber(n.seats, s))
			}
			return list
		}
		op.Input = deed{renumber(n.attempt, in.attempt), own(in.seats), in.end}
		op.Output = said{out.outcome, own(out.taken)}
		p := &all[n.at]
		p.done, p.seats, p.attempts = append(p.done, op), len(n.seats), len(n.attempt)
	}
	return all
}

// What an attempt has of its seats.
const (
	never = iota // nothing so far
	has
	ended
)

// stock is a sale as one thing at a time would have it: for each seat who has it, from
// 1 on, 0 for nobody; then for each attempt what it has.
type stock []int32

// after is the stock after a deed, if what was said of it was right.
func (p Part) after(s stock, in deed, out said) (stock, bool) {
	next, own, fate := slices.Clone(s), int32(in.attempt+1), p.seats+in.attempt
	whose := func(seat int) int32 { return s[seat] }
	switch {
	case in.end:
		for _, seat := range in.seats {
			next[seat] = 0
		}
		next[fate] = ended
		return next, s[fate] == has && !slices.ContainsFunc(in.seats, func(seat int) bool { return whose(seat) != own })
	case out.outcome == "seats_taken":
		return s, s[fate] == never && len(out.taken) > 0 && !slices.ContainsFunc(out.taken, func(seat int) bool { return whose(seat) == 0 })
	case s[fate] == ended:
		return s, true
	case s[fate] == has: // asked again
		return s, !slices.ContainsFunc(in.seats, func(seat int) bool { return whose(seat) != own })
	}
	for _, seat := range in.seats {
		next[seat] = own
	}
	next[fate] = has
	return next, !slices.ContainsFunc(in.seats, func(seat int) bool { return whose(seat) != 0 })
}

// Verdict is whether some order of all that was done, each thing done at one moment
// between its asking and its answer, explains all that was said.
func (h History) Verdict() porcupine.CheckResult {
	worst := porcupine.Ok
	deadline := time.Now().Add(searched)
	for _, p := range h.Parts {
		switch porcupine.CheckOperationsTimeout(p.model(), p.done, max(time.Until(deadline), time.Millisecond)) {
		case porcupine.Illegal:
			return porcupine.Illegal
		case porcupine.Unknown:
			worst = porcupine.Unknown
		}
	}
	return worst
}

// searched is how long it is searched for an order.
const searched = 30 * time.Second

func (p Part) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return make(stock, p.seats+p.attempts) },
		Step: func(state, in, out any) (bool, any) {
			next, right := p.after(state.(stock), in.(deed), out.(said))
			return right, next
		},
		Equal: func(a, b any) bool { return slices.Equal(a.(stock), b.(stock)) },
	}
}

// sold reads all orders of the run once it is over.
func (b *bench) sold(ctx context.Context) ([]Sold, error) {
	db, err := pg.Open(ctx, b.house.DatabaseURL, "ordeal", pg.Limits{Conns: 1, Lock: time.Minute, Statement: time.Minute})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, _ := db.Query(ctx, `
		SELECT o.account, o.attempt, array_agg(s.guid ORDER BY s.guid), coalesce(o.ended_at, '0001-01-01 00:00:00+00')
		FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN seats s ON s.id = l.seat_id
		WHERE o.event_id = $1 GROUP BY o.id`, event)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Sold])
}
