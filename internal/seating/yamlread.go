package seating

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// yamlFile walks a YAML document by its nodes, because only they know their
// lines. Scalars are read by their text and not by YAML's guess at a type: a
// price of 49.10 is five characters, never a binary fraction.
type yamlFile struct{ *flaws }

// read reads one value; field is its path.
type read func(n *yaml.Node, field string)

// document reads the file's one mapping by its keys; it returns the line of
// each key that the file has.
func (y yamlFile) document(data []byte, keys map[string]read) map[string]int {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		y.broken(err)
		return nil
	}
	lines := y.mapping(doc.Content[0], "", keys)
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		y.add(0, "", "there is a second document; one file is one event")
	}
	return lines
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

func (y yamlFile) broken(err error) {
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	if errors.Is(err, io.EOF) {
		reason = "it holds nothing"
	}
	line := 0
	if m := yamlLine.FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1])
		reason = strings.Replace(reason, m[0], "", 1)
	}
	y.add(line, "", "not YAML: %s", reason)
}

// mapping reads n by keys, and refuses any other key.
func (y yamlFile) mapping(n *yaml.Node, field string, keys map[string]read) map[string]int {
	return y.pairs(n, field, func(key, value *yaml.Node, at string) {
		if read, known := keys[key.Value]; known {
			read(value, at)
			return
		}
		y.add(key.Line, at, "unknown key")
	})
}

func (y yamlFile) pairs(n *yaml.Node, field string, each func(key, value *yaml.Node, at string)) map[string]int {
	if n.Kind != yaml.MappingNode {
		y.wrong(n, field, "keys and values")
		return nil
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			y.wrong(key, field, "a plain key")
			continue
		}
		at := strings.TrimPrefix(field+"."+clip(key.Value), ".")
		if line := seen[key.Value]; line > 0 {
			y.add(key.Line, at, "stands on line %d too", line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, value, at)
	}
	return seen
}

func (y yamlFile) list(n *yaml.Node, field string, each read) {
	if n.Kind != yaml.SequenceNode {
		y.wrong(n, field, "a list")
		return
	}
	for i, item := range n.Content {
		each(item, fmt.Sprintf("%s[%d]", field, i))
	}
}

func (y yamlFile) wrong(n *yaml.Node, field, want string) {
	got := map[yaml.Kind]string{
		yaml.MappingNode: "keys and values", yaml.SequenceNode: "a list", yaml.AliasNode: "an alias",
	}[n.Kind]
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		got = "no value"
	case n.Kind == yaml.ScalarNode:
		got = strconv.Quote(clip(n.Value))
	}
	y.add(n.Line, field, "%s, want %s", got, want)
}

// scalar is a value's own text.
func (y yamlFile) scalar(n *yaml.Node, field, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		y.wrong(n, field, want)
		return "", false
	}
	return n.Value, true
}

func (y yamlFile) text(to *string, most int) read {
	return func(n *yaml.Node, field string) {
		s, ok := y.scalar(n, field, "text")
		switch {
		case !ok:
		case strings.TrimSpace(s) == "":
			y.add(n.Line, field, "empty")
		case y.check(n.Line, field, s, most):
			*to = s
		}
	}
}

func (y yamlFile) whole(to *int, least, most int) read {
	return func(n *yaml.Node, field string) {
		want := fmt.Sprintf("a whole number from %d to %d", least, most)
		s, ok := y.scalar(n, field, want)
		if !ok {
			return
		}
		v, err := strconv.Atoi(s)
		if err != nil || v < least || v > most {
			y.wrong(n, field, want)
			return
		}
		*to = v
	}
}

func (y yamlFile) number(to *float64, fits func(float64) bool, want string) read {
	return func(n *yaml.Node, field string) {
		s, ok := y.scalar(n, field, want)
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || !fits(v) {
			y.wrong(n, field, want)
			return
		}
		*to = v
	}
}

func (y yamlFile) duration(to *time.Duration, least, most time.Duration) read {
	return func(n *yaml.Node, field string) {
		want := fmt.Sprintf("a duration with its unit, %s to %s", brief(least), brief(most))
		s, ok := y.scalar(n, field, want)
		if !ok {
			return
		}
		v, err := time.ParseDuration(s)
		if err != nil || v < least || v > most {
			y.wrong(n, field, want)
			return
		}
		*to = v
	}
}

// brief is a duration as people write it: 10m, not 10m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (y yamlFile) moment(to *time.Time) read {
	return func(n *yaml.Node, field string) {
		want := "a time with its zone, like 2026-03-01T10:00:00+01:00"
		s, ok := y.scalar(n, field, want)
		if !ok {
			return
		}
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			y.wrong(n, field, want)
			return
		}
		*to = v
	}
}
