package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cases are the contract and the ledgers as read.
type cases struct {
	env       map[string]int64
	endpoints map[string]endpoint
	attempts  map[string]*attempt
	planned   []*attempt          // in the ledger's order
	last      map[string]*attempt // by endpoint
	room      []attempt           // for the next ones
}

type endpoint struct {
	state           string
	most, base, gap int64
}

type attempt struct {
	id, endpoint      string
	no, start, finish int64
	success           bool
	planned           bool
	seq               int64    // in its delivery, from 1
	earliest          int64    // 0 for the first of its delivery
	beyond            *big.Int // it, where 64 bits are not enough
	waited            int64    // since the one before it of its delivery
	told              bool     // by the report
}

// unusable is of terms by which nothing can be judged; absent of a file that cannot
// be read at all.
type (
	unusable struct{ error }
	absent   struct{ error }
)

func readCase(dir string) (*cases, error) {
	c := &cases{env: map[string]int64{}, endpoints: map[string]endpoint{}, attempts: map[string]*attempt{}, last: map[string]*attempt{}}
	if err := c.readEnv(filepath.Join(dir, "retry.env")); err != nil {
		return nil, unusable{err}
	}
	err := c.readTable(filepath.Join(dir, "endpoints.tsv"), c.endpoint, "endpoint_id", "state", "max_attempts", "backoff_base", "dispatch_gap_s")
	if is := new(absent); err != nil && !errors.As(err, is) { // there are terms in it too
		return nil, unusable{err}
	}
	if err != nil {
		return nil, err
	}
	if err := c.readTable(filepath.Join(dir, "attempts.tsv"), c.attempt, "attempt_id", "endpoint_id", "attempt_no", "start_ts", "finish_ts", "status", "error"); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *cases) readEnv(path string) error {
	given := map[string]string{}
	err := lines(path, func(_ int, line string) error {
		key, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(key, "#") {
			return nil
		}
		key = strings.TrimSpace(key)
		if _, doubled := given[key]; doubled || !is {
			return fmt.Errorf("%s: %q is no KEY=VALUE, or stands there twice", path, line)
		}
		given[key] = strings.TrimSpace(value)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range []string{"BACKOFF_FACTOR", "ADMIT_SLACK_S", "DEAD_LETTER_AFTER", "SUCCESS_MIN", "SUCCESS_MAX"} {
		if c.env[key], err = digits(given["WEBHOOK_"+key]); err != nil {
			return fmt.Errorf("%s: WEBHOOK_%s: %w", path, key, err)
		}
	}
	if c.env["SUCCESS_MIN"] > c.env["SUCCESS_MAX"] {
		return fmt.Errorf("%s: no answer can be a success", path)
	}
	return nil
}

// readTable passes the names over, if they are the first of all that is not
// blank; the last of seven is the error, which may be missing there too.
func (c *cases) readTable(path string, row func([]string) error, names ...string) error {
	begun := false
	var cells []string // of one line after the other
	return lines(path, func(n int, line string) error {
		cells = cells[:0]
		for cell := range strings.SplitSeq(line, "\t") {
			cells = append(cells, cell)
		}
		named := !begun && (slices.Equal(cells, names) || len(names) == 7 && slices.Equal(cells, names[:6]))
		if begun = true; named {
			return nil
		}
		if err := row(cells); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		return nil
	})
}

// longest is the shortest line that is too long, its end left out.
const longest = 64 << 10

// lines calls f with each line of a file that is not blank.
func lines(path string, f func(n int, line string) error) error {
	raw, err := slurp(path)
	if err != nil {
		return absent{err}
	}
	text := string(raw) // every line is a part of it
	for n, more := 1, true; more; n++ {
		var line string
		if line, text, more = strings.Cut(text, "\n"); len(line) >= longest {
			return fmt.Errorf("%s:%d: is longer than 64 KiB", path, n)
		}
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if !utf8.ValidString(line) {
			return fmt.Errorf("%s:%d: is not UTF-8", path, n)
		}
		if line = strings.TrimSuffix(line, "\r"); strings.TrimSpace(line) == "" {
			continue
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	return nil
}

func (c *cases) endpoint(cells []string) (err error) {
	_, doubled := c.endpoints[cells[0]]
	if len(cells) != 5 || cells[0] == "" || doubled || !slices.Contains([]string{"active", "draining", "disabled"}, cells[1]) {
		return fmt.Errorf("%q is no endpoint, or stands there twice", cells)
	}
	e := endpoint{state: cells[1]}
	for i, to := range []*int64{&e.most, &e.base, &e.gap} {
		if *to, err = digits(cells[2+i]); err != nil {
			return err
		}
	}
	c.endpoints[cells[0]] = e
	return nil
}

// digits are a whole number, as large as a ledger may have it.
func digits(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	return int64(n), nil
}

func count(n int) json.Number { return json.Number(strconv.Itoa(n)) }
