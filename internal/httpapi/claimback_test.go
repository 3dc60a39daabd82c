package httpapi

import (
	"testing"
	"time"

	"waitroom/internal/admission"
)

// A pass that was given back counts as inside for as long as a claim that it made
// before may take: nobody gets room that an order still has.
func TestAClaimEndsBeforeItsPassIsBack(t *testing.T) {
	const statement = 2 * time.Second // what Postgres gives one, see pg.Limits
	if longest := claimMost + statement; longest > admission.BackAfter {
		t.Errorf("a claim takes up to %s, its pass is back after %s", longest, admission.BackAfter)
	}
}
