package httpapi

import "testing"

// What is sent is what is wanted most of what there is, and nothing where nothing
// of it is taken.
func TestCodings(t *testing.T) {
	for accepted, want := range map[string]coding{
		"": asIs, "identity": asIs, "br": asIs, "xgzip": asIs, "deflate, br;q=1": asIs, ",": asIs,
		"gzip": asGzip, "GZip": asGzip, "x-gzip": asGzip, "br, gzip;q=0.5": asGzip, "gzip; q=1.0": asGzip, "gzip;q=0.001": asGzip,
		"*": asGzip, "br, *;q=0.1": asGzip, "gzip, identity": asGzip, "gzip;q=0.5, identity;q=0.5": asGzip,
		"gzip;q=0": asIs, "gzip; q=0.000": asIs, "gzip;q=0, *": asIs, "gzip;q=0.2, identity;q=0.8": asIs, "gzip;Q=0": asIs,
		"identity;q=0.3, gzip;q=0.299": asIs, "identity, *;q=0": asIs,
		"identity;q=0, gzip": asGzip, "gzip, *;q=0": asGzip, "identity;q=0, *": asGzip,
		"identity;q=0": asNothing, "*;q=0": asNothing, "gzip;q=0, identity;q=0": asNothing, "br, *;q=0": asNothing, "br, identity;q=0.0": asNothing,
	} {
		if got := codingFor([]byte(accepted)); got != want {
			t.Errorf("Accept-Encoding %q: %d, want %d", accepted, got, want)
		}
	}
	header := []byte("gzip;q=0.8, br, identity;q=0.1, *;q=0")
	if n := testing.AllocsPerRun(100, func() { codingFor(header) }); n > 0 {
		t.Errorf("%g allocations to read a header", n)
	}
}
