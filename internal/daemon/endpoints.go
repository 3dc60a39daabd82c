package daemon

import (
	"waitroom/internal/httpapi"
	"waitroom/internal/process"
)

// Endpoints are what the house lets organisers' endpoints be.
type Endpoints struct {
	Most     int  `name:"endpoints-most" env:"ENDPOINTS_MOST" default:"20" help:"Webhook endpoints that an organiser may have. Too many: each notice is delivered that often."`
	Loopback bool `name:"webhooks-loopback" env:"WEBHOOKS_LOOPBACK" help:"Endpoints may be plain http on this machine itself, as the courier must allow too. For tests and the demo; in production it lets organisers reach what listens here."`
}

func (c Endpoints) validate() error {
	return process.Want(c.Most >= 1 && c.Most <= 1000, "ENDPOINTS_MOST %d: want 1 to 1000", c.Most)
}

func (c Endpoints) rules() httpapi.EndpointRules {
	return httpapi.EndpointRules{Most: c.Most, Loopback: c.Loopback}
}
