package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Promise is all that was judged of one promise.
type Promise struct {
	ID         string `json:"promise"`
	Says       string `json:"says"`
	Counted    int64  `json:"counted"`
	Violations int64  `json:"violations"`
}

// Promises are those that were judged, by number.
func (r Report) Promises() []Promise {
	var all []Promise
	for _, c := range r.Checks {
		i := slices.IndexFunc(all, func(p Promise) bool { return p.ID == c.Promise })
		if i < 0 {
			i = len(all)
			all = append(all, Promise{ID: c.Promise, Says: Says(c.Promise)})
		}
		all[i].Counted += c.Counted
		all[i].Violations += c.Violations
	}
	slices.SortFunc(all, func(a, b Promise) int { return byNumber(a.ID, b.ID) })
	return all
}

// byNumber puts P2 before P13.
func byNumber(a, b string) int {
	number := func(p string) int { n, _ := strconv.Atoi(strings.TrimPrefix(p, "P")); return n }
	return cmp.Or(cmp.Compare(number(a), number(b)), strings.Compare(a, b))
}

// Says is a promise in a few words; docs/ARCHITECTURE.md has them all.
func Says(promise string) string {
	switch promise {
	case "P1":
		return "never oversold"
	case "P2":
		return "a confirmed claim is real"
	case "P3":
		return "paid means seats"
	case "P4":
		return "paid and expired never both"
	case "P5":
		return "captured money stands in one place"
	case "P6":
		return "no seat is lost"
	case "P7":
		return "the line keeps its order"
	case "P8":
		return "never faster than the rate"
	case "P9":
		return "one person one place, one place one pass"
	case "P11":
		return "one outlet, one key, one refund"
	case "P12":
		return "a notice is delivered, scheduled or dead"
	case "P13":
		return "the same request again changes nothing"
	}
	return promise
}
