package httpapi

// Codes is every problem's code with its status, for tests that look from
// outside.
func Codes() map[string]int {
	codes := map[string]int{}
	for code, p := range problems {
		codes[code] = p.status
	}
	return codes
}

// NetworkOf and Hop are how a network is named and an entry of
// X-Forwarded-For is read.
var (
	NetworkOf = networkOf
	Hop       = hop
)
