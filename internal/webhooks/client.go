package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// answerKept is the beginning of an answer that is kept for its organiser; more is
// not read.
const answerKept = 64 << 10

// Reach is how a client gets to receivers.
type Reach struct {
	Limit    time.Duration // of one attempt: name, TLS, waiting and reading included
	Loopback bool          // this machine's own addresses will do, and plain http to them
	Resolver *net.Resolver // nil: the machine's
	Roots    *x509.CertPool
}

// Client makes attempts. One attempt is one send: a connection serves one request,
// for Go sends again by itself what a kept connection may have lost; no redirect is
// followed, nor read where it leads: an http.Client would give an error, and no
// answer, where that cannot be read; there is no proxy from the environment, behind
// which no address could be checked.
type Client struct {
	http     http.RoundTripper
	limit    time.Duration
	loopback bool
}

// NewClient makes a client whose every connection is checked when it is made, after
// the name was resolved, on the very address: a name may mean another one by then.
func NewClient(r Reach) *Client {
	dialer := net.Dialer{
		Resolver: r.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return permit(to.Addr(), r.Loopback)
		},
	}
	one := new(http.Protocols)
	one.SetHTTP1(true)
	return &Client{
		limit: r.Limit, loopback: r.Loopback,
		http: &http.Transport{
			Protocols: one, DisableKeepAlives: true, DisableCompression: true, DialContext: dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: r.Roots},
			MaxResponseHeaderBytes: answerKept,
		},
	}
}

// Outcome is what an attempt came to.
type Outcome struct {
	Status     int    // 0: no answer
	Error      string // why there is none, or not all of it
	Answer     []byte // the beginning of it
	RetryAfter time.Duration
	Lost       bool // nobody knows: whose attempt it was is gone
}

// send makes an attempt. Whatever happens is an outcome; the status line is the
// receiver's word, also when the rest of its answer does not come.
func (c *Client) send(ctx context.Context, e Errand) Outcome {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	req, err := c.request(ctx, e)
	if err != nil {
		return Outcome{Error: says(err)}
	}
	res, err := c.http.RoundTrip(req)
	if err != nil {
		return Outcome{Error: says(err)}
	}
	// After 101 the connection is the caller's, and no context ends it.
	off := context.AfterFunc(ctx, func() { res.Body.Close() }) //nolint:errcheck // whoever reads is told
	defer off()
	defer res.Body.Close() //nolint:errcheck // the connection is not used again
	if res.StatusCode < 200 || res.StatusCode > 999 {
		return Outcome{Error: fmt.Sprintf("status %03d is no answer", res.StatusCode)}
	}
	out := Outcome{Status: res.StatusCode, RetryAfter: retryAfter(res.Header.Get("Retry-After"), time.Now())}
	if out.Answer, err = io.ReadAll(io.LimitReader(res.Body, answerKept)); err != nil {
		out.Error = "answer cut off: " + says(err)
	}
	return out
}

func (c *Client) request(ctx context.Context, e Errand) (*http.Request, error) {
	// What was right when the endpoint was added need not be by today's settings.
	if err := CheckURL(e.URL, c.loopback); err != nil {
		return nil, errors.New("the endpoint's url is not " + err.Error())
	}
	body, err := Payload(e.Message)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body)) // cannot be rewound
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "waitroom-courier")
	sign(req.Header, MessageID(e.Message.ID), time.Now(), body, e.Keys...)
	return req, nil
}

// retryAfter reads seconds, however many, or a date; what is neither, or past, is
// nothing.
func retryAfter(header string, now time.Time) time.Duration {
	s, err := strconv.ParseInt(strings.TrimSpace(header), 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // then it is the most that there is
		return time.Duration(max(0, min(s, int64(longestRetryAfter/time.Second)))) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

// says is an error for the organiser: what happened, short, and without any address
// of ours, of our resolver or of what it says of inner names, or the query that its
// own URL may hide a secret in.
func says(err error) string {
	var dns *net.DNSError
	var on *net.OpError
	var at *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, ErrRefused):
		return ErrRefused.Error() + ": it is one that nothing is sent to"
	case errors.As(err, &dns):
		return printable("lookup " + dns.Name + ": " + dnsSays(dns))
	case errors.As(err, &on):
		return printable(on.Op + ": " + innermost(on).Error())
	case errors.As(err, &at):
		return printable(at.Err.Error())
	}
	return printable(err.Error())
}

func dnsSays(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "no such host"
	case err.IsTimeout:
		return "no answer in time"
	}
	return "failed"
}

func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// printable is what a text column takes, and a person can read: a receiver's
// certificate, or its header, may hold what steers the terminal of whoever asks how
// it does.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(s, "?"))
	return strings.ToValidUTF8(s[:min(len(s), 500)], "")
}
