package seating

import (
	"fmt"
	"strconv"
	"strings"
)

// Price is what one seat of a category costs, in minor units.
type Price struct {
	Category    string
	AmountMinor int64
	text        string
	line        int
}

// maxAmount is the price_tiers table's bound: a billion of a two-digit
// currency. More is a slip of the keyboard.
const maxAmount = 100_000_000_000

// ISO 4217's active currencies by the number of their decimals. Funds and
// metals are not listed: nobody pays a ticket in them.
const (
	noDecimals    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
	threeDecimals = "BHD IQD JOD KWD LYD OMR TND"
	twoDecimals   = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD " +
		"CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD " +
		"HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK " +
		"MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB " +
		"SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD " +
		"UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG"
)

// Decimals is how many decimals a currency has; ok is false for a code that is
// no currency. A price in an unknown currency has no certain amount.
func Decimals(currency string) (n int, ok bool) {
	if len(currency) != 3 || strings.Contains(currency, " ") {
		return 0, false
	}
	switch {
	case strings.Contains(twoDecimals, currency):
		return 2, true
	case strings.Contains(noDecimals, currency):
		return 0, true
	case strings.Contains(threeDecimals, currency):
		return 3, true
	}
	return 0, false
}

// ParseAmount reads a price as people write it, "49" or "49.50", into minor
// units, exactly: no binary fraction is ever in between. The error says what
// is wrong with the text.
func ParseAmount(currency, text string) (minor int64, err error) {
	decimals, ok := Decimals(currency)
	if !ok {
		return 0, fmt.Errorf("%q is not a currency (ISO 4217)", clip(currency))
	}
	whole, fraction, point := strings.Cut(text, ".")
	switch {
	case !digits(whole) || point && !digits(fraction):
		return 0, fmt.Errorf("%q is not a price: digits, with a decimal point if need be", clip(text))
	case len(fraction) > decimals:
		return 0, fmt.Errorf("%s has more decimals than %s has (%d)", clip(text), currency, decimals)
	}
	minor, err = strconv.ParseInt(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	if err != nil || minor < 1 || minor > maxAmount {
		return 0, fmt.Errorf("%s is not a price from 1 to %d minor units", clip(text), int64(maxAmount))
	}
	return minor, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// FormatAmount writes minor units as ParseAmount reads them.
func FormatAmount(currency string, minor int64) string {
	decimals, _ := Decimals(currency)
	s := fmt.Sprintf("%0*d", decimals+1, minor)
	if decimals == 0 {
		return s
	}
	return s[:len(s)-decimals] + "." + s[len(s)-decimals:]
}
