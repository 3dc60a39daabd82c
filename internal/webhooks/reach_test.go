package webhooks

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestWhichAddressesMayBeDialled(t *testing.T) {
	for _, ip := range []string{
		"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "198.17.255.255", "223.255.255.255",
		"2606:4700::1111", "2a00:1450::1", "64:ff9b::1.1.1.1", "::ffff:1.1.1.1",
	} {
		if err := permit(netip.MustParseAddr(ip), false); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
	for _, ip := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::10.0.0.1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1",
		"64:ff9b:1::1.1.1.1", "64:ff9b:1::10.0.0.1", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "2002:0a00:0001::1", "2002:0101:0101::1", "3fff::1", "5f00::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1", "4000::1",
	} {
		if err := permit(netip.MustParseAddr(ip), false); !errors.Is(err, ErrRefused) {
			t.Errorf("%s may be dialled (%v)", ip, err)
		}
		loop := netip.MustParseAddr(ip).Unmap().IsLoopback()
		if err := permit(netip.MustParseAddr(ip), true); (err == nil) != loop {
			t.Errorf("%s for tests: %v", ip, err)
		}
	}
}

func TestWhichURLsMayBeTold(t *testing.T) {
	for _, u := range []string{
		"https://example.org", "https://example.org/", "https://example.org:443/x?y=z", "https://example.org:8443/", "https://1.1.1.1/", "https://[2606:4700::1111]:1024/",
	} {
		if err := CheckURL(u, false); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	for _, u := range []string{
		"", "example.org", "http://example.org/", "ftp://example.org/", "https:///x", "https:example.org", "https://u:p@example.org/", "https://u@example.org/",
		"https://example.org/#x", "https://example.org:22/", "https://example.org:80/", "https://example.org:0/", "https://example.org:65536/",
		"https://10.0.0.1/", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "https://[::ffff:10.0.0.1]/", "http://127.0.0.1:8080/",
		"https://example.org/" + strings.Repeat("x", 2000),
		"https://example.org/\u009b2J", "https://example.org/\x7f", "https://\u202eexample.org/", "https://example.org/?\u2028", // they would steer whoever is shown them
	} {
		if err := CheckURL(u, false); err == nil {
			t.Errorf("%s may be told", u)
		}
	}
	for u, ok := range map[string]bool{
		"http://127.0.0.1:8080/": true, "http://[::1]:8080/": true, "https://127.0.0.1:8443/": true,
		"http://localhost:8080/": false, "http://10.0.0.1:8080/": false, "https://10.0.0.1/": false,
	} {
		if err := CheckURL(u, true); (err == nil) != ok {
			t.Errorf("for tests, %s: %v", u, err)
		}
	}
}

// A redirect, of whatever kind, is a failure: nobody connects to where it leads.
func TestNobodyIsRedirected(t *testing.T) {
	d := openDepot(t)
	private := d.receiver(says200)
	for i, status := range []int{301, 302, 303, 307, 308} {
		r := d.receiver(func(w http.ResponseWriter, req *http.Request, _ int) {
			http.Redirect(w, req, private.URL, status)
		})
		d.endpoint(string(rune('a'+i)), r.URL, "max_attempts = 2")
	}
	d.tell(1)
	d.work(d.courier("c"))
	d.until(5, "dead")
	if n := d.count(`SELECT count(*) FROM delivery_attempts WHERE status BETWEEN 301 AND 308`); n != 10 || len(private.gots()) != 0 {
		t.Errorf("%d attempts were redirected and %d arrived where they were led, want 10 and 0", n, len(private.gots()))
	}
}

// A redirect that leads to nowhere that could be read is an answer all the same: its
// status is in the ledger, and its Retry-After is a floor.
func TestARedirectThatCannotBeReadIsAnAnswer(t *testing.T) {
	d := openDepot(t)
	d.endpoint("shop", raw(t, "HTTP/1.1 302 Found\r\nLocation: %zz\r\nContent-Length: 0\r\nRetry-After: 300\r\n\r\n"), "")
	d.tell(1)
	c := d.courier("c")
	e, err := c.take(t.Context(), 1)
	if err != nil || len(e) != 1 {
		t.Fatalf("took %d, %v", len(e), err)
	}
	c.run(t.Context(), e[0])
	if n := d.count(`SELECT coalesce(status, 0) FROM delivery_attempts`); n != 302 {
		t.Errorf("the ledger has status %d, want 302", n)
	}
	if n := d.count(`SELECT extract(epoch FROM due_at - now())::int FROM deliveries`); n < 290 {
		t.Errorf("the next attempt is due in %d s, the receiver asked for 300", n)
	}
}

// A name means a public address first, and a private one the next time: the address
// is checked when it is dialled, not when the name was looked up. Here this
// machine's own 127.0.0.1 stands for the public one, and 0.0.0.0, by which it can be
// reached as well, for the private.
func TestANameThatChangesItsMindIsNotFollowed(t *testing.T) {
	var connected atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listener.Close() //nolint:errcheck // it is replaced
	s.Listener = l
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			connected.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	_, port, _ := net.SplitHostPort(l.Addr().String())
	errand := Errand{URL: "https://example.com:" + port + "/", Keys: [][]byte{make([]byte, 32)}} // the name in httptest's certificate

	send := func(loopback bool, answers ...string) Outcome {
		names := &nameServer{answers: answers}
		c := NewClient(Reach{Limit: 10 * time.Second, Loopback: loopback, Resolver: names.resolver(), Roots: roots})
		var o Outcome
		for range answers {
			o = c.send(t.Context(), errand)
		}
		if int(names.asked.Load()) != len(answers) {
			t.Errorf("the name was asked for %d times, want %d", names.asked.Load(), len(answers))
		}
		return o
	}
	if o := send(true, "127.0.0.1"); o.Status != 200 || connected.Load() != 1 {
		t.Fatalf("while it is public: %+v, %d connections; want 200 by one", o, connected.Load())
	}
	if o := send(true, "127.0.0.1", "0.0.0.0"); o.Status != 0 || !strings.Contains(o.Error, ErrRefused.Error()) || connected.Load() != 2 {
		t.Errorf("then private: %+v, %d connections in all; want it refused, and 2", o, connected.Load())
	}
	if o := send(false, "127.0.0.1"); o.Status != 0 || !strings.Contains(o.Error, ErrRefused.Error()) || connected.Load() != 2 {
		t.Errorf("this machine in production: %+v, %d connections in all; want it refused, and 2", o, connected.Load())
	}
}

// nameServer answers each question for an IPv4 address with the next one; there is
// no IPv6.
type nameServer struct {
	answers []string
	asked   atomic.Int32
}

func (n *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go n.serve(theirs)
		return ours, nil
	}}
}

// serve speaks DNS over a stream: each message after its length.
func (n *nameServer) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // a pipe
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, q); err != nil {
			return
		}
		end := 12
		for q[end] != 0 { // the name's labels
			end += int(q[end]) + 1
		}
		end += 5 // its root, type and class
		a := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
		if binary.BigEndian.Uint16(q[end-4:]) == 1 { // A
			nth := int(n.asked.Add(1)) - 1
			ip := netip.MustParseAddr(n.answers[min(nth, len(n.answers)-1)]).As4()
			a[7] = 1
			a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			a = append(a, ip[:]...)
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil {
			return
		}
	}
}

// Names in a receiver's certificate are its own choice, and stand in why it was not
// told: nothing in the ledger steers a terminal, or looks like another line.
func TestACertificateSteersNobodysTerminal(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"a\x1b[2J\x1b[H\nshop  house  active"},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was told") }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	names := &nameServer{answers: []string{"127.0.0.1"}}
	o := NewClient(Reach{Limit: 10 * time.Second, Loopback: true, Resolver: names.resolver()}).
		send(t.Context(), Errand{URL: "https://example.com:" + port + "/", Keys: [][]byte{make([]byte, 32)}})
	if !strings.Contains(o.Error, "a?[2J?[H?shop  house  active") {
		t.Errorf("%q, want the certificate's name without its control characters", o.Error)
	}
}

// What an error says is no terminal's command, whatever an endpoint's name or its
// receiver put in it.
func TestWhatIsWrittenDownCanBePrinted(t *testing.T) {
	if got := printable("é 票\x00\x1b\n\x7f\u009b\u202e\u2028\xff"); got != "é 票????????" {
		t.Errorf("%q", got)
	}
}

// Old TLS is nobody we talk to, nor is whoever cannot show a certificate.
func TestReceiversProveThemselves(t *testing.T) {
	for name, change := range map[string]func(*tls.Config, *x509.CertPool) *x509.CertPool{
		"TLS 1.1":                 func(c *tls.Config, p *x509.CertPool) *x509.CertPool { c.MaxVersion = tls.VersionTLS11; return p },
		"a certificate of nobody": func(*tls.Config, *x509.CertPool) *x509.CertPool { return x509.NewCertPool() },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was told") }))
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS10}
			s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			roots := x509.NewCertPool()
			roots = change(s.TLS, roots)
			s.StartTLS()
			defer s.Close()
			if name == "TLS 1.1" {
				roots.AddCert(s.Certificate())
			}
			c := NewClient(Reach{Limit: 10 * time.Second, Loopback: true, Roots: roots})
			if o := c.send(t.Context(), Errand{URL: s.URL, Keys: [][]byte{make([]byte, 32)}}); o.Status != 0 || o.Error == "" {
				t.Errorf("%+v, want an error", o)
			}
		})
	}
}
