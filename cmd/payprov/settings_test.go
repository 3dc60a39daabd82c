package main

import (
	"math"
	"testing"
	"time"

	"waitroom/internal/process"
)

func TestSenselessSettingsStopTheStart(t *testing.T) {
	good := config{
		Ops:       process.Ops{OpsAddr: "127.0.0.1:0", DrainLimit: time.Second},
		SecretKey: "sk_test", Backoff: time.Second, Settle: time.Second, WebhookURL: "http://127.0.0.1:1/notices", WebhookSecret: "whsec_test",
	}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*config){
		"notices that nobody signs":         func(c *config) { c.WebhookSecret = "" },
		"a secret for nobody":               func(c *config) { c.WebhookURL = "" },
		"a webhook without a host":          func(c *config) { c.WebhookURL = "notices" },
		"a checkout page without a host":    func(c *config) { c.PublicURL = "localhost:8090" },
		"more notices doubled than told":    func(c *config) { c.Doubled = 1.5 },
		"notices told before they happen":   func(c *config) { c.MaxDelay = -time.Second },
		"more forged than told":             func(c *config) { c.Forged = math.NaN() },
		"a negative share":                  func(c *config) { c.Behind = -0.1 },
		"a fault that nobody knows":         func(c *config) { c.Faults = []string{"say=rst", "say=nothing"} },
		"a fault that is no form":           func(c *config) { c.Faults = []string{"say=%"} },
		"refunds that settle before":        func(c *config) { c.Settle = 0 },
		"an ops address that is no address": func(c *config) { c.OpsAddr = "ops" },
	} {
		c := good
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
