package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"

	"waitroom/internal/admission"
	"waitroom/internal/httpapi"
	"waitroom/internal/organiser"
	"waitroom/internal/pg"
	"waitroom/internal/process"
)

// steering is how organisers' wishes reach the lines: through Postgres, which
// every replica reads once a second, and sooner by a word over NATS.
type steering struct {
	me    string // whose words are our own: NATS brings them back, later than we acted
	pool  *pgxpool.Pool
	ring  *organiser.Ring
	halts *organiser.Halts
	nc    *nats.Conn
	lines *admission.Lines
}

// steeringSubject carries words between replicas. One that is lost costs a
// second, or for a stop as long as its writing down takes; one that comes late,
// after a resumption, no more than organiser.HeardFor.
const steeringSubject = "waitroom.steering"

// steeringWord says that an event was changed: read its settings now. Of a stop
// it says besides that it was made, of settings of that version, or that it was
// written down, as that version.
type steeringWord struct {
	From    string `json:"from"`
	Event   string `json:"event"`
	Stop    string `json:"stop,omitempty"` // its name
	Written bool   `json:"written,omitempty"`
	Version int64  `json:"version,omitempty"`
}

func (c WaitroomConfig) steering(ctx context.Context, p *process.Process, nc *nats.Conn) (*steering, error) {
	pool, err := c.open(ctx, p, "desk", pg.Limits{Conns: c.DeskConns})
	if err != nil {
		return nil, err
	}
	s := &steering{me: rand.Text(), pool: pool, ring: organiser.NewRing(pool), halts: organiser.NewHalts(), nc: nc}
	p.Every(time.Second, "organisers' keys", s.ring.Read)
	return s, nil
}

// over is what sales reads, with what is halted paused. How often each event
// had been changed is looked at first: a halt that was dropped by then is one
// that the settings read after it know of.
func (s *steering) over(sales func(context.Context) ([]admission.Sale, error)) func(context.Context) ([]admission.Sale, error) {
	return func(ctx context.Context) ([]admission.Sale, error) {
		look := s.ring.Look(time.Now())
		list, err := sales(ctx)
		for i, sale := range list {
			if s.halts.Holds(sale.Event, look.Version(sale.Event), time.Now()) && sale.Control == admission.Run {
				list[i].Control = admission.Pause
			}
		}
		return list, err
	}
}

// listen hears the other replicas' words.
func (s *steering) listen(p *process.Process, lines *admission.Lines) error {
	s.lines = lines
	sub, err := s.nc.Subscribe(steeringSubject, func(m *nats.Msg) {
		var word steeringWord
		if json.Unmarshal(m.Data, &word) == nil && word.From != s.me {
			s.hear(p.Work(), word)
		}
	})
	if err != nil {
		return err
	}
	p.OnStop("steering", func(context.Context) error { return sub.Unsubscribe() })
	return nil
}

func (s *steering) hear(ctx context.Context, word steeringWord) {
	stop := organiser.Stop{Event: word.Event, Name: word.Stop}
	switch {
	case word.Stop == "":
	case word.Written:
		s.halts.Written(stop, word.Version)
	default:
		s.halts.Heard(stop, word.Version, time.Now())
		s.shut(word.Event)
		return
	}
	s.changed(ctx)
}

func (s *steering) desk(endpoints httpapi.EndpointRules) *httpapi.Desk {
	return &httpapi.Desk{
		Ring: s.ring, Pool: s.pool, Endpoints: endpoints,
		Halt: s.halt, Halted: s.halted,
		Changed: func(ctx context.Context, event string) {
			s.changed(ctx)
			s.tell(steeringWord{Event: event})
		},
	}
}

// halt acts in memory, within the line's next step, here and wherever its word
// comes.
func (s *steering) halt(stop organiser.Stop) {
	version := s.ring.Look(time.Now()).Version(stop.Event)
	s.halts.Halt(stop, version)
	s.shut(stop.Event)
	s.tell(steeringWord{Event: stop.Event, Stop: stop.Name, Version: version})
}

// halted says that the stop is written down, as that version: it stands in the
// settings from now on, and what resumes them ends it.
func (s *steering) halted(ctx context.Context, stop organiser.Stop, version int64) {
	s.halts.Written(stop, version)
	s.changed(ctx)
	s.tell(steeringWord{Event: stop.Event, Stop: stop.Name, Written: true, Version: version})
}

// shut lets nobody in by the settings that the line has. Those that were being
// read when the stop came did not know of it: they are read again.
func (s *steering) shut(event string) {
	if line, ok := s.lines.Line(event); ok {
		sale := line.Sale()
		if sale.Control == admission.Run {
			sale.Control = admission.Pause
			line.Set(sale)
		}
	}
	s.lines.Changed()
}

// changed reads what organisers set now. What cannot be read now is read within
// a second.
func (s *steering) changed(ctx context.Context) {
	s.ring.Read(ctx) //nolint:errcheck // its loop counts and logs what fails
	s.lines.Changed()
}

func (s *steering) tell(word steeringWord) {
	word.From = s.me
	text, err := json.Marshal(word)
	if err == nil {
		s.nc.Publish(steeringSubject, text) //nolint:errcheck // lost words are made up for
	}
}
