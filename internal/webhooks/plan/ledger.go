package plan

import (
	"errors"
	"strings"
)

// readAttempts reads the ledger. The last column, the error in words, may be
// left out.
func readAttempts(path string) (all []Attempt, err error) {
	ids := map[string]string{} // each endpoint's is kept once
	const names = "attempt_id\tendpoint_id\tattempt_no\tstart_ts\tfinish_ts\tstatus"
	err = rows(path, func(columns []string) error {
		a, err := attempt(columns)
		if err != nil {
			return err
		}
		if _, known := ids[a.Endpoint]; !known {
			ids[a.Endpoint] = strings.Clone(a.Endpoint)
		}
		a.ID, a.Endpoint = strings.Clone(a.ID), ids[a.Endpoint]
		all = append(all, a)
		return nil
	}, names, names+"\terror")
	return all, err
}

func attempt(columns []string) (a Attempt, err error) {
	if len(columns) != 6 && len(columns) != 7 || columns[0] == "" || columns[1] == "" {
		return a, errors.New("want attempt_id, endpoint_id, attempt_no, start_ts, finish_ts, status, error")
	}
	a.ID, a.Endpoint = columns[0], columns[1]
	if columns[5] == "-" {
		a.Status = -1
	} else if a.Status, err = whole("status", columns[5]); err != nil {
		return a, err
	}
	if a.No, err = whole("attempt_no", columns[2]); err != nil {
		return a, err
	}
	if a.No == 0 {
		return a, errors.New("attempt_no counts from 1")
	}
	if a.Start, err = whole("start_ts", columns[3]); err != nil {
		return a, err
	}
	a.Finish, err = whole("finish_ts", columns[4])
	return a, err
}
