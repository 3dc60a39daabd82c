// Package probe holds a report of the webhook plan against its contract and its
// ledgers from outside: it reads these four files, believes no word of the report
// about itself, and tells each difference. It imports nothing of ours.
//
// It judges the report alone. Whether the ledger contradicts itself is for
// internal/webhooks/health to say.
package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir tells every difference between DIR/report.json, or the report that is
// named, and what the other files of the folder come to. What cannot be read is a
// difference too; usable is false if that is the contract.
func Dir(dir, report string) (found []string, usable bool) {
	if report == "" {
		report = filepath.Join(dir, "report.json")
	}
	c, err := readCase(dir)
	if err != nil {
		return []string{err.Error()}, !errors.As(err, new(unusable))
	}
	text, err := slurp(report)
	if err != nil {
		return []string{err.Error()}, true
	}
	var told map[string]json.RawMessage
	if err := json.Unmarshal(text, &told); err != nil {
		return []string{fmt.Sprintf("%s: %v", report, err)}, true
	}
	var d differences
	d.plan(c, told["plan"])
	delete(told, "plan")
	rest := map[string]any{}
	for key, raw := range told {
		rest[key] = plain(raw)
	}
	d.between("", c.sums(), rest)
	slices.Sort(d)
	return d, true
}

// Fprint writes the result, and each difference.
func Fprint(w io.Writer, differences []string) {
	if len(differences) == 0 {
		fmt.Fprintln(w, "RESULT: OK")
		return
	}
	fmt.Fprintf(w, "RESULT: BAD (%d differences)\n", len(differences))
	for _, d := range differences {
		fmt.Fprintf(w, "  - %s\n", d)
	}
}

func slurp(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

type differences []string

func (d *differences) add(path string, want, got any) {
	*d = append(*d, fmt.Sprintf("%s: want %v, got %v", path, want, got))
}

// plan compares row by row, by the attempt's id; then the order.
func (d *differences) plan(c *cases, raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		d.add("plan", "a list", excerpt(raw))
		return
	}
	inOrder, told := true, 0
	for list := next(raw[1:]); list[0] != ']'; list = next(list) {
		w, rest, plain := readLine(list)
		var a *attempt
		if plain {
			a = c.attempts[string(w.id[1:len(w.id)-1])]
		}
		if a != nil && a.planned && !a.told && a.is(w) {
			list = rest
		} else if a, list = d.row(c, list); a == nil {
			continue
		}
		inOrder = inOrder && c.planned[told] == a
		a.told = true
		told++
	}
	for _, a := range c.planned {
		if !a.told {
			d.add(a.id, "a row in the plan", nil)
			inOrder = true // of what is not all there nothing more is said
		}
	}
	if !inOrder {
		d.add("plan", "the ledger's order", "another")
	}
}

// next is where the next row begins, or the list ends.
func next(list []byte) []byte { return bytes.TrimLeft(list, ", \t\r\n") }

// row tells how a row differs, and which it is; nil is one that should not be there.
func (d *differences) row(c *cases, list []byte) (a *attempt, rest []byte) {
	in := json.NewDecoder(bytes.NewReader(list))
	in.UseNumber()
	var row any
	if err := in.Decode(&row); err != nil {
		d.add("plan", "a list of objects", err)
		return nil, []byte("]")
	}
	rest = list[in.InputOffset():]
	fields, _ := row.(map[string]any)
	id, _ := fields["attempt_id"].(string)
	if a = c.attempts[id]; a == nil || !a.planned || a.told {
		d.add("plan", "no such row, or no second", row)
		return nil, rest
	}
	d.between(id+".", a.row(), fields)
	return a, rest
}

// between compares two trees of JSON, key by key, and a leaf as a whole.
func (d *differences) between(path string, want, got map[string]any) {
	for key, w := range want {
		g, there := got[key]
		switch w := w.(type) {
		case map[string]any:
			if below, is := g.(map[string]any); is {
				d.between(path+key+".", w, below)
				continue
			}
			d.add(path+key, "an object", g)
		case []any:
			list, is := g.([]any)
			if !is || !slices.Equal(w, list) {
				d.add(path+key, w, g)
			}
		default:
			if !there || w != g {
				d.add(path+key, w, g)
			}
		}
	}
	for key, g := range got {
		if _, wanted := want[key]; !wanted {
			d.add(path+key, nil, g)
		}
	}
}

// plain is a value with its numbers as they are written.
func plain(raw json.RawMessage) (v any) {
	in := json.NewDecoder(strings.NewReader(string(raw)))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil
	}
	return v
}

func excerpt(raw json.RawMessage) string {
	return cmp.Or(string(raw[:min(len(raw), 200)]), "nothing")
}
