package webhooks

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// CheckURL says what is wrong with an address that is to be told, without asking
// anybody for its name: what that resolves to is checked at each dial (see permit).
// Ports are 443 and those from 1024 on: below are services that are no receivers.
// loopback: plain http to this machine's own addresses will do, for tests and the
// demo.
func CheckURL(raw string, loopback bool) error {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > 2000 || u.Opaque != "" || u.Hostname() == "" {
		return errors.New("an absolute https address of at most 2000 bytes")
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errors.New("an address of characters that can be printed: it is shown to people")
	}
	if u.User != nil {
		return errors.New("an address without a user: what it is signed with says who sends")
	}
	if u.Fragment != "" {
		return errors.New("an address without a fragment")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	named := err != nil
	switch {
	case u.Scheme == "http" && loopback && !named && ip.IsLoopback():
		return checkPort(u.Port())
	case u.Scheme != "https":
		return errors.New("an https address")
	case !named && permit(ip, loopback) != nil:
		return fmt.Errorf("a public address: %w", permit(ip, loopback))
	}
	return checkPort(u.Port())
}

func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.Atoi(port); err != nil || n > 65535 || n < 1024 && n != 443 {
		return errors.New("port 443, or one of 1024 to 65535")
	}
	return nil
}
