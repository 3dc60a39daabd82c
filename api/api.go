// Package api is the contract of the HTTP API as it is published: openapi.yaml, read
// for the page that shows it, and examples that are run in tests.
package api

import (
	"embed"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed openapi.yaml examples.yaml
var files embed.FS

// File is openapi.yaml as it is.
func File() ([]byte, error) { return files.ReadFile("openapi.yaml") }

// Contract is what a reader is shown, in the file's own order.
type Contract struct {
	Title, Description string
	Groups             []Group
	Schemas            []Named
}

// Group is the operations under one tag.
type Group struct {
	Name, Description string
	Operations        []Operation
}

// Operation is one method of one path.
type Operation struct {
	ID, Method, Path, Summary, Description string
	Bearers                                []string // what may stand in Authorization; empty: nothing is asked for
	Parameters                             []Field
	Body                                   *Shape
	Answers                                []Answer
	Example                                *Example
}

// Answer is one status, or "default".
type Answer struct {
	Status, Description string
	Headers             []Field
	Body                *Shape
}

// Named is a schema that others refer to.
type Named struct {
	Name  string
	Shape Shape
}

// Field is a member of an object, a parameter or a header.
type Field struct {
	Name, In string // In: path, query, header; empty for members
	Required bool
	Shape    Shape
}

// Shape is what a value may be. Ref names a schema; then Fields are that one's.
type Shape struct {
	Type, Ref, Description string
	List                   bool // of such
	Fields                 []Field
}

// Read reads the contract with its examples.
func Read() (Contract, error) {
	text, err := File()
	if err != nil {
		return Contract{}, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return Contract{}, fmt.Errorf("openapi.yaml: %w", err)
	}
	examples, err := Examples()
	if err != nil {
		return Contract{}, err
	}
	r := reader{root: doc.Content[0], examples: map[string]*Example{}}
	for i, e := range examples {
		r.examples[e.Does] = &examples[i]
	}
	return r.contract(), nil
}

// Example is one request that is shown, and run in a test. In Path, Token and Body
// $NAME stands for what an earlier one kept, or what the reader has.
type Example struct {
	Does      string            `yaml:"does"` // the operation
	Path      string            `yaml:"path"` // empty: as described, of $EVENT
	Token     string            `yaml:"token"`
	Header    map[string]string `yaml:"header"`
	Body      string            `yaml:"body"`
	Status    int               `yaml:"status"`
	Keep      map[string]string `yaml:"keep"`      // by name, where it stands in the answer: place.number; "." is all of it, ETag the head's
	Organiser bool              `yaml:"organiser"` // on the organisers' listener
	Pay       bool              `yaml:"pay"`       // on the payments'
	Method    string            `yaml:"-"`
}

// Examples are all, in the order in which they are run.
func Examples() (all []Example, err error) {
	text, err := files.ReadFile("examples.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("examples.yaml: %w", err)
	}
	return all, nil
}

// Curl is the example as it is typed.
func (e Example) Curl() string {
	var b strings.Builder
	b.WriteString("curl")
	if e.Method != "GET" {
		b.WriteString(" -X " + e.Method)
	}
	host := "$HOST"
	switch {
	case e.Organiser:
		host = "$ADMIN"
	case e.Pay:
		host = "$PAY"
	}
	fmt.Fprintf(&b, ` "%s%s"`, host, e.Path)
	if e.Token != "" {
		fmt.Fprintf(&b, " \\\n  -H \"Authorization: Bearer %s\"", e.Token)
	}
	for _, name := range []string{"Idempotency-Key", "If-Match", "Prefer"} {
		if v := e.Header[name]; v != "" {
			fmt.Fprintf(&b, " \\\n  -H %s", quoted(name+": "+v))
		}
	}
	if e.Body != "" {
		fmt.Fprintf(&b, " \\\n  -H 'Content-Type: application/json' \\\n  -d %s", quoted(strings.TrimSpace(e.Body)))
	}
	return b.String()
}

// quoted is a word as a shell takes it, with what $NAME stands for.
func quoted(word string) string {
	if !strings.Contains(word, "$") {
		return "'" + word + "'"
	}
	return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
}
