package httpapi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

// A replay of many goes on until replayMost; then the same again goes on with it.
const (
	replayDeadline = 10 * time.Second
	replayMost     = 5 * time.Second
)

func (a *API) deliveryRoutes(app *fiber.App) {
	app.Get("/v1/organiser/deliveries", serveRead(deskDeadline, a.readDeliveries, a.deliveries))
	app.Get("/v1/organiser/deliveries/:delivery", serveRead(deskDeadline, a.readDelivery, a.delivery))
	app.Post("/v1/organiser/deliveries/:delivery/replay", serveRead(deskDeadline, a.readReplay, a.replay))
}

type deliveriesRequest struct{ webhooks.Which }

func (a *API) readDeliveries(c *fiber.Ctx) (r deliveriesRequest, err error) {
	by, err := a.asks(organiser.WebhooksRead)(c)
	if err != nil {
		return r, err
	}
	if r.Which, err = whichOf(c); err != nil {
		return r, err
	}
	if since := c.Query("since"); since != "" {
		if r.Since, err = time.Parse(time.RFC3339, since); err != nil {
			return r, problem("bad_request", "since: a time as in RFC 3339")
		}
	}
	r.Organiser = by.key.Organiser
	r.Most, err = readMost(c)
	return r, err
}

// whichOf are the deliveries that an address asks for, but for their time.
func whichOf(c *fiber.Ctx) (w webhooks.Which, err error) {
	w = webhooks.Which{Endpoint: c.Query("endpoint"), Status: c.Query("status"), Kind: c.Query("kind"), About: c.Query("about")}
	if !isText(w.Endpoint + w.Kind + w.About) {
		return w, errNoText()
	}
	if !slices.Contains([]string{"", "waiting", "sending", "delivered", "dead"}, w.Status) {
		return w, problem("bad_request", "status: waiting, sending, delivered or dead")
	}
	w.Before, err = readBefore(c)
	return w, err
}

type deliveryBody struct {
	ID        int64      `json:"id"`
	Endpoint  string     `json:"endpoint"`
	Notice    string     `json:"notice"` // webhook-id
	Kind      string     `json:"kind"`
	Event     *string    `json:"event"`
	Subject   string     `json:"subject"`
	Version   int64      `json:"version"`
	At        time.Time  `json:"at"`
	Status    string     `json:"status"`
	Go        int        `json:"go"`
	Attempts  int        `json:"attempts"` // of this go
	DueAt     *time.Time `json:"due_at"`   // null: nothing is due
	Reason    *string    `json:"reason"`   // why it is dead
	EndedAt   *time.Time `json:"ended_at"`
	CanReplay bool       `json:"can_replay"`
}

func deliveryOf(d webhooks.Delivery) deliveryBody {
	b := deliveryBody{
		ID: d.ID, Endpoint: d.Endpoint, Notice: webhooks.MessageID(d.Notice), Kind: d.Kind, Event: known(d.Event), Subject: d.Subject,
		Version: d.Version, At: d.At.UTC(), Status: d.Status, Go: d.Go, Attempts: d.Attempts, Reason: known(d.Reason),
		EndedAt: utc(d.EndedAt), CanReplay: d.CanReplay(),
	}
	if d.Status == "waiting" {
		b.DueAt = utc(&d.DueAt)
	}
	return b
}

func (a *API) deliveries(ctx context.Context, r deliveriesRequest) (reply, error) {
	all, err := webhooks.Deliveries(ctx, a.Desk.Pool, r.Which)
	if err != nil {
		return reply{}, a.unavailable("deliveries", err)
	}
	body := struct {
		Deliveries []deliveryBody `json:"deliveries"`
		Next       *int64         `json:"next"` // before= of the next page; null: there is none
	}{Deliveries: []deliveryBody{}}
	for _, d := range all {
		body.Deliveries = append(body.Deliveries, deliveryOf(d))
	}
	if len(all) == r.Most {
		body.Next = &all[len(all)-1].ID
	}
	return reply{body: body}, nil
}

type deliveryRequest struct {
	endpointRequest
	delivery int64
}

func (a *API) readDelivery(c *fiber.Ctx) (r deliveryRequest, err error) {
	if r.endpointRequest, err = a.readEndpoint(c); err != nil {
		return r, err
	}
	return r, r.name(c)
}

func (r *deliveryRequest) name(c *fiber.Ctx) (err error) {
	if r.delivery, err = strconv.ParseInt(c.Params("delivery"), 10, 64); err != nil {
		return problem("no_such_delivery", "")
	}
	return nil
}

// deliveryWholeBody is a delivery with what is sent, to the letter, and what came back.
type deliveryWholeBody struct {
	Delivery deliveryBody `json:"delivery"`
	Body     string       `json:"body"`
	Tries    []tryBody    `json:"tries"` // the latest first
}

type tryBody struct {
	Go         int        `json:"go"`
	Attempt    int        `json:"attempt"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"` // null: it is under way
	Status     *int       `json:"status"`      // null: no answer came
	Error      string     `json:"error"`
	Answer     string     `json:"answer"` // the beginning; what is no text is shown as �
}

func (a *API) delivery(ctx context.Context, r deliveryRequest) (reply, error) {
	d, body, tries, err := a.findDelivery(ctx, r.key.Organiser, r.delivery)
	if err != nil {
		return reply{}, err
	}
	return reply{body: deliveryWholeBody{deliveryOf(d), string(body), triesOf(tries)}}, nil
}

func triesOf(tries []webhooks.Try) []tryBody {
	all := []tryBody{}
	for _, t := range tries {
		all = append(all, tryBody{t.Go, t.Attempt, t.StartedAt.UTC(), utc(t.FinishedAt), answered(t.Status), t.Error, readableText(t.Answer)})
	}
	return all
}

func (a *API) findDelivery(ctx context.Context, whose string, id int64) (webhooks.Delivery, []byte, []webhooks.Try, error) {
	d, body, tries, found, err := webhooks.FindDelivery(ctx, a.Desk.Pool, whose, id)
	switch {
	case err != nil:
		return d, nil, nil, a.unavailable("delivery", err)
	case !found:
		return d, nil, nil, problem("no_such_delivery", "")
	}
	return d, body, tries, nil
}

// readableText is what an answer says. Whatever a receiver sent is text here,
// never anything else.
func readableText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func (a *API) readReplay(c *fiber.Ctx) (r deliveryRequest, err error) {
	if r.endpointRequest, err = a.readEndpointWish(c); err != nil {
		return r, err
	}
	return r, r.name(c)
}

func (a *API) replay(ctx context.Context, r deliveryRequest) (reply, error) {
	c, err := webhooks.Replay(ctx, a.Desk.Pool, r.delivery, r.who)
	r.id = c.Endpoint.ID
	if c, err = a.changed("replay", r.endpointRequest, c, err); err != nil {
		return reply{}, err
	}
	return scheduledReply(c), nil
}

type replaysRequest struct {
	endpointRequest
	replaying webhooks.Replaying
}

func (a *API) readReplays(c *fiber.Ctx) (r replaysRequest, err error) {
	if r.endpointRequest, err = a.readEndpointWish(c); err != nil {
		return r, err
	}
	var body struct {
		Since *time.Time `json:"since"`
		Only  string     `json:"only"`
	}
	if err := jsonBody(c, &body); err != nil {
		return r, err
	}
	if body.Since == nil {
		return r, problem("bad_request", "since is missing: of what became true since when")
	}
	r.replaying = webhooks.Replaying{Since: *body.Since, Only: body.Only}
	if flaw := r.replaying.Check(); flaw != nil {
		return r, problem("bad_request", flaw.Error())
	}
	return r, nil
}

// replaySince begins many anew. What it did before its time was over stays done,
// and the same again goes on.
func (a *API) replaySince(ctx context.Context, r replaysRequest) (reply, error) {
	began := time.Now()
	out, err := webhooks.ReplaySince(ctx, a.Desk.Pool, r.id, r.replaying, r.who, func() bool { return time.Since(began) < replayMost })
	if _, err = a.changed("replay since", r.endpointRequest, webhooks.Changed{Answer: out.Answer}, err); err != nil {
		return reply{}, err
	}
	status := fiber.StatusOK
	if !out.Whole {
		status = fiber.StatusAccepted
	}
	return reply{status: status, body: map[string]any{"endpoint": r.id, "replayed": out.Replayed, "whole": out.Whole}}, nil
}
