package health

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode/utf8"
)

// unusable is of terms by which nothing can be judged.
type unusable struct{ why string }

func (u unusable) Error() string { return "contract: " + u.why }

func isUnusable(err error) bool {
	var u unusable
	return errors.As(err, &u)
}

// terms are the contract: what holds for all, and for each endpoint.
type terms struct {
	factor, slack, deadLetterAfter, leastSuccess, mostSuccess int64
	endpoints                                                 map[string]endpoint
}

type endpoint struct {
	active         bool
	most           int64 // attempts of a delivery
	base, greatest int64 // waits
}

func termsIn(contract, endpoints string) (terms, error) {
	t, err := contractIn(contract)
	if err != nil {
		return terms{}, err
	}
	t.endpoints = map[string]endpoint{}
	above := true // of every row: there the columns may be named
	err = each(endpoints, func(n int, line string) error {
		if above && line == "endpoint_id\tstate\tmax_attempts\tbackoff_base\tdispatch_gap_s" {
			above = false
			return nil
		}
		above = false
		if why := t.endpoint(strings.Split(line, "\t")); why != "" {
			return unusable{fmt.Sprintf("%s, line %d: %s", endpoints, n, why)}
		}
		return nil
	})
	if errors.Is(err, errNotText) {
		return terms{}, unusable{err.Error()}
	}
	return t, err
}

// endpoint takes one in, or says why it cannot.
func (t *terms) endpoint(of []string) (why string) {
	if len(of) != 5 {
		return fmt.Sprintf("%d columns, not 5", len(of))
	}
	if _, there := t.endpoints[of[0]]; there || of[0] == "" {
		return fmt.Sprintf("the id %q is empty or stands twice", of[0])
	}
	var e endpoint
	switch of[1] {
	case "active":
		e.active = true
	case "draining", "disabled":
	default:
		return fmt.Sprintf("%q is no state", of[1])
	}
	var sound [3]bool
	e.most, sound[0] = number(of[2])
	e.base, sound[1] = number(of[3])
	e.greatest, sound[2] = number(of[4])
	if sound != [3]bool{true, true, true} {
		return fmt.Sprintf("%q are not all whole numbers", of[2:])
	}
	t.endpoints[of[0]] = e
	return ""
}

func contractIn(path string) (terms, error) {
	found := map[string]string{}
	err := each(path, func(n int, line string) error {
		if line = strings.TrimSpace(line); line[0] == '#' {
			return nil
		}
		at := strings.IndexByte(line, '=')
		if at < 0 {
			return fmt.Errorf("line %d is no KEY=VALUE", n)
		}
		key := strings.TrimSpace(line[:at])
		if _, twice := found[key]; twice {
			return fmt.Errorf("%s stands twice", key)
		}
		found[key] = strings.TrimSpace(line[at+1:])
		return nil
	})
	if err != nil {
		return terms{}, unusable{err.Error()}
	}
	var t terms
	var wrong []string
	take := func(key string) int64 {
		text, there := found[key]
		n, sound := number(text)
		if !there {
			n, sound = absent(key)
		}
		if !sound {
			wrong = append(wrong, fmt.Sprintf("%s is %q", key, text))
		}
		return n
	}
	t.factor, t.slack = take("WEBHOOK_BACKOFF_FACTOR"), take("WEBHOOK_ADMIT_SLACK_S")
	t.deadLetterAfter = take("WEBHOOK_DEAD_LETTER_AFTER")
	t.leastSuccess, t.mostSuccess = take("WEBHOOK_SUCCESS_MIN"), take("WEBHOOK_SUCCESS_MAX")
	if len(wrong) > 0 {
		return terms{}, unusable{strings.Join(wrong, ", ") + ": not a whole number"}
	}
	if t.leastSuccess > t.mostSuccess {
		return terms{}, unusable{"WEBHOOK_SUCCESS_MIN is above WEBHOOK_SUCCESS_MAX"}
	}
	return t, nil
}

var errNotText = errors.New("not lines of UTF-8")

// longest is the shortest line that is too long, its end left out.
const longest = 1 << 16

// each reads a file line by line; blank lines are counted, and passed over.
func each(path string, f func(n int, line string) error) error {
	text, err := read(path)
	if err != nil {
		return err
	}
	return eachOf(text, path, f)
}

func eachOf(text, path string, f func(n int, line string) error) error {
	for n, more := 1, true; more; n++ {
		var line string
		if line, text, more = strings.Cut(text, "\n"); len(line) >= longest {
			return fmt.Errorf("%s, line %d: %w: it is longer than 64 KiB", path, n, errNotText)
		}
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSuffix(line, "\r"); !utf8.ValidString(line) {
			return fmt.Errorf("%s, line %d: %w", path, n, errNotText)
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	return nil
}

// read is a file as it is; every line of it is a part of that.
func read(path string) (string, error) {
	if err := regular(path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// regular refuses what has no end: a device, a pipe that nobody writes to.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	return err
}

// number is a whole number from 0 on, in digits, that fits.
func number(text string) (n int64, sound bool) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' || n > (math.MaxInt64-int64(c-'0'))/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, text != ""
}
