package stripe_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
)

// stripeMock is the provider's own mock, which knows each request's shape by
// the provider's published description of its API, and nothing else.
const stripeMock = "github.com/stripe/stripe-mock@v0.203.0"

// mock starts one and says where it answers.
func mock(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	having, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	install := exec.CommandContext(having, "go", "install", stripeMock)
	install.Dir = dir
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod", "GOWORK=off")
	install.WaitDelay = time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("%s cannot be had: %v\n%s", stripeMock, err, out)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "stripe-mock"), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := make(chan string, 1)
	go func() {
		defer close(at)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if addr, ok := strings.CutPrefix(lines.Text(), "Listening for HTTP at address: "); ok {
				at <- "http://" + addr
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		for range at {     // until its output ends
		}
		cmd.Wait() //nolint:errcheck // it was killed
	})
	select {
	case addr := <-at:
		if addr == "" {
			t.Fatal("stripe-mock ended at its start")
		}
		return addr
	case <-time.After(time.Minute):
		t.Fatal("stripe-mock does not start")
	}
	return ""
}

// heard keeps what each request was answered with.
type heard struct {
	next http.RoundTripper
	said map[string]string // by method and path: what was said against it, or ""
}

func (h heard) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := h.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body = io.NopCloser(strings.NewReader(string(body)))
	what := req.Method + " " + req.URL.RequestURI()
	if h.said[what] = ""; res.StatusCode != http.StatusOK {
		h.said[what] = res.Status + " " + string(body)
	}
	return res, err
}

// owed is a refund as it stands in the ledger, with the bytes that will be sent.
func owed(t *testing.T) refunds.Call {
	t.Helper()
	pool := pgtest.New(t)
	hall := orderstest.NewHall(t, pool, 1)
	var seat int64
	o := refunds.Operation{
		Install: "here", Event: hall.Event, Order: hall.Order(t, "a", 1), Payment: uuid.New(), Seat: &seat, Reason: refunds.Late,
		ProviderPayment: "pi_1", AmountMinor: 2500, ProviderAmount: 2500, Currency: "EUR",
	}
	hall.Scan(t, `SELECT seat_id FROM order_lines WHERE order_id = $1`, []any{o.Order}, &seat)
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `
			INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
			VALUES ($1, $2, 'stripe', 'pi_1', 'captured', 2500, 'EUR', 2500, 'to_refund', now())`, o.Payment, o.Order)
		if err == nil {
			_, err = refunds.Owe(t.Context(), tx, o)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c := refunds.Call{
		Operation: o.ID(), ProviderPayment: "pi_1", ProviderRefund: "re_1", AmountMinor: 2500, CapturedMinor: 2500, Currency: "EUR",
	}
	hall.Scan(t, `SELECT request FROM refund_operations WHERE id = $1`, []any{o.ID()}, &c.Request)
	return c
}

// Every request that we send has the shape that the provider describes: the
// provider's own mock takes it. What it answers is a fixture, and not believed.
func TestTheProvidersOwnMockTakesEveryRequest(t *testing.T) {
	base := mock(t)
	h := heard{stripe.OneSend(), map[string]string{}}
	settings := stripe.Settings{BaseURL: base, SecretKey: "sk_test_123", Transport: h}
	p := aPayment
	p.ReturnURL = "https://shop.example/o"
	for _, method := range []string{"", "alipay", "ideal"} {
		s := settings
		s.Method = method
		if _, err := client(t, s).Create(t.Context(), p); err == nil {
			t.Error("a fixture was believed to be our payment")
		}
		taken(t, h, "POST /v1/payment_intents")
	}
	c := client(t, settings)
	c.Retrieve(t.Context(), "pi_1")  //nolint:errcheck // a fixture is no answer
	c.Cancel(t.Context(), "pi_1", 1) //nolint:errcheck // nor here
	taken(t, h, "GET /v1/payment_intents/pi_1")
	taken(t, h, "POST /v1/payment_intents/pi_1/cancel")
	call, all := owed(t), stripe.Refunds{Client: c}
	for _, verb := range []refunds.Verb{refunds.Create, refunds.Retrieve, refunds.List} {
		call.Verb = verb
		if a := all.Call(t.Context(), call); a.Outcome == refunds.Succeeded {
			t.Errorf("%s: a fixture was believed to be our refund", verb)
		}
	}
	call.After = "re_0"
	all.Call(t.Context(), call)
	taken(t, h, "POST /v1/refunds")
	taken(t, h, "GET /v1/refunds/re_1")
	taken(t, h, "GET /v1/refunds?limit=100&payment_intent=pi_1")
	taken(t, h, "GET /v1/refunds?limit=100&payment_intent=pi_1&starting_after=re_0")

	for _, wrong := range [][2]string{{"payment_intent=", "payment="}, {"amount=2500", "amount=all"}, {"amount=2500", "amount=2500&speed=high"}} {
		spoilt := strings.Replace(string(call.Request), wrong[0], wrong[1], 1)
		res, err := http.DefaultClient.Do(post(t, base+"/v1/refunds", spoilt))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("a refund with %s: %s; the mock is to refuse what has another shape", wrong[1], res.Status)
		}
	}
}

func taken(t *testing.T, h heard, what string) {
	t.Helper()
	if said, asked := h.said[what]; !asked || said != "" {
		t.Errorf("%s: asked %t, %s", what, asked, said)
	}
	delete(h.said, what)
}

func post(t *testing.T, url, form string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk_test_123")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req
}
