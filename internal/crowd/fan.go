package crowd

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"waitroom/internal/audience"
)

// fan is one person with one browser.
type fan struct {
	audience.Fan
	crowd  *Crowd
	rand   *rand.Rand
	secret string // possession: who has it has the place
	holder string

	ticket, pass       string
	number, epoch, let int64
	index              int64 // in the lobby
	version            int64 // of the latest answer about the place that was shown
	replica            atomic.Uint32
}

// status is what a page needs of the shared document.
type status struct {
	State     string    `json:"state"`
	Epoch     int64     `json:"epoch"`
	Front     int64     `json:"front"`
	EtaPer100 *struct { // null: nobody can say
		P50 float64 `json:"p50"`
	} `json:"eta_s_per_100"`
	Poll struct {
		Min    float64 `json:"min_s"`
		Max    float64 `json:"max_s"`
		Share  float64 `json:"share_of_eta"`
		Jitter float64 `json:"jitter"`
	} `json:"poll"`
	Seats struct {
		Free    int64 `json:"free"`
		Pending int64 `json:"pending"`
	} `json:"seats"`
	Draw *struct {
		ClosesAt time.Time `json:"lobby_closes_at"`
		Seed     *string   `json:"seed"` // null until the draw
	} `json:"draw"`
}

// next is when a page with so many people ahead asks again.
func (s status) next(ahead int64) time.Duration {
	next := s.Poll.Max / 4
	if s.EtaPer100 != nil {
		eta := float64(ahead) / 100 * s.EtaPer100.P50
		next = min(max(eta*s.Poll.Share, s.Poll.Min), s.Poll.Max)
	}
	return time.Duration(next * float64(time.Second))
}

// live is a fan's whole evening.
func (f *fan) live(ctx context.Context) {
	if !wait(ctx, time.Until(f.crowd.OpensAt.Add(f.Arrive))) || !f.join(ctx) {
		return
	}
	f.crowd.Tally.Waiting.Add(1)
	joined := time.Now()
	in := !f.Absent && f.line(ctx)
	f.crowd.Tally.Waiting.Add(-1)
	if !in {
		return
	}
	f.crowd.letIn(time.Since(joined))
	f.inside(ctx)
}

func (c *Crowd) letIn(waited time.Duration) {
	c.Tally.LetIn.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, waited.Seconds())
}

func (f *fan) path(of string) string { return "/v1/events/" + f.crowd.Event + of }

// ask sends one request to the fan's replica. When that does not answer, the
// next request goes to another, as an edge would send it.
func (f *fan) ask(ctx context.Context, method, path, token, key string, body []byte) reply {
	at := f.crowd.URLs[int(f.replica.Load())%len(f.crowd.URLs)]
	r := f.crowd.call(ctx, method, at+path, token, key, body)
	if r.status == 0 && ctx.Err() == nil {
		f.replica.Add(1)
	}
	return r
}

func (f *fan) tell(at time.Time, t told) {
	t.At, t.Event, t.Holder = at, f.crowd.Event, f.holder
	if t.Epoch == 0 {
		t.Epoch = f.epoch
	}
	f.crowd.witness.write(t)
}

// join asks until there is a place. Some click twice: both answers must name
// the same one.
func (f *fan) join(ctx context.Context) bool {
	if f.Doubles {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { f.joinOnce(ctx, &fan{crowd: f.crowd, secret: f.secret, holder: f.holder}) })
	}
	for ctx.Err() == nil {
		r, ok := f.joinOnce(ctx, f)
		if ok {
			f.crowd.Tally.Joined.Add(1)
			return true
		}
		if r.status != 0 && r.status != 429 && r.status < 500 {
			f.crowd.oddly("join: %s", r.code())
			return false
		}
		f.crowd.Tally.Busy.Add(1)
		wait(ctx, f.jitter(r.after(2*time.Second)))
	}
	return false
}

// joinOnce asks as who has f's secret, and keeps the answer in as.
func (f *fan) joinOnce(ctx context.Context, as *fan) (reply, bool) {
	r := f.ask(ctx, "POST", f.path("/places"), f.secret, "", nil)
	var got struct {
		Place struct {
			Epoch, Index int64
			Number       *int64
		}
		Ticket string
	}
	if r.status != 201 && r.status != 200 || !r.into(&got) {
		return r, false
	}
	as.ticket, as.epoch, as.index = got.Ticket, got.Place.Epoch, got.Place.Index
	if got.Place.Number == nil {
		as.number = undrawn
		as.tell(r.at, told{Op: "lobby", Index: as.index, New: r.status == 201})
		return r, true
	}
	as.number = *got.Place.Number
	as.tell(r.at, told{Op: "join", Number: as.number, New: r.status == 201})
	return r, true
}

func (f *fan) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.85 + 0.3*f.rand.Float64()))
}

// line waits until the fan is let in: true with a pass in hand.
func (f *fan) line(ctx context.Context) bool {
	var doc status
	for ctx.Err() == nil {
		r := f.ask(ctx, "GET", "/v1/public/events/"+f.crowd.Event+"/status", "", "", nil)
		if r.status != 200 || !r.into(&doc) {
			f.crowd.Tally.Busy.Add(1)
			wait(ctx, f.jitter(3*time.Second))
			continue
		}
		if doc.State == "closed" {
			return false
		}
		if f.number == undrawn && !f.drawn(ctx, doc) {
			continue
		}
		if f.number < doc.Front {
			in, done := f.door(ctx)
			if done {
				return in
			}
			continue
		}
		if f.restless(ctx) {
			return false
		}
		wait(ctx, f.jitter(doc.next(f.number-doc.Front)))
	}
	return false
}

// restless is what people do while they wait: look at their own place, reload,
// give up. True if they left.
func (f *fan) restless(ctx context.Context) bool {
	switch x := f.rand.Float64(); {
	case f.Leaves && x < 0.3:
		r := f.ask(ctx, "DELETE", f.path("/places/me"), f.ticket, "", nil)
		if r.status == 200 {
			f.crowd.Tally.Left.Add(1)
			return true
		}
	case f.Reloads && x < 0.5:
		f.Reloads = false
		f.joinOnce(ctx, f)
	case x < 0.1:
		f.look(ctx)
	}
	return false
}

// look asks the server for the place, as a page without script does. An answer of
// another replica may be an earlier one, and is not shown.
func (f *fan) look(ctx context.Context) {
	r := f.ask(ctx, "GET", f.path("/places/me"), f.ticket, "", nil)
	var got struct{ Number, Ahead, Version int64 }
	if r.status == 200 && r.into(&got) && got.Version >= f.version {
		f.version = got.Version
		f.tell(r.at, told{Op: "place", Number: got.Number, Ahead: got.Ahead})
	}
}

// door stands at the door until let in. done is false when the line has to be
// waited in a while longer.
func (f *fan) door(ctx context.Context) (in, done bool) {
	f.crowd.Tally.AtDoor.Add(1)
	defer f.crowd.Tally.AtDoor.Add(-1)
	var twice sync.WaitGroup
	defer twice.Wait()
	for ctx.Err() == nil {
		if f.Doubles {
			twice.Go(func() { f.ask(ctx, "POST", f.path("/places/me/pass"), f.ticket, "", nil) })
		}
		asked := time.Now()
		r := f.ask(ctx, "POST", f.path("/places/me/pass"), f.ticket, "", nil)
		switch {
		case r.status == 200:
			return f.take(r), true
		case r.status == 202:
			var got struct {
				State      string
				Late       bool
				SaleState  string  `json:"sale_state"`
				RetryAfter float64 `json:"retry_after_s"`
			}
			r.into(&got)
			if got.State == "waiting" {
				return false, !wait(ctx, f.jitter(2*time.Second))
			}
			f.tell(r.at, told{Op: "door", Number: f.number, Asked: asked, Late: got.Late})
			wait(ctx, time.Duration(got.RetryAfter*float64(time.Second)))
		case r.status == 410:
			return false, true
		default:
			if r.status != 0 && r.status < 500 && r.status != 429 {
				f.crowd.oddly("pass: %s", r.code())
			}
			f.crowd.Tally.Busy.Add(1)
			wait(ctx, f.jitter(r.after(time.Second)))
		}
	}
	return false, true
}

func (f *fan) take(r reply) bool {
	var got struct {
		Pass         string
		Take, Number int64
	}
	if !r.into(&got) || got.Pass == "" {
		f.crowd.oddly("pass: not readable")
		return false
	}
	f.pass, f.let = got.Pass, got.Take
	f.tell(r.at, told{Op: "pass", Number: got.Number, Take: got.Take})
	return true
}

// inside is a fan with a pass: signs of life, a choice, an order or not.
func (f *fan) inside(ctx context.Context) {
	alive, gone := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for again := !f.Quiet; again; again = wait(alive, audience.Pulse) {
			f.ask(alive, "POST", f.path("/passes/me/alive"), f.pass, "", nil)
		}
	})
	order, wantedMore := f.shop(ctx)
	gone()
	wg.Wait()
	switch {
	case order != nil:
		f.settle(ctx, order)
	case !f.Silent:
		body, _ := json.Marshal(map[string]int{"wanted": wantedMore})
		f.ask(ctx, "DELETE", f.path("/passes/me"), f.pass, "", body)
	}
}
