package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
)

const (
	claimWait = 3 * time.Second // for a claim's outcome, without Prefer
	claimMost = 10 * time.Second
	mostSeats = 100 // that one request may name
)

// wish is what a claim asks for: seats by name, a quantity of a tier, or the best.
type wish struct {
	Seats    []string        `json:"seats,omitempty"`
	Tier     string          `json:"tier,omitempty"`
	Quantity int             `json:"quantity,omitempty"`
	Best     *inventory.Best `json:"best,omitempty"`
	Code     string          `json:"code,omitempty"` // of a presale
}

// check refuses what no sale could grant, naming the member.
func (w wish) check() error {
	switch {
	case w.Best != nil && (len(w.Seats) > 0 || w.Tier != "" || w.Quantity != 0):
		return problem("bad_request", "best stands alone: no seats, tier or quantity beside it")
	case w.Best != nil && (w.Best.Count < 1 || w.Best.Count > mostSeats):
		return problem("bad_request", fmt.Sprintf("best.count: a whole number from 1 to %d", mostSeats))
	case w.Best != nil && (w.Best.Accessible < 0 || w.Best.Accessible > w.Best.Count):
		return problem("bad_request", "best.accessible: a whole number from 0 to best.count")
	case w.Best != nil:
		return nil
	case len(w.Seats) > 0 && (w.Tier != "" || w.Quantity != 0):
		return problem("bad_request", "either seats, or tier and quantity")
	case len(w.Seats) > mostSeats:
		return problem("bad_request", fmt.Sprintf("seats: %d at most", mostSeats))
	case len(w.Seats) == 0 && w.Tier == "":
		return problem("bad_request", "seats, or tier and quantity, or best, are missing")
	case w.Tier != "" && (w.Quantity < 1 || w.Quantity > mostSeats):
		return problem("bad_request", fmt.Sprintf("quantity: a whole number from 1 to %d", mostSeats))
	}
	seen := make(map[string]bool, len(w.Seats))
	for _, s := range w.Seats {
		if s == "" || utf8.RuneCountInString(s) > 100 {
			return problem("bad_request", "seats: each is a text of 1 to 100 characters")
		}
		if seen[s] {
			return problem("bad_request", "seats: "+strconv.Quote(s)+" is there twice")
		}
		seen[s] = true
	}
	return nil
}

// size is how many seats are wished for.
func (w wish) size() int {
	if w.Best != nil {
		return w.Best.Count
	}
	return len(w.Seats) + w.Quantity
}

// hash names what is wished for, however it was spelt.
func (w wish) hash() [32]byte {
	w.Seats, w.Code = slices.Sorted(slices.Values(w.Seats)), admission.PlainCode(w.Code)
	text, _ := json.Marshal(w) // texts and a number always marshal
	return sha256.Sum256(text)
}

type claimRequest struct {
	event, token, key string
	wait              time.Duration
	wish              wish
}

func (r *claimRequest) decode(c *fiber.Ctx) (err error) {
	r.event, r.token, r.wait = c.Params("event"), bearer(c), claimWait
	if r.token == "" {
		return problem("token_missing", "")
	}
	if r.key, err = idempotencyKey(c); err != nil {
		return err
	}
	if r.wait, err = preferWait(c.Get("Prefer")); err != nil {
		return err
	}
	if err := jsonBody(c, &r.wish); err != nil {
		return err
	}
	return r.wish.check()
}

// preferWait reads wait=n of RFC 7240; other preferences are not ours to judge.
func preferWait(prefer string) (time.Duration, error) {
	for p := range strings.SplitSeq(prefer, ",") {
		p, _, _ = strings.Cut(p, ";") // parameters are not ours
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "wait") {
			continue
		}
		s, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64) // out of range: the most there is
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, problem("bad_request", "Prefer: wait is a whole number of seconds")
		}
		return time.Duration(min(s, uint64(claimMost/time.Second))) * time.Second, nil
	}
	return claimWait, nil
}

// claim asks for seats. Everything about the sale that is refused here is also
// refused in the claim's own transaction; here it only costs less.
func (a *API) claim(ctx context.Context, r claimRequest) (reply, error) {
	line, hall, err := a.sale(r.event)
	if err != nil {
		return reply{}, err
	}
	sale := line.Sale()
	if sale.Open {
		return a.claimOpen(ctx, line, hall, r)
	}
	pass, err := a.Tokens.Passes.Check(r.token, r.event, sale.Epoch, time.Now())
	if err != nil {
		return reply{}, passRefused(err)
	}
	attempt, err := hall.attempt(r, pass)
	if err != nil {
		return reply{}, err
	}
	line.Alive(pass)
	asked, cancel := r.waits(ctx)
	defer cancel()
	answer, err := a.Claim(asked, attempt)
	if err != nil {
		return a.unanswered(r, asked, err)
	}
	if answer.Outcome == inventory.Taken || answer.Outcome == inventory.SoldOut {
		line.FoundNothing(pass, int64(r.wish.size()))
	}
	return a.answered(ctx, hall, r, pass.Holder, answer)
}

// waits is for as long as the caller does.
func (r claimRequest) waits(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(r.wait, 100*time.Millisecond))
}

// attempt is the claim as the inventory takes it. The account is the pass's
// holder: where the event asks for accounts it is made of one, and is the same
// for all places that the account had here; else it stands for whoever has the
// secret.
func (h *Hall) attempt(r claimRequest, p admission.Pass) (inventory.Attempt, error) {
	at := inventory.Attempt{
		Event: r.event, Account: p.Holder, Holder: p.Holder, Epoch: p.Epoch, Place: p.Place, Take: p.Take,
		Quota: p.Quota, Key: r.key, BodyHash: r.wish.hash(), Tier: r.wish.Tier, Quantity: r.wish.Quantity, Best: r.wish.Best,
	}
	if r.wish.Code != "" {
		hash, ok := admission.CodeHash(r.event, r.wish.Code)
		if !ok {
			return at, problem("code_unknown", "A code is 6 to 64 letters and digits.")
		}
		at.Code = hash[:]
	}
	if r.wish.Best != nil {
		return at, h.offers(*r.wish.Best)
	}
	if r.wish.Tier != "" && !h.tiers[r.wish.Tier] {
		return at, problem("unknown_tier", strconv.Quote(r.wish.Tier)+" has no general admission")
	}
	ids, unknown := h.pick(r.wish.Seats)
	if len(unknown) > 0 {
		return at, problem("unknown_seat", strings.Join(unknown, ", "))
	}
	at.Seats = ids
	return at, nil
}

// unanswered tells apart a claim that was not taken up from one whose outcome
// is not known. When the caller's own wait ended, the outcome has a place.
func (a *API) unanswered(r claimRequest, asked context.Context, err error) (reply, error) {
	switch {
	case errors.Is(err, inventory.ErrUnknown) && asked.Err() != nil:
		at := "/v1/events/" + r.event + "/attempts/" + url.PathEscape(r.key)
		return reply{status: fiber.StatusAccepted, header: [][2]string{{"Location", at}, {"Retry-After", "1"}}}, nil
	case errors.Is(err, inventory.ErrUnknown):
		return reply{}, problem("claim_unknown", "")
	case errors.Is(err, inventory.ErrBusy):
		return reply{}, problem("busy", "")
	case errors.Is(err, inventory.ErrBadAttempt):
		return reply{}, problem("bad_request", err.Error())
	}
	return reply{}, err
}

func (a *API) answered(ctx context.Context, hall *Hall, r claimRequest, holder string, answer inventory.Answer) (reply, error) {
	switch answer.Outcome {
	case inventory.Claimed, inventory.Already:
		order, err := a.orderOf(ctx, answer.Order, holder)
		if err != nil {
			return reply{}, problem("claim_unknown", "") // it is there; reading it failed
		}
		status := fiber.StatusCreated
		if answer.Outcome == inventory.Already {
			status = fiber.StatusOK
		}
		return reply{status: status, body: order}, nil
	case inventory.Taken:
		return reply{}, problem("seats_taken", "").with("taken", hall.names(r.wish.Seats, answer.Taken))
	case inventory.SoldOut:
		return reply{}, problem("sold_out", "").with("left", answer.Left)
	case inventory.OverLimit:
		refused := problem("over_limit", "").with("limit", answer.Limit)
		if answer.Limit == inventory.PendingOrder {
			refused = refused.with("order", answer.Order)
		}
		return reply{}, refused
	case inventory.KeyReused:
		return reply{}, problem("key_reused", "")
	case inventory.SaleClosed:
		return reply{}, problem("sale_closed", "")
	case inventory.SaleNotOpen:
		return reply{}, problem("sale_not_open", "").after(time.Second)
	case inventory.SalePaused:
		return reply{}, salePaused()
	case inventory.CodeUnknown:
		return reply{}, problem("code_unknown", "")
	case inventory.CodeSpent:
		return reply{}, problem("code_spent", "").with("left", answer.Left)
	case inventory.CodeNeeded:
		return reply{}, problem("code_needed", "").with("taken", hall.names(r.wish.Seats, answer.Taken))
	case inventory.CoolDown:
		return reply{}, problem("cool_down", "Orders of yours ran out unpaid.").after(answer.Wait)
	}
	return reply{}, fmt.Errorf("claim answered %q", answer.Outcome)
}
