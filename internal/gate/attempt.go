package gate

import (
	"context"
	"crypto/rand"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
)

// Name names an attempt for ever: its account, and the key that the account gave it.
type Name struct{ Account, Key string }

// id is the name as one text. A key has no spaces.
func (n Name) id() string { return n.Account + " " + n.Key }

func nameOf(id string) Name {
	at := strings.LastIndexByte(id, ' ')
	if at < 0 {
		return Name{Key: id}
	}
	return Name{id[:at], id[at+1:]}
}

// Attempt is what somebody wants: units of a tier, or seats by name.
type Attempt struct {
	Event string
	Epoch int64
	Name
	Tier  string
	Units int
	Seats []int64
	Coded bool // it is made with a presale code
}

// Outcome is what the gate says of an attempt.
type Outcome string

const (
	Admitted Outcome = "admitted" // counted under its name; Postgres decides
	Again    Outcome = "again"    // it was admitted before, or has an order, and nothing was counted twice
	SoldOut  Outcome = "sold_out" // fewer are left than it wants; see Left
	Taken    Outcome = "taken"    // others hold some of its seats; see Taken
	Busy     Outcome = "busy"     // too many wait for the gate, or its caller went
	// Unknown lets through: there is no count, or Redis did not answer, or Postgres did
	// not say whether who would be refused has an order. How many get
	// as far as Postgres is then bounded by the claims' own queue.
	Unknown Outcome = "unknown"
	// Uncounted lets through an account's second attempt and those that follow, for the
	// rest of Hold: enough is there, and nothing was taken. What Postgres refuses to one
	// account over and over is so kept from nobody.
	Uncounted Outcome = "uncounted"
	// Unjudged lets through what the gate has no count of: the best seats.
	Unjudged Outcome = "unjudged"
)

// Decision is an outcome with what belongs to it.
type Decision struct {
	Outcome Outcome
	Left    int     // sold_out: units that are left
	Taken   []int64 // taken

	lane   lane
	record record // what was taken, or may have been; zero: nothing
	seats  []int64
}

// Lets says whether Postgres is to be asked.
func (d Decision) Lets() bool {
	switch d.Outcome {
	case Admitted, Again, Unknown, Uncounted, Unjudged:
		return true
	}
	return false
}

// record is what an attempt took. The token tells it from what the same attempt
// took before or after: what is given back is this and no other.
type record struct {
	id, token string
	size      int
}

// lane is one counter: the units of a tier that are in one shard, or the named
// seats of an event. All its keys lie in one slot of a cluster, and one script sees
// all of it.
type lane struct {
	event string
	epoch int64
	tier  string // "": named seats
	shard int    // of named seats: 0, or coded. lookups: none, but who is about to be refused
}

// coded is the lane of named seats for who has a presale code. What is sold to codes
// alone, nobody without one gets: who asks for it in vain keeps it from nobody who has one.
const coded = 1

// tag is what the keys of a lane have in common. A tier is counted in runes that
// cannot end the tag.
func (l lane) tag() string {
	kind := "seats"
	if l.tier != "" {
		kind = "tier/" + strconv.QuoteToASCII(l.tier) + "/" + strconv.Itoa(l.shard)
		kind = strings.NewReplacer("{", `\x7b`, "}", `\x7d`).Replace(kind)
	} else if l.shard == coded {
		kind = "seats/coded"
	}
	return "gate:{" + l.event + "/" + strconv.FormatInt(l.epoch, 10) + "/" + kind + "}:"
}

// keys are the lane's count, its attempts by time, those that have their orders,
// and what each took.
func (l lane) keys() []string {
	t := l.tag()
	return []string{t + "count", t + "open", t + "done", t + "took"}
}

func (l lane) seat(id int64) string { return l.tag() + "seat:" + strconv.FormatInt(id, 10) }

// accounts are those of which an attempt for units was counted, by until when that
// counts.
func (l lane) accounts() string { return l.tag() + "accounts" }

// account is there for as long as that counts of an attempt for named seats.
func (l lane) account(id string) string { return l.tag() + "account:" + nameOf(id).Account }

// home is the shard that keeps the records of the attempt's account, and no other does.
func (g *Gate) home(event string, epoch int64, tier, id string) lane {
	l := lane{event: event, epoch: epoch, tier: tier}
	if tier != "" {
		h := fnv.New32a()
		h.Write([]byte(nameOf(id).Account)) //nolint:errcheck // it never fails
		l.shard = int(h.Sum32() % uint32(g.Shards))
	}
	return l
}

// Decide says whether the attempt may go on to Postgres. It gives no errors: what
// cannot be asked is unknown. What it lets through is to be settled with GiveBack
// once Postgres has refused it.
func (g *Gate) Decide(ctx context.Context, a Attempt) Decision {
	d := g.decide(ctx, a)
	g.metrics.decided.WithLabelValues(string(d.Outcome)).Inc()
	return d
}

func (g *Gate) decide(ctx context.Context, a Attempt) Decision {
	if a.Tier == "" && len(a.Seats) == 0 {
		return Decision{Outcome: Unjudged}
	}
	l := g.home(a.Event, a.Epoch, a.Tier, a.id())
	if a.Tier == "" && a.Coded {
		l.shard = coded
	}
	w := &waiting{
		record: record{id: a.id(), token: rand.Text()[:12], size: a.Units + len(a.Seats)}, seats: a.Seats,
	}
	if time.Now().UnixNano() < g.rests.Load() {
		return Decision{Outcome: Unknown}
	}
	d := g.wait(ctx, l, w)
	if d.Outcome == SoldOut || d.Outcome == Taken {
		return g.unless(ctx, d, a)
	}
	return d
}

// wait queues for a lane, and waits for what it says.
func (g *Gate) wait(ctx context.Context, l lane, w *waiting) Decision {
	w.told = make(chan Decision, 1)
	if !g.push(ctx, l, w) {
		return Decision{Outcome: Busy}
	}
	select {
	case d := <-w.told:
		return d
	case <-ctx.Done(): // what it takes is given back by a turn
		return Decision{Outcome: Busy}
	}
}
