package stripe_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
)

const operation = "refund:o:p"

// frozen is what every send of the operation is.
var frozen = url.Values{
	"payment_intent": {"pi_1"}, "amount": {"1000"}, "metadata[operation]": {operation}, "metadata[install]": {"here"},
}.Encode()

func aCall(v refunds.Verb) refunds.Call {
	return refunds.Call{
		Verb: v, Operation: operation, ProviderPayment: "pi_1", ProviderRefund: "re_1",
		Request: []byte(frozen), AmountMinor: 1000, CapturedMinor: 1000, Currency: "EUR",
	}
}

// refund is the operation's own, with a change.
func refund(change ...string) string {
	s := `{"id":"re_1","object":"refund","amount":1000,"currency":"eur","payment_intent":"pi_1","status":"succeeded","metadata":{"operation":"refund:o:p","install":"here"}}`
	return strings.NewReplacer(change...).Replace(s)
}

func problem(kind, code string) string {
	return fmt.Sprintf(`{"error":{"type":%q,"code":%q,"message":"m"}}`, kind, code)
}

func page(more bool, data ...string) string {
	return fmt.Sprintf(`{"object":"list","url":"/v1/refunds","has_more":%t,"data":[%s]}`, more, strings.Join(data, ","))
}

// The one table from what the provider answers to what we know: a row for each.
func TestEachAnswerIsClassified(t *testing.T) {
	other := refund("re_1", "re_2", `"operation":"refund:o:p"`, `"operation":"refund:o:q"`)
	hand := refund("re_1", "re_3", `"operation":"refund:o:p",`, "")
	const create, list, retrieve = refunds.Create, refunds.List, refunds.Retrieve
	for _, c := range []struct {
		what   string
		verb   refunds.Verb
		status int
		body   string
		want   refunds.Outcome
		refund string
	}{
		{"done", create, 200, refund(), refunds.Succeeded, "re_1"},
		{"done, created", create, 201, refund(), refunds.Succeeded, "re_1"},
		{"on its way", create, 200, refund("succeeded", "pending"), refunds.OnItsWay, "re_1"},
		{"wants something of the buyer", create, 200, refund("succeeded", "requires_action"), refunds.OnItsWay, "re_1"},
		{"a status of tomorrow", create, 200, refund("succeeded", "resting"), refunds.OnItsWay, "re_1"},
		{"failed", create, 200, refund("succeeded", "failed"), refunds.Failed, "re_1"},
		{"cancelled", create, 200, refund("succeeded", "canceled"), refunds.Failed, "re_1"},
		{"another amount", create, 200, refund("1000", "1001"), refunds.Differs, ""},
		{"another currency", create, 200, refund("eur", "usd"), refunds.Differs, ""},
		{"another payment", create, 200, refund("pi_1", "pi_2"), refunds.Differs, ""},
		{"another operation", create, 200, refund("refund:o:p", "refund:o:p#2"), refunds.Differs, ""},
		{"another installation", create, 200, refund("here", "there"), refunds.Differs, ""},
		{"no metadata", create, 200, refund(`"operation":"refund:o:p","install":"here"`, ""), refunds.Differs, ""},
		{"an id that is no refund's", create, 200, refund("re_1", "pi_9"), refunds.Differs, ""},
		{"nothing", create, 200, ``, refunds.Unreadable, ""},
		{"an empty object", create, 200, `{}`, refunds.Unreadable, ""},
		{"another object", create, 200, refund(`"object":"refund"`, `"object":"charge"`), refunds.Unreadable, ""},
		{"no amount", create, 200, refund(`"amount":1000,`, ""), refunds.Unreadable, ""},
		{"a page for people", create, 200, `<html>ok</html>`, refunds.Unreadable, ""},
		{"accepted, whatever that means", create, 202, refund(), refunds.Unreadable, ""},
		{"no content", create, 204, ``, refunds.Unreadable, ""},
		{"a redirect", create, 307, ``, refunds.Redirected, ""},
		{"moved", create, 301, ``, refunds.Redirected, ""},
		{"a 400 that somebody between wrote", create, 400, `<html>bad request</html>`, refunds.Unreadable, ""},
		{"a 403 that somebody between wrote", create, 403, `<html>forbidden</html>`, refunds.Unreadable, ""},
		{"a parameter is wrong", create, 400, problem("invalid_request_error", "parameter_invalid_integer"), refunds.Rejected, ""},
		{"disputed", create, 400, problem("invalid_request_error", "charge_disputed"), refunds.Rejected, ""},
		{"declined", create, 402, problem("card_error", "card_declined"), refunds.Rejected, ""},
		{"no such payment", create, 404, problem("invalid_request_error", "resource_missing"), refunds.Rejected, ""},
		{"given back already", create, 400, problem("invalid_request_error", "charge_already_refunded"), refunds.AlreadyRefunded, ""},
		{"our key is no key", create, 401, problem("invalid_request_error", ""), refunds.KeyRefused, ""},
		{"our key may not", create, 403, problem("invalid_request_error", "more_permissions_required"), refunds.KeyRefused, ""},
		{"the key's other parameters", create, 400, problem("idempotency_error", ""), refunds.OtherParameters, ""},
		{"the key is in use", create, 409, problem("idempotency_error", "idempotency_key_in_use"), refunds.KeyInUse, ""},
		{"locked", create, 400, problem("invalid_request_error", "lock_timeout"), refunds.KeyInUse, ""},
		{"too many", create, 429, problem("invalid_request_error", "rate_limit"), refunds.Busy, ""},
		{"too many, and locked", create, 429, problem("invalid_request_error", "lock_timeout"), refunds.Busy, ""},
		{"a fault of theirs", create, 500, problem("api_error", ""), refunds.ServerError, ""},
		{"nobody there", create, 502, `<html>bad gateway</html>`, refunds.ServerError, ""},
		{"away", create, 503, ``, refunds.ServerError, ""},

		{"looked: there", list, 200, page(false, other, refund()), refunds.Succeeded, "re_1"},
		{"looked: there, on its way", list, 200, page(false, refund("succeeded", "pending")), refunds.OnItsWay, "re_1"},
		{"looked: there, failed", list, 200, page(true, refund("succeeded", "failed")), refunds.Failed, "re_1"},
		{"looked: there, and another amount", list, 200, page(false, refund("1000", "999")), refunds.Differs, ""},
		{"looked: nothing", list, 200, page(false), refunds.NotThere, ""},
		{"looked: another operation's", list, 200, page(false, other), refunds.NotThere, ""},
		{"looked: not on this page", list, 200, page(true, other), refunds.NextPage, ""},
		{"looked: all of it by hand", list, 200, page(false, hand), refunds.ByHand, "re_3"},
		{"looked: a part of it by hand", list, 200, page(false, strings.Replace(hand, "1000", "400", 1)), refunds.NotThere, ""},
		{"looked: by hand, and it failed", list, 200, page(false, strings.Replace(hand, "succeeded", "failed", 1)), refunds.NotThere, ""},
		{"looked: something else", list, 200, `{}`, refunds.Unreadable, ""},
		{"looked: no list in it", list, 200, `{"object":"list"}`, refunds.Unreadable, ""},
		{"looked: a charge among them", list, 200, page(false, `{"id":"ch_1","object":"charge"}`), refunds.Unreadable, ""},
		{"looked: no such payment", list, 404, problem("invalid_request_error", "resource_missing"), refunds.Rejected, ""},
		{"looked: too many", list, 429, problem("invalid_request_error", "rate_limit"), refunds.Busy, ""},
		{"looked: a fault of theirs", list, 500, ``, refunds.ServerError, ""},

		{"asked after: there", retrieve, 200, refund(), refunds.Succeeded, "re_1"},
		{"asked after: failed", retrieve, 200, refund("succeeded", "failed"), refunds.Failed, "re_1"},
		{"asked after: another", retrieve, 200, refund("re_1", "re_2"), refunds.Differs, ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Method == http.MethodPost && (string(body) != frozen || r.Header.Get("Idempotency-Key") != operation) {
				t.Errorf("%s: it sent %q under %q", c.what, body, r.Header.Get("Idempotency-Key"))
			}
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Request-Id", "req_1")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		a := stripe.Refunds{Client: client(t, stripe.Settings{BaseURL: s.URL})}.Call(t.Context(), aCall(c.verb))
		s.Close()
		if a.Outcome != c.want || a.Refund != c.refund || a.HTTP != c.status || a.RequestID != "req_1" || a.RetryAfter != 7*time.Second {
			t.Errorf("%s: %+v, want %s %s", c.what, a, c.want, c.refund)
		}
		if a.Outcome == refunds.NextPage && a.After != "re_2" {
			t.Errorf("%s: the next page begins after %q, want re_2", c.what, a.After)
		}
	}
}

// A refund that others made is asked after by its name: it gave back what the operation
// was to only if it is of the same payment, amount and currency, and is told as no other
// line's; what none of our requests put into it says nothing.
func TestARefundThatOthersMadeIsKnownByItsName(t *testing.T) {
	hand := refund("re_1", "re_3", `"operation":"refund:o:p",`, "")
	for _, c := range []struct {
		what, body string
		verb       refunds.Verb
		want       refunds.Outcome
	}{
		{"there", hand, refunds.Retrieve, refunds.Succeeded},
		{"failed", strings.Replace(hand, "succeeded", "failed", 1), refunds.Retrieve, refunds.Failed},
		{"of another payment", strings.Replace(hand, "pi_1", "pi_2", 1), refunds.Retrieve, refunds.Differs},
		{"another", strings.Replace(hand, "re_3", "re_4", 1), refunds.Retrieve, refunds.Differs},
		{"of another amount", strings.Replace(hand, "1000", "400", 1), refunds.Retrieve, refunds.Differs},
		{"of another currency", strings.Replace(hand, "eur", "usd", 1), refunds.Retrieve, refunds.Differs},
		{"another line's", refund("re_1", "re_3", "refund:o:p", "refund:o:q"), refunds.Retrieve, refunds.Differs},
		{"the next operation's of the line", refund("re_1", "re_3", "refund:o:p", "refund:o:p#2"), refunds.Retrieve, refunds.Succeeded},
		{"what we send has to be ours", hand, refunds.Create, refunds.Differs},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.verb == refunds.Retrieve && r.URL.Path != "/v1/refunds/re_3" {
				t.Errorf("%s: it asked for %s", c.what, r.URL.Path)
			}
			io.WriteString(w, c.body)
		}))
		call := aCall(c.verb)
		call.ProviderRefund, call.ByOthers = "re_3", true
		a := stripe.Refunds{Client: client(t, stripe.Settings{BaseURL: s.URL})}.Call(t.Context(), call)
		s.Close()
		if a.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", c.what, a, c.want)
		}
	}
}

// What happens below an answer: not sent is told from sent and lost.
func TestEachWayToGetNoAnswerIsClassified(t *testing.T) {
	speaks := func(say func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() { defer conn.Close(); conn.Read(make([]byte, 4096)); say(conn) }()
			}
		}()
		return "http://" + l.Addr().String()
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for what, c := range map[string]struct {
		url  string
		want refunds.Outcome
	}{
		"nobody listens": {"http://" + nobody.Addr().String(), refunds.NotSent},
		"no such host":   {"http://provider.invalid", refunds.NotSent},
		"closed":         {speaks(func(net.Conn) {}), refunds.CutOff},
		"reset":          {speaks(func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }), refunds.CutOff},
		"not HTTP":       {speaks(func(c net.Conn) { io.WriteString(c, "220 smtp ready\r\n") }), refunds.CutOff},
		"breaks off":     {speaks(func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"id\"") }), refunds.CutOff},
		"never answers":  {speaks(func(net.Conn) { <-hang }), refunds.TimedOut},
		"never ends":     {speaks(func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"); <-hang }), refunds.TimedOut},
		"says a megabyte more": {speaks(func(c net.Conn) {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2<<20, strings.Repeat(" ", 2<<20))
		}), refunds.Unreadable},
	} {
		limit := 20 * time.Second // far more than a busy machine takes to read an answer
		if c.want == refunds.TimedOut {
			limit = time.Second
		}
		r := stripe.Refunds{Client: client(t, stripe.Settings{BaseURL: c.url, Limit: limit})}
		if a := r.Call(t.Context(), aCall(refunds.Create)); a.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", what, a, c.want)
		}
	}
}

// A call that the outlet did not let out is known not to have started; one whose
// frozen request is not the operation's is our own bug, and is never sent.
func TestWhatNeverStarts(t *testing.T) {
	sent := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer s.Close()
	shut, err := outlet.New(stripe.OneSend(), outlet.Account(), func(context.Context) error { return context.DeadlineExceeded })
	if err != nil {
		t.Fatal(err)
	}
	r := stripe.Refunds{Client: client(t, stripe.Settings{BaseURL: s.URL, Transport: shut})}
	if a := r.Call(t.Context(), aCall(refunds.Create)); a.Outcome != refunds.NotStarted {
		t.Errorf("through a closed outlet: %+v, want not_started", a)
	}
	r = stripe.Refunds{Client: client(t, stripe.Settings{BaseURL: s.URL})}
	for what, spoil := range map[string]func(*refunds.Call){
		"another's request":      func(c *refunds.Call) { c.Operation = "refund:o:q" },
		"another payment":        func(c *refunds.Call) { c.ProviderPayment = "pi_2" },
		"a request without sums": func(c *refunds.Call) { c.Request = []byte(strings.Replace(frozen, "amount", "sum", 1)) },
		"no request":             func(c *refunds.Call) { c.Request = nil },
	} {
		c := aCall(refunds.Create)
		spoil(&c)
		if a := r.Call(t.Context(), c); a.Outcome != refunds.OtherParameters {
			t.Errorf("%s: %+v, want other_parameters", what, a)
		}
	}
	if sent != 0 {
		t.Errorf("%d were sent all the same", sent)
	}
}
