package probe

import (
	"bytes"
	"encoding/json"
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
}

type endpoint struct {
	state           string
	most, base, gap int64
}

type attempt struct {
	id, endpoint      string
	no, start, finish int64
	success           bool
	seq               int64    // in its delivery, from 1
	earliest          *big.Int // nil for the first of its delivery
	waited            *big.Int // nil too: since the one before it
	told              bool     // by the report
}

func readCase(dir string) (*cases, error) {
	c := &cases{env: map[string]int64{}, endpoints: map[string]endpoint{}, attempts: map[string]*attempt{}, last: map[string]*attempt{}}
	if err := c.readEnv(filepath.Join(dir, "retry.env")); err != nil {
		return nil, err
	}
	if err := c.readTable(filepath.Join(dir, "endpoints.tsv"), c.endpoint, "endpoint_id", "state", "max_attempts", "backoff_base", "dispatch_gap_s"); err != nil {
		return nil, err
	}
	if err := c.readTable(filepath.Join(dir, "attempts.tsv"), c.attempt, "attempt_id", "endpoint_id", "attempt_no", "start_ts", "finish_ts", "status", "error"); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *cases) readEnv(path string) error {
	text, err := slurp(path)
	if err != nil {
		return err
	}
	given := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		key, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if key == "" && !is || strings.HasPrefix(key, "#") {
			continue
		}
		key = strings.TrimSpace(key)
		if _, doubled := given[key]; doubled || !is {
			return fmt.Errorf("%s: %q is no KEY=VALUE, or stands there twice", path, line)
		}
		given[key] = strings.TrimSpace(value)
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
	text, err := slurp(path)
	if err != nil {
		return err
	}
	n, begun := 0, false
	for line := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n")) {
		line := string(line)
		if n++; !utf8.ValidString(line) {
			return fmt.Errorf("%s:%d: is not UTF-8", path, n)
		}
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		if strings.TrimSpace(line) == "" {
			continue
		}
		named := !begun && (slices.Equal(cells, names) || len(names) == 7 && slices.Equal(cells, names[:6]))
		if begun = true; named {
			continue
		}
		if err := row(cells); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
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
