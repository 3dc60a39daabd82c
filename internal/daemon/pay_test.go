package daemon_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/admission"
	"waitroom/internal/daemon"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/payprov"
	"waitroom/internal/pgtest"
	"waitroom/internal/process"
)

const (
	apiKey    = "sk_test_till"
	oldSecret = "whsec_old"
	newSecret = "whsec_new"
)

// shop is a hall, the paycallback process and the stand-in provider, joined by
// real HTTP on this machine.
type shop struct {
	*orderstest.Hall
	t        *testing.T
	db       string
	pay      string // paycallback's address
	ops      string
	tickets  *admission.TicketKeys
	provider *payprov.Provider
	config   daemon.PayCallbackConfig
	stop     func() error
	account  string // the provider's address
}

// openShop starts all of it. What happened is judged when the test ends, also
// against the provider's ledger.
func openShop(t *testing.T, seats int, p payprov.Config) *shop {
	t.Helper()
	s := openDeafShop(t, seats, p)
	s.provider.Notify(payprov.Endpoint{URL: s.pay + "/v1/provider/notices", Secret: oldSecret})
	return s
}

// openDeafShop is openShop where no notice of the provider's ever arrives.
func openDeafShop(t *testing.T, seats int, p payprov.Config, change ...func(*daemon.PayCallbackConfig)) *shop {
	t.Helper()
	s := &shop{t: t, db: pgtest.URL(t)}
	s.Hall = orderstest.NewHall(t, pgtest.Open(t, s.db), seats)
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	var err error
	if s.tickets, err = admission.ParseTicketKeys("k1:" + key); err != nil {
		t.Fatal(err)
	}
	passKey, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	p.SecretKey, p.Backoff = apiKey, 20*time.Millisecond
	s.provider = payprov.New(p)
	server := httptest.NewServer(s.provider.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(s.provider.Close)
	s.account = server.URL
	c := daemon.PayCallbackConfig{
		Common:    daemon.Common{Ops: ops(), DatabaseURL: s.db, Logs: io.Discard},
		TokenKeys: daemon.TokenKeys{TicketKeys: "k1:" + key, PassKeys: string(passKey), PassIssuer: "waitroom"},
		Addr:      "127.0.0.1:0", Install: "here",
		ProviderURL: server.URL, ProviderKey: apiKey, ProviderMethod: "alipay",
		WebhookSecrets: []string{newSecret, oldSecret}, Tolerance: 5 * time.Minute,
		ReturnURL: "http://shop.test/orders/{order}", CallLimit: 5 * time.Second,
		CallsInFlight: 8, NoticeConns: 3, PaymentConns: 2,
		ProviderAccount: daemon.ProviderAccount{AccountRate: 1000}, Rate: 500, SweepRate: 100,
	}
	for _, f := range change {
		f(&c)
	}
	s.config = c
	s.start(c)
	return s
}

func ops() process.Ops {
	return process.Ops{OpsAddr: "127.0.0.1:0", DrainLimit: 10 * time.Second}
}

func (s *shop) start(c daemon.PayCallbackConfig) {
	s.t.Helper()
	addrs := make(chan string, 1)
	c.Listening = func(name, addr string) {
		switch name {
		case "pay":
			s.pay = "http://" + addr
		case "ops":
			addrs <- "http://" + addr
		}
	}
	ctx, end := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.PayCallback(ctx, c) }()
	s.stop = func() error { end(); return <-ended }
	select {
	case s.ops = <-addrs:
	case err := <-ended:
		s.t.Fatalf("paycallback: %v", err)
	}
	s.t.Cleanup(func() { s.judge() })
}

func (s *shop) judge() {
	if err := s.stop(); err != nil {
		s.t.Errorf("paycallback ended with %v", err)
	}
	orderstest.Judge(s.t, s.Pool)
	ctx := context.WithoutCancel(s.t.Context())
	for _, p := range s.provider.Ledger().Payments {
		var ours int64
		err := s.Pool.QueryRow(ctx, `SELECT coalesce(sum(captured_minor), 0) FROM payments
			WHERE provider_payment_id = $1`, p.ID).Scan(&ours)
		if err != nil || ours != p.Captured {
			s.t.Errorf("%s: the provider has %d, we counted %d (%v)", p.ID, p.Captured, ours, err)
		}
	}
}

// cart is one holder's pending order, and the ticket that opens it.
type cart struct {
	order  uuid.UUID
	ticket string
}

func (s *shop) cart(secret string) cart {
	s.t.Helper()
	return s.cartOf(secret, 1)
}

// cartOf is a cart of so many seats.
func (s *shop) cartOf(secret string, seats int) cart {
	s.t.Helper()
	sum := sha256.Sum256([]byte(secret))
	return cart{
		s.Order(s.t, hex.EncodeToString(sum[:]), seats),
		s.tickets.Sign(admission.Ticket{Event: s.Event, Epoch: 1, Hash: sum, IssuedAt: time.Now()}),
	}
}

type answer struct {
	status int
	header http.Header
	body   struct {
		Code, Outcome, Reason string
		Payment               struct {
			ID, Status  string
			CheckoutURL string `json:"checkout_url"`
			AmountMinor int64  `json:"amount_minor"`
			Currency    string
		}
		PayBy time.Time `json:"pay_by"`
	}
}

func (s *shop) do(req *http.Request) answer {
	s.t.Helper()
	client := http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req.WithContext(s.t.Context()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if err := json.NewDecoder(resp.Body).Decode(&a.body); err != nil {
			s.t.Errorf("%s %s: %v", req.Method, req.URL, err)
		}
	}
	return a
}

func (s *shop) open(order uuid.UUID, ticket, key string) answer {
	s.t.Helper()
	req := httptest.NewRequest(http.MethodPost, s.pay+"/v1/orders/"+order.String()+"/payments", nil)
	req.RequestURI = ""
	if ticket != "" {
		req.Header.Set("Authorization", "Bearer "+ticket)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return s.do(req)
}

// decide is the buyer's decision on the provider's page.
func (s *shop) decide(checkoutURL, act string) {
	s.t.Helper()
	u, err := url.Parse(checkoutURL)
	if err != nil {
		s.t.Fatal(err)
	}
	u.Path += "/" + act
	req, err := http.NewRequest(http.MethodPost, u.String(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if a := s.do(req); a.status != http.StatusOK {
		s.t.Fatalf("%s at %s: %d", act, u, a.status)
	}
}

// notify sends a body as the provider would, signed now with the secret.
func (s *shop) notify(body []byte, secret string, header ...string) answer {
	s.t.Helper()
	return s.notifyAt(body, secret, time.Now(), header...)
}

func (s *shop) notifyAt(body []byte, secret string, at time.Time, header ...string) answer {
	s.t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	req := httptest.NewRequest(http.MethodPost, s.pay+"/v1/provider/notices", bytes.NewReader(body))
	req.RequestURI = ""
	req.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%x", at.Unix(), mac.Sum(nil)))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.do(req)
}

func succeeded(id string, c cart, install string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"object":"event","type":"payment_intent.succeeded","created":1,"data":{"object":{
		"id":"pi_%s","object":"payment_intent","status":"succeeded","amount":2500,"amount_received":2500,"currency":"eur",
		"metadata":{"install":%q,"order":%q,"payment":""}}}}`, id, id, install, c.order)
}

// settled waits until the provider has told everything and an order is so.
func (s *shop) settled(order uuid.UUID, want string) {
	s.t.Helper()
	within(s.t, 20*time.Second, "the order is "+want, func() bool {
		return s.provider.Undelivered() == 0 && s.Status(s.t, order) == want
	})
}

// within polls until is holds.
func within(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	over := time.NewTimer(limit)
	defer over.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-over.C:
			t.Fatalf("not within %s: %s", limit, what)
		case <-again.C:
		}
	}
}

// From the cart to the ticket, by JSON and by a browser's form, with every
// notice told twice: each order is paid once.
func TestBuyersPay(t *testing.T) {
	s := openShop(t, 2, payprov.Config{Disorder: payprov.Disorder{Doubled: 1, MaxDelay: 30 * time.Millisecond}})
	anna, ben := s.cart("anna's secret"), s.cart("ben's secret")
	a := s.open(anna.order, anna.ticket, "a")
	if p := a.body.Payment; a.status != 201 || p.Status != "open" || p.AmountMinor != 2500 || p.Currency != "EUR" || time.Until(a.body.PayBy) < 4*time.Minute {
		t.Fatalf("opened: %+v", a)
	}
	if again := s.open(anna.order, anna.ticket, "a"); again.body.Payment != a.body.Payment {
		t.Errorf("the same key: %+v, first %+v", again.body, a.body)
	}
	s.decide(a.body.Payment.CheckoutURL, "decline")
	s.decide(a.body.Payment.CheckoutURL, "pay")

	form := url.Values{"ticket": {ben.ticket}, "key": {"b"}}.Encode()
	req := httptest.NewRequest(http.MethodPost, s.pay+"/v1/orders/"+ben.order.String()+"/payments", strings.NewReader(form))
	req.RequestURI = ""
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	b := s.do(req)
	if b.status != 303 || !strings.Contains(b.header.Get("Location"), "/checkout/pi_") {
		t.Fatalf("the form: %d to %q", b.status, b.header.Get("Location"))
	}
	s.decide(b.header.Get("Location"), "pay")
	s.settled(anna.order, "paid")
	s.settled(ben.order, "paid")
	if again := s.open(anna.order, anna.ticket, "again"); again.status != 409 || again.body.Code != "order_paid" {
		t.Errorf("a payment of a paid order: %d %s", again.status, again.body.Code)
	}
}

// The order lapsed while the buyer was at the provider's page, and both of its
// payments are paid: both go back, once each.
func TestLateMoneyOverTheWire(t *testing.T) {
	s := openShop(t, 1, payprov.Config{Disorder: payprov.Disorder{Doubled: 1}})
	c := s.cart("anna's secret")
	first, second := s.open(c.order, c.ticket, "a"), s.open(c.order, c.ticket, "b")
	s.Lapse(t, c.order)
	expire(t, s.Pool)
	s.decide(first.body.Payment.CheckoutURL, "pay")
	s.decide(second.body.Payment.CheckoutURL, "pay")
	within(t, 20*time.Second, "two refunds owed", func() bool {
		return s.provider.Undelivered() == 0 && s.Count(t, `SELECT count(*) FROM refund_operations WHERE reason = 'late'`) == 2
	})
	if a := s.open(c.order, c.ticket, "c"); a.status != 409 || a.body.Code != "order_ended" {
		t.Errorf("a payment of an ended order: %d %s", a.status, a.body.Code)
	}
}

// What the listener refuses of buyers.
func TestOpeningsRefused(t *testing.T) {
	s := openShop(t, 2, payprov.Config{})
	anna, ben := s.cart("anna's secret"), s.cart("ben's secret")
	for what, c := range map[string]struct {
		got    answer
		status int
		code   string
	}{
		"no token":        {s.open(anna.order, "", "a"), 401, "token_missing"},
		"a forged ticket": {s.open(anna.order, anna.ticket[:len(anna.ticket)-2]+"AA", "a"), 401, "ticket_invalid"},
		"no key":          {s.open(anna.order, anna.ticket, ""), 400, "key_missing"},
		"a key too long":  {s.open(anna.order, anna.ticket, strings.Repeat("k", 201)), 400, "bad_request"},
		"another's order": {s.open(anna.order, ben.ticket, "a"), 404, "no_such_order"},
		"no such order":   {s.open(uuid.New(), ben.ticket, "a"), 404, "no_such_order"},
	} {
		if c.got.status != c.status || c.got.body.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", what, c.got.status, c.got.body.Code, c.status, c.code)
		}
	}
	if n := len(s.provider.Ledger().Payments); n != 0 {
		t.Errorf("%d payments at the provider, want none", n)
	}
}

// The provider opens a payment and its answer is lost: the buyer is told to ask
// again, and the same key finds the same payment.
func TestLostOpening(t *testing.T) {
	var cut atomic.Bool
	cut.Store(true)
	s := openShop(t, 1, payprov.Config{Fault: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !cut.Load() {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}})
	c := s.cart("anna's secret")
	if a := s.open(c.order, c.ticket, "a"); a.status != 503 || a.body.Code != "payment_unknown" || a.header.Get("Retry-After") == "" {
		t.Fatalf("a lost answer: %d %s, Retry-After %q", a.status, a.body.Code, a.header.Get("Retry-After"))
	}
	cut.Store(false)
	a := s.open(c.order, c.ticket, "a")
	if a.status != 201 || len(s.provider.Ledger().Payments) != 1 {
		t.Fatalf("asked again: %d, %d payments at the provider; want 201 and 1", a.status, len(s.provider.Ledger().Payments))
	}
	s.decide(a.body.Payment.CheckoutURL, "pay")
	s.settled(c.order, "paid")
}

// Who may speak as the provider, and what is not even unfolded.
func TestNoticesRefused(t *testing.T) {
	s := openShop(t, 1, payprov.Config{})
	c := s.cart("anna's secret")
	body, now := succeeded("evt_1", c, "here"), time.Now()
	bomb := gzipped(t, 64<<20)
	if len(bomb) < 60<<10 || len(bomb) > 70<<10 {
		t.Fatalf("the bomb has %d bytes, want about 64 KiB", len(bomb))
	}
	began := time.Now()
	for what, w := range map[string]struct {
		got          answer
		status       int
		code, reason string
	}{
		"no secret of ours": {s.notify(body, "whsec_guess"), 400, "bad_signature", "mismatch"},
		"an empty secret":   {s.notify(body, ""), 400, "bad_signature", "mismatch"},
		"a year ahead":      {s.notifyAt(body, newSecret, now.AddDate(1, 0, 0)), 400, "bad_signature", "too_new"},
		"an hour old":       {s.notifyAt(body, newSecret, now.Add(-time.Hour)), 400, "bad_signature", "too_old"},
		"another body":      {s.notify(body, newSecret, "Stripe-Signature", "t=1,v1=00"), 400, "bad_signature", "no_signature"},
		"a folded bomb":     {s.notify(bomb, newSecret, "Content-Encoding", "gzip"), 415, "encoding_refused", ""},
		"too large":         {s.notify(make([]byte, 256<<10+1), newSecret), 413, "too_large", ""},
		"no JSON":           {s.notify([]byte("x"), newSecret), 400, "bad_request", ""},
		"no body":           {s.notify(nil, newSecret), 400, "bad_request", ""},
	} {
		if w.got.status != w.status || w.got.body.Code != w.code || w.got.body.Reason != w.reason {
			t.Errorf("%s: %d %s %s, want %d %s %s", what, w.got.status, w.got.body.Code, w.got.body.Reason, w.status, w.code, w.reason)
		}
	}
	t.Logf("all refused within %s", time.Since(began))
	if n := s.Count(t, `SELECT count(*) FROM provider_notices`); n != 0 || s.Status(t, c.order) != "pending" {
		t.Fatalf("%d notices were kept, the order is %s", n, s.Status(t, c.order))
	}
}

func gzipped(t *testing.T, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Either secret is good while they rotate; another application's payments and
// kinds that we do not know are acknowledged and change nothing.
func TestNoticesTaken(t *testing.T) {
	s := openShop(t, 3, payprov.Config{})
	anna, ben, cleo := s.cart("anna's secret"), s.cart("ben's secret"), s.cart("cleo's secret")
	other := []byte(`{"id":"evt_o","object":"event","type":"invoice.created","data":{"object":{"id":"in_1","object":"invoice"}}}`)
	unreadable := []byte(strings.Replace(string(succeeded("evt_u", cleo, "here")), `"amount_received":2500`, `"amount_received":"a lot"`, 1))
	for what, w := range map[string]struct {
		got     answer
		outcome string
	}{
		"by the new secret":     {s.notify(succeeded("evt_1", anna, "here"), newSecret), "paid"},
		"by the old secret":     {s.notify(succeeded("evt_2", ben, "here"), oldSecret), "paid"},
		"another application's": {s.notify(succeeded("evt_3", cleo, ""), newSecret), "foreign"},
		"another installation":  {s.notify(succeeded("evt_4", cleo, "there"), newSecret), "foreign"},
		"a kind of no effect":   {s.notify(other, newSecret), "no_effect"},
		"ours, and unreadable":  {s.notify(unreadable, newSecret), "unreadable"},
	} {
		if w.got.status != 200 || w.got.body.Outcome != w.outcome {
			t.Errorf("%s: %d %q, want 200 %q", what, w.got.status, w.got.body.Outcome, w.outcome)
		}
	}
	if got := s.Status(t, cleo.order); got != "pending" {
		t.Errorf("the order of foreign notices is %s, want pending", got)
	}
	metric(t, s.ops, `waitroom_provider_notices_total{outcome="foreign"} 2`)
}

// Fifty copies of one notice at the same instant are fifty 2xx that say the
// same, and one payment.
func TestFiftyCopiesOverTheWire(t *testing.T) {
	s := openShop(t, 1, payprov.Config{})
	c := s.cart("anna's secret")
	body := succeeded("evt_1", c, "here")
	answers := make(chan answer, 50)
	for range cap(answers) {
		go func() { answers <- s.notify(body, newSecret) }()
	}
	for range cap(answers) {
		if a := <-answers; a.status != 200 || a.body.Outcome != "paid" {
			t.Errorf("a copy: %d %q, want 200 paid", a.status, a.body.Outcome)
		}
	}
	if n := s.Count(t, `SELECT count(*) FROM notices`); n != 1 {
		t.Errorf("%d notices out, want 1", n)
	}
}

// The database is away when the money comes: 503, nothing kept, and the
// provider's next tries pay when it is back.
func TestNoticeWithoutDatabase(t *testing.T) {
	s := openShop(t, 2, payprov.Config{})
	anna, ben := s.cart("anna's secret"), s.cart("ben's secret")
	page := s.open(anna.order, anna.ticket, "a").body.Payment.CheckoutURL
	s.database("false")
	s.decide(page, "pay")
	body := succeeded("evt_1", ben, "here")
	if a := s.notify(body, newSecret); a.status != 503 || a.body.Code != "unavailable" {
		t.Errorf("a notice without a database: %d %s, want 503 unavailable", a.status, a.body.Code)
	}
	if a := s.open(ben.order, ben.ticket, "b"); a.status != 503 {
		t.Errorf("an opening without a database: %d, want 503", a.status)
	}
	if ready := s.readyz(); ready != 503 {
		t.Errorf("readyz says %d without a database, want 503", ready)
	}
	if n := s.provider.Undelivered(); n == 0 {
		t.Error("the provider was told that its notice is safe")
	}
	s.database("true")
	s.Pool.Reset() // the test's own connections were cut as well
	s.settled(anna.order, "paid")
	// A connection of the pool that was cut may cost one more try.
	within(t, 10*time.Second, "the notice, sent again, pays", func() bool {
		a := s.notify(body, newSecret)
		return a.status == 200 && a.body.Outcome == "paid"
	})
	within(t, 10*time.Second, "ready", func() bool { return s.readyz() == 200 })
}

func (s *shop) readyz() int {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.ops+"/readyz", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(req).status
}

// database lets connections to it be made or not, and cuts those there are.
func (s *shop) database(open string) {
	s.t.Helper()
	u, err := url.Parse(s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	conn, err := pgx.Connect(s.t.Context(), u.String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(s.t.Context())
	for _, sql := range []string{
		`ALTER DATABASE ` + pgx.Identifier{name}.Sanitize() + ` ALLOW_CONNECTIONS ` + open,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '` + name + `'`,
	} {
		if _, err := conn.Exec(s.t.Context(), sql); err != nil {
			s.t.Fatalf("%s: %v", sql, err)
		}
	}
}

// A process that everybody, or nobody, could speak to as the provider does not
// start, and says why.
func TestPayCallbackRefusesToStart(t *testing.T) {
	passKey, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	good := daemon.PayCallbackConfig{
		Common:    daemon.Common{Ops: ops(), DatabaseURL: pgtest.URL(t), Logs: io.Discard},
		TokenKeys: daemon.TokenKeys{TicketKeys: "k1:" + base64.StdEncoding.EncodeToString([]byte("a ticket key that tests alone use")), PassKeys: string(passKey)},
		Addr:      "127.0.0.1:0", Install: "here", ProviderURL: "http://127.0.0.1:1", ProviderKey: apiKey, ProviderMethod: "alipay",
		WebhookSecrets: []string{newSecret}, Tolerance: time.Minute, ReturnURL: "http://shop.test/{order}",
		CallLimit: time.Second, CallsInFlight: 1, NoticeConns: 1, PaymentConns: 1,
		ProviderAccount: daemon.ProviderAccount{AccountRate: 100}, Rate: 40, SweepRate: 10,
	}
	for what, c := range map[string]struct {
		spoil func(*daemon.PayCallbackConfig)
		says  string
	}{
		"no secret":              {func(c *daemon.PayCallbackConfig) { c.WebhookSecrets = nil }, "no webhook secret"},
		"an empty secret":        {func(c *daemon.PayCallbackConfig) { c.WebhookSecrets = []string{newSecret, ""} }, "webhook secret 2 of 2 is empty"},
		"no provider key":        {func(c *daemon.PayCallbackConfig) { c.ProviderKey = "" }, "secret key is empty"},
		"no ticket keys":         {func(c *daemon.PayCallbackConfig) { c.TicketKeys = "" }, "ticket keys"},
		"a database of no sale":  {func(c *daemon.PayCallbackConfig) { c.DatabaseURL = "postgres://127.0.0.1:1/none" }, "postgres"},
		"an address that is not": {func(c *daemon.PayCallbackConfig) { c.Addr = "256.0.0.1:1" }, "256.0.0.1"},
	} {
		bad := good
		c.spoil(&bad)
		if err := daemon.PayCallback(t.Context(), bad); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want a refusal that says %q", what, err, c.says)
		}
	}
}
