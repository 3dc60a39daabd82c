package httpapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/organiser"
	"waitroom/internal/support"
)

// operatorPages are the human list and the webhooks, on the operators' listener:
// forms and links, without a script. A person signs in by the browser's own
// prompt, with their name and an organiser's key; both stand in the history.
func (a *API) operatorPages(app *fiber.App) {
	p, err := newPages(a)
	if err != nil { // the templates are aboard: a mistake of ours, said to whoever asks
		app.Get("/human", func(*fiber.Ctx) error { return err })
		app.Get("/webhooks", func(*fiber.Ctx) error { return err })
		return
	}
	app.Get("/assets/:hash/:name", p.asset)
	app.Get("/", func(c *fiber.Ctx) error { return c.Redirect("/console", fiber.StatusSeeOther) })
	app.Get("/console", p.console)
	p.docs(app)
	app.Get("/human", p.human)
	app.Get("/human/:item", p.humanItem)
	app.Post("/human/approvals/:approval", p.sameOrigin, p.humanDecide)
	app.Post("/human/:item", p.sameOrigin, p.humanAct)
	app.Get("/webhooks", p.webhooks)
	app.Post("/webhooks/endpoints/:endpoint", p.sameOrigin, p.webhooksEndpoint)
	app.Get("/webhooks/deliveries/:delivery", p.webhooksDelivery)
	app.Post("/webhooks/deliveries/:delivery/replay", p.sameOrigin, p.webhooksReplay)
}

// console is the same for everybody: who has no key sees nothing by it.
func (p *pages) console(c *fiber.Ctx) error {
	return p.show(c, "console.html", struct {
		frame
		Origin string
	}{frame{Title: "Organiser’s console – Waitroom"}, c.BaseURL()}, personal)
}

// worker is a person and the key that they came with.
type worker struct {
	key    organiser.Key
	person string
}

func (w worker) by() string { return w.key.Name + "/" + w.person }

// worker asks the browser for a name and a key, until it has a good one.
func (p *pages) worker(c *fiber.Ctx, scope organiser.Scope) (worker, error) {
	look := p.api.Desk.Ring.Look(time.Now())
	if !look.Fresh() {
		return worker{}, problem("unavailable", "Keys cannot be read just now.").after(2 * time.Second)
	}
	kind, coded, _ := strings.Cut(c.Get("Authorization"), " ")
	text, err := base64.StdEncoding.DecodeString(coded)
	person, token, ok := strings.Cut(string(text), ":")
	person = strings.TrimSpace(person)
	if err != nil || !ok || !strings.EqualFold(kind, "Basic") || person == "" || len(person) > 60 || !isText(person) {
		return worker{}, problem("token_missing", "Sign in with your name, and an organiser's key as the password.")
	}
	key, ok := look.Key(token)
	if !ok {
		return worker{}, problem("token_invalid", "")
	}
	if !key.May(scope) {
		return worker{}, problem("scope_missing", "This key lacks "+string(scope)+".")
	}
	return worker{key, person}, nil
}

// turnAway shows a refusal; who is not signed in is asked to.
func (p *pages) turnAway(c *fiber.Ctx, err error) error {
	var refused *Problem
	if errors.As(err, &refused) && refused.Status == fiber.StatusUnauthorized {
		c.Set("WWW-Authenticate", `Basic realm="Waitroom: your name, and a key", charset="UTF-8"`)
	}
	return p.sorry(c, err)
}

type humanPage struct {
	frame
	Approvals []approvalRow
	After     int64 // the approval that the page is after; 0: the first page
	NextAfter int64 // 0: no more wait
	Items     []support.Item
	Resolved  bool
	Next      int64 // 0: there is no other page
}

type approvalRow struct {
	support.Approval
	Why string
}

func (p *pages) human(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.RefundsRead)
	if err != nil {
		return p.turnAway(c, err)
	}
	page := humanPage{frame: humanFrame("Human list", c.Query("said")), Resolved: c.Query("state") == "resolved"}
	before, _ := strconv.ParseInt(c.Query("before"), 10, 64)
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	which := support.Which{Organiser: w.key.Organiser, Resolved: page.Resolved, Before: before, Most: changesUsual}
	if page.Items, err = support.Items(ctx, p.api.Desk.Pool, which); err != nil {
		return p.sorry(c, p.api.unavailable("human list", err))
	}
	if len(page.Items) == which.Most {
		page.Next = page.Items[which.Most-1].ID
	}
	if !page.Resolved && before == 0 {
		page.After, _ = strconv.ParseInt(c.Query("after"), 10, 64)
		if err := p.approvals(ctx, w, &page); err != nil {
			return p.sorry(c, err)
		}
	}
	return p.show(c, "human.html", page, personal)
}

// approvals are those that wait, the oldest first, by the page.
func (p *pages) approvals(ctx context.Context, w worker, page *humanPage) error {
	which := support.WhichApprovals{Organiser: w.key.Organiser, After: page.After, Most: changesUsual}
	all, err := support.Approvals(ctx, p.api.Desk.Pool, which)
	if err != nil {
		return p.api.unavailable("approvals", err)
	}
	for _, v := range all {
		why := "More is asked of this order than may be without a person."
		if v.Cause == support.RefundedByHand {
			why = "Part of its payment went back by hand, nobody knows for what."
		}
		page.Approvals = append(page.Approvals, approvalRow{v, why})
	}
	if len(all) == which.Most {
		page.NextAfter = all[which.Most-1].ID
	}
	return nil
}

func humanFrame(heading, said string) frame {
	return frame{Title: heading + " – Waitroom", Heading: heading, Message: saidOf(said)}
}

// saidOf is what an address may have a page say; anything else says nothing.
func saidOf(code string) string {
	if code == "done" {
		return "Done; it stands in the history."
	}
	if known, ok := problems[code]; ok {
		return "Not done. " + known.title + "."
	}
	return ""
}

type itemPage struct {
	frame
	Item  support.Item
	Past  []support.Past
	Deeds []deedButton
	Found bool   // it may be said to be refunded
	Key   string // of what is sent from this page: the button pressed twice is one deed
}

type deedButton struct {
	Do   support.Do
	Says string
}

func deedsOf(i support.Item) (all []deedButton) {
	says := map[support.Do]string{
		support.Take: "Take it", support.Note: "Note this", support.Resolve: "Resolve it", support.Push: "Push the refund again",
		support.Refunded: "It is refunded", support.NotRefunded: "It is not refunded", support.Renew: "Begin another refund", support.RenewBeside: "Begin another refund all the same", support.Reopen: "Open it again",
		support.LookAgain: "Ask the provider again", support.GiveBack: "Give the order’s seats back",
	}
	for _, do := range i.Can() {
		all = append(all, deedButton{do, says[do]})
	}
	return all
}

func (p *pages) humanItem(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.RefundsRead)
	if err != nil {
		return p.turnAway(c, err)
	}
	id, _ := strconv.ParseInt(c.Params("item"), 10, 64)
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	i, past, found, err := support.FindItem(ctx, p.api.Desk.Pool, w.key.Organiser, id)
	switch {
	case err != nil:
		return p.sorry(c, p.api.unavailable("human list", err))
	case !found:
		return p.sorry(c, problem("no_such_item", ""))
	}
	page := itemPage{frame: humanFrame(fmt.Sprintf("%d: %s", i.ID, i.Kind), c.Query("said")), Item: i, Past: past, Deeds: deedsOf(i), Key: "page-" + uuid.NewString()}
	for _, d := range page.Deeds {
		page.Found = page.Found || d.Do == support.Refunded
	}
	return p.show(c, "humanitem.html", page, personal)
}

func (p *pages) humanAct(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.HumanWrite)
	if err != nil {
		return p.turnAway(c, err)
	}
	id, _ := strconv.ParseInt(c.Params("item"), 10, 64)
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	key := c.FormValue("key")
	if err = checkKey(key); err == nil {
		err = p.api.act(ctx, support.Deed{
			Item: id, Organiser: w.key.Organiser, By: w.by(), Do: support.Do(c.FormValue("do")), Why: c.FormValue("why"), Refund: c.FormValue("refund"),
			Attempt: key,
		})
	}
	return p.said(c, "/human/"+strconv.FormatInt(id, 10), err)
}

func (p *pages) humanDecide(c *fiber.Ctx) error {
	w, err := p.worker(c, organiser.RefundsApprove)
	if err != nil {
		return p.turnAway(c, err)
	}
	id, _ := strconv.ParseInt(c.Params("approval"), 10, 64)
	to := "/human" // the page of approvals that they were on
	if after, _ := strconv.ParseInt(c.Query("after"), 10, 64); after > 0 {
		to = "/human?after=" + strconv.FormatInt(after, 10)
	}
	decision := c.FormValue("decision")
	if decision != "approved" && decision != "refused" {
		return p.said(c, to, problem("bad_request", ""))
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), deskDeadline)
	defer cancel()
	_, err = p.api.decide(ctx, support.Deciding{
		Approval: id, Organiser: w.key.Organiser, By: w.by(), Yes: decision == "approved", Note: c.FormValue("note"),
	})
	return p.said(c, to, err)
}

// said leads back to a page that says what became of a form.
func (p *pages) said(c *fiber.Ctx, to string, err error) error {
	code := "done"
	var refused *Problem
	if errors.As(err, &refused) {
		code = refused.Code
	} else if err != nil {
		return p.sorry(c, err)
	}
	c.Set("Cache-Control", personal)
	mark := "?"
	if strings.Contains(to, "?") {
		mark = "&"
	}
	return c.Redirect(to+mark+"said="+url.QueryEscape(code), fiber.StatusSeeOther)
}
