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
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
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

// awayFor is how long an issuer that could not be reached is taken to be away:
// meanwhile nobody waits for it.
const awayFor = 2 * time.Second

// discovered finds the issuer's keys when they are first needed. An issuer that
// is away then keeps nothing from starting: its events' joins have to wait. They
// wait for one finding, none of them longer than it may itself.
type discovered struct {
	issuer  string
	client  *http.Client
	finding singleflight.Group
	last    atomic.Pointer[finding]
}

// finding is what came of looking for the keys.
type finding struct {
	keys oidc.KeySet
	err  error
	at   time.Time
}

// stands: keys do for good, a failure for a while.
func (f *finding) stands() bool {
	return f != nil && (f.err == nil || time.Since(f.at) < awayFor)
}

func (d *discovered) now(ctx context.Context) (oidc.KeySet, error) {
	if last := d.last.Load(); last.stands() {
		return last.keys, last.err
	}
	found := d.finding.DoChan("", func() (any, error) {
		if last := d.last.Load(); !last.stands() { // or somebody was a moment faster
			keys, err := d.find(context.WithoutCancel(ctx)) // others wait for it too
			d.last.Store(&finding{keys, err, time.Now()})
		}
		return nil, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-found:
		last := d.last.Load()
		return last.keys, last.err
	}
}

func (d *discovered) find(ctx context.Context) (oidc.KeySet, error) {
	ctx = oidc.ClientContext(ctx, d.client)
	limited, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	provider, err := oidc.NewProvider(limited, d.issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&says); err != nil || says.Keys == "" {
		return nil, fmt.Errorf("the issuer names no keys: %w", err)
	}
	return oidc.NewRemoteKeySet(ctx, says.Keys), nil
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
