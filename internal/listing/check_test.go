package listing_test

import (
	"errors"
	"testing"
	"time"

	"waitroom/internal/listing"
	"waitroom/internal/seating"
)

// A file of last season is refused, and the time that is past named: it would sell at
// once to whoever comes first, without its lottery, or to nobody at all.
func TestTimesThatArePastAreNotListed(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ times, wrong string }{
		{"opens_at: now", ""},
		{"opens_at: 2026-11-30T11:59:00Z", ""}, // clocks differ
		{"opens_at: 2026-11-30T11:58:59Z", "opens_at"},
		{"opens_at: 2026-03-01T10:00:00+01:00", "opens_at"},
		{"opens_at: 2026-03-01T10:00:00+01:00\ncloses_at: 2026-03-02T10:00:00+01:00", "opens_at"},
		{"opens_at: 2026-11-30T11:59:30Z\ncloses_at: 2026-11-30T12:00:00Z", "closes_at"},
		{"opens_at: 2026-11-30T11:59:30Z\ncloses_at: 2026-11-30T12:00:01Z", ""},
		{"opens_at: 2026-03-01T10:00:00+01:00\ndraw:\n  lobby_opens_at: 2026-03-01T09:30:00+01:00\n  lobby_closes_at: 2026-03-01T09:58:00+01:00", "opens_at"},
		{"opens_at: 2026-11-30T12:05:00Z\ndraw:\n  lobby_opens_at: 2026-11-30T11:00:00Z\n  lobby_closes_at: 2026-11-30T12:00:00Z", "draw.lobby_closes_at"},
		{"opens_at: 2026-11-30T12:05:00Z\ndraw:\n  lobby_opens_at: 2026-11-30T11:00:00Z\n  lobby_closes_at: 2026-11-30T12:00:01Z", ""},
		{"opens_at: now\npresales: [{name: fans, tiers: [Floor], until: 2026-03-01T12:00:00+01:00}]", "presales.fans.until"},
		{"opens_at: now\npresales: [{name: fans, tiers: [Floor], until: 2026-11-30T12:00:01Z}]", ""},
	} {
		f, err := seating.ParseEvent("event.yaml", []byte("id: spring\ntitle: Gala\ncurrency: EUR\nrate: 20\n"+c.times+"\n"), now)
		if err != nil {
			t.Fatal(err)
		}
		var misfit listing.Misfit
		if err := listing.Check(listing.Event(f), nil, now); err != nil && !errors.As(err, &misfit) {
			t.Fatal(err)
		}
		if misfit.Field != c.wrong {
			t.Errorf("at %s with\n%s\nthis is refused: %q (%s), want %q", now.Format(time.RFC3339), c.times, misfit.Field, misfit.Why, c.wrong)
		}
	}
}
