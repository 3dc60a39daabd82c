package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"
)

// report is what a report says, read to the letter: every key there once, no key
// more, nothing of another type, nothing behind it.
type report struct {
	admissible     []string
	counts, totals map[string]int64
	final          map[string]string
	plan           []reportLine
	overDeadLetter bool
	ok             bool
}

type reportLine struct {
	attempt, endpoint, verdict string
	earliest, delta            int64
}

func (l reportLine) String() string {
	return fmt.Sprintf("%s of %s, earliest %d, delta %d, %s", l.attempt, l.endpoint, l.earliest, l.delta, l.verdict)
}

func reportIn(path, unit string) (report, error) {
	r, err := readReport(path, unit)
	if err != nil {
		return report{}, fmt.Errorf("report_unavailable: %w", err)
	}
	return r, nil
}

func readReport(path, unit string) (r report, err error) {
	if err := regular(path); err != nil {
		return r, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if !utf8.Valid(text) {
		return r, errors.New("it is not UTF-8")
	}
	in := reader{json.NewDecoder(bytes.NewReader(text))}
	in.UseNumber()
	keys := []string{"admissible_endpoints", "counts", "final_state", "ok", "over_dead_letter", "plan", "totals"}
	if unit != "" {
		keys = append(keys, "unit")
	}
	if err := in.object(keys, func(key string) error { return in.part(&r, key, unit) }); err != nil {
		return r, err
	}
	if _, err := in.Token(); err != io.EOF {
		return r, errors.New("something follows the report")
	}
	return r, nil
}

// part reads what stands under one of the report's own keys.
func (in reader) part(r *report, key, unit string) (err error) {
	switch key {
	case "admissible_endpoints":
		err = in.list(func() error {
			id, err := in.text()
			r.admissible = append(r.admissible, id)
			return err
		})
	case "counts":
		r.counts, err = in.numbers("attempts", "exhausted", "skipped", "succeeded")
	case "totals":
		r.totals, err = in.numbers("attempts", "backoff_s", "endpoints", "ok", "too_early")
	case "final_state":
		r.final, err = in.texts()
	case "ok":
		r.ok, err = in.truth()
	case "over_dead_letter":
		r.overDeadLetter, err = in.truth()
	case "plan":
		err = in.list(func() error {
			l, err := in.line()
			r.plan = append(r.plan, l)
			return err
		})
	case "unit":
		var is string
		if is, err = in.text(); err == nil && is != unit {
			err = fmt.Errorf("is %q, want %q", is, unit)
		}
	}
	return err
}

func (in reader) line() (l reportLine, err error) {
	err = in.object([]string{"attempt_id", "earliest_ts", "endpoint_id", "scheduled_delta_s", "verdict"}, func(key string) (err error) {
		switch key {
		case "attempt_id":
			l.attempt, err = in.text()
		case "earliest_ts":
			l.earliest, err = in.number()
		case "endpoint_id":
			l.endpoint, err = in.text()
		case "scheduled_delta_s":
			l.delta, err = in.number()
		case "verdict":
			l.verdict, err = in.text()
		}
		return err
	})
	return l, err
}

// reader reads JSON a token at a time, for a decoder into structs forgives keys
// that stand twice, are missing, or are written in other letters.
type reader struct{ *json.Decoder }

func (in reader) delim(want json.Delim) error {
	t, err := in.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("has %v, want %v", t, want)
	}
	return nil
}

// object reads one with exactly these few keys, in whatever order.
func (in reader) object(keys []string, f func(key string) error) error {
	if err := in.delim('{'); err != nil {
		return err
	}
	var seen []string
	for in.More() {
		key, err := in.text()
		if err != nil {
			return err
		}
		if slices.Contains(seen, key) {
			return fmt.Errorf("%s stands there twice", key)
		}
		if !slices.Contains(keys, key) {
			return fmt.Errorf("%s does not belong there", key)
		}
		seen = append(seen, key)
		if err := f(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, key := range keys {
		if !slices.Contains(seen, key) {
			return fmt.Errorf("%s is missing", key)
		}
	}
	return in.delim('}')
}

// texts reads an object of strings, whatever its keys.
func (in reader) texts() (map[string]string, error) {
	all := map[string]string{}
	if err := in.delim('{'); err != nil {
		return nil, err
	}
	for in.More() {
		key, err := in.text()
		if err != nil {
			return nil, err
		}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("%s stands there twice", key)
		}
		if all[key], err = in.text(); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return all, in.delim('}')
}

func (in reader) list(f func() error) error {
	if err := in.delim('['); err != nil {
		return err
	}
	for n := 1; in.More(); n++ {
		if err := f(); err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return in.delim(']')
}

func (in reader) numbers(keys ...string) (map[string]int64, error) {
	all := map[string]int64{}
	err := in.object(keys, func(key string) (err error) {
		all[key], err = in.number()
		return err
	})
	return all, err
}

func (in reader) text() (string, error) { return token[string](in, "a string") }
func (in reader) truth() (bool, error)  { return token[bool](in, "true or false") }

// number is a whole one, written as such: 171.0 and 1e3 are not.
func (in reader) number() (int64, error) {
	text, err := token[json.Number](in, "a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(text) {
		return 0, fmt.Errorf("is %s, want a whole number", text)
	}
	return n, nil
}

func token[T any](in reader, want string) (v T, err error) {
	t, err := in.Token()
	if err != nil {
		return v, err
	}
	v, is := t.(T)
	if !is {
		return v, fmt.Errorf("is %v, want %s", t, want)
	}
	return v, nil
}
