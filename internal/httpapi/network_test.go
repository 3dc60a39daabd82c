package httpapi_test

import (
	"net/netip"
	"strings"
	"testing"

	"waitroom/internal/httpapi"
)

var edge = []string{"10.0.0.0/8", "192.0.2.7", "2001:db8:ed9e::/48"}

func proxies(t testing.TB, texts ...string) httpapi.Proxies {
	t.Helper()
	ps, err := httpapi.ParseProxies(texts)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// Who asked is the first from the right that is no proxy of ours; what stands
// left of it, anybody may have written.
func TestClientIsTheFirstStrangerFromTheRight(t *testing.T) {
	for _, c := range []struct{ name, peer, forwarded, client, network string }{
		{"nobody between", "203.0.113.9", "", "203.0.113.9", "203.0.113.9/32"},
		{"a stranger's own word", "203.0.113.9", "198.51.100.1", "203.0.113.9", "203.0.113.9/32"},
		{"a stranger who names our proxy", "203.0.113.9", "198.51.100.1, 10.0.0.1", "203.0.113.9", "203.0.113.9/32"},
		{"one proxy", "10.0.0.1", "198.51.100.1", "198.51.100.1", "198.51.100.1/32"},
		{"a forged entry before it", "10.0.0.1", "192.0.2.99, 198.51.100.1", "198.51.100.1", "198.51.100.1/32"},
		{"two proxies", "10.0.0.1", "198.51.100.1, 192.0.2.7", "198.51.100.1", "198.51.100.1/32"},
		{"forged before two proxies", "10.0.0.1", "1.1.1.1,2.2.2.2 ,198.51.100.1 , 192.0.2.7", "198.51.100.1", "198.51.100.1/32"},
		{"a stranger between proxies", "10.0.0.1", "10.0.0.9, 198.51.100.1, 192.0.2.7", "198.51.100.1", "198.51.100.1/32"},
		{"only proxies", "10.0.0.1", "10.1.1.1, 192.0.2.7", "10.1.1.1", "10.1.1.1/32"},
		{"a proxy that says nothing", "10.0.0.1", "", "10.0.0.1", "10.0.0.1/32"},
		{"an entry that is none", "10.0.0.1", "198.51.100.1, unknown", "10.0.0.1", "10.0.0.1/32"},
		{"an empty entry", "10.0.0.1", "198.51.100.1, ", "10.0.0.1", "10.0.0.1/32"},
		{"a forged entry that is none", "10.0.0.1", "'; DROP, 198.51.100.1", "198.51.100.1", "198.51.100.1/32"},
		{"with a port", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1", "198.51.100.1/32"},
		{"IPv6", "10.0.0.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"IPv6 with a port", "2001:db8:ed9e::1", "[2001:db8:1:2:ffff::1]:443", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "10.0.0.1", "[2001:db8:1:2::1]", "2001:db8:1:2::1", "2001:db8:1:2::/64"},
		{"IPv6 with a zone", "10.0.0.1", "fe80::1%eth0", "fe80::1", "fe80::/64"},
		{"IPv4 within IPv6", "::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1", "198.51.100.1/32"},
	} {
		client := proxies(t, edge...).Client(netip.MustParseAddr(c.peer), c.forwarded)
		if client.String() != c.client || httpapi.NetworkOf(client).String() != c.network {
			t.Errorf("%s: %s of %s, want %s of %s", c.name, client, httpapi.NetworkOf(client), c.client, c.network)
		}
		if alone := proxies(t).Client(netip.MustParseAddr(c.peer), c.forwarded); alone != netip.MustParseAddr(c.peer).Unmap() {
			t.Errorf("%s, without proxies: %s, want who is connected", c.name, alone)
		}
	}
}

func TestProxiesAreNamedWell(t *testing.T) {
	for _, bad := range []string{"", "edge", "10.0.0.0/33", "10.0.0", "fe80::1%eth0", "::ffff:10.0.0.0/104", "10.0.0.0/8;192.0.2.7"} {
		if got, err := httpapi.ParseProxies([]string{"10.0.0.1", bad}); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
	if got := proxies(t, " 10.1.2.3/8 ", "2001:db8::1"); got[0].String() != "10.0.0.0/8" || got[1].String() != "2001:db8::1/128" {
		t.Errorf("read as %s", got)
	}
}

// Whatever a stranger writes, it does not change who they are taken for: our
// own proxy has written who it was asked by, and that is where the walk ends.
func FuzzClient(f *testing.F) {
	for _, forged := range []string{"", "10.0.0.1", "1.1.1.1, 10.0.0.1", ",", "[", "::1]:x", "10.0.0.1:99999", strings.Repeat("10.0.0.1,", 900)} {
		f.Add(forged, []byte{198, 51, 100, 1})
	}
	ps := proxies(f, edge...)
	f.Fuzz(func(t *testing.T, forged string, from []byte) {
		stranger, ok := netip.AddrFromSlice(from)
		if !ok || ps.Client(stranger, "10.0.0.1") != stranger.Unmap() {
			t.Skip("not a stranger's address")
		}
		stranger = stranger.Unmap()
		if got := ps.Client(stranger, forged); got != stranger {
			t.Errorf("%s is taken for %s because of %q", stranger, got, forged)
		}
		behind := netip.MustParseAddr("10.0.0.1")
		for _, line := range []string{stranger.String(), forged + "," + stranger.String(), forged + ", " + netip.AddrPortFrom(stranger, 80).String() + ",192.0.2.7"} {
			if got := ps.Client(behind, line); got != stranger {
				t.Errorf("%s behind our proxy is taken for %s because of %q", stranger, got, line)
			}
		}
		if got := ps.Client(behind, forged); !got.IsValid() || !httpapi.NetworkOf(got).IsValid() {
			t.Errorf("%q makes nobody: %s", forged, got)
		}
	})
}
