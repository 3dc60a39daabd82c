package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
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
	if err := sound(text); err != nil {
		return r, err
	}
	in := &reader{string(text)}
	keys := []string{"admissible_endpoints", "counts", "final_state", "ok", "over_dead_letter", "plan", "totals"}
	if unit != "" {
		keys = append(keys, "unit")
	}
	return r, in.object(keys, func(key string) error { return in.part(&r, key, unit) })
}

// sound says what is wrong with a report that is not one value of JSON.
func sound(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	var one json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&one); err != nil {
		return err
	}
	return errors.New("something follows the report")
}

// part reads what stands under one of the report's own keys.
func (in *reader) part(r *report, key, unit string) (err error) {
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
		r.plan = make([]reportLine, 0, strings.Count(in.rest, `"attempt_id"`))
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

func (in *reader) line() (l reportLine, err error) {
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

// reader reads sound JSON a token at a time, for a decoder into structs forgives keys
// that stand twice, are missing, or are written in other letters; and where they stand,
// for a report of a million lines has twenty million.
type reader struct{ rest string } // every string is a part of it

// next is the kind of what stands next: of a string or number its first byte.
func (in *reader) next() byte {
	for i := range len(in.rest) {
		switch c := in.rest[i]; c {
		case ' ', '\t', '\r', '\n', ',', ':': // that these stand where they should is known
		default:
			in.rest = in.rest[i:]
			return c
		}
	}
	return 0
}

func (in *reader) more() bool { c := in.next(); return c != ']' && c != '}' }

func (in *reader) delim(want byte) error {
	if is := in.next(); is != want {
		return fmt.Errorf("has %s, want %c", in.scalar(), want)
	}
	in.rest = in.rest[1:]
	return nil
}

// scalar is a string as it is written, quotes and all, a number, a word, or a delimiter.
func (in *reader) scalar() (raw string) {
	end := 1
	switch in.next() {
	case '{', '}', '[', ']':
	case '"':
		for ; in.rest[end] != '"'; end++ {
			if in.rest[end] == '\\' {
				end++
			}
		}
		end++
	default:
		for end = 0; end < len(in.rest) && strings.IndexByte(",:]} \t\r\n", in.rest[end]) < 0; end++ {
		}
	}
	raw, in.rest = in.rest[:end], in.rest[end:]
	return raw
}

// object reads one with exactly these few keys, in whatever order.
func (in *reader) object(keys []string, f func(key string) error) error {
	if err := in.delim('{'); err != nil {
		return err
	}
	seen := 0 // a bit for each
	for in.more() {
		key, err := in.text()
		if err != nil {
			return err
		}
		at := slices.Index(keys, key)
		if at < 0 {
			return fmt.Errorf("%s does not belong there", key)
		}
		if seen&(1<<at) != 0 {
			return fmt.Errorf("%s stands there twice", key)
		}
		seen |= 1 << at
		if err := f(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for at, key := range keys {
		if seen&(1<<at) == 0 {
			return fmt.Errorf("%s is missing", key)
		}
	}
	return in.delim('}')
}

// texts reads an object of strings, whatever its keys.
func (in *reader) texts() (map[string]string, error) {
	all := map[string]string{}
	if err := in.delim('{'); err != nil {
		return nil, err
	}
	for in.more() {
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

func (in *reader) list(f func() error) error {
	if err := in.delim('['); err != nil {
		return err
	}
	for n := 1; in.more(); n++ {
		if err := f(); err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return in.delim(']')
}

func (in *reader) numbers(keys ...string) (map[string]int64, error) {
	all := map[string]int64{}
	err := in.object(keys, func(key string) (err error) {
		all[key], err = in.number()
		return err
	})
	return all, err
}

// text is a string, read as JSON where it is not written plainly.
func (in *reader) text() (text string, err error) {
	is := in.next()
	raw := in.scalar()
	if is != '"' {
		return "", fmt.Errorf("is %s, want a string", raw)
	}
	if strings.IndexByte(raw, '\\') >= 0 {
		err = json.Unmarshal([]byte(raw), &text)
		return text, err
	}
	return raw[1 : len(raw)-1], nil
}

func (in *reader) truth() (bool, error) {
	raw := in.scalar()
	if raw != "true" && raw != "false" {
		return false, fmt.Errorf("is %s, want true or false", raw)
	}
	return raw == "true", nil
}

// number is a whole one, written as such: 171.0, 1e3 and -0 are not.
func (in *reader) number() (int64, error) {
	raw := in.scalar()
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || raw[0] == '-' && n == 0 {
		return 0, fmt.Errorf("is %s, want a whole number", raw)
	}
	return n, nil
}
