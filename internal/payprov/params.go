package payprov

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxAmount: twelve digits, the most that the provider takes in any currency.
const maxAmount = 999_999_999_999

// metadataOf reads metadata[key]=value within the provider's bounds.
func metadataOf(r *http.Request) (map[string]string, *answer) {
	m := map[string]string{}
	for name, values := range r.PostForm {
		key, found := strings.CutPrefix(name, "metadata[")
		if !found || len(values) == 0 || values[0] == "" {
			continue
		}
		key = strings.TrimSuffix(key, "]")
		if len(m) == 50 || key == "" || len(key) > 40 || len(values[0]) > 500 {
			a := invalid(http.StatusBadRequest, "", "metadata", "Metadata: at most 50 keys of 40 characters, values of 500.")
			return nil, &a
		}
		m[key] = values[0]
	}
	return m, nil
}

// onlyKnown refuses what the provider would not know, as the provider does: a
// misspelt parameter must not pass the tests and fail in production.
func onlyKnown(r *http.Request, known ...string) *answer {
	for name := range r.Form {
		stem, _, _ := strings.Cut(name, "[")
		if stem != "expand" && !slices.Contains(known, stem) {
			a := invalid(http.StatusBadRequest, "parameter_unknown", name, "Received unknown parameter: %s", name)
			return &a
		}
	}
	return nil
}

func amountOf(r *http.Request) (int64, *answer) {
	n, err := strconv.ParseInt(r.PostForm.Get("amount"), 10, 64)
	var a answer
	switch {
	case err != nil:
		a = invalid(http.StatusBadRequest, "parameter_invalid_integer", "amount", "Invalid integer: %s", r.PostForm.Get("amount"))
	case n < 1:
		a = invalid(http.StatusBadRequest, "amount_too_small", "amount", "Amount must be at least 1.")
	case n > maxAmount:
		a = invalid(http.StatusBadRequest, "amount_too_large", "amount", "Amount must be no more than %d.", int64(maxAmount))
	default:
		return n, nil
	}
	return 0, &a
}
