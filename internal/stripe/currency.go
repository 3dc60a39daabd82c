package stripe

import (
	"errors"
	"fmt"
	"math"
)

// ErrCurrency refuses a currency that the table lacks, or that the provider
// documents no unit for. No amount in it can be trusted.
var ErrCurrency = errors.New("stripe: currency not taken")

// ErrInexact refuses an amount that has no whole counterpart on the other
// side. Money is never rounded.
var ErrInexact = errors.New("stripe: amount cannot be told exactly")

// Exponent is the number of decimals of an ISO 4217 code's minor unit. Codes
// are upper case; metals, funds and test codes are not money here. A retired
// code stays while money taken in it may have to be refunded.
func Exponent(code string) (int, bool) {
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW",
		"PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0, true
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3, true
	case "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN",
		"BAM", "BBD", "BDT", "BGN", "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD",
		"CAD", "CDF", "CHF", "CNY", "COP", "CRC", "CUP", "CVE", "CZK",
		"DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP",
		"GBP", "GEL", "GHS", "GIP", "GMD", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF",
		"IDR", "ILS", "INR", "IRR", "JMD", "KES", "KGS", "KHR", "KPW", "KYD", "KZT",
		"LAK", "LBP", "LKR", "LRD", "LSL",
		"MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN",
		"NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN",
		"QAR", "RON", "RSD", "RUB",
		"SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL",
		"THB", "TJS", "TMT", "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "USD", "UYU", "UZS",
		"VED", "VES", "WST", "XCD", "XCG", "YER", "ZAR", "ZMW", "ZWG":
		return 2, true
	}
	return 0, false
}

// providerUnit is the number of decimals of the unit in which the provider
// counts a currency, and the step that its amounts must be a multiple of.
// Where it differs from ISO 4217, the reason is in the provider's list of
// currencies: króna and Ugandan shilling are still told with two decimals that
// must be 00, the ariary with none, dinars and rials with a last digit of 0.
func providerUnit(code string) (decimals int, step int64, ok bool) {
	switch code {
	case "ISK", "UGX":
		return 2, 100, true
	case "MGA":
		return 0, 1, true
	case "BHD", "JOD", "KWD", "OMR", "TND":
		return 3, 10, true
	case "IQD", "LYD": // three decimals, and the provider says nothing of them
		return 0, 0, false
	}
	decimals, ok = Exponent(code)
	return decimals, 1, ok
}

// ToProvider is what the provider must be told to charge or refund
// amountMinor, exactly. An event whose prices it refuses cannot be sold.
func ToProvider(amountMinor int64, code string) (int64, error) {
	ours, known := Exponent(code)
	theirs, step, taken := providerUnit(code)
	if !known || !taken {
		return 0, fmt.Errorf("%w: %q", ErrCurrency, code)
	}
	amount, ok := rescale(amountMinor, theirs-ours)
	if !ok || amount%step != 0 {
		return 0, fmt.Errorf("%w: %d minor units of %s", ErrInexact, amountMinor, code)
	}
	return amount, nil
}

// FromProvider is an amount that the provider told, in our minor units.
func FromProvider(amount int64, code string) (int64, error) {
	ours, known := Exponent(code)
	theirs, _, taken := providerUnit(code)
	if !known || !taken {
		return 0, fmt.Errorf("%w: %q", ErrCurrency, code)
	}
	minor, ok := rescale(amount, ours-theirs)
	if !ok {
		return 0, fmt.Errorf("%w: the provider's %d of %s", ErrInexact, amount, code)
	}
	return minor, nil
}

// rescale multiplies by 10^decimals; false when that is not a whole int64.
func rescale(amount int64, decimals int) (int64, bool) {
	for ; decimals > 0; decimals-- {
		if amount > math.MaxInt64/10 || amount < math.MinInt64/10 {
			return 0, false
		}
		amount *= 10
	}
	for ; decimals < 0; decimals++ {
		if amount%10 != 0 {
			return 0, false
		}
		amount /= 10
	}
	return amount, true
}
