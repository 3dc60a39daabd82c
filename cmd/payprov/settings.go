package main

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"waitroom/internal/payprov"
	"waitroom/internal/process"
)

const about = `A stand-in payment provider for demo and tests, never for production: it moves no money, and all that it knows is lost when it ends.

It speaks Stripe's wire at /v1/ (payment intents and refunds), has a page at /checkout/{payment_intent} where a buyer pays or does not, and tells what happened to WEBHOOK_URL. How badly its notices travel, and which requests go wrong, is a matter of the shares below or of scripts given while it runs:

  curl -d say=rst -d commit=true -d path=/v1/refunds 127.0.0.1:8090/_admin/scripts
  curl -d odd=twin -d type=refund.* 127.0.0.1:8090/_admin/notices
  curl -d advance=24h 127.0.0.1:8090/_admin/clock
  curl 127.0.0.1:8090/_admin/requests
  curl 127.0.0.1:8090/_admin/ledger

The same scripts can stand in FAULTS, with a share in the place of a number of times. docs/PAYPROV.md has them all.`

type config struct {
	process.Ops
	Listen        string        `env:"LISTEN" default:"127.0.0.1:8090" help:"Where the API, the checkout page and /_admin/ answer. The last asks for no key: not for the public."`
	PublicURL     string        `env:"PUBLIC_URL" help:"Where browsers find the checkout page. Default: the host that the API was asked at."`
	SecretKey     string        `env:"SECRET_KEY" required:"" secret:"" help:"The API's Bearer key."`
	WebhookURL    string        `env:"WEBHOOK_URL" help:"Who is told what happens. Without it nobody is."`
	WebhookSecret string        `env:"WEBHOOK_SECRET" secret:"" help:"Signs the notices. Needed with a webhook URL."`
	Backoff       time.Duration `env:"BACKOFF" default:"200ms" help:"From a notice that was not acknowledged to its second try, then doubled up to 30 s."`
	Settle        time.Duration `env:"SETTLE" default:"2s" help:"From a pending refund to its end, by the provider's clock, where nothing else is said."`

	Doubled  float64       `env:"DOUBLED" default:"0" help:"Share of notices told twice under one id, 0 to 1."`
	Twin     float64       `env:"TWIN" default:"0" help:"Share of notices told again under a second id."`
	Behind   float64       `env:"BEHIND" default:"0" help:"Share of notices held back until a later one was acknowledged."`
	Forged   float64       `env:"FORGED" default:"0" help:"Share of notices that are signed with another secret at first."`
	Stale    float64       `env:"STALE" default:"0" help:"Share of notices that are stamped an hour ago at first."`
	Thin     float64       `env:"THIN" default:"0" help:"Share of notices told also by a thin v1. notice."`
	Foreign  float64       `env:"FOREIGN" default:"0" help:"Share of notices beside which another application's payment is told."`
	MaxDelay time.Duration `env:"MAX_DELAY" default:"0s" help:"Notices are held back for up to this long, so they come out of order."`
	Faults   []string      `env:"FAULTS" sep:";" help:"Scripts of requests, as /_admin/scripts takes them: path=/v1/refunds&share=0.05&say=rst&commit=true;path=/v1/*&share=0.01&before=5s"`
	Seed     uint64        `env:"SEED" default:"1" help:"The same seed makes the same choices."`
}

// Validate tells all that would make it fall silent or lie.
func (c config) Validate() error {
	_, faults := c.scripts()
	d := c.disorder()
	return errors.Join(
		process.Want((c.WebhookURL == "") == (c.WebhookSecret == ""), "WEBHOOK_URL, WEBHOOK_SECRET: each needs the other"),
		process.Want(c.WebhookURL == "" || isWeb(c.WebhookURL), "WEBHOOK_URL %q: want http(s)://host/path", c.WebhookURL),
		process.Want(c.PublicURL == "" || isWeb(c.PublicURL), "PUBLIC_URL %q: want http(s)://host", c.PublicURL),
		process.Want(c.Backoff > 0 && c.Settle > 0, "BACKOFF %s, SETTLE %s: want more than nothing", c.Backoff, c.Settle),
		d.Validate(), faults, c.Ops.Validate(),
	)
}

func (c config) disorder() payprov.Disorder {
	return payprov.Disorder{
		Doubled: c.Doubled, Twin: c.Twin, Behind: c.Behind, Forged: c.Forged, Stale: c.Stale, Thin: c.Thin, Foreign: c.Foreign,
		MaxDelay: c.MaxDelay, Seed: c.Seed,
	}
}

func (c config) provider() payprov.Config {
	p := payprov.Config{
		SecretKey: c.SecretKey, PublicURL: c.PublicURL, Disorder: c.disorder(), Backoff: c.Backoff, Settle: c.Settle,
	}
	if c.WebhookURL != "" {
		p.Webhooks = []payprov.Endpoint{{URL: c.WebhookURL, Secret: c.WebhookSecret}}
	}
	return p
}

func (c config) scripts() (list []payprov.Script, err error) {
	var errs []error
	for i, text := range c.Faults {
		form, err := url.ParseQuery(text)
		var s payprov.Script
		if err == nil {
			s, err = payprov.ParseScript(form)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("FAULTS, script %d of %d: %w", i+1, len(c.Faults), err))
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
