package stripe_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/stripe"
)

// stamps notes when each call is sent.
type stamps []time.Time

func (s *stamps) RoundTrip(r *http.Request) (*http.Response, error) {
	*s = append(*s, time.Now())
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// However many want to call, in any second no more calls are sent than the share
// and a tenth of it; what cannot be sent in time is not sent at all, and says so.
func TestAShareOfCallsIsNeverExceeded(t *testing.T) {
	const perSecond = 20
	synctest.Test(t, func(t *testing.T) {
		var sent stamps
		q := stripe.NewQuota(&sent, perSecond, 500*time.Millisecond)
		var refused int
		began := time.Now()
		for time.Since(began) < 10*time.Second {
			body := &closing{Reader: strings.NewReader("x")}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.test", body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := q.RoundTrip(r)
			switch {
			case err == nil:
				resp.Body.Close()
			case errors.Is(err, stripe.ErrQuota) && body.closed:
				refused++
				<-time.After(time.Millisecond) // virtual
			default:
				t.Fatalf("%v, its body closed %v", err, body.closed)
			}
		}
		for i := range sent {
			n := 0
			for _, at := range sent[i:] {
				if at.Before(sent[i].Add(time.Second)) {
					n++
				}
			}
			if most := perSecond + perSecond/10; n > most {
				t.Fatalf("%d calls in one second, want at most %d", n, most)
			}
		}
		if got, _ := q.Calls(); got != int64(len(sent)) || got < 10*perSecond {
			t.Errorf("%d calls in 10 s (it counts %d), want the whole share: %d", len(sent), got, 10*perSecond)
		}
	})
}

// A call for which there is no room within the patience is not sent: at once, not
// after the patience, and its caller can know before it asks.
func TestWithoutRoomNothingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent stamps
		q := stripe.NewQuota(&sent, 1, 300*time.Millisecond)
		call := func() error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://provider.test", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := q.RoundTrip(r)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		if !q.Room() || call() != nil {
			t.Fatal("the first call is not sent")
		}
		began := time.Now()
		if q.Room() || !errors.Is(call(), stripe.ErrQuota) || time.Since(began) != 0 {
			t.Errorf("the second: room %v, after %s", q.Room(), time.Since(began))
		}
		<-time.After(750 * time.Millisecond) // virtual
		if !q.Room() || call() != nil {
			t.Error("a call that can wait its turn is not sent")
		}
		if made, refused := q.Calls(); made != 2 || refused != 1 || len(sent) != 2 {
			t.Errorf("%d sent (%d arrived), %d not; want 2 and 1", made, len(sent), refused)
		}
	})
}
