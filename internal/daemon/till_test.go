package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/daemon"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/payprov"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
	schema "waitroom/sql"
)

// till is a hall whose late money lies at the stand-in provider, and refunders
// that give it back over real HTTP.
type till struct {
	*orderstest.Hall
	t        *testing.T
	db       string
	provider *payprov.Provider
	url      string // the provider's
}

func openTill(t *testing.T, seats int, p payprov.Config) *till {
	t.Helper()
	l := &till{t: t, db: pgtest.URL(t)}
	l.Hall = orderstest.NewHall(t, pgtest.Open(t, l.db), seats)
	p.SecretKey = apiKey
	l.provider = payprov.New(p)
	server := httptest.NewServer(l.provider.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(l.provider.Close)
	l.url = server.URL
	return l
}

// play says what goes wrong.
func (l *till) play(list ...payprov.Script) {
	l.t.Helper()
	if err := l.provider.Play(list...); err != nil {
		l.t.Fatal(err)
	}
}

// owe has n payments captured, and their refunds queued.
func (l *till) owe(n int) []string {
	l.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		o := refunds.Operation{
			Install: "here", Event: l.Event, Order: l.Order(l.t, uuid.NewString(), 1), Payment: uuid.New(), Reason: refunds.Late,
			ProviderPayment: l.captured(), AmountMinor: orderstest.PriceMinor, ProviderAmount: orderstest.PriceMinor, Currency: orderstest.Currency,
		}
		err := pg.InTx(l.t.Context(), l.Pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(l.t.Context(), `
				INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
				VALUES ($1, $2, 'stripe', $3, 'captured', $4, $5, $4, 'to_refund', now())`,
				o.Payment, o.Order, o.ProviderPayment, o.AmountMinor, o.Currency)
			if err != nil {
				return err
			}
			_, err = refunds.Owe(l.t.Context(), tx, o)
			return err
		})
		if err != nil {
			l.t.Fatal(err)
		}
		ids[i] = o.ID()
	}
	return ids
}

// captured is a payment at the provider whose money came.
func (l *till) captured() (id string) {
	l.t.Helper()
	form := url.Values{
		"amount": {fmt.Sprint(orderstest.PriceMinor)}, "currency": {strings.ToLower(orderstest.Currency)},
		"confirm": {"true"}, "payment_method": {"pm_card_visa"},
	}
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.url+"/v1/payment_intents", strings.NewReader(form.Encode()))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+apiKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	var in struct{ ID, Status string }
	if err := json.NewDecoder(res.Body).Decode(&in); err != nil || in.Status != "succeeded" {
		l.t.Fatalf("a payment of the provider's is %+v, %v", in, err)
	}
	return in.ID
}

func (l *till) config() daemon.RefunderConfig {
	return daemon.RefunderConfig{
		Common:          daemon.Common{Ops: ops(), DatabaseURL: l.db, Logs: io.Discard},
		ProviderAccount: daemon.ProviderAccount{AccountRate: 100},
		ProviderURL:     l.url, ProviderKey: apiKey, Apart: 200 * time.Millisecond, CallsInFlight: 10, CallLimit: time.Second, OnItsWayFor: refunds.OnItsWayFor, LookLateAfter: refunds.LookLateAfter, Conns: 4,
	}
}

// refunder starts one in this process.
func (l *till) refunder(c daemon.RefunderConfig) *running {
	l.t.Helper()
	up := make(chan string, 1)
	c.Listening = func(_, addr string) { up <- "http://" + addr }
	ctx, end := context.WithCancel(context.WithoutCancel(l.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- daemon.Refunder(ctx, c) }()
	r := &running{}
	stopped := false
	r.stop = func() {
		end()
		if stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			l.t.Errorf("refunder: %v", err)
		}
	}
	l.t.Cleanup(r.stop)
	select {
	case r.ops = <-up:
	case err := <-ended:
		stopped = true
		l.t.Fatalf("refunder: %v", err)
	}
	return r
}

func (r *running) ready(t *testing.T) (bool, string) {
	t.Helper()
	res, err := http.Get(r.ops + "/readyz")
	if err != nil {
		return false, err.Error()
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode == http.StatusOK, string(body)
}

// hurry makes what waits for its next call due, as if the time were over.
func (l *till) hurry() {
	l.t.Helper()
	if _, err := l.Pool.Exec(l.t.Context(), `UPDATE refund_operations SET next_at = now()
		WHERE ended_at IS NULL AND status <> 'pending' AND next_at > now() + interval '200 milliseconds'`); err != nil {
		l.t.Fatal(err)
	}
}

// all waits until every operation is so, hurrying.
func (l *till) all(status refunds.Status) {
	l.t.Helper()
	within(l.t, 2*time.Minute, "every operation is "+string(status), func() bool {
		l.hurry()
		return l.Count(l.t, `SELECT count(*) FROM refund_operations WHERE status <> $1 OR call IS NOT NULL`, status) == 0
	})
}

func (l *till) status(id string) (s refunds.Status) {
	l.t.Helper()
	l.Scan(l.t, `SELECT status FROM refund_operations WHERE id = $1`, []any{id}, &s)
	return s
}

// prove holds our log against the provider's: as many calls, each key one
// operation's, each operation one refund at most, starts at their distance, few
// enough under way. It returns how many calls there were.
func (l *till) prove() int {
	l.t.Helper()
	ctx := context.WithoutCancel(l.t.Context())
	posts, gets := map[string]int{}, 0
	for _, r := range l.provider.Requests() {
		switch {
		case !strings.HasPrefix(r.Path, "/v1/refunds"):
		case r.Method == http.MethodPost:
			posts[r.Key]++
			if r.Operation != r.Key {
				l.t.Errorf("operation %q was sent under the key %q", r.Operation, r.Key)
			}
		default:
			gets++
		}
	}
	rows, err := l.Pool.Query(ctx, `SELECT operation, count(*) FILTER (WHERE verb = 'create' AND wrote = 1)::int,
		count(*) FILTER (WHERE verb = 'create' AND outcome = 'lost')::int,
		count(*) FILTER (WHERE verb <> 'create' AND wrote = 1)::int,
		count(*) FILTER (WHERE verb <> 'create' AND outcome = 'lost')::int FROM refund_calls GROUP BY operation`)
	if err != nil {
		l.t.Fatal(err)
	}
	calls, looks, lookedLost := 0, 0, 0
	var operation string
	var sent, lost, looked, lostLooks int // lost: their process died, so nobody knows whether they left
	_, err = pgx.ForEachRow(rows, []any{&operation, &sent, &lost, &looked, &lostLooks}, func() error {
		calls, looks, lookedLost = calls+sent+looked, looks+looked, lookedLost+lostLooks
		if n := posts[operation]; n < sent || n > sent+lost {
			l.t.Errorf("%s: %d sends in our log and %d lost, %d in the provider's", operation, sent, lost, n)
		}
		delete(posts, operation)
		return nil
	})
	if err != nil || len(posts) > 0 || gets < looks || gets > looks+lookedLost {
		l.t.Errorf("%d looks in our log and %d lost, %d in the provider's; sends that we know nothing of: %v (%v)", looks, lookedLost, gets, posts, err)
	}
	made := map[string]int{}
	for _, r := range l.provider.Ledger().Refunds {
		if made[r.Metadata["operation"]]++; r.Key != r.Metadata["operation"] || made[r.Key] > 1 {
			l.t.Errorf("the provider made %d refunds of %q, this one under the key %q", made[r.Metadata["operation"]], r.Metadata["operation"], r.Key)
		}
	}
	l.audit()
	return calls
}

// audit runs the queries of P5 and P11.
func (l *till) audit() {
	l.t.Helper()
	queries, err := schema.Audits()
	if err != nil {
		l.t.Fatal(err)
	}
	files, err := fs.Glob(queries, "p*.sql")
	if err != nil {
		l.t.Fatal(err)
	}
	judged := 0
	for _, file := range files {
		if !strings.HasPrefix(file, "p5_") && !strings.HasPrefix(file, "p11_") {
			continue
		}
		sql, err := fs.ReadFile(queries, file)
		if err != nil {
			l.t.Fatal(err)
		}
		var counted, broken int
		var examples []string
		if err := l.Pool.QueryRow(context.WithoutCancel(l.t.Context()), string(sql), l.Event).Scan(&counted, &broken, &examples); err != nil {
			l.t.Fatalf("%s: %v", file, err)
		}
		if counted == 0 || broken > 0 {
			l.t.Errorf("%s: %d judged, %d broken: %v", file, counted, broken, examples)
		}
		judged++
	}
	if judged < 4 {
		l.t.Errorf("%d queries of P5 and P11 were run, want 4", judged)
	}
}

// listens is an inbox for the provider's notices of refunds.
func (l *till) listens() {
	l.t.Helper()
	inbox := daemon.InboxFor(l.Pool, "here")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = inbox.Receive(r.Context(), body)
		}
		if err != nil {
			l.t.Logf("a notice was not taken: %v", err)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	l.t.Cleanup(server.Close)
	l.provider.Notify(payprov.Endpoint{URL: server.URL, Secret: newSecret})
}
