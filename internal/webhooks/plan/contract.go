package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"waitroom/internal/webhooks/plan/rule"
)

// ReadContract reads a retry.env: KEY=VALUE, and comments. Keys that it does not
// know are another program's.
func ReadContract(path string) (c Contract, err error) {
	given := map[string]string{}
	err = lines(path, func(line string) error {
		key, value, found := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		_, doubled := given[key]
		switch {
		case strings.HasPrefix(key, "#"):
			return nil
		case !found:
			return fmt.Errorf("%q is no KEY=VALUE", line)
		case doubled:
			return fmt.Errorf("%s stands here twice", key)
		}
		given[key] = strings.TrimSpace(value)
		return nil
	})
	if err != nil {
		return Contract{}, fmt.Errorf("%w: %w", ErrContract, err)
	}
	for _, t := range []struct {
		key string
		to  *int64
	}{
		{"WEBHOOK_BACKOFF_FACTOR", &c.Factor},
		{"WEBHOOK_ADMIT_SLACK_S", &c.Slack},
		{"WEBHOOK_DEAD_LETTER_AFTER", &c.DeadLetterAfter},
		{"WEBHOOK_SUCCESS_MIN", &c.SuccessMin},
		{"WEBHOOK_SUCCESS_MAX", &c.SuccessMax},
	} {
		if *t.to, err = term(given, t.key); err != nil {
			return Contract{}, fmt.Errorf("%w: %s: %w", ErrContract, path, err)
		}
	}
	if c.SuccessMin > c.SuccessMax {
		return Contract{}, fmt.Errorf("%w: %s: successes begin at %d and end at %d", ErrContract, path, c.SuccessMin, c.SuccessMax)
	}
	return c, nil
}

func term(given map[string]string, key string) (int64, error) {
	if text, known := given[key]; known {
		return whole(key, text)
	}
	if value, known := rule.Missing(key); known {
		return value, nil
	}
	return 0, fmt.Errorf("%s is missing", key)
}

var states = [...]string{"active", "draining", "disabled"}

// readEndpoints reads terms too: what is wrong in the file is wrong with the
// contract; a file that is not there is a fact that cannot be had.
func readEndpoints(path string) (all []Endpoint, err error) {
	seen := map[string]bool{}
	err = rows(path, func(columns []string) error {
		e, err := endpoint(columns)
		if err == nil && seen[e.ID] {
			err = fmt.Errorf("%s stands here twice", e.ID)
		}
		seen[e.ID] = true
		all = append(all, e)
		return err
	}, "endpoint_id\tstate\tmax_attempts\tbackoff_base\tdispatch_gap_s")
	if err != nil && !errors.Is(err, errNoFile) {
		err = fmt.Errorf("%w: %w", ErrContract, err)
	}
	return all, err
}

func endpoint(columns []string) (e Endpoint, err error) {
	if len(columns) != 5 || columns[0] == "" {
		return e, errors.New("want endpoint_id, state, max_attempts, backoff_base, dispatch_gap_s")
	}
	e.ID, e.State = columns[0], columns[1]
	if !slices.Contains(states[:], e.State) {
		return e, fmt.Errorf("%s is %q, want one of %s", e.ID, e.State, states)
	}
	for i, term := range []*int64{&e.MaxAttempts, &e.BackoffBase, &e.Gap} {
		if *term, err = whole("a term of "+e.ID, columns[2+i]); err != nil {
			return e, err
		}
	}
	return e, nil
}
