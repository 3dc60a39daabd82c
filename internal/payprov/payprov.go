// Package payprov is a stand-in payment provider for the demo and for tests,
// never for production. It speaks Stripe's wire: form-encoded requests, JSON
// answers, Bearer keys, Idempotency-Key, signed notices. It keeps a ledger and
// a log of every request, so that what we believe can be held against what the
// provider knows. It imports nothing of ours: a check shares no code with what
// it checks.
//
// Everything it knows is in memory and bounded. When a bound is reached it
// refuses (429) rather than forget money or a notice.
package payprov

import (
	"html/template"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// Config of a Provider. Only SecretKey is needed; without it nobody is let in.
type Config struct {
	SecretKey string     // the Bearer token of the API
	PublicURL string     // where browsers find the checkout page; default: the host that was asked
	Webhooks  []Endpoint // more can be added by Notify
	Disorder  Disorder
	Backoff   time.Duration // before the second try of a notice, then doubled up to 30 s; default 200 ms
	Fault     Fault         // nil: none

	Objects int // payment intents, and refunds, at most; default 200,000
	Backlog int // notices not yet delivered, at most; default 100,000
	Log     int // requests, and tries of notices, remembered; the oldest go first; default 200,000

	Settle time.Duration // until a pending refund ends, where its Course does not say; default 2 s
}

// Endpoint is told every notice, signed with its secret.
type Endpoint struct{ URL, Secret string }

// Fault may act on one request to the API: answer it, hold it, cut its
// connection, before or after next carries it out, or never call next. It runs
// after the request is logged; the request's key is in use until next carried
// it out, or the fault returned without it. What a Script can say needs none.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Provider is one account at the provider.
type Provider struct {
	cfg      Config
	clock    *clock
	log      *requestLog
	scripts  scripts
	notices  *notices
	handler  http.Handler
	api      http.Handler
	checkout *template.Template
	version  *regexp.Regexp
	stop     until
	end      sync.Once
	done     sync.WaitGroup
	moved    chan struct{} // the settler has to look again: a hint, at most one outstanding

	mu   sync.Mutex // guards what follows; held while a request is carried out
	book book
	keys keys
	fate fate
}

// New starts a provider and the workers that tell its notices. Close ends it.
func New(cfg Config) *Provider {
	cfg.Backoff = orDefault(cfg.Backoff, 200*time.Millisecond)
	cfg.Objects = orDefault(cfg.Objects, 200_000)
	cfg.Backlog = orDefault(cfg.Backlog, 100_000)
	cfg.Log = orDefault(cfg.Log, 200_000)
	if cfg.Fault == nil {
		cfg.Fault = func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }
	}
	cfg.Settle = orDefault(cfg.Settle, 2*time.Second)
	c := &clock{}
	p := &Provider{
		cfg: cfg, clock: c, log: newRequestLog(cfg.Log), checkout: checkoutPage(), version: versions(),
		book: newBook(c), keys: newKeys(2 * cfg.Objects), stop: make(until), moved: make(chan struct{}, 1),
	}
	p.scripts.chance = rand.New(rand.NewPCG(cfg.Disorder.Seed, 1))
	p.fate = fate{disorder: cfg.Disorder, chance: rand.New(rand.NewPCG(cfg.Disorder.Seed, 0))}
	p.notices = newNotices(cfg, p.log.start)
	p.api, p.handler = p.apiRoutes(), p.routes()
	p.done.Go(p.settler)
	return p
}

// Handler serves the API, the checkout page, and the ledger and log.
func (p *Provider) Handler() http.Handler { return p.handler }

// Notify adds an endpoint; it is told what happens from now on.
func (p *Provider) Notify(e Endpoint) { p.notices.add(e) }

// Undelivered counts the notices that no endpoint has acknowledged yet.
func (p *Provider) Undelivered() int { return p.notices.open() }

// Close ends the waits of scripts and refunds, and stops telling notices;
// those not delivered are lost with the ledger.
func (p *Provider) Close() {
	p.end.Do(func() {
		close(p.stop)
		p.done.Wait()
		p.notices.close()
	})
}

func (p *Provider) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/", p.receive)
	mux.HandleFunc("GET /checkout/{id}", p.showCheckout)
	mux.HandleFunc("POST /checkout/{id}/{act}", p.actCheckout)
	p.adminRoutes(mux)
	return mux
}

func (p *Provider) apiRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payment_intents", p.once(p.createIntent))
	mux.HandleFunc("GET /v1/payment_intents", p.look(p.listIntents))
	mux.HandleFunc("GET /v1/payment_intents/search", p.look(p.searchIntents))
	mux.HandleFunc("GET /v1/payment_intents/{id}", p.look(p.retrieveIntent))
	mux.HandleFunc("POST /v1/payment_intents/{id}/cancel", p.once(p.cancelIntent))
	mux.HandleFunc("POST /v1/refunds", p.once(p.createRefund))
	mux.HandleFunc("GET /v1/refunds", p.look(p.listRefunds))
	mux.HandleFunc("GET /v1/refunds/{id}", p.look(p.retrieveRefund))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		invalid(http.StatusNotFound, "", "", "Unrecognized request URL (%s: %s).", r.Method, r.URL.Path).write(w)
	})
	return mux
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}
