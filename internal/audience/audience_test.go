package audience

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func concert() Audience {
	return Audience{
		Fans: 20_000, Arrive: Rush(-8*time.Second, 20*time.Second), Share: 0.4, Seats: 2.6, MaxSeat: 4,
		Think: 45 * time.Second, Browse: 30 * time.Second, Pay: 2 * time.Minute, Absent: 0.3, NeverPay: 0.1, LatePay: 0.02, Cancel: 0.03, Seed: 5,
	}
}

// The people who come are those that were asked for, in the mean.
func TestPeopleAreAsDescribed(t *testing.T) {
	a := concert()
	var buy, absent, early, never, seats, think, browse, pay float64
	for i := range a.Fans {
		f := a.Fan(i)
		if f != a.Fan(i) {
			t.Fatalf("person %d is somebody else when asked for again", i)
		}
		one := func(is bool, n *float64) {
			if is {
				*n++
			}
		}
		one(f.Buys, &buy)
		one(f.Absent, &absent)
		one(f.Arrive < -4*time.Second, &early)
		one(f.Ends == NeverPays, &never)
		seats += float64(f.Seats)
		think, browse, pay = think+f.Think.Seconds(), browse+f.Browse.Seconds(), pay+f.UntilPaying.Seconds()
	}
	n := float64(a.Fans)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"share who buy", buy / n, 0.4},
		{"absent", absent / n, 0.3},
		{"in the first fifth of the time", early / n, 0.84},
		{"who never pay", never / n, 0.1},
		{"seats", seats / n, 2.6},
		{"seconds to think", think / n, 45},
		{"seconds of those who buy nothing", browse / n, 30},
		{"seconds to pay", pay / n, 120},
	} {
		if math.Abs(c.got/c.want-1) > 0.07 {
			t.Errorf("%s: %.3f in the mean, want %.3f", c.what, c.got, c.want)
		}
	}
}

func TestArrivalsAreWrittenAsTheyAreRead(t *testing.T) {
	want := Arrivals{{0.6, -5 * time.Minute, 0}, {0.4, 0, 90 * time.Second}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Arrivals
	if err := json.Unmarshal(text, &got); err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%s is read as %v, %v", text, got, err)
	}
	for _, bad := range []string{"", "0.5", "2:0s:1s", "-1:0s:1s", "x:0s:1s", "NaN:0s:1s", "0.5:1s:0s", "0.5:1:2", "0.5:0s:1s:2s"} {
		var p Part
		if err := p.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for %v", bad, p)
		}
	}
}
