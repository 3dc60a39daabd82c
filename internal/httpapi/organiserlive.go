package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// liveMost is how old a number may be that an organiser is shown.
const liveMost = 2 * time.Second

type liveBody struct {
	Event   string              `json:"event"`
	AsOf    time.Time           `json:"as_of"`
	Age     *float64            `json:"age_s"` // of the oldest number; null: nobody can say
	State   admission.SaleState `json:"state"`
	Reason  admission.Reason    `json:"reason"`
	Control admission.Control   `json:"control"`
	RateSet *float64            `json:"rate_set"` // null: never
	Numbers *numbersBody        `json:"numbers"`  // null: none is recent enough
}

type numbersBody struct {
	Rate            float64    `json:"rate"` // in force
	Front           int64      `json:"front"`
	Tail            int64      `json:"tail"`
	Waiting         *int64     `json:"waiting"` // null: nobody knows
	Coming          int64      `json:"coming"`
	AtDoor          int64      `json:"at_door"`
	Inside          int64      `json:"inside"`
	LetIn           int64      `json:"let_in"`
	LetInLastMinute int64      `json:"let_in_last_minute"`
	Share           float64    `json:"share"`
	Tickets         float64    `json:"tickets"`
	Turn            float64    `json:"turn"`
	Wave            int64      `json:"wave"`
	Seats           countsBody `json:"seats"`
}

// served is the event's line, or that this replica has not heard of the event yet.
func (a *API) served(event string) (*admission.Line, error) {
	line, ok := a.Lines.Line(event)
	if !ok {
		return nil, problem("unavailable", "The event is not served yet.")
	}
	return line, nil
}

// live is what this replica knows at this instant: state and control are never
// older, and numbers that are too old are left out.
func (a *API) live(_ context.Context, r asked) (reply, error) {
	line, err := a.served(r.event)
	if err != nil {
		return reply{}, err
	}
	now := time.Now()
	s, age := line.Live(now)
	sale := line.Sale()
	b := liveBody{Event: r.event, AsOf: now.UTC(), State: s.State, Reason: s.Reason, Control: sale.Control}
	if sale.Rate > 0 {
		b.RateSet = &sale.Rate
	}
	if age < time.Hour { // older is never
		rounded := math.Round(age.Seconds()*1000) / 1000
		b.Age = &rounded
	}
	if age <= liveMost {
		b.Numbers = numbersOf(s)
	}
	return reply{body: b}, nil
}

func numbersOf(s admission.Standing) *numbersBody {
	f := s.Figures
	return &numbersBody{
		Rate: f.Rate, Front: s.Front, Tail: s.Tail, Waiting: f.Waiters(), Coming: f.Coming, AtDoor: f.AtDoor, Inside: f.Inside,
		LetIn: s.Taken, LetInLastMinute: f.LastMinute, Share: f.Share, Tickets: f.Tickets, Turn: f.Turn, Wave: f.Wave,
		Seats: countsOf(s.Stock),
	}
}

const (
	changesUsual = 50
	changesMost  = 500
)

type changesRequest struct {
	asked
	before int64
	most   int
}

func (a *API) readChanges(c *fiber.Ctx) (r changesRequest, err error) {
	if r.asked, err = a.asks(organiser.LineRead)(c); err != nil {
		return r, err
	}
	r.most = changesUsual
	if text := c.Query("limit"); text != "" {
		if r.most, err = strconv.Atoi(text); err != nil || r.most < 1 || r.most > changesMost {
			return r, problem("bad_request", fmt.Sprintf("limit: a whole number from 1 to %d", changesMost))
		}
	}
	if text := c.Query("before"); text != "" {
		if r.before, err = strconv.ParseInt(text, 10, 64); err != nil || r.before < 1 {
			return r, problem("bad_request", "before: the id of a change")
		}
	}
	return r, nil
}

type changeBody struct {
	ID      int64                         `json:"id"`
	At      time.Time                     `json:"at"`
	By      string                        `json:"by"`
	Version int64                         `json:"version"`
	Control inventory.Control             `json:"control"`
	Changed map[string][2]json.RawMessage `json:"changed"` // null: the event was created
}

// changes is the record of an event's changes: who, when, what it was, what it
// became.
func (a *API) changes(ctx context.Context, r changesRequest) (reply, error) {
	list, err := inventory.EventChanges(ctx, a.Desk.Pool, r.event, r.before, r.most)
	if err != nil {
		return reply{}, a.unavailable("changes", err)
	}
	body := struct {
		Changes []changeBody `json:"changes"`
		Next    *int64       `json:"next"` // before= of the next page; null: there is none
	}{Changes: []changeBody{}}
	for _, c := range list {
		body.Changes = append(body.Changes, changeBody{c.ID, c.At.UTC(), c.By, c.Version, c.Control, inSettingsTerms(c.Changed)})
	}
	if len(list) == r.most {
		body.Next = &list[len(list)-1].ID
	}
	return reply{body: body}, nil
}

// inSettingsTerms gives columns the names that the settings have; other
// columns keep their own.
func inSettingsTerms(columns map[string][2]json.RawMessage) map[string][2]json.RawMessage {
	if columns == nil {
		return nil
	}
	names := map[string]string{
		"release_rate": "rate", "pass_life": "pass_life_s", "call_window": "call_window_s",
		"pay_within": "pay_within_s", "pay_extension": "pay_extension_s",
	}
	out := map[string][2]json.RawMessage{}
	for column, change := range columns {
		name := column
		if settings, ok := names[column]; ok {
			name = settings
		}
		out[name] = change
	}
	return out
}
