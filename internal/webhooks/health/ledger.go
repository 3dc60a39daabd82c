package health

import (
	"fmt"
	"strings"
)

// row is an attempt of the ledger.
type row struct {
	id, endpoint, delivery string // the delivery is known of the tables only
	no, start, finish      int64
	status                 int64 // -1: none
}

func ledgerIn(path string) ([]row, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, strings.Count(text, "\n")+1)
	whose := map[string]string{}
	above := true // of every row: there the columns may be named
	err = eachOf(text, path, func(n int, line string) error {
		if above && headline(line) {
			above = false
			return nil
		}
		above = false
		r, why := rowOf(line)
		if why != "" {
			return fmt.Errorf("ledger: %s, line %d: %s", path, n, why)
		}
		if id, there := whose[r.endpoint]; there {
			r.endpoint = id
		} else {
			whose[r.endpoint] = r.endpoint
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// headline says whether these are the columns' names, with or without the last.
func headline(line string) bool {
	return strings.TrimSuffix(line, "\terror") == "attempt_id\tendpoint_id\tattempt_no\tstart_ts\tfinish_ts\tstatus"
}

func rowOf(line string) (r row, why string) {
	var cells [8]string
	of := cells[:0]
	for more := true; more && len(of) < len(cells); {
		var cell string
		cell, line, more = strings.Cut(line, "\t")
		of = append(of, cell)
	}
	if len(of) < 6 || len(of) > 7 {
		return r, fmt.Sprintf("%d columns, not 6 or 7", len(of))
	}
	if of[0] == "" || of[1] == "" {
		return r, "an id is empty"
	}
	r.id, r.endpoint, r.status = of[0], of[1], -1
	numbers, into := of[2:6], []*int64{&r.no, &r.start, &r.finish, &r.status}
	if of[5] == "-" {
		numbers = of[2:5]
	}
	for i, text := range numbers {
		var sound bool
		if *into[i], sound = number(text); !sound {
			return r, fmt.Sprintf("%q is no whole number", text)
		}
	}
	if r.no < 1 {
		return r, "attempt_no counts from 1"
	}
	return r, ""
}
