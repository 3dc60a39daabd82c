package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// answer is one answer that a fan got, as the fan wrote it down.
type answer struct {
	At      time.Time `json:"at"`
	Asked   time.Time `json:"asked"` // door: when the request that was held was sent
	Late    bool      `json:"late"`  // door: it stood in the latecomers' lane
	Op      string    `json:"op"`    // join lobby drawn place door pass claim order
	Event   string    `json:"event"`
	Holder  string    `json:"holder"`
	Epoch   int64     `json:"epoch"`
	Index   int64     `json:"index"` // lobby, drawn
	Number  int64     `json:"number"`
	Ahead   int64     `json:"ahead"`
	New     bool      `json:"new"` // join: a place that was not live before
	Take    int64     `json:"take"`
	Attempt string    `json:"attempt"`
	Outcome string    `json:"outcome"` // claim: claimed already unknown busy or a problem's code
	Order   string    `json:"order"`
	Status  string    `json:"status"`
	Seats   []string  `json:"seats"` // claimed: the seats in the answer
}

// sold is what Postgres says of an attempt.
type sold struct {
	order, status string
	seats         []string
}

// witness holds what fans were told against what is so.
func (r *Report) witness(ctx context.Context, tx pgx.Tx, s Sources, passes []pass, drawn lobby) error {
	if s.Witness == nil {
		r.Missing = append(r.Missing, "the witness log (what fans were told, P2, P7 and P13)")
		return nil
	}
	attempts, err := readAttempts(ctx, tx, s.Event)
	if err != nil {
		return err
	}
	byHolder := map[string][]answer{}
	err = eachLine(s.Witness, "witness log", func(a answer) {
		if a.Event == s.Event {
			byHolder[a.Holder] = append(byHolder[a.Holder], a)
		}
	})
	if err != nil {
		return err
	}
	if len(byHolder) == 0 {
		return fmt.Errorf("audit: the witness log tells nothing of %s", s.Event)
	}
	w := newWitness(attempts, passes, drawn)
	for _, told := range byHolder {
		slices.SortStableFunc(told, func(a, b answer) int { return a.At.Compare(b.At) })
		w.hear(told)
	}
	r.add(w.real, w.whole, w.lot, w.kept, w.never, w.over, w.same, w.pass)
	return nil
}

func readAttempts(ctx context.Context, tx pgx.Tx, event string) (map[string]sold, error) {
	rows, err := tx.Query(ctx, `
		SELECT o.account, o.attempt, o.id::text, o.status, array_agg(s.guid ORDER BY s.guid)
		FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN seats s ON s.id = l.seat_id
		WHERE o.event_id = $1 GROUP BY o.id, o.account, o.attempt, o.status`, event)
	if err != nil {
		return nil, fmt.Errorf("audit: attempts: %w", err)
	}
	out := map[string]sold{}
	var account, attempt string
	var at sold
	_, err = pgx.ForEachRow(rows, []any{&account, &attempt, &at.order, &at.status, &at.seats}, func() error {
		out[account+" "+attempt] = at
		at.seats = nil
		return nil
	})
	return out, err
}

type position struct{ epoch, number int64 }

type witness struct {
	attempts map[string]sold
	passes   []pass                 // by time
	places   map[position]time.Time // when each place was let in
	taken    map[string]pass
	drawn    lobby

	real, whole, lot, kept, never, over, same, pass Check
}

func newWitness(attempts map[string]sold, passes []pass, drawn lobby) *witness {
	w := &witness{
		attempts: attempts, passes: passes, drawn: drawn, places: map[position]time.Time{}, taken: map[string]pass{},
		real:  Check{Promise: "P2", Name: "a confirmed claim is real"},
		whole: Check{Promise: "P2", Name: "an unknown claim is whole or absent"},
		lot:   Check{Promise: "P7", Name: "a number drawn is the index's"},
		kept:  Check{Promise: "P7", Name: "a place number never grows"},
		never: Check{Promise: "P7", Name: "a place shown never moves back"},
		over:  Check{Promise: "P7", Name: "nobody at the door is passed over"},
		same:  Check{Promise: "P13", Name: "an attempt has one answer"},
		pass:  Check{Promise: "P9", Name: "a pass handed out is written down"},
	}
	for _, p := range passes {
		w.places[position{p.epoch, p.place}] = p.taken
		w.taken[fmt.Sprint(p.epoch, p.take)] = p
	}
	return w
}

// hear goes through what one holder was told, in the order of time.
func (w *witness) hear(told []answer) {
	w.hearDraw(told)
	w.hearPlaces(told)
	w.hearClaims(told)
	w.hearDoor(told)
}

// hearDraw holds the number that a holder was told after the draw against the
// index that they were told in the lobby.
func (w *witness) hearDraw(told []answer) {
	var in *answer
	for i, a := range told {
		switch a.Op {
		case "lobby":
			in = &told[i]
		case "drawn":
			w.lot.Counted++
			want, known := w.drawn.number(a.Epoch, a.Index)
			if in == nil || in.Epoch == a.Epoch && in.Index != a.Index {
				w.lot.fail("holder %.8s has index %d after the draw, and another or none before", a.Holder, a.Index)
			}
			if !known || want != a.Number {
				w.lot.fail("holder %.8s was told number %d for index %d, the draw says %d", a.Holder, a.Number, a.Index, want)
			}
		}
	}
}

func (w *witness) hearPlaces(told []answer) {
	var at *answer
	for i := range told {
		a := &told[i]
		if a.Op != "join" && a.Op != "drawn" && a.Op != "place" && a.Op != "door" {
			continue
		}
		if at == nil || a.Op == "join" && a.New || a.Epoch != at.Epoch {
			at = a
			continue
		}
		w.kept.Counted++
		if a.Number > at.Number {
			w.kept.fail("holder %.8s was told place %d, then %d", a.Holder, at.Number, a.Number)
		}
		if a.Op == "place" && at.Op == "place" {
			w.never.Counted++
			if a.Ahead > at.Ahead {
				w.never.fail("holder %.8s was told %d people ahead, then %d", a.Holder, at.Ahead, a.Ahead)
			}
		}
		if a.Op == "place" || at.Op != "place" {
			at = a
		}
	}
}

func (w *witness) hearClaims(told []answer) {
	orders := map[string]string{}
	for _, a := range told {
		if a.Op == "pass" {
			w.pass.Counted++
			if p, ok := w.taken[fmt.Sprint(a.Epoch, a.Take)]; !ok || p.holder != a.Holder || p.place != a.Number {
				w.pass.fail("holder %.8s got take %d for place %d, which nobody wrote down", a.Holder, a.Take, a.Number)
			}
		}
		if a.Op != "claim" {
			continue
		}
		at, ok := w.attempts[a.Holder+" "+a.Attempt]
		switch a.Outcome {
		case "claimed", "already":
			w.real.Counted++
			slices.Sort(a.Seats)
			if !ok || at.order != a.Order || !slices.Equal(at.seats, a.Seats) {
				w.real.fail("attempt %s was told order %s of %s, there is %q of %s", a.Attempt, a.Order,
					strings.Join(a.Seats, " "), at.order, strings.Join(at.seats, " "))
			}
			w.same.Counted++
			if first, ok := orders[a.Attempt]; ok && first != a.Order {
				w.same.fail("attempt %s was told order %s, then %s", a.Attempt, first, a.Order)
			}
			orders[a.Attempt] = a.Order
		case "busy": // not taken up at all: nothing to hold it to
		case "unknown":
			// Whole is what p2_an_order_is_whole says of every order.
			w.whole.Counted++
		default:
			w.whole.Counted++
			if ok && orders[a.Attempt] == "" && !toldLater(told, a.Attempt) {
				w.whole.fail("attempt %s was refused (%s), yet there is order %s", a.Attempt, a.Outcome, at.order)
			}
		}
	}
}

// toldLater reports whether the holder was told of an order for the attempt, or
// that its outcome is not known, at any time: a refusal beside it is then about
// another moment of the same attempt.
func toldLater(told []answer, attempt string) bool {
	return slices.ContainsFunc(told, func(a answer) bool {
		return a.Op == "claim" && a.Attempt == attempt && (a.Order != "" || a.Outcome == "unknown")
	})
}

const (
	asksAgain  = 4 * time.Second // longest pause between two asks of somebody at the door
	passedOver = 5 * time.Second // after so long at the door, nobody behind goes first
	onItsWay   = time.Second     // until a request that was sent is held
	// heldFor is how long a request is held at most, and a little. One that is
	// answered later was for a time, nobody can tell which, not at a door but
	// in a server that stood still: there nobody can be let in.
	heldFor = 2500 * time.Millisecond
)

// hearDoor judges that nobody who stood at the door, and had asked for a while,
// saw a higher number let in while a request of theirs was held. Latecomers are
// not judged: they have a share of the takes, and others go first beyond it.
func (w *witness) hearDoor(told []answer) {
	var since, last time.Time
	for _, a := range told {
		switch a.Op {
		case "door":
			if since.IsZero() || a.At.Sub(last) > asksAgain {
				since = a.Asked
			}
			last = a.At
			if a.Late || a.At.Sub(a.Asked) > heldFor {
				continue
			}
			w.over.Counted++
			w.overtaken(a, since)
		case "pass", "join":
			since, last = time.Time{}, time.Time{}
		}
	}
}

// overtaken looks for a take behind a while its request was held, once it had
// stood there for passedOver. Answers cross on their way, so being a moment
// behind is nothing; still to stand there when passedOver has gone by since is.
func (w *witness) overtaken(a answer, since time.Time) {
	from := a.Asked.Add(onItsWay)
	if long := since.Add(passedOver); from.Before(long) {
		from = long
	}
	i, _ := slices.BinarySearchFunc(w.passes, from, func(p pass, t time.Time) int { return p.taken.Compare(t) })
	for ; i < len(w.passes) && w.passes[i].taken.Before(a.At); i++ {
		p := w.passes[i]
		own, in := w.places[position{a.Epoch, a.Number}]
		soon := in && own.Sub(p.taken) <= passedOver
		if p.epoch == a.Epoch && p.place > a.Number && !soon {
			w.over.fail("place %d stood at the door since %s, and from %s to %s; place %d was let in at %s",
				a.Number, clock(since), clock(a.Asked), clock(a.At), p.place, clock(p.taken))
			return
		}
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }
