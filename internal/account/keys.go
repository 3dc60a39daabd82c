package account

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"
)

// keySource has the keys to check by.
type keySource interface {
	now(ctx context.Context) (oidc.KeySet, error)
}

func (c Config) source() (keySource, error) {
	if len(c.Keys) > 0 {
		return givenKeys(c.Keys)
	}
	at, err := url.Parse(c.Issuer)
	if err != nil || at.Host == "" || at.Scheme != "https" && (at.Scheme != "http" || !loopback(at.Hostname())) {
		return nil, fmt.Errorf("accounts: without keys the issuer %q has to be an https address", c.Issuer)
	}
	client := c.Client
	if client == nil {
		client = &http.Client{Timeout: fetchLimit, Transport: &fetches{http.DefaultTransport, rate.NewLimiter(rate.Every(fetchEvery), fetchBurst)}}
	}
	return &discovered{issuer: c.Issuer, client: client}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// given are keys that the operator set.
type given struct{ oidc.StaticKeySet }

func (g *given) now(context.Context) (oidc.KeySet, error) { return g, nil }

func givenKeys(text []byte) (*given, error) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("accounts: keys: not a JWKS: %w", err)
	}
	g := &given{}
	for _, k := range set.Keys {
		if !k.Valid() || !k.IsPublic() {
			return nil, fmt.Errorf("accounts: key %q: want public keys alone", k.KeyID)
		}
		if k.Use != "enc" {
			g.PublicKeys = append(g.PublicKeys, crypto.PublicKey(k.Key))
		}
	}
	if len(g.PublicKeys) == 0 {
		return nil, errors.New("accounts: keys: there is none")
	}
	return g, nil
}

const (
	fetchLimit = 3 * time.Second
	fetchEvery = 2 * time.Second // on average: tokens that name keys which there are not would have us fetch for each
	fetchBurst = 5
	fetchMost  = 1 << 20 // bytes
)

// discovered finds the issuer's keys when they are first needed. An issuer that
// is away then keeps nothing from starting: its events' joins have to wait.
type discovered struct {
	issuer string
	client *http.Client

	mu   sync.Mutex
	keys oidc.KeySet
}

func (d *discovered) now(ctx context.Context) (oidc.KeySet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys != nil {
		return d.keys, nil
	}
	// What is kept must not end with this request.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), d.client)
	provider, err := oidc.NewProvider(ctx, d.issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&says); err != nil || says.Keys == "" {
		return nil, fmt.Errorf("the issuer names no keys: %w", err)
	}
	d.keys = oidc.NewRemoteKeySet(ctx, says.Keys)
	return d.keys, nil
}

// Ready finds the keys, for whoever wants to know before anybody comes.
func (i *Issuer) Ready(ctx context.Context) error {
	_, err := i.keys.now(ctx)
	return err
}

// fetches bounds what is fetched, however many ask: where it cannot be passed
// by. What is not an answer is an error that says so.
type fetches struct {
	next  http.RoundTripper
	limit *rate.Limiter
}

func (f *fetches) RoundTrip(r *http.Request) (*http.Response, error) {
	if !f.limit.Allow() {
		return nil, fmt.Errorf("%w: they were just fetched", errFetch)
	}
	res, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFetch, err)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close() //nolint:errcheck // nothing is read
		return nil, fmt.Errorf("%w: %s", errFetch, res.Status)
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, fetchMost), res.Body}
	return res, nil
}

var errFetch = errors.New("not fetched")

// notedSet keeps what the verifier's own error does not tell apart: that a
// signature is good, and that nobody could say.
type notedSet struct {
	oidc.KeySet
	verified bool
	away     error
}

func (n *notedSet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := n.KeySet.VerifySignature(ctx, token)
	n.verified = err == nil
	if errors.Is(err, errFetch) || ctx.Err() != nil {
		n.away = err
	}
	return payload, err
}
