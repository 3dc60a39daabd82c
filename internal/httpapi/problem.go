package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Problem is a refusal as the client sees it: RFC 9457, with a code that stays
// the same for ever. It is an error so that a handler can just return it.
type Problem struct {
	Status     int
	Code       string
	Title      string
	Detail     string         // what this client can do about it; "" when Title says all
	RetryAfter time.Duration  // 0: do not just try again
	Extra      map[string]any // further members
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail) }

// problems is every code there is, with its status and its title. api/openapi.yaml
// lists them; a code is never given another meaning.
var problems = map[string]struct {
	status int
	title  string
}{
	"bad_request":          {400, "The request is not what this route takes"},
	"key_missing":          {400, "This request needs an Idempotency-Key"},
	"token_missing":        {401, "This request needs a bearer token"},
	"ticket_invalid":       {401, "This is not a ticket for this line"},
	"token_invalid":        {401, "This is no key, or it is not good any more"},
	"pass_invalid":         {401, "This is not a pass for this event, or it has run out"},
	"bad_signature":        {400, "The notice is not signed by the provider"},
	"account_required":     {401, "This event asks for an account"},
	"account_invalid":      {401, "This account's token is not taken"},
	"code_required":        {403, "This event asks for an access code"},
	"code_wrong":           {403, "This is not an access code for this event"},
	"code_unknown":         {403, "This is not a presale code for this event"},
	"code_needed":          {403, "This is sold to presale codes"},
	"challenge_required":   {403, "Please show that you are a person"},
	"foreign_origin":       {403, "This form was sent from another site"},
	"scope_missing":        {403, "This key may not do that"},
	"own_request":          {403, "Nobody approves what they asked for"},
	"no_such_route":        {404, "There is nothing here"},
	"no_such_event":        {404, "There is no such event"},
	"no_such_order":        {404, "There is no such order"},
	"no_such_line":         {404, "The order has no such line"},
	"no_such_approval":     {404, "There is no such approval"},
	"no_such_item":         {404, "There is no such item"},
	"no_such_endpoint":     {404, "There is no such endpoint"},
	"no_such_delivery":     {404, "There is no such delivery"},
	"attempt_unknown":      {404, "Nothing is known of this attempt"},
	"method_not_allowed":   {405, "This route does not take that method"},
	"not_acceptable":       {406, "There is no such representation"},
	"code_used_up":         {409, "This access code is used up"},
	"code_spent":           {409, "Less is left of this presale code than that"},
	"seats_taken":          {409, "Some of these seats have just gone"},
	"sold_out":             {409, "There are not that many left"},
	"over_limit":           {409, "That is more than one may have"},
	"lobby_not_open":       {409, "The lobby is not open yet"},
	"sale_not_open":        {409, "The sale is not open yet"},
	"no_line":              {409, "This event is sold without a line"},
	"sale_closed":          {409, "The sale is over"},
	"order_paid":           {409, "The order is paid"},
	"order_ended":          {409, "The order has ended"},
	"too_many_payments":    {409, "The order has too many open payments"},
	"confirm_needed":       {409, "Is this meant?"},
	"order_not_paid":       {409, "The order is not paid"},
	"seat_cheaper":         {409, "That seat costs less"},
	"line_refunding":       {409, "A refund of this line was asked for"},
	"nothing_to_refund":    {409, "This line cost nothing"},
	"already_refunded":     {409, "The money has gone back already"},
	"approval_refused":     {409, "A person refused this refund"},
	"refund_refused":       {409, "The money did not go back"},
	"approval_decided":     {409, "This approval was decided already"},
	"approval_changed":     {409, "This is not what was asked any more; it has to be asked anew"},
	"not_now":              {409, "The item is not in a state that allows this"},
	"by_hand_too":          {409, "Of this payment somebody refunded by hand, and that may be this"},
	"refund_taken":         {409, "That refund is another operation's"},
	"refund_differs":       {409, "That refund did not give this back"},
	"too_many_endpoints":   {409, "There are as many endpoints as there may be"},
	"secret_rotating":      {409, "The secret before this one is still good"},
	"delivery_not_ended":   {409, "This delivery is on its way"},
	"event_exists":         {409, "There is an event of that id already"},
	"plan_there":           {409, "The event has a plan"},
	"plan_fixed":           {409, "The event has orders; its hall cannot change any more"},
	"plan_lacks":           {409, "The new hall lacks what the event needs"},
	"epoch_changed":        {410, "The line was started anew; please join again"},
	"place_left":           {410, "This place was given up"},
	"place_over":           {410, "This place's pass has run out"},
	"settings_changed":     {412, "These are not the settings that you saw"},
	"too_large":            {413, "The request is too large"},
	"encoding_refused":     {415, "Content-Encoding is not taken here"},
	"key_reused":           {422, "This Idempotency-Key was used for another request"},
	"unknown_seat":         {422, "There is no such seat"},
	"unknown_tier":         {422, "There is no such price tier"},
	"unknown_section":      {422, "There is no such section"},
	"flawed_file":          {422, "The file says something that cannot be"},
	"senseless_setting":    {422, "There can be no such setting"},
	"precondition_missing": {428, "This request needs an If-Match"},
	"cool_down":            {429, "Too many orders were left unpaid; please wait before the next"},
	"too_many_requests":    {429, "Too many requests"},
	"headers_too_large":    {431, "The request's headers are too large"},
	"internal":             {500, "Something went wrong here"},
	"busy":                 {503, "Too much at once; please try again"},
	"line_full":            {503, "The line is at its cap"},
	"unavailable":          {503, "Not available just now"},
	"claim_unknown":        {503, "Not known whether the seats were taken; ask again with the same key"},
	"payment_unknown":      {503, "Not known whether the payment was opened; ask again with the same key"},
	"payments_throttled":   {503, "As many payments are being opened as the provider allows; ask again with the same key"},
	"provider_unavailable": {503, "The payment provider does not answer"},
	"refunds_behind":       {503, "Refunds are behind; please ask later"},
	"refund_unknown":       {503, "Not known whether the refund was accepted; see how it stands"},
}

// problem makes a refusal by its code. An unlisted code is a mistake of ours
// and is answered as one.
func problem(code, detail string) *Problem {
	p, ok := problems[code]
	if !ok {
		return &Problem{Status: 500, Code: "internal", Title: problems["internal"].title, Detail: "unlisted problem " + code}
	}
	out := &Problem{Status: p.status, Code: code, Title: p.title, Detail: detail}
	if p.status == 503 || p.status == 429 {
		out.RetryAfter = time.Second
	}
	return out
}

func (p *Problem) with(key string, value any) *Problem {
	if p.Extra == nil {
		p.Extra = map[string]any{}
	}
	p.Extra[key] = value
	return p
}

func (p *Problem) after(d time.Duration) *Problem {
	p.RetryAfter = d
	return p
}

// body is the problem as RFC 9457 writes it.
func (p *Problem) body() map[string]any {
	body := map[string]any{"type": "/problems/" + p.Code, "title": p.Title, "status": p.Status, "code": p.Code}
	for k, v := range p.Extra {
		body[k] = v
	}
	if p.Detail != "" {
		body["detail"] = p.Detail
	}
	return body
}

// send writes the problem. Whatever a client may not keep says so.
func (p *Problem) send(c *fiber.Ctx) error {
	text, err := json.Marshal(p.body())
	if err != nil {
		return err
	}
	if p.RetryAfter > 0 {
		c.Set("Retry-After", strconv.Itoa(seconds(p.RetryAfter)))
	}
	if p.Status == 401 {
		c.Set("WWW-Authenticate", "Bearer")
	}
	c.Set("Cache-Control", "private, no-store")
	c.Set("Content-Type", "application/problem+json")
	return c.Status(p.Status).Send(text)
}

// failed answers what a handler returned: a Problem as it is, fiber's own
// refusals by our codes, and anything else as a fault, whose cause is logged
// here, once, and kept from the client.
func failed(log *slog.Logger) fiber.ErrorHandler {
	return func(c *fiber.Ctx, err error) error {
		var p *Problem
		if errors.As(err, &p) {
			return p.send(c)
		}
		var own *fiber.Error
		if errors.As(err, &own) {
			return ofFiber(own).send(c)
		}
		log.Error("request failed", "method", c.Method(), "route", c.Route().Path, "error", err)
		return problem("internal", "").send(c)
	}
}

func ofFiber(e *fiber.Error) *Problem {
	switch e.Code {
	case 404:
		return problem("no_such_route", "")
	case 405:
		return problem("method_not_allowed", "")
	case 413:
		return problem("too_large", "")
	case 431:
		return problem("headers_too_large", "")
	}
	if e.Code < 500 {
		// Its own words quote the request, tokens and all.
		return problem("bad_request", "the request's head or body cannot be read")
	}
	return problem("unavailable", "")
}
