package httpapi

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Proxies are the networks of our own edge: what they say of who asked them is
// believed, and nobody else's word is.
type Proxies []netip.Prefix

// ParseProxies reads networks (10.0.0.0/8) and single addresses. One that
// cannot be read is an error: a proxy that is not known makes everybody behind
// it look like one.
func ParseProxies(texts []string) (Proxies, error) {
	var all Proxies
	for _, text := range texts {
		text = strings.TrimSpace(text)
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, single := netip.ParseAddr(text)
			if single != nil || a.Zone() != "" {
				return nil, fmt.Errorf("trusted proxy %q: want a network (10.0.0.0/8) or an address", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if p.Addr().Is4In6() {
			return nil, fmt.Errorf("trusted proxy %q: write it as IPv4", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

func (ps Proxies) trust(a netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Client is who asked: the first, from the right, that is no proxy of ours.
// peer is who is connected to us; forwarded is X-Forwarded-For, its lines in
// their order, to which each proxy appended who had asked it. Whatever stands
// left of the answer was written by a stranger. An entry that is no address
// ends the walk: then the proxy that reported it stands for all behind it.
func (ps Proxies) Client(peer netip.Addr, forwarded string) netip.Addr {
	client := plain(peer)
	for rest, more := forwarded, true; more && ps.trust(client); {
		var entry string
		if i := strings.LastIndexByte(rest, ','); i >= 0 {
			rest, entry = rest[:i], rest[i+1:]
		} else {
			entry, more = rest, false
		}
		from, ok := hop(entry)
		if !ok {
			break
		}
		client = from
	}
	return client
}

// hop reads one entry, which may carry a port.
func hop(entry string) (netip.Addr, bool) {
	entry = strings.TrimSpace(entry)
	if at, err := netip.ParseAddrPort(entry); err == nil {
		return plain(at.Addr()), true
	}
	entry = strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]")
	a, err := netip.ParseAddr(entry)
	return plain(a), err == nil
}

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// networkOf is what one household or one office has: an IPv4 address, or 64
// bits of IPv6, within which anybody may take any address.
func networkOf(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // it fails for the zero address alone
	return p
}

// network is whose network a request comes from.
func (ps Proxies) network(c *fiber.Ctx) netip.Prefix {
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	if len(ps) == 0 {
		return networkOf(plain(peer))
	}
	var lines []string
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		lines = append(lines, string(line))
	}
	return networkOf(ps.Client(peer, strings.Join(lines, ",")))
}
