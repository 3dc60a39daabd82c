package daemon_test

import (
	"net/http"
	"testing"
	"time"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// The connections of a courier, or of an expirer with its relay, fall silent while new
// ones work: they go on by themselves, and organisers hear what they are to hear (P16).
func TestNobodyWaitsForASilentDatabase(t *testing.T) {
	for _, who := range []string{"courier", "expirer"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel() // they wait, mostly
			db := pgtest.URL(t)
			h := orderstest.NewHall(t, pgtest.Open(t, db), 5)
			box := openMailbox(t, func(*http.Request, int) {})
			addEndpoint(t, h.Pool, box.URL)
			path := pgtest.Through(t, db)
			forCourier, forExpirer := path.URL, db
			if who == "expirer" {
				forCourier, forExpirer = db, path.URL
			}
			expirer := startExpirer(t, forExpirer, "nats://127.0.0.1:1")
			courier := startCourier(t, courierConfig(forCourier))
			for i, account := range []string{"anna", "ben"} {
				h.Lapse(t, h.Order(t, account, 1))
				within(t, 5*time.Minute, "told", func() bool { return len(box.all()) >= 2*(i+1) })
				if i == 0 {
					path.Silence()
				}
			}
			path.Cut() // or closing the last of them would take as long as it may
			for name, r := range map[string]*running{"expirer": expirer, "courier": courier} {
				within(t, time.Minute, name+" is ready", func() bool { ok, _ := r.ready(t); return ok })
			}
		})
	}
}
