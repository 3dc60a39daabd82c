// Package clerk gives a language model that helps customers three tools: it may
// see an order, ask for the refund of one of its lines, and see how that stands.
// It has no rights of its own: each call is one request to the organisers' API
// under the caller's key. No tool takes an amount, and none can be made to
// refund twice, for what is asked for names itself.
package clerk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Desk is where the organisers' API answers.
type Desk struct {
	URL    string        // of the operators' listener
	Client *http.Client  // no redirects are followed, whatever it does
	Limit  time.Duration // of one call; 0: 10 s
}

// desk is Desk with somebody's key.
type desk struct {
	Desk
	key string
}

// answer is what the API answered; status 0: it is not known what became of the
// request.
type answer struct {
	status int
	again  string // Retry-After
	body   []byte
}

const answerBytes = 256 << 10

// ask makes one request, once.
func (d desk) ask(ctx context.Context, method, path, customer string, body any) (answer, error) {
	limit := d.Limit
	if limit == 0 {
		limit = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(d.URL, "/")+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	req.GetBody = nil // it is sent once
	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Content-Type", "application/json")
	if customer != "" {
		req.Header.Set("Customer", customer)
	}
	client := http.Client{}
	if d.Client != nil {
		client = *d.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	a := answer{status: res.StatusCode, again: res.Header.Get("Retry-After")}
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, answerBytes)); err != nil {
		return answer{}, err
	}
	return a, nil
}

// refused reads a refusal.
type refusal struct {
	Code   string
	Detail string
	Title  string
	Refund *Refund
}

func (a answer) refused() (r refusal) {
	json.Unmarshal(a.body, &r) //nolint:errcheck // what is no problem has no code
	return r
}

func (a answer) into(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("the API's answer cannot be read: %w", err)
	}
	return nil
}

func orderPath(order string) string { return "/v1/orders/" + url.PathEscape(order) + "/refunds" }
