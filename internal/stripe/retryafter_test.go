package stripe

import (
	"net/http"
	"testing"
	"time"
)

// Until when the provider asks to be left alone is kept, in seconds or as a date; what
// is neither, or is over, asks for nothing, and nobody is left alone for more than a day.
func TestRetryAfterIsKeptInBothForms(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for told, want := range map[string]time.Duration{
		"60": time.Minute, "0": 0, "-5": 0, "": 0, "soon": 0, "9999999": 24 * time.Hour,
		noon.Add(time.Minute).Format(http.TimeFormat):    time.Minute,
		noon.Add(-time.Minute).Format(http.TimeFormat):   0,
		noon.Add(48 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
	} {
		if got := retryAfter(http.Header{"Retry-After": {told}}, noon); got != want {
			t.Errorf("Retry-After: %s at noon is %s, want %s", told, got, want)
		}
	}
}
