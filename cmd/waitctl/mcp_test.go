package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"waitroom/internal/clerk"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/payprov"
	"waitroom/internal/pgtest"
)

// TestMain lets a test run this program as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_WAITCTL") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// shop is every process of a sale, and a model that helps its customers.
type shop struct {
	*demo.House
	t    *testing.T
	pool *pgxpool.Pool
	key  string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{House: demotest.Open(t, demo.Build{Services: demo.Services{DatabaseURL: pgtest.URL(t)}}), t: t}
	s.pool = pgtest.Open(t, s.DatabaseURL, pgtest.Conns(2))
	var made organiser.Made
	var err error
	s.key, made, err = organiser.Create(t.Context(), s.pool, organiser.Key{
		Organiser: organiser.House, Name: "agent", Scopes: []organiser.Scope{organiser.RefundsWrite},
	})
	if err != nil || made != organiser.Done {
		t.Fatal(made, err)
	}
	return s
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *shop) until(what string, so func() bool) {
	s.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-again.C {
		if so() {
			return
		}
	}
	s.t.Fatalf("two minutes went by before: %s", what)
}

// bought is an order of two seats, whose money lies at the provider.
func (s *shop) bought(customer string) clerk.Line {
	s.t.Helper()
	form := url.Values{"amount": {"8000"}, "currency": {"eur"}, "confirm": {"true"}, "payment_method": {"pm_card_visa"}}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.ProviderURL+"/v1/payment_intents", strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer sk_demo")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	var intent struct{ ID, Status string }
	if err := json.NewDecoder(res.Body).Decode(&intent); err != nil || intent.Status != "succeeded" {
		s.t.Fatalf("a payment of the provider's is %+v, %v", intent, err)
	}
	order, payment := uuid.Must(uuid.NewV7()), uuid.New()
	s.exec(`INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, 2, 100)`, demotest.EventID, customer)
	s.exec(`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		VALUES ($1::uuid, $2, $3, $3, 1, 0, 1, $1::uuid::text, sha256('x'), 2, 8000, 'EUR', now() + interval '10 minutes')`, order, demotest.EventID, customer)
	s.exec(`WITH free AS (SELECT id FROM seats WHERE event_id = $1 AND order_id IS NULL AND kind = 'numbered' ORDER BY id LIMIT 2 FOR UPDATE),
		taken AS (UPDATE seats s SET order_id = $2, claimed_at = now() FROM free WHERE s.id = free.id RETURNING s.id)
		INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $2, id, 4000 FROM taken`, demotest.EventID, order)
	s.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', 8000, 'EUR', 8000, 'on_order', now())`, payment, order, intent.ID)
	s.exec(`UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now() WHERE id = $1`, order, payment)
	return clerk.Line{Order: order.String(), Customer: customer}
}

// process runs waitctl mcp.
func (s *shop) process(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Env = append(append(os.Environ(), "RUN_WAITCTL=1"), env...)
	return cmd
}

// model is a client of the tools, as a language model's program is one.
type model struct {
	*shop
	session *mcp.ClientSession
}

func (s *shop) connect(by mcp.Transport) model {
	s.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "support-model", Version: "1"}, nil).Connect(s.t.Context(), by, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { session.Close() }) //nolint:errcheck // the process may be gone
	return model{s, session}
}

func (s *shop) overStdio(api string) model {
	return s.connect(&mcp.CommandTransport{Command: s.process([]string{"WAITROOM_API=" + api, "WAITROOM_KEY=" + s.key})})
}

// bearing adds a key to each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (s *shop) listen(api string) (at string) {
	s.t.Helper()
	cmd := s.process([]string{"WAITROOM_API=" + api}, "--listen", "127.0.0.1:0")
	told, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("waitctl mcp --listen: %v", err)
		}
	})
	line, err := bufio.NewReader(told).ReadString('\n')
	_, at, ok := strings.Cut(strings.TrimSpace(line), "tools at ")
	if err != nil || !ok {
		s.t.Fatalf("waitctl mcp --listen said %q, %v", line, err)
	}
	return at
}

func (s *shop) overHTTP(at string) model {
	return s.connect(&mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearing(s.key)}, DisableStandaloneSSE: true})
}

// call calls a tool, and returns what a model reads of it.
func (m model) call(tool string, args any) (r clerk.Refund, text string, wrong bool) {
	m.t.Helper()
	res, err := m.session.CallTool(m.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		m.t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	structured, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(structured, &r)
	}
	if err != nil {
		m.t.Fatalf("%s answered %s: %v", tool, structured, err)
	}
	return r, text, res.IsError
}

// line is the first of a customer's order, as the model finds it.
func (m model) line(l clerk.Line) clerk.Line {
	m.t.Helper()
	var order clerk.Order
	m.until("the key is known", func() bool {
		_, text, wrong := m.call("order_get", clerk.Of{Order: l.Order, Customer: l.Customer})
		return !wrong && json.Unmarshal([]byte(text), &order) == nil
	})
	if len(order.Lines) != 2 || order.Lines[0].AmountMinor != 4000 || order.Lines[0].Refund != nil {
		m.t.Fatalf("the order is %+v", order)
	}
	l.Line = order.Lines[0].Line
	return l
}

// refunds are the provider's of an order, by its own ledger.
func (s *shop) refunds(order string) (n int) {
	for _, r := range s.Provider.Ledger().Refunds {
		if r.Metadata["order"] == order {
			n++
		}
	}
	return n
}

// A model asks for a refund, the provider makes it and its answer is lost. The
// model asks again, twice: first nobody knows, and it is told not to send
// again; then it is found by a look. One refund, one key, "already refunded".
func TestTheModelAsksAgainAndIsNotPaidTwice(t *testing.T) {
	s := openShop(t)
	if err := s.Stop("paycallback"); err != nil { // the provider's notice does not come
		t.Fatal(err)
	}
	if err := s.Provider.Play(payprov.Script{Method: "POST", Path: "/v1/refunds", Commit: true, Say: payprov.FIN}); err != nil {
		t.Fatal(err)
	}
	m := s.overStdio(s.Admin)
	l := m.line(s.bought("customer-1043"))
	r, text, wrong := m.call("refund_item", l)
	if r.Answer != "queued" || r.AmountMinor != 4000 || wrong || !strings.Contains(text, "do not send it again") {
		t.Fatalf("asked: %s (error: %t): %s", r.Answer, wrong, text)
	}
	operation := r.Operation.ID
	s.exec(`UPDATE refund_operations SET give_up_at = now() + interval '1 hour'`) // on however slow a machine
	s.until("nobody knows", func() bool {
		r, _, _ := m.call("refund_status", l)
		return r.Answer == "unknown" || r.Answer == "confirmed"
	})
	if n := s.refunds(l.Order); n != 1 {
		t.Fatalf("the provider made %d refunds, and its answer was lost; want 1", n)
	}
	r, text, wrong = m.call("refund_item", l)
	if r.Answer == "unknown" && (!wrong || !strings.Contains(text, "Do not send it again: we are finding out")) {
		t.Errorf("while nobody knows: (error: %t) %s", wrong, text)
	}
	if strings.Contains(strings.ToLower(text), "fail") {
		t.Errorf("what may have been made is told as failed: %s", text)
	}
	s.until("it is found", func() bool {
		s.exec(`UPDATE refund_operations SET next_at = now() WHERE ended_at IS NULL AND call IS NULL`)
		r, _, _ := m.call("refund_status", l)
		return r.Answer == "confirmed"
	})
	r, text, wrong = m.call("refund_item", l)
	if r.Answer != "confirmed" || wrong || r.Operation.ID != operation || r.Operation.Refund == "" || !strings.Contains(text, "has been refunded, once") {
		t.Errorf("asked a third time: %+v (error: %t): %s", r, wrong, text)
	}
	var operations, sends, looks int
	err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM refund_operations), (SELECT count(*) FROM refund_calls WHERE verb = 'create'),
		(SELECT count(*) FROM refund_calls WHERE verb = 'list')`).Scan(&operations, &sends, &looks)
	if err != nil || operations != 1 || sends != 1 || looks < 1 || s.refunds(l.Order) != 1 {
		t.Errorf("%d operations, %d sends, %d looks (%v), %d refunds; want 1, 1, some, 1", operations, sends, looks, err, s.refunds(l.Order))
	}
}

// The provider's notice comes, and its answer does not: the status turns
// confirmed by the notice alone, and nothing is looked up or sent again.
func TestTheNoticeConfirmsWhatTheModelAskedFor(t *testing.T) {
	s := openShop(t)
	if err := s.Provider.Play(payprov.Script{Method: "POST", Path: "/v1/refunds", Commit: true, Say: payprov.RST}); err != nil {
		t.Fatal(err)
	}
	m := s.overHTTP(s.listen(s.Admin))
	l := m.line(s.bought("ann"))
	if r, text, _ := m.call("refund_item", l); r.Answer != "queued" {
		t.Fatalf("asked: %s: %s", r.Answer, text)
	}
	// No look has its turn meanwhile, however slow the machine.
	s.until("it is sent", func() bool { return s.refunds(l.Order) == 1 })
	s.exec(`UPDATE refund_operations SET next_at = now() + interval '1 hour', give_up_at = now() + interval '1 hour' WHERE status = 'unknown'`)
	s.until("it is confirmed", func() bool { r, _, _ := m.call("refund_status", l); return r.Answer == "confirmed" })
	if r, _, wrong := m.call("refund_item", l); r.Answer != "confirmed" || wrong || s.refunds(l.Order) != 1 {
		t.Errorf("asked again: %s, %d refunds", r.Answer, s.refunds(l.Order))
	}
}

// Whichever way the tools are reached: they say what they are, take no amount,
// have no rights beyond the key's; and a call whose answer is lost on the way is
// not known, and asked again is the same operation.
func TestToolsOverBothTransports(t *testing.T) {
	s := openShop(t)
	cut := &atomic.Bool{}
	api := httptest.NewServer(losing(s.Admin, cut))
	t.Cleanup(api.Close)
	at := s.listen(api.URL)
	for name, m := range map[string]model{"stdio": s.overStdio(api.URL), "http": s.overHTTP(at)} {
		m.saysWhatItIs(name)
		l := m.line(s.bought("customer of " + name))
		cut.Store(true)
		r, text, wrong := m.call("refund_item", l)
		if r.Answer != "unknown" || !wrong || !strings.Contains(text, "Do not send it again") {
			t.Errorf("%s: the answer was lost: %s (error: %t) %s", name, r.Answer, wrong, text)
		}
		for range 2 {
			if r, _, _ = m.call("refund_item", l); r.Operation == nil || !strings.HasPrefix(r.Operation.ID, "refund:"+l.Order) {
				t.Errorf("%s: asked again: %+v", name, r)
			}
		}
		l.Customer = "somebody else"
		if r, text, wrong := m.call("refund_item", l); r.Answer != "unknown" || !wrong || *r.Reason != "no_such_order" {
			t.Errorf("%s: another's order: %s %s", name, r.Answer, text)
		}
		if r, text, wrong := m.call("refund_status", l); r.Answer != "unknown" || !wrong || *r.Reason != "no_such_order" {
			t.Errorf("%s: how another's stands: %s %s", name, r.Answer, text)
		}
	}
	var operations int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM refund_operations`).Scan(&operations); err != nil || operations != 2 {
		t.Errorf("%d operations of two lines (%v)", operations, err)
	}
	res, err := http.Post(at, "application/json", strings.NewReader(`{}`)) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close() //nolint:errcheck // read only
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d, want 401", res.StatusCode)
	}
}

// A look that could not be made, for a customer who was mistyped or a key that was
// revoked, says nothing of a refund that was confirmed; nor does asking again.
func TestALookThatIsRefusedSaysNothingOfTheRefund(t *testing.T) {
	s := openShop(t)
	m := s.overHTTP(s.listen(s.Admin))
	l := m.line(s.bought("ann"))
	m.call("refund_item", l)
	s.until("it is confirmed", func() bool { r, _, _ := m.call("refund_status", l); return r.Answer == "confirmed" })
	mistyped := l
	mistyped.Customer = "ann@example.org"
	want := func(tool string, l clerk.Line, code string) {
		t.Helper()
		r, text, wrong := m.call(tool, l)
		if r.Answer != "unknown" || !wrong || r.Reason == nil || *r.Reason != code || strings.Contains(text, "Nothing was refunded") {
			t.Errorf("%s: %+v (error: %t): %s; want unknown, %s", tool, r, wrong, text, code)
		}
	}
	want("refund_status", mistyped, "no_such_order")
	want("refund_item", mistyped, "no_such_order")
	s.exec(`UPDATE organiser_keys SET revoked_at = now() WHERE name = 'agent'`)
	s.until("the key is no good", func() bool { r, _, _ := m.call("refund_status", l); return r.Answer != "confirmed" })
	want("refund_status", l, "token_invalid")
	want("refund_item", l, "token_invalid")
}

// saysWhatItIs: each tool's hints are true of it, and none takes an amount.
func (m model) saysWhatItIs(name string) {
	m.t.Helper()
	tools, err := m.session.ListTools(m.t.Context(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	said := map[string][4]bool{}
	for _, tool := range tools.Tools {
		a := tool.Annotations
		said[tool.Name] = [4]bool{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}
		schema, _ := json.Marshal(tool.InputSchema)
		if strings.Contains(string(schema), "amount") || !strings.Contains(string(schema), `"additionalProperties":false`) {
			m.t.Errorf("%s: %s takes %s", name, tool.Name, schema)
		}
	}
	want := map[string][4]bool{
		"refund_item": {false, true, true, true}, "refund_status": {true, false, true, false}, "order_get": {true, false, true, false},
	}
	for tool, hints := range want {
		if said[tool] != hints || len(said) != len(want) {
			m.t.Errorf("%s: tools %v, want %v", name, said, want)
		}
	}
	res, err := m.session.CallTool(m.t.Context(), &mcp.CallToolParams{Name: "refund_item", Arguments: map[string]any{
		"order": uuid.NewString(), "line": "A-1", "customer": "ann", "amount": 1,
	}})
	if err == nil && !res.IsError {
		m.t.Errorf("%s: an amount was taken", name)
	}
}

// losing is the API behind a line that loses one answer to a POST when it is
// told to: the request arrives.
func losing(api string, cut *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, api+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header = r.Header.Clone()
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close() //nolint:errcheck // read only
		if r.Method == http.MethodPost && cut.CompareAndSwap(true, false) {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		io.Copy(w, res.Body) //nolint:errcheck // the client may be gone
	})
}
