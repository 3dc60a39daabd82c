package payprov

import (
	"net/http"
	"slices"
	"strconv"
)

// page is one page of all, newest first, after the object that starting_after
// names, as limit (1 to 100, default 10) allows.
func page[T interface{ head() *header }](r *http.Request, all []T, after *header) ([]T, bool, *answer) {
	limit := 10
	if s := r.Form.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 100 {
			a := invalid(http.StatusBadRequest, "parameter_invalid_integer", "limit", "Invalid integer: %s", s)
			return nil, false, &a
		}
		limit = n
	}
	end := len(all)
	if after != nil {
		end, _ = slices.BinarySearchFunc(all, after.seq, func(v T, seq int64) int { return int(v.head().seq - seq) })
	}
	from := max(0, end-limit)
	got := slices.Clone(all[from:end])
	slices.Reverse(got)
	return got, from > 0, nil
}

type wireList[T any] struct {
	Object  string `json:"object"`
	URL     string `json:"url"`
	HasMore bool   `json:"has_more"`
	Data    []T    `json:"data"`
}
