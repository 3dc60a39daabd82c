package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/organiser"
	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// An order tells which of its lines were refunded, to programs, to people and to
// its organiser, and
// the account may buy as many again.
func TestAnOrderTellsWhatWasGivenBack(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	o := h.order(h.want(h.claim(g, "k", named("A-1", "A-2")), 201, ""))
	h.pay(g, o)
	path := "/v1/orders/" + o.Order.ID
	looks := h.helper(organiser.House, "looks", organiser.RefundsRead)
	for i, want := range []struct{ heading, says, not string }{
		{"These seats are yours", "Paid in full.", "refunded"},
		{"This seat is yours", "refunded in part", "no others"},
		{"This order was refunded", "not yours any more", "Keep this page"},
	} {
		if i > 0 {
			h.refunded(o.Order.ID, i)
		}
		var got struct {
			Order struct {
				Status string
				Seats  []struct {
					GUID      string
					GivenBack bool `json:"given_back"`
				}
			}
		}
		h.want(h.do(call{method: "GET", path: path, token: g.ticket}), 200, "").into(t, &got)
		back := 0
		for _, s := range got.Order.Seats {
			if s.GivenBack {
				back++
			}
		}
		if got.Order.Status != "paid" || len(got.Order.Seats) != 2 || back != i {
			t.Errorf("after %d refunds: %+v; want it paid, two lines, %d of them given back", i, got.Order, i)
		}
		var seen struct {
			Back  int `json:"seats_given_back"`
			Lines []struct {
				GivenBack bool `json:"given_back"`
				Refund    *struct{ Answer string }
			}
		}
		h.want(looks.ask("GET", "/v1/organiser/orders/"+o.Order.ID, "", nil), 200, "").into(t, &seen)
		back = 0
		for _, l := range seen.Lines {
			if l.GivenBack != (l.Refund != nil && l.Refund.Answer == "confirmed") {
				t.Errorf("after %d refunds the organiser sees a line as %+v", i, l)
			}
			if l.GivenBack {
				back++
			}
		}
		if seen.Back != i || back != i {
			t.Errorf("after %d refunds the organiser sees %d seats given back, and %d lines", i, seen.Back, back)
		}
		if page := h.page(g, o.Order.ID); !strings.Contains(page, want.heading) || !strings.Contains(page, want.says) || strings.Contains(page, want.not) {
			t.Errorf("after %d refunds the page does not say %q and %q, or says %q:\n%s", i, want.heading, want.says, want.not, page)
		}
	}
	h.want(h.claim(g, "again", named("A-1", "A-2")), 201, "")
}

// refunded has the order's nth line refunded, as the provider tells it.
func (h *house) refunded(order string, nth int) {
	h.t.Helper()
	err := pg.InTx(h.t.Context(), h.pool, func(tx pgx.Tx) error {
		r := refunds.Requesting{Install: "here", By: "desk", ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil }}
		var told refunds.Told
		err := tx.QueryRow(h.t.Context(), `SELECT o.id, l.seat_id, p.provider, p.provider_payment_id
			FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN payments p ON p.id = o.payment_id
			WHERE o.id = $1 ORDER BY l.seat_id OFFSET $2 LIMIT 1`, order, nth-1).Scan(&r.Order, &r.Seat, &told.Provider, &told.ProviderPayment)
		if err != nil {
			return err
		}
		s, _, err := refunds.Request(h.t.Context(), tx, r)
		if err != nil {
			return err
		}
		told.ProviderRefund, told.Operation, told.Status = fmt.Sprint("re_", nth), s.ID, "succeeded"
		told.AmountMinor, told.Currency = s.AmountMinor, s.Currency
		heard, err := refunds.Heard(h.t.Context(), tx, told)
		if heard != refunds.HeardConfirmed {
			h.t.Errorf("the refund of line %d: %s", nth, heard)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// page is the order's, as its holder's browser gets it.
func (h *house) page(g guest, order string) string {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.Public+"/e/"+demotest.EventID+"/orders/"+order, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "ticket." + demotest.EventID, Value: g.ticket})
	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		h.t.Fatalf("the order's page: %d, %v", res.StatusCode, err)
	}
	return string(body)
}
