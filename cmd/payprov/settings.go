package main

import (
	"errors"
	"net/url"
	"time"

	"waitroom/internal/payprov"
	"waitroom/internal/process"
)

type config struct {
	process.Ops
	Listen        string        `env:"LISTEN" default:"127.0.0.1:8090" help:"Where the API, the checkout page and /_admin/ answer. The last asks for no key: not for the public."`
	PublicURL     string        `env:"PUBLIC_URL" help:"Where browsers find the checkout page. Default: the host that the API was asked at."`
	SecretKey     string        `env:"SECRET_KEY" required:"" secret:"" help:"The API's Bearer key."`
	WebhookURL    string        `env:"WEBHOOK_URL" help:"Who is told what happens. Without it nobody is."`
	WebhookSecret string        `env:"WEBHOOK_SECRET" secret:"" help:"Signs the notices. Needed with a webhook URL."`
	Doubled       float64       `env:"DOUBLED" default:"0" help:"Share of notices told twice, 0 to 1."`
	MaxDelay      time.Duration `env:"MAX_DELAY" default:"0s" help:"Notices are held back for up to this long, so they come out of order."`
	Seed          uint64        `env:"SEED" default:"1" help:"The same seed doubles and delays the same notices."`
}

// Validate tells all that would make it fall silent or lie.
func (c config) Validate() error {
	return errors.Join(
		process.Want((c.WebhookURL == "") == (c.WebhookSecret == ""), "WEBHOOK_URL, WEBHOOK_SECRET: each needs the other"),
		process.Want(c.WebhookURL == "" || isWeb(c.WebhookURL), "WEBHOOK_URL %q: want http(s)://host/path", c.WebhookURL),
		process.Want(c.PublicURL == "" || isWeb(c.PublicURL), "PUBLIC_URL %q: want http(s)://host", c.PublicURL),
		process.Want(c.Doubled >= 0 && c.Doubled <= 1, "DOUBLED %v: a share is 0 to 1", c.Doubled), // NaN is no share either
		process.Want(c.MaxDelay >= 0, "MAX_DELAY %s: a delay is not negative", c.MaxDelay),
		c.Ops.Validate(),
	)
}

func (c config) provider() payprov.Config {
	p := payprov.Config{
		SecretKey: c.SecretKey, PublicURL: c.PublicURL,
		Disorder: payprov.Disorder{Doubled: c.Doubled, MaxDelay: c.MaxDelay, Seed: c.Seed},
	}
	if c.WebhookURL != "" {
		p.Webhooks = []payprov.Endpoint{{URL: c.WebhookURL, Secret: c.WebhookSecret}}
	}
	return p
}

func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
