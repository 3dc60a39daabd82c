package admission

import "time"

// SaleState is what the line is doing.
type SaleState string

const (
	Scheduled SaleState = "scheduled"       // not yet
	Open      SaleState = "open"            // people are let in, as stock and rate allow
	Paused    SaleState = "paused"          // the organiser said so
	OnDoubt   SaleState = "closed_on_doubt" // something that must be known is not
	Exhausted SaleState = "exhausted"       // nothing to sell, until something comes back
	Closed    SaleState = "closed"          // over
)

// Reason says why nobody is let in. The words are stable: clients match them.
type Reason string

const (
	NoReason     Reason = ""
	ByOrganiser  Reason = "organiser" // paused or closed by hand
	ByTime       Reason = "ended"     // past its closing time
	NoStock      Reason = "stock"     // no recount for 3 s
	NoClaimers   Reason = "claimers"  // no healthy claimer reported for 3 s
	NoSettings   Reason = "settings"  // the organiser's settings cannot be read
	NoRate       Reason = "rate"      // never set, or senseless
	StoreUnknown Reason = "store"     // the line's store does not answer
	LeaseUnknown Reason = "lease"     // nobody is known to release
)

// How long what was known stays known.
const (
	stockFresh    = 3 * time.Second
	claimersFresh = 3 * time.Second
	settingsFresh = 10 * time.Second
)
