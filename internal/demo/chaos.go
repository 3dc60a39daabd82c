package demo

import (
	"net/http"
	"time"

	"waitroom/internal/payprov"
)

// WithMoneyChaos is the same demo with money that goes wrong, by the crowd's
// seed: fans who pay twice, another amount, or as their time ends; a provider
// whose answers are lost, late or lies, whose refunds take their time or fail;
// and notices that come twice, late, out of order or wrongly signed.
func (c Config) WithMoneyChaos() Config {
	a := &c.Crowd.Audience
	a.PayTwice, a.PayOther, a.PayLast, a.LatePay = 0.12, 0.04, 0.12, 0.02
	c.Disorder = payprov.Disorder{
		Doubled: 0.1, Twin: 0.1, Behind: 0.05, Forged: 0.05, Stale: 0.05, Thin: 0.1, Foreign: 0.05,
		MaxDelay: c.Disorder.MaxDelay, Seed: a.Seed,
	}
	c.Faults = append(c.Faults, moneyFaults()...)
	return c
}

// moneyFaults leave no refund without an end within a minute or two, but for
// those that are a person's.
func moneyFaults() (all []payprov.Script) {
	each := func(method, path string, list ...payprov.Script) {
		for _, s := range list {
			s.Method, s.Path = method, path
			all = append(all, s)
		}
	}
	each(http.MethodPost, "/v1/refunds",
		payprov.Script{Share: 0.10, Say: payprov.RST, Commit: true},         // done, and the answer is lost
		payprov.Script{Share: 0.05, Say: payprov.ServerError, Commit: true}, // done, and the key says 500 for ever
		payprov.Script{Share: 0.05, Say: payprov.FIN},                       // not done
		payprov.Script{Share: 0.03, Say: payprov.Half},
		payprov.Script{Share: 0.03, Say: payprov.OtherAmount},
		payprov.Script{Share: 0.03, Say: payprov.HTML, Status: http.StatusBadGateway},
		payprov.Script{Share: 0.05, After: 4 * time.Second}, // longer than anybody waits
		payprov.Script{Share: 0.05, Before: time.Second},
		payprov.Script{Share: 0.05, Say: payprov.TooMany, RetryAfter: time.Second},
		payprov.Script{Share: 0.05, Say: payprov.InUse},
		payprov.Script{Share: 0.03, Say: payprov.Refuse, Status: http.StatusBadRequest, Code: "charge_disputed"},
		payprov.Script{Share: 0.05, Refund: payprov.Course{Pending: true, Then: "succeeded"}},
		payprov.Script{Share: 0.03, Refund: payprov.Course{Pending: true, Then: "failed", Reason: "lost_or_stolen_card"}},
	)
	each(http.MethodGet, "/v1/refunds",
		payprov.Script{Share: 0.05, Before: time.Second},
		payprov.Script{Share: 0.03, Say: payprov.RST},
		payprov.Script{Share: 0.03, Say: payprov.TooMany, RetryAfter: time.Second},
	)
	each(http.MethodPost, "/v1/payment_intents",
		payprov.Script{Share: 0.03, Before: time.Second},
		payprov.Script{Share: 0.02, Say: payprov.RST, Commit: true},
		payprov.Script{Share: 0.02, Say: payprov.FIN},
		payprov.Script{Share: 0.02, Say: payprov.TooMany, RetryAfter: time.Second},
		payprov.Script{Share: 0.02, Say: payprov.ServerError}, // and the key says 500 for ever
		payprov.Script{Share: 0.02, Say: payprov.ServerError, Commit: true},
	)
	each(http.MethodPost, "/v1/payment_intents/*/cancel",
		payprov.Script{Share: 0.05, Say: payprov.RST, Commit: true},
		payprov.Script{Share: 0.05, Say: payprov.TooMany, RetryAfter: time.Second},
	)
	return all
}
