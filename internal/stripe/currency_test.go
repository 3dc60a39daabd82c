package stripe

import (
	"errors"
	"math"
	"testing"
)

func TestAmountsAreToldExactlyOrNotAtAll(t *testing.T) {
	for _, c := range []struct {
		minor    int64
		code     string
		exponent int
		provider int64
	}{
		{9899, "JPY", 0, 9899},
		{18600, "KWD", 3, 18600},
		{4998, "EUR", 2, 4998},
		{1, "USD", 2, 1},
		{5, "ISK", 0, 500}, // told with two decimals, always 00
		{5, "UGX", 0, 500},
		{500, "MGA", 2, 5}, // told in ariary
		{104500, "HUF", 2, 104500},
		{80045, "TWD", 2, 80045},
	} {
		if got, ok := Exponent(c.code); !ok || got != c.exponent {
			t.Errorf("%s has %d decimals, want %d", c.code, got, c.exponent)
		}
		told, err := ToProvider(c.minor, c.code)
		if err != nil || told != c.provider {
			t.Errorf("%d %s is told as %d (%v), want %d", c.minor, c.code, told, err, c.provider)
		}
		back, err := FromProvider(told, c.code)
		if err != nil || back != c.minor {
			t.Errorf("%d %s comes back as %d (%v)", c.minor, c.code, back, err)
		}
	}
}

func TestNoAmountIsRounded(t *testing.T) {
	for _, c := range []struct {
		minor int64
		code  string
	}{{18601, "KWD"}, {501, "MGA"}, {math.MaxInt64, "ISK"}, {math.MinInt64, "UGX"}} {
		if got, err := ToProvider(c.minor, c.code); !errors.Is(err, ErrInexact) {
			t.Errorf("%d %s is told as %d (%v), want a refusal", c.minor, c.code, got, err)
		}
	}
	if got, err := FromProvider(150, "ISK"); !errors.Is(err, ErrInexact) {
		t.Errorf("the provider's 150 of ISK is %d (%v), want a refusal", got, err)
	}
}

func TestACurrencyThatTheTableLacksIsRefused(t *testing.T) {
	for _, code := range []string{"", "eur", "EU", "EURO", "XXX", "XTS", "XAU", "BTC", "ABC"} {
		if _, ok := Exponent(code); ok {
			t.Errorf("%q is taken for money", code)
		}
		if _, err := ToProvider(100, code); !errors.Is(err, ErrCurrency) {
			t.Errorf("to the provider in %q: %v, want ErrCurrency", code, err)
		}
		if _, err := FromProvider(100, code); !errors.Is(err, ErrCurrency) {
			t.Errorf("from the provider in %q: %v, want ErrCurrency", code, err)
		}
	}
	if _, err := ToProvider(1000, "IQD"); !errors.Is(err, ErrCurrency) {
		t.Errorf("IQD, of which the provider says nothing: %v, want ErrCurrency", err)
	}
}

func TestTheTableIsWhole(t *testing.T) {
	counts := map[int]int{}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			for c := 'A'; c <= 'Z'; c++ {
				if e, ok := Exponent(string([]rune{a, b, c})); ok {
					counts[e]++
				}
			}
		}
	}
	if counts[0] != 16 || counts[3] != 7 || counts[2] < 130 || counts[2] > 140 || len(counts) != 3 {
		t.Errorf("codes by decimals: %v, want 16 with none, 7 with three, 130 to 140 with two", counts)
	}
}
