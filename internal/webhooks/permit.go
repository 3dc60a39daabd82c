package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrRefused is an address that organisers' names must not lead us to: one of our own
// networks, of this machine, or of nobody.
var ErrRefused = errors.New("refused address")

// permit says whether we may connect to an address that a name resolved to. IPv4
// is what is left when IANA's special blocks are taken away; IPv6 is global unicast
// alone (2000::/3), less those within it. A public IPv4 address behind NAT64's
// well-known prefix is what an IPv6-only host has to dial.
// https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-
func permit(ip netip.Addr, loopback bool) error {
	ip = ip.Unmap() // ::ffff:10.0.0.1 is 10.0.0.1
	if loopback && ip.IsLoopback() {
		return nil
	}
	if ip.Zone() != "" {
		return fmt.Errorf("%w: %s is of a link", ErrRefused, ip)
	}
	if nat64().Contains(ip) {
		b := ip.As16()
		return permit(netip.AddrFrom4([4]byte(b[12:])), false)
	}
	if ip.Is6() && !netip.MustParsePrefix("2000::/3").Contains(ip) {
		return fmt.Errorf("%w: %s is not global", ErrRefused, ip)
	}
	for _, p := range special() {
		if p.Contains(ip) {
			return fmt.Errorf("%w: %s is in %s", ErrRefused, ip, p)
		}
	}
	return nil
}

func nat64() netip.Prefix { return netip.MustParsePrefix("64:ff9b::/96") }

func special() (all []netip.Prefix) {
	for _, p := range [...]string{
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // carriers' NAT
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // a cloud's metadata, on an address of its own
		"169.254.0.0/16",   // link-local, and clouds' metadata
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocol assignments
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // 6to4 relays
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and broadcast
		"2001::/23",        // protocol assignments: Teredo, ORCHID, benchmarks
		"2001:db8::/32",    // documentation
		"2002::/16",        // 6to4: any IPv4 address may be within
		"3fff::/20",        // documentation
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}
