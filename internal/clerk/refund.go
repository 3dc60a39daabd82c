package clerk

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Line names what is refunded, and whose it is.
type Line struct {
	Order    string `json:"order" jsonschema:"the order's id, a UUID"`
	Line     string `json:"line" jsonschema:"the line of the order: its seat's name, as order_get tells it"`
	Customer string `json:"customer" jsonschema:"the customer whose order it is, by the account or holder that you were given"`
}

// Of names an order, and whose it is.
type Of struct {
	Order    string `json:"order" jsonschema:"the order's id, a UUID"`
	Customer string `json:"customer" jsonschema:"the customer whose order it is, by the account or holder that you were given"`
}

// Refund is how a refund stands.
type Refund struct {
	Order       string     `json:"order"`
	Line        *string    `json:"line"`
	Answer      string     `json:"answer" jsonschema:"confirmed, queued, sending, unknown, needs_approval, refused, or none: nobody has asked"`
	Reason      *string    `json:"reason"`
	Detail      string     `json:"detail" jsonschema:"what is known, what to do, and what not"`
	AmountMinor int64      `json:"amount_minor" jsonschema:"whole minor units of the currency"`
	Currency    string     `json:"currency"`
	Approval    *int64     `json:"approval"`
	Operation   *Operation `json:"operation"`
}

// Operation is the refund itself.
type Operation struct {
	ID         string  `json:"id"`
	Status     string  `json:"status"`
	Parent     string  `json:"parent,omitempty"`
	Refund     string  `json:"refund,omitempty" jsonschema:"the payment provider's name of the refund"`
	AcceptedAt string  `json:"accepted_at"`
	EndedAt    *string `json:"ended_at"`
}

const (
	notKnown = "It is not known whether this refund was accepted. Do not send it again, and do not tell the customer that it failed. " +
		"Tell them that it is being confirmed, and look with refund_status in a minute."
	cannotSee   = "How this stands cannot be seen just now. It says nothing about the refund: do not send it again. Look again in a minute."
	whose       = "Name the customer whose order it is, by the account or holder that you were given, in one line."
	saysNothing = "It says nothing about a refund that was asked for before: do not tell the customer that one failed."
)

// nobody holds for what names no customer. The API takes a request that names none
// for one about any order, which a model's never is, whatever its key may read; a
// line break does not get there.
func nobody(customer string) bool {
	return strings.TrimSpace(customer) == "" || strings.ContainsFunc(customer, unicode.IsControl)
}

// refundItem asks for a refund. What is not known is an error that says so, and
// what not to do.
func (d desk) refundItem(ctx context.Context, _ *mcp.CallToolRequest, l Line) (*mcp.CallToolResult, Refund, error) {
	r := Refund{Order: l.Order, Line: &l.Line, Answer: "unknown", Detail: notKnown}
	if nobody(l.Customer) {
		r.Detail = "This call was turned away and asked for nothing: " + whose + " " + saysNothing
		return say(true, r.Detail), r, nil
	}
	a, err := d.ask(ctx, http.MethodPost, orderPath(l.Order), "", map[string]string{"line": l.Line, "customer": l.Customer})
	if err != nil {
		return say(true, r.Detail), r, nil
	}
	no := a.refused()
	switch {
	case a.status == http.StatusOK || a.status == http.StatusAccepted:
		if a.into(&r) != nil || r.Answer == "" {
			r = Refund{Order: l.Order, Line: &l.Line, Answer: "unknown", Detail: notKnown}
		}
	case no.Refund != nil:
		r = *no.Refund
	case no.Code == "" || a.status >= 500 && no.Code != "refunds_behind" && no.Code != "unavailable":
		// nobody says that nothing was done
	case no.aboutTheLine():
		r.Answer, r.Reason, r.Detail = "refused", &no.Code, no.says()+a.wait()
	default: // we were turned away: one that was asked for before may have been made
		r.Reason, r.Detail = &no.Code, "This call was turned away and asked for nothing: "+no.says()+a.wait()+" "+saysNothing
	}
	return say(r.Answer == "unknown" || r.Answer == "refused", r.Detail), r, nil
}

// aboutTheLine holds for the refusals by which it is known that nothing of this
// line goes back by this asking.
func (no refusal) aboutTheLine() bool {
	switch no.Code {
	case "no_such_line", "order_not_paid", "nothing_to_refund", "already_refunded", "approval_refused", "refunds_behind", "refund_refused":
		return true
	}
	return false
}

func (no refusal) says() string {
	if no.Detail != "" {
		return no.Detail
	}
	return no.Title + "."
}

// wait is when to come again, where the API says so.
func (a answer) wait() string {
	if a.again == "" {
		return ""
	}
	return " Not before " + a.again + " s from now."
}

// refundStatus only looks.
func (d desk) refundStatus(ctx context.Context, _ *mcp.CallToolRequest, l Line) (*mcp.CallToolResult, Refund, error) {
	r := Refund{Order: l.Order, Line: &l.Line, Answer: "unknown", Detail: cannotSee}
	if nobody(l.Customer) {
		r.Detail = "How this stands cannot be seen: " + whose + " " + saysNothing
		return say(true, r.Detail), r, nil
	}
	a, err := d.ask(ctx, http.MethodGet, orderPath(l.Order), l.Customer, nil)
	if err != nil {
		return say(true, r.Detail), r, nil
	}
	var list struct{ Refunds []Refund }
	no := a.refused()
	switch {
	case a.status == http.StatusOK && a.into(&list) == nil:
		r.Answer, r.Detail = "none", "Nobody has asked for a refund of this line."
		for _, one := range list.Refunds { // the newest is the last
			if one.Line != nil && *one.Line == l.Line {
				r = one
			}
		}
	case a.status < 500 && no.Code != "":
		r.Reason, r.Detail = &no.Code, "How this stands cannot be seen: "+no.says()+a.wait()+" "+saysNothing
	}
	return say(r.Answer == "unknown" || r.Answer == "refused", r.Detail), r, nil
}

// Order is an order, its lines, and how the refund of each stands.
type Order struct {
	Order       string      `json:"order"`
	Event       string      `json:"event"`
	Title       string      `json:"title"`
	Status      string      `json:"status"`
	AmountMinor int64       `json:"amount_minor"`
	Currency    string      `json:"currency"`
	PaidAt      *string     `json:"paid_at"`
	GivenBack   int         `json:"seats_given_back" jsonschema:"how many lines were refunded and gave their seats back"`
	Lines       []OrderLine `json:"lines"`
}

// OrderLine is one seat of it.
type OrderLine struct {
	Line        string  `json:"line"`
	Section     string  `json:"section"`
	Row         string  `json:"row"`
	Number      string  `json:"number"`
	AmountMinor int64   `json:"amount_minor"`
	GivenBack   bool    `json:"given_back" jsonschema:"it was refunded, and its seat is not this order's any more"`
	Refund      *Refund `json:"refund"`
}

func (d desk) orderGet(ctx context.Context, _ *mcp.CallToolRequest, o Of) (*mcp.CallToolResult, any, error) {
	if nobody(o.Customer) {
		return say(true, whose), nil, nil
	}
	a, err := d.ask(ctx, http.MethodGet, "/v1/organiser/orders/"+url.PathEscape(o.Order), o.Customer, nil)
	var order Order
	switch {
	case err != nil:
		return say(true, "The order cannot be read just now. Try again in a minute: reading changes nothing."), nil, nil
	case a.status == http.StatusOK && a.into(&order) == nil:
		return nil, order, nil
	case a.status == http.StatusNotFound:
		return say(true, "There is no such order of this customer."), nil, nil
	}
	return say(true, a.refused().says()), nil, nil
}

func say(wrong bool, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: wrong, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
