package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"waitroom/internal/pg"
	"waitroom/internal/webhooks"
)

// toldWithin bounds the wait for the organiser's receiver to have everything, and
// quietFor is how long nothing is left to tell before that counts as all: the stock
// is looked at once a second.
const (
	toldWithin = time.Minute
	quietFor   = 2 * time.Second
)

// office is where the organiser is told: a receiver that verifies signatures by the
// standard's own library, refuses one request in twenty, and remembers what it took.
type office struct {
	url    string
	verify *standardwebhooks.Webhook

	mu     sync.Mutex
	asked  int
	took   map[string]int // times, by webhook-id
	forged int
}

// openOffice opens a receiver, and adds it to the organiser's endpoints.
func (h *House) openOffice(ctx context.Context, organiser string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	o := &office{url: "http://" + l.Addr().String() + "/hooks", took: map[string]int{}}
	server := &http.Server{Handler: o, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(l) //nolint:errcheck // it ends by Close
	}()
	h.opened = append(h.opened, func() error { defer func() { <-served }(); return server.Close() })
	pool, err := pg.Open(ctx, h.DatabaseURL, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	s := webhooks.DefaultSettings(o.url)
	s.BackoffBase = 200 * time.Millisecond
	made, err := webhooks.Add(ctx, pool, webhooks.Asker{Organiser: organiser, By: "demo"}, webhooks.Addition{Settings: s, Most: 20, Loopback: true})
	if err != nil || made.Answer != webhooks.Done {
		return fmt.Errorf("endpoint of the demo's organiser: %s, %w", made.Answer, err)
	}
	o.verify, err = standardwebhooks.NewWebhook(made.Secret)
	h.Office = o
	return err
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	switch {
	case err != nil || o.verify.Verify(body, r.Header) != nil:
		o.forged++
		w.WriteHeader(http.StatusUnauthorized)
	case o.asked%20 == 0:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		o.took[r.Header.Get("webhook-id")]++
	}
}

// Told is what the organiser was told of a sale, by our ledger and by theirs.
type Told struct {
	Notices   int64 `json:"notices"`
	Delivered int64 `json:"delivered"`
	Dead      int64 `json:"dead"`
	Open      int64 `json:"waiting"`
	Attempts  int64 `json:"attempts"`
	Received  int   `json:"received"` // different ones, by their ids
	Again     int   `json:"received_again"`
	Forged    int   `json:"forged"` // whose signature was not ours
}

// String is it in a line.
func (t Told) String() string {
	return fmt.Sprintf("the organiser: %d notices, %d delivered in %d attempts (1 in 20 refused), %d waiting, %d dead; they have %d, %d of them twice",
		t.Notices, t.Delivered, t.Attempts, t.Open, t.Dead, t.Received, t.Again)
}

// everythingTold waits until nothing is left to tell.
func (h *House) everythingTold(ctx context.Context) error {
	pool, err := pg.Open(ctx, h.DatabaseURL, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	over := time.NewTimer(toldWithin)
	defer over.Stop()
	busy := time.Now()
	for {
		var left int
		err := pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM notices WHERE addressed IS NULL)
			+ (SELECT count(*) FROM deliveries WHERE status IN ('waiting', 'sending'))`).Scan(&left)
		if left > 0 {
			busy = time.Now()
		}
		if err != nil || time.Since(busy) > quietFor {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-h.failed:
			return err
		case <-over.C:
			return errors.New("the organiser is not told everything")
		case <-again.C:
		}
	}
}

// told reads both ledgers.
func (h *House) told(ctx context.Context, db *pgx.Conn, event string) (t Told, err error) {
	err = db.QueryRow(ctx, `
		SELECT count(DISTINCT n.id), count(d.id) FILTER (WHERE d.status = 'delivered'), count(d.id) FILTER (WHERE d.status = 'dead'),
		  count(d.id) FILTER (WHERE d.status IN ('waiting', 'sending')), coalesce(sum(d.attempts), 0)
		FROM notices n LEFT JOIN deliveries d ON d.notice_id = n.id WHERE n.event_id = $1`, event).
		Scan(&t.Notices, &t.Delivered, &t.Dead, &t.Open, &t.Attempts)
	if err != nil {
		return t, fmt.Errorf("report: %w", err)
	}
	h.Office.mu.Lock()
	defer h.Office.mu.Unlock()
	t.Received, t.Forged = len(h.Office.took), h.Office.forged
	for _, times := range h.Office.took {
		if times > 1 {
			t.Again++
		}
	}
	return t, nil
}
