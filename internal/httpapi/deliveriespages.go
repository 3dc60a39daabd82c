package httpapi

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

// webhooksPage is an organiser's endpoints, and their deliveries: what is to be
// said of it, it says by itself.
type webhooksPage struct {
	frame
	Endpoints  []endpointRow
	Deliveries []webhooks.Delivery
	Which      webhooks.Which
	Since      string // as the form has it
	Statuses   []string
	Kinds      []string
	Filtered   bool
	Older      string // where the page before this one is; empty: there is none
}

type endpointRow struct {
	webhooks.Health
	Says string
	To   []webhooks.State // what it may be made
}

// endpointSays is an endpoint's state in a person's words.
func endpointSays(h webhooks.Health) string {
	switch {
	case h.Reason == "gone":
		return "Disabled: its receiver said that it is gone. What is for it waits."
	case h.Reason == "failing":
		return "Disabled: it failed for too long. What is for it waits."
	case h.State == webhooks.Disabled:
		return "Disabled. What is for it waits."
	case h.State == webhooks.Draining:
		return "Draining: no new attempt begins. What is for it waits."
	case h.Failures > 0:
		return fmt.Sprintf("Active, and failing: %d attempts one after the other.", h.Failures)
	}
	return "Active."
}

func endpointRows(all []webhooks.Health) (rows []endpointRow) {
	for _, h := range all {
		row := endpointRow{Health: h, Says: endpointSays(h)}
		for _, to := range webhooks.States() {
			if to != h.State {
				row.To = append(row.To, to)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

const formTime = "2006-01-02T15:04" // as a datetime-local field sends it; UTC here

func (p *pages) webhooks(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.WebhooksRead)
	if err != nil {
		return p.turnAway(c, err)
	}
	page := webhooksPage{
		frame: humanFrame("Webhooks", c.Query("said")), Since: c.Query("since"),
		Statuses: []string{"waiting", "sending", "delivered", "dead"}, Kinds: append(webhooks.Kinds(), "endpoint.test"),
	}
	if err := page.read(c); err != nil {
		return p.sorry(c, err)
	}
	page.Which.Organiser, page.Which.Most = w.key.Organiser, changesUsual
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	all, err := webhooks.HealthOf(ctx, p.api.Desk.Pool, w.key.Organiser, "")
	if err != nil {
		return p.sorry(c, p.api.unavailable("endpoints", err))
	}
	if page.Deliveries, err = webhooks.Deliveries(ctx, p.api.Desk.Pool, page.Which); err != nil {
		return p.sorry(c, p.api.unavailable("deliveries", err))
	}
	page.Endpoints = endpointRows(all)
	page.Older = page.older()
	return p.show(c, "webhooks.html", page, personal)
}

// read takes the filter from the address.
func (page *webhooksPage) read(c *fiber.Ctx) (err error) {
	if page.Which, err = whichOf(c); err != nil {
		return err
	}
	if page.Since != "" {
		if page.Which.Since, err = time.Parse(formTime, page.Since); err != nil {
			return problem("bad_request", "Since: a day and a time, as 2026-07-01T18:30")
		}
	}
	w := page.Which
	page.Filtered = w.Endpoint+w.Status+w.Kind+w.About+page.Since != ""
	return nil
}

// older is the address of the next page of the same deliveries.
func (page *webhooksPage) older() string {
	if len(page.Deliveries) < page.Which.Most {
		return ""
	}
	q := url.Values{"before": {strconv.FormatInt(page.Deliveries[len(page.Deliveries)-1].ID, 10)}}
	for name, value := range map[string]string{
		"endpoint": page.Which.Endpoint, "status": page.Which.Status, "kind": page.Which.Kind, "about": page.Which.About, "since": page.Since,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/webhooks?" + q.Encode() + "#deliveries"
}

// webhooksEndpoint makes an endpoint active, draining or disabled, or tests it.
// Done twice it is done once.
func (p *pages) webhooksEndpoint(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.WebhooksWrite)
	if err != nil {
		return p.turnAway(c, err)
	}
	who := webhooks.Asker{Organiser: w.key.Organiser, By: w.by()}
	r := endpointRequest{id: c.Params("endpoint"), who: who}
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	if !isText(r.id) {
		return p.said(c, "/webhooks", problem("no_such_endpoint", ""))
	}
	var done webhooks.Changed
	do := c.FormValue("do")
	if do == "test" {
		done, err = webhooks.Test(ctx, p.api.Desk.Pool, r.id, who)
	} else {
		done, err = webhooks.SetState(ctx, p.api.Desk.Pool, r.id, webhooks.State(do), who)
	}
	_, err = p.api.changed(do, r, done, err)
	return p.said(c, "/webhooks", err)
}

type deliveryPage struct {
	frame
	Delivery webhooks.Delivery
	Body     string
	Tries    []tryBody
}

func (p *pages) webhooksDelivery(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.WebhooksRead)
	if err != nil {
		return p.turnAway(c, err)
	}
	id, _ := strconv.ParseInt(c.Params("delivery"), 10, 64)
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	d, body, tries, err := p.api.findDelivery(ctx, w.key.Organiser, id)
	if err != nil {
		return p.sorry(c, err)
	}
	page := deliveryPage{
		frame: humanFrame(fmt.Sprintf("Delivery %d: %s", d.ID, d.Kind), c.Query("said")), Delivery: d, Body: string(body), Tries: triesOf(tries),
	}
	return p.show(c, "webhooksdelivery.html", page, personal)
}

// webhooksReplay begins a delivery anew. Sent twice, the second finds that it is
// on its way.
func (p *pages) webhooksReplay(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.WebhooksWrite)
	if err != nil {
		return p.turnAway(c, err)
	}
	id, _ := strconv.ParseInt(c.Params("delivery"), 10, 64)
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	who := webhooks.Asker{Organiser: w.key.Organiser, By: w.by()}
	done, err := webhooks.Replay(ctx, p.api.Desk.Pool, id, who)
	_, err = p.api.changed("replay", endpointRequest{id: done.Endpoint.ID, who: who}, done, err)
	return p.said(c, "/webhooks/deliveries/"+strconv.FormatInt(id, 10), err)
}
