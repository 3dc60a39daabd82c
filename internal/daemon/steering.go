package daemon

import (
	"context"
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
	pool  *pgxpool.Pool
	ring  *organiser.Ring
	halts *organiser.Halts
	nc    *nats.Conn
	lines *admission.Lines
}

// steeringSubject carries words between replicas. One that is lost costs a
// second, or for a stop as long as its writing down takes.
const steeringSubject = "waitroom.steering"

type steeringWord struct {
	Event string `json:"event"`
	Halt  bool   `json:"halt"` // let nobody in; else read the settings now
}

func (c WaitroomConfig) steering(ctx context.Context, p *process.Process, nc *nats.Conn) (*steering, error) {
	pool, err := c.open(ctx, p, "desk", pg.Limits{Conns: c.DeskConns})
	if err != nil {
		return nil, err
	}
	s := &steering{pool: pool, ring: organiser.NewRing(pool), halts: organiser.NewHalts(), nc: nc}
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
			if s.halts.Holds(sale.Event, look.Version(sale.Event)) && sale.Control == admission.Run {
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
		switch {
		case json.Unmarshal(m.Data, &word) != nil:
		case word.Halt:
			s.halt(word.Event)
		default:
			s.changed(p.Work())
		}
	})
	if err != nil {
		return err
	}
	p.OnStop("steering", func(context.Context) error { return sub.Unsubscribe() })
	return nil
}

func (s *steering) desk() *httpapi.Desk {
	return &httpapi.Desk{
		Ring: s.ring, Pool: s.pool,
		Halt:    func(event string) { s.halt(event); s.tell(event, true) },
		Changed: func(ctx context.Context, event string) { s.changed(ctx); s.tell(event, false) },
	}
}

// halt acts in memory, within the line's next step.
func (s *steering) halt(event string) {
	s.halts.Halt(event, s.ring.Look(time.Now()).Version(event))
	if line, ok := s.lines.Line(event); ok {
		sale := line.Sale()
		if sale.Control == admission.Run {
			sale.Control = admission.Pause
			line.Set(sale)
		}
	}
}

// changed reads what organisers set now. What cannot be read now is read within
// a second.
func (s *steering) changed(ctx context.Context) {
	s.ring.Read(ctx) //nolint:errcheck // its loop counts and logs what fails
	s.lines.Changed()
}

func (s *steering) tell(event string, halt bool) {
	text, err := json.Marshal(steeringWord{event, halt})
	if err == nil {
		s.nc.Publish(steeringSubject, text) //nolint:errcheck // lost words are made up for
	}
}
