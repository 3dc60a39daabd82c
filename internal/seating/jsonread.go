package seating

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// place is where in a JSON document a value stands. It is a chain, so that
// naming a seat's place costs nothing until something is wrong there.
type place struct {
	up    *place
	key   string
	index int
}

func (p *place) in(list string, i int) *place { return &place{p, list, i} }

// field is the path of one of the place's own keys; of the place itself if the
// key is empty.
func (p *place) field(key string) string {
	if p == nil {
		return key
	}
	s := p.up.field(p.key)
	if p.index >= 0 {
		s += "[" + strconv.Itoa(p.index) + "]"
	}
	if key != "" {
		s += "." + key
	}
	return s
}

// maxKeys bounds one object: looking for doubles is quadratic.
const maxKeys = 1000

// reader walks a JSON document once, straight into values. A value of the
// wrong type is a flaw and is stepped over, so that one pass finds all; broken
// syntax ends the walk. Keys that nobody asks for are stepped over in silence.
type reader struct {
	*flaws
	data  []byte
	dec   *json.Decoder
	lines int // line ends before counted
	done  int // bytes counted
	over  bool
}

func newReader(f *flaws, data []byte) *reader {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return &reader{flaws: f, data: data, dec: dec}
}

// line is the line on which the walk stands.
func (r *reader) line() int {
	at := min(int(r.dec.InputOffset()), len(r.data))
	r.lines += bytes.Count(r.data[r.done:at], []byte("\n"))
	r.done = at
	return r.lines + 1
}

func (r *reader) flaw(at *place, key, format string, args ...any) {
	switch {
	case r.over:
	case len(r.Kept) == flawsKept:
		r.More++ // its place would cost more than it tells
	default:
		r.add(r.line(), at.field(key), format, args...)
	}
}

func (r *reader) token() json.Token {
	if r.over {
		return nil
	}
	t, err := r.dec.Token()
	if err != nil {
		r.broken(err)
	}
	return t
}

// broken ends the walk: nothing after a syntax error has a certain meaning.
func (r *reader) broken(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	r.add(r.line(), "", "not JSON: %v", err)
	r.over = true
}

// end says that the document must be over.
func (r *reader) end() {
	if r.over {
		return
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		r.add(r.line(), "", "there is more after the end of the plan")
	}
}

func (r *reader) skip() { r.value(new(json.RawMessage)) }

// value reads whatever stands next.
func (r *reader) value(v any) bool {
	if r.over {
		return false
	}
	if err := r.dec.Decode(v); err != nil {
		r.broken(err)
	}
	return !r.over
}

func (r *reader) more() bool { return !r.over && r.dec.More() }

// object calls f for each key; f must read the key's value or skip it. It
// returns the keys, or nil if there is no object.
func (r *reader) object(at *place, key string, f func(key string)) []string {
	return r.fields(at, key, r.token(), f)
}

// maybe is object where null is as good as absent.
func (r *reader) maybe(at *place, key string, f func(key string)) []string {
	t := r.token()
	if t == nil {
		return nil
	}
	return r.fields(at, key, t, f)
}

func (r *reader) fields(at *place, key string, open json.Token, f func(key string)) []string {
	if open != json.Delim('{') {
		r.wrong(at, key, open, "an object")
		return nil
	}
	seen := make([]string, 0, 8)
	for r.more() {
		k, _ := r.token().(string)
		switch {
		case slices.Contains(seen, k): // which of the two is meant?
			r.flaw(at, key, "the key %q stands twice", clip(k))
		case len(seen) == maxKeys:
			r.flaw(at, key, "more than %d keys", maxKeys)
			r.over = true
		}
		seen = append(seen, k)
		f(k)
	}
	r.token()
	return seen
}

func (r *reader) list(at *place, key string, f func(at *place)) {
	r.items(at, key, r.token(), f)
}

// maybeList is list where null is as good as an empty one.
func (r *reader) maybeList(at *place, key string, f func(at *place)) {
	if t := r.token(); t != nil {
		r.items(at, key, t, f)
	}
}

func (r *reader) items(at *place, key string, open json.Token, f func(at *place)) {
	if open != json.Delim('[') {
		r.wrong(at, key, open, "a list")
		return
	}
	for i := 0; r.more(); i++ {
		f(at.in(key, i))
	}
	r.token()
}

// need says which of an object's keys are missing. An object that is none was
// a flaw already.
func (r *reader) need(at *place, have []string, want ...string) bool {
	whole := have != nil
	for _, k := range want {
		if have != nil && !slices.Contains(have, k) {
			r.flaw(at, k, "missing")
			whole = false
		}
	}
	return whole
}

func (r *reader) text(at *place, key string) (s string, ok bool) {
	t := r.token()
	if s, ok = t.(string); !ok {
		r.wrong(at, key, t, "text in quotes")
	}
	return s, ok
}

// maybeText is text where null is as good as "".
func (r *reader) maybeText(at *place, key string) (s string, ok bool) {
	t := r.token()
	if t == nil {
		return "", !r.over
	}
	if s, ok = t.(string); !ok {
		r.wrong(at, key, t, "text in quotes")
	}
	return s, ok
}

func (r *reader) number(at *place, key string) (float64, bool) {
	return r.asNumber(at, key, r.token())
}

// maybeNumber is number where null is as good as 0.
func (r *reader) maybeNumber(at *place, key string) (float64, bool) {
	t := r.token()
	if t == nil {
		return 0, !r.over
	}
	return r.asNumber(at, key, t)
}

func (r *reader) asNumber(at *place, key string, t json.Token) (float64, bool) {
	n, ok := t.(json.Number)
	if !ok {
		r.wrong(at, key, t, "a number")
		return 0, false
	}
	v, err := n.Float64()
	if err != nil || !within(v) {
		r.flaw(at, key, "%s is out of range, at most %d either way", clip(n.String()), MaxPosition)
		return 0, false
	}
	return v, true
}

// wrong notes a value of the wrong type and steps over what is left of it.
func (r *reader) wrong(at *place, key string, t json.Token, want string) {
	got := "null"
	switch t := t.(type) {
	case json.Delim:
		got = map[json.Delim]string{'{': "an object", '[': "a list"}[t]
	case string:
		got = fmt.Sprintf("the text %q", clip(t))
	case json.Number:
		got = "the number " + clip(t.String())
	case bool:
		got = strconv.FormatBool(t)
	}
	r.flaw(at, key, "%s, want %s", got, want)
	for depth := opens(t); depth > 0; {
		depth += opens(r.token())
		if r.over {
			return
		}
	}
}

// opens is +1 for a token that opens a list or an object, -1 for one that
// closes it.
func opens(t json.Token) int {
	switch t {
	case json.Delim('{'), json.Delim('['):
		return 1
	case json.Delim('}'), json.Delim(']'):
		return -1
	}
	return 0
}

// clip shortens what a message quotes from a file.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	cut := []rune(s)
	return string(cut[:min(len(cut), 40)]) + "…"
}
