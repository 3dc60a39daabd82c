package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/document"
	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// settingsBody is all that an organiser sets of a sale. A PUT states each of
// them: what is left out would be somebody's guess.
type settingsBody struct {
	OpensAt      time.Time  `json:"opens_at"`
	ClosesAt     *time.Time `json:"closes_at"` // null: not by itself
	Rate         *float64   `json:"rate"`      // null: nobody is let in
	LineCap      int64      `json:"line_cap"`
	OrderLimit   int        `json:"order_limit"`
	AccountLimit int        `json:"account_limit"`
	PassQuota    int        `json:"pass_quota"`
	PassLife     float64    `json:"pass_life_s"`
	CallWindow   float64    `json:"call_window_s"`
	PayWithin    float64    `json:"pay_within_s"`
	PayExtension float64    `json:"pay_extension_s"`
	SharePrior   *float64   `json:"share_prior"`   // null: not known
	TicketsPrior *float64   `json:"tickets_prior"` // null: not known
	StockSlack   float64    `json:"stock_slack"`
	MaxInside    *int64     `json:"max_inside"`    // null: no cap
	PaymentQuota *float64   `json:"payment_quota"` // null: no cap

	Late       inventory.Late       `json:"late"`
	TierLimits inventory.TierLimits `json:"tier_limits"` // null: no tier has a limit of its own
	Presales   []inventory.Presale  `json:"presales"`    // null: everything is sold to everybody
	LapseLimit int                  `json:"lapse_limit"`
	CoolDown   float64              `json:"cool_down_s"`

	RefundLimit *int64 `json:"refund_limit_minor"` // null: what the installation was told
}

// settingsMembers are the members of a settingsBody, and whether each may be
// null.
func settingsMembers() map[string]bool {
	return map[string]bool{
		"opens_at": false, "closes_at": true, "rate": true, "line_cap": false, "order_limit": false, "account_limit": false,
		"pass_quota": false, "pass_life_s": false, "call_window_s": false, "pay_within_s": false, "pay_extension_s": false,
		"share_prior": true, "tickets_prior": true, "stock_slack": false,
		"max_inside": true, "payment_quota": true, "late": false, "refund_limit_minor": true,
		"tier_limits": true, "presales": true, "lapse_limit": false, "cool_down_s": false,
	}
}

func settingsOf(e inventory.Event) settingsBody {
	b := settingsBody{
		OpensAt: e.OpensAt.UTC(), Rate: e.Rate, LineCap: e.LineCap, OrderLimit: e.OrderLimit, AccountLimit: e.AccountLimit,
		PassQuota: e.PassQuota, PassLife: e.PassLife.Seconds(), CallWindow: e.CallWindow.Seconds(),
		PayWithin: e.PayWithin.Seconds(), PayExtension: e.PayExtension.Seconds(),
		SharePrior: e.SharePrior, TicketsPrior: e.TicketsPrior, StockSlack: e.StockSlack,
		MaxInside: e.MaxInside, PaymentQuota: e.PaymentQuota, Late: e.Late, RefundLimit: e.RefundLimit,
		TierLimits: e.TierLimits, Presales: e.Presales, LapseLimit: e.LapseLimit, CoolDown: e.CoolDown.Seconds(),
	}
	if e.ClosesAt != nil {
		closes := e.ClosesAt.UTC()
		b.ClosesAt = &closes
	}
	return b
}

// on is the event with these settings. Postgres keeps microseconds.
func (b settingsBody) on(e inventory.Event) inventory.Event {
	e.OpensAt, e.ClosesAt = b.OpensAt.UTC().Truncate(time.Microsecond), b.ClosesAt
	if b.ClosesAt != nil {
		closes := b.ClosesAt.UTC().Truncate(time.Microsecond)
		e.ClosesAt = &closes
	}
	e.Rate, e.LineCap, e.OrderLimit, e.AccountLimit, e.PassQuota = b.Rate, b.LineCap, b.OrderLimit, b.AccountLimit, b.PassQuota
	e.PassLife, e.CallWindow = micros(b.PassLife), micros(b.CallWindow)
	e.PayWithin, e.PayExtension = micros(b.PayWithin), micros(b.PayExtension)
	e.SharePrior, e.TicketsPrior, e.StockSlack = b.SharePrior, b.TicketsPrior, b.StockSlack
	e.MaxInside, e.PaymentQuota, e.Late, e.RefundLimit = b.MaxInside, b.PaymentQuota, b.Late, b.RefundLimit
	e.TierLimits, e.Presales, e.LapseLimit, e.CoolDown = b.TierLimits, presalesOf(b.Presales), b.LapseLimit, micros(b.CoolDown)
	return e
}

func micros(s float64) time.Duration {
	return time.Duration(math.Round(s*1e6)) * time.Microsecond
}

// senseless names the first setting that no sale could have.
func (b settingsBody) senseless() *Problem {
	within := func(v, least, most float64) bool { return v >= least && v <= most }
	switch {
	case b.Rate != nil && !(*b.Rate > 0 && *b.Rate <= inventory.FastestRate):
		return senseless("rate", fmt.Sprintf("more than 0 and at most %d people a second, or null: nobody is let in", inventory.FastestRate))
	case b.LineCap < 1 || b.LineCap > 1_000_000_000:
		return senseless("line_cap", "1 to 1000000000 people")
	case b.OrderLimit < 1 || b.OrderLimit > 100:
		return senseless("order_limit", "1 to 100 tickets")
	case b.AccountLimit < b.OrderLimit || b.AccountLimit > 10_000:
		return senseless("account_limit", "order_limit to 10000 tickets")
	case b.PassQuota < 1 || b.PassQuota > 100:
		return senseless("pass_quota", "1 to 100 tickets")
	case !within(b.PassLife, 10, 3600):
		return senseless("pass_life_s", "10 to 3600 seconds")
	case !within(b.CallWindow, 5, 3600):
		return senseless("call_window_s", "5 to 3600 seconds")
	case !within(b.PayWithin, 1, 172_800):
		return senseless("pay_within_s", "1 to 172800 seconds")
	case !within(b.PayExtension, 0, 86_400):
		return senseless("pay_extension_s", "0 to 86400 seconds")
	case b.SharePrior != nil && !(*b.SharePrior > 0 && *b.SharePrior <= 1):
		return senseless("share_prior", "more than 0 and at most 1, or null: not known")
	case b.TicketsPrior != nil && !within(*b.TicketsPrior, 1, 100):
		return senseless("tickets_prior", "1 to 100 tickets, or null: not known")
	case !within(b.StockSlack, 0, 1):
		return senseless("stock_slack", "0 to 1")
	case b.MaxInside != nil && (*b.MaxInside < 1 || *b.MaxInside > 1_000_000_000):
		return senseless("max_inside", "1 to 1000000000 people, or null: no cap")
	case b.PaymentQuota != nil && !(*b.PaymentQuota > 0 && *b.PaymentQuota <= inventory.FastestRate):
		return senseless("payment_quota", fmt.Sprintf("more than 0 and at most %d payments a second, or null: no cap", inventory.FastestRate))
	case b.Late != inventory.LateRefund && b.Late != inventory.LateReclaim:
		return senseless("late", "refund or reclaim")
	case b.LapseLimit < 1 || b.LapseLimit > 1000:
		return senseless("lapse_limit", "1 to 1000 orders")
	case !within(b.CoolDown, 0, 86_400):
		return senseless("cool_down_s", "0 to 86400 seconds")
	case b.RefundLimit != nil && (*b.RefundLimit < 0 || *b.RefundLimit > mostRefunded):
		return senseless("refund_limit_minor", "0 (a person is always asked) to 1000000000000 minor units, or null: as the installation was told")
	case b.ClosesAt != nil && !b.ClosesAt.After(b.OpensAt):
		return senseless("closes_at", "later than opens_at, or null: not by itself")
	}
	if field, want := inventory.Senses(b.TierLimits, b.Presales); field != "" {
		return senseless(field, want)
	}
	return nil
}

// mostRefunded bounds what may be asked back without a person: a figure, and not
// a way to switch the limit off.
const mostRefunded = 1_000_000_000_000

func senseless(setting, want string) *Problem {
	return problem("senseless_setting", setting+": want "+want).with("setting", setting)
}

// settingsReply carries the settings with the tag that a PUT has to name.
func settingsReply(e inventory.Event) (reply, error) {
	tag, err := settingsTag(e)
	return reply{body: settingsOf(e), header: [][2]string{{"ETag", tag}}}, err
}

// settingsTag names the settings, and nothing else: a pause meanwhile does not
// undo anybody's editing.
func settingsTag(e inventory.Event) (string, error) {
	text, err := json.Marshal(settingsOf(e))
	return document.Plain(text).ETag, err
}

func (a *API) settings(ctx context.Context, r asked) (reply, error) {
	events, err := inventory.Events(ctx, a.Desk.Pool, r.event)
	if err != nil {
		return reply{}, a.unavailable("settings", err)
	}
	if len(events) == 0 {
		return reply{}, problem("no_such_event", "")
	}
	return settingsReply(events[0])
}

// revision is a PUT of settings.
type revision struct {
	asked
	match   string // the tag of the settings that it was made from
	confirm string
	body    settingsBody
}

func (a *API) readRevision(c *fiber.Ctx) (r revision, err error) {
	if r.asked, err = a.asks(organiser.LineWrite)(c); err != nil {
		return r, err
	}
	if r.match = c.Get("If-Match"); r.match == "" {
		return r, problem("precondition_missing", "GET the settings first, and send their ETag as If-Match.")
	}
	r.confirm = c.Get("Confirm")
	if err := everySetting(c); err != nil {
		return r, err
	}
	if err := jsonBody(c, &r.body); err != nil {
		return r, err
	}
	if p := r.body.senseless(); p != nil {
		return r, p
	}
	return r, nil
}

// everySetting refuses a body that does not state each setting, by its own name
// to the letter.
func everySetting(c *fiber.Ctx) error {
	var members map[string]json.RawMessage
	if err := jsonBody(c, &members); err != nil {
		return err
	}
	known := settingsMembers()
	for name := range members {
		if _, there := known[name]; !there {
			return problem("bad_request", strconv.Quote(name)+" is no setting")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		value, there := members[name]
		if !there || !known[name] && string(bytes.TrimSpace(value)) == "null" {
			return problem("bad_request", name+" is missing: a PUT states every setting").with("setting", name)
		}
	}
	return nil
}

func (a *API) revise(ctx context.Context, r revision) (reply, error) {
	if len(r.body.TierLimits) > 0 || len(r.body.Presales) > 0 {
		parts, err := inventory.PartsOf(ctx, a.Desk.Pool, r.event)
		if err != nil {
			return reply{}, a.unavailable("revise settings", err)
		}
		if field, name := parts.Lack(r.body.TierLimits, r.body.Presales); field != "" {
			return reply{}, senseless(field, "names of tiers, and of sections with numbered seats; the hall has no "+strconv.Quote(name))
		}
	}
	e, change, err := inventory.Revise(ctx, a.Desk.Pool, r.event, inventory.Asker{By: r.key.Name}, r.decide)
	var no *Problem
	switch {
	case errors.As(err, &no):
		return reply{}, no
	case err != nil:
		return reply{}, a.unavailable("revise settings", err)
	case change == inventory.NoSuchEvent:
		return reply{}, problem("no_such_event", "")
	case change == inventory.Changed:
		a.Desk.Changed(ctx, r.event)
	}
	return settingsReply(e)
}

// decide says what the settings are to be, or why not. What is so already is
// nobody's business.
func (r revision) decide(now time.Time, old inventory.Event) (inventory.Event, error) {
	e := r.body.on(old)
	tag, err := settingsTag(old)
	wanted, wrong := settingsTag(e)
	switch {
	case err != nil || wrong != nil:
		return old, errors.Join(err, wrong)
	case wanted == tag: // also for who asks again because the answer was lost
		return old, nil
	case !matches(r.match, tag):
		return old, problem("settings_changed", "Somebody changed them meanwhile: GET them again.").with("etag", tag)
	}
	moved := !e.OpensAt.Equal(old.OpensAt)
	closes := e.ClosesAt != nil && (old.ClosesAt == nil || !e.ClosesAt.Equal(*old.ClosesAt))
	switch {
	case r.movesLimit(old) && !r.key.May(organiser.RefundsApprove):
		return old, problem("scope_missing", "refund_limit_minor: who sets it says which refunds need nobody's yes; this key lacks "+string(organiser.RefundsApprove)+".")
	case old.Control == string(inventory.ClosedForGood) && !r.limitAlone(old):
		return old, problem("sale_closed", "Closed is final.")
	case reopens(now, old.ClosesAt, e.ClosesAt):
		return old, problem("sale_closed", "closes_at is past: closed is final.")
	case moved && !old.OpensAt.After(now):
		return old, senseless("opens_at", "what it is: the sale has begun")
	case moved && e.OpensAt.Before(now.Add(-inventory.PastOpening)):
		return old, senseless("opens_at", fmt.Sprintf("a time to come, or within the last %s: once it has passed it stays", inventory.PastOpening))
	case moved && e.Draw != nil && e.OpensAt.Before(e.Draw.LobbyClosesAt.Add(inventory.DrawLead)):
		return old, senseless("opens_at", fmt.Sprintf("at least %s after the lobby closes, at %s: the draw comes between",
			inventory.DrawLead, e.Draw.LobbyClosesAt.UTC().Format(time.RFC3339)))
	case closes && !e.ClosesAt.After(now):
		return old, senseless("closes_at", "a time to come; to close now, close the sale")
	}
	return e, r.bounded(old.Rate, e.Rate)
}

// reopens: a sale that is over by its closing time would be given another, or none.
func reopens(now time.Time, was, is *time.Time) bool {
	return was != nil && !was.After(now) && (is == nil || !is.Equal(*was))
}

func (r revision) movesLimit(old inventory.Event) bool {
	was, is := old.RefundLimit, r.body.RefundLimit
	return (was == nil) != (is == nil) || was != nil && *was != *is
}

// limitAlone: refunds are asked for after a sale has closed, too.
func (r revision) limitAlone(old inventory.Event) bool {
	e := r.body.on(old)
	e.RefundLimit = old.RefundLimit
	was, err := settingsTag(old)
	is, wrong := settingsTag(e)
	return err == nil && wrong == nil && was == is
}

// bounded asks whether a rate that more than doubles is meant: what is behind
// the line would find out at once. The confirmation names the rate, so that it
// is good for no other.
func (r revision) bounded(from, to *float64) error {
	if from == nil || to == nil || *to <= 2**from {
		return nil
	}
	meant := "rate=" + strconv.FormatFloat(*to, 'g', -1, 64)
	if r.confirm == meant {
		return nil
	}
	return problem("confirm_needed", fmt.Sprintf(
		"From %g to %g people a second is more than twice as many. If it is meant, send the same again with the header Confirm: %s", *from, *to, meant,
	)).with("confirm", meant).with("setting", "rate")
}

// matches compares as RFC 9110 has it for If-Match: strongly, over a list.
func matches(match, tag string) bool {
	for one := range strings.SplitSeq(match, ",") {
		if one = strings.TrimSpace(one); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// presalesOf are presales as they are kept: lists that are there, microseconds.
func presalesOf(all []inventory.Presale) []inventory.Presale {
	out := slices.Clone(all)
	for i, p := range out {
		out[i].Tiers, out[i].Sections = append([]string{}, p.Tiers...), append([]string{}, p.Sections...)
		if p.Until != nil {
			until := p.Until.UTC().Truncate(time.Microsecond)
			out[i].Until = &until
		}
	}
	return out
}
