package account_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/account"
)

// silent is a sign-in that takes what is asked and answers nobody, as one does
// that is overrun by the same on-sale.
type silent struct{ asked atomic.Int64 }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Who comes while the sign-in does not answer is told so in their own time. A few
// of each event wait for it and the others not at all, for each would hold a
// connection; it is asked once for all of them, and once more when it may be back.
func TestASignInThatHangsHoldsFewAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &silent{}
		c := config(nil)
		c.Client = &http.Client{Transport: away}
		i := made(t, c)
		var here [2]atomic.Int64
		come := func(people int, patience time.Duration) {
			for n := range people {
				at := &here[n%2]
				at.Add(1)
				go func() {
					defer at.Add(-1)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if _, err := i.Holder(ctx, []string{"gala", "club"}[n%2], "x.y.z", now); !errors.Is(err, account.ErrAway) {
						t.Errorf("%v, want ErrAway", err)
					}
				}()
			}
		}
		after := func(d time.Duration) (gala, club int64) {
			passes(t, d)
			return here[0].Load(), here[1].Load()
		}
		come(400, 5*time.Second)
		if gala, club := after(150 * time.Millisecond); gala != 20 || club != 20 {
			t.Errorf("after 150 ms %d and %d of 200 wait, want 20 of each event", gala, club)
		}
		if gala, club := after(3 * time.Second); gala+club > 0 || away.asked.Load() != 1 {
			t.Errorf("after 3 s %d wait, and it was asked %d times; want nobody, and once", gala+club, away.asked.Load())
		}
		come(400, 5*time.Second)
		if gala, club := after(0); gala+club > 0 {
			t.Errorf("%d wait for what was just found to be away", gala+club)
		}
		passes(t, 2*time.Second)
		come(10, time.Second)
		if gala, club := after(900 * time.Millisecond); gala+club != 10 || away.asked.Load() != 2 {
			t.Errorf("two seconds later %d of 10 wait, and it was asked %d times in all; want 10, and twice", gala+club, away.asked.Load())
		}
		if gala, club := after(200 * time.Millisecond); gala+club > 0 {
			t.Errorf("%d wait beyond the second that they have", gala+club)
		}
		passes(t, 5*time.Second) // the last finding ends
	})
}

// passes lets time pass, and all be done that is due.
func passes(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
	synctest.Wait()
}
