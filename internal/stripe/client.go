package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Settings of a Client. All but Method and Transport must be set.
type Settings struct {
	// BaseURL is https://api.stripe.com, or the stand-in's address.
	BaseURL string
	// SecretKey is the account's. A live one is refused over plain HTTP.
	SecretKey string
	// Limit ends one call, from the dial to the answer's last byte. A call
	// that it ends is unknown, so it is not set short to save time.
	Limit time.Duration
	// Method is a payment method of the provider that has a page of its own
	// ("alipay", "ideal", …): the payment is confirmed as it is created and the
	// answer names that page. Without it the caller's page finishes the payment
	// with ClientSecret.
	Method string
	// Transport is OneSend when nil. A limit on calls is put around it, so that
	// none can pass it by; it must end in an http.Transport, whose trace says
	// whether a request left.
	Transport http.RoundTripper
}

// Client makes the calls that payments need. It never sends twice, never
// follows a redirect, and never waits longer than its limit.
type Client struct {
	base, key, method string
	limit             time.Duration
	http              *http.Client
}

// NewClient refuses settings with which no call could succeed, or should.
func NewClient(s Settings) (*Client, error) {
	base, err := url.Parse(s.BaseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("stripe: base URL: %w", err)
	case base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("stripe: base URL %q: want http(s)://host", s.BaseURL)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("stripe: base URL: want no user, query or fragment")
	case strings.TrimSpace(s.SecretKey) == "" || strings.TrimSpace(s.SecretKey) != s.SecretKey:
		return nil, errors.New("stripe: the secret key is empty or has space around it")
	case base.Scheme == "http" && strings.Contains(s.SecretKey, "_live_"):
		return nil, errors.New("stripe: a live key is not sent over plain HTTP")
	case s.Limit <= 0:
		return nil, errors.New("stripe: a call needs a time limit")
	}
	transport := s.Transport
	if transport == nil {
		transport = OneSend()
	}
	return &Client{
		base: strings.TrimRight(s.BaseURL, "/"), key: s.SecretKey, method: s.Method, limit: s.Limit,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}
