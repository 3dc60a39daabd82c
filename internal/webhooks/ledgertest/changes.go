package ledgertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Change is a report with one thing in it changed.
type Change struct {
	What string
	tree any
}

// Text is the report as changed.
func (c Change) Text(t testing.TB) string {
	t.Helper()
	text, err := json.Marshal(c.tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Changes are the report with each single value altered, or given another type,
// each key left out, one more key in each object, each element of a list left out,
// doubled, or in the place of the next.
func Changes(t testing.TB, report []byte) []Change {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(report))
	in.UseNumber()
	var tree any
	if err := in.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	var all []Change
	walk("report", tree, func(what string, v any) { all = append(all, Change{what, v}) })
	return all
}

// walk puts every change of v to the use that put makes of it.
func walk(path string, v any, put func(what string, v any)) {
	for _, other := range []any{nil, "other", json.Number("-7"), true, []any{}, map[string]any{}} {
		if !same(v, other) {
			put(fmt.Sprintf("%s is %v", path, other), other)
		}
	}
	switch v := v.(type) {
	case bool:
		put(path+" is the opposite", !v)
	case string:
		put(path+" is longer", v+"x")
		put(path+" is in capitals", strings.ToUpper(v))
	case json.Number:
		for _, other := range []string{"1" + string(v), string(v) + ".0", string(v) + "e0"} {
			other = strings.TrimPrefix(other, "1-")
			put(path+" is "+other, json.Number(other))
		}
	case []any:
		elements(path, v, put)
	case map[string]any:
		keys(path, v, put)
	}
}

func elements(path string, v []any, put func(what string, v any)) {
	for i := range v {
		at := fmt.Sprintf("%s[%d]", path, i)
		put(at+" is left out", slices.Concat(v[:i], v[i+1:]))
		put(at+" is doubled", slices.Concat(v[:i], v[i:i+1], v[i:]))
		if i > 0 {
			put(at+" comes earlier", slices.Concat(v[:i-1], v[i:i+1], v[i-1:i], v[i+1:]))
		}
		walk(at, v[i], func(what string, e any) { put(what, slices.Concat(v[:i], []any{e}, v[i+1:])) })
	}
}

func keys(path string, v map[string]any, put func(what string, v any)) {
	with := func(key string, value any, is bool) map[string]any {
		changed := maps.Clone(v)
		delete(changed, key)
		if is {
			changed[key] = value
		}
		return changed
	}
	put(path+" has one key more", with("more", json.Number("0"), true))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		at := path + "." + key
		put(at+" is left out", with(key, nil, false))
		changed := with(key, nil, false)
		changed[strings.ToUpper(key)] = v[key]
		put(at+" is in capitals", changed)
		walk(at, v[key], func(what string, e any) { put(what, with(key, e, true)) })
	}
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
