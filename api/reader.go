package api

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// reader walks the document as it is written: a map's order is the author's.
type reader struct {
	root     *yaml.Node
	examples map[string]*Example
}

// at is what a key of a mapping holds; nil: nothing.
func at(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var found *yaml.Node
		for k, v := range pairs(n) {
			if k == key {
				found = v
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

func pairs(n *yaml.Node) func(func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

func text(n *yaml.Node, path ...string) string {
	if n = at(n, path...); n == nil {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// follow is what a node refers to, and by which name; itself if it refers to nothing.
func (r reader) follow(n *yaml.Node) (is *yaml.Node, name string) {
	ref := text(n, "$ref")
	if ref == "" {
		return n, ""
	}
	path := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	return at(r.root, path...), path[len(path)-1]
}

func (r reader) contract() Contract {
	c := Contract{Title: text(r.root, "info", "title"), Description: text(r.root, "info", "description")}
	for _, tag := range items(at(r.root, "tags")) {
		c.Groups = append(c.Groups, Group{Name: text(tag, "name"), Description: text(tag, "description")})
	}
	for path, item := range pairs(at(r.root, "paths")) {
		for method, o := range pairs(item) {
			op := r.operation(strings.ToUpper(method), path, o)
			for i, tag := range c.Groups {
				if tags := items(at(o, "tags")); len(tags) > 0 && tags[0].Value == tag.Name {
					c.Groups[i].Operations = append(c.Groups[i].Operations, op)
				}
			}
		}
	}
	for name, s := range pairs(at(r.root, "components", "schemas")) {
		c.Schemas = append(c.Schemas, Named{name, r.shape(s)})
	}
	return c
}

func (r reader) operation(method, path string, o *yaml.Node) Operation {
	op := Operation{
		ID: text(o, "operationId"), Method: method, Path: path, Summary: text(o, "summary"), Description: text(o, "description"),
	}
	for _, s := range items(at(o, "security")) {
		for name := range pairs(s) {
			op.Bearers = append(op.Bearers, text(r.root, "components", "securitySchemes", name, "description"))
		}
	}
	for _, p := range items(at(o, "parameters")) {
		p, _ = r.follow(p)
		f := Field{Name: text(p, "name"), In: text(p, "in"), Required: text(p, "required") == "true", Shape: r.shape(at(p, "schema"))}
		if said := text(p, "description"); said != "" {
			f.Shape.Description = said
		}
		op.Parameters = append(op.Parameters, f)
	}
	op.Body = r.body(at(o, "requestBody"))
	for status, a := range pairs(at(o, "responses")) {
		a, _ = r.follow(a)
		answer := Answer{Status: status, Description: text(a, "description"), Body: r.body(a)}
		for name, h := range pairs(at(a, "headers")) {
			f := Field{Name: name, Required: text(h, "required") == "true", Shape: r.shape(at(h, "schema"))}
			f.Shape.Description = text(h, "description")
			answer.Headers = append(answer.Headers, f)
		}
		op.Answers = append(op.Answers, answer)
	}
	if e := r.examples[op.ID]; e != nil {
		if e.Method = method; e.Path == "" {
			e.Path = strings.ReplaceAll(path, "{event}", "$EVENT")
		}
		op.Example = e
	}
	return op
}

// body is the shape of what is carried, of whatever kind; nil: nothing is.
func (r reader) body(n *yaml.Node) *Shape {
	n, _ = r.follow(n)
	for kind, c := range pairs(at(n, "content")) {
		s := r.shape(at(c, "schema"))
		if kind != "application/json" && kind != "application/problem+json" && s.Type == "" && s.Ref == "" {
			s.Type = kind
		}
		return &s
	}
	return nil
}

func (r reader) shape(n *yaml.Node) Shape {
	if n == nil {
		return Shape{}
	}
	if _, name := r.follow(n); name != "" {
		return Shape{Ref: name, Description: text(n, "description")}
	}
	for _, either := range []string{"anyOf", "oneOf"} { // one of ours, or null
		for _, option := range items(at(n, either)) {
			if s := r.shape(option); s.Ref != "" {
				s.Type, s.Description = "or null", text(n, "description")
				return s
			}
		}
	}
	s := Shape{Type: kind(n), Description: text(n, "description")}
	if s.Type == "array" {
		of := r.shape(at(n, "items"))
		of.List, of.Description = true, strings.TrimSpace(s.Description+" "+of.Description)
		return of
	}
	for name, m := range pairs(at(n, "properties")) {
		s.Fields = append(s.Fields, Field{Name: name, Required: names(at(n, "required"), name), Shape: r.shape(m)})
	}
	return s
}

func names(list *yaml.Node, name string) bool {
	for _, n := range items(list) {
		if n.Value == name {
			return true
		}
	}
	return false
}

// kind is the type with what bounds it, in one line.
func kind(n *yaml.Node) string {
	t := text(n, "type")
	if all := items(at(n, "type")); len(all) > 0 {
		var names []string
		for _, one := range all {
			names = append(names, one.Value)
		}
		t = strings.Join(names, " or ")
	}
	if f := text(n, "format"); f != "" {
		t += " (" + f + ")"
	}
	var values []string
	for _, v := range items(at(n, "enum")) {
		values = append(values, v.Value)
	}
	if len(values) > 0 {
		t = "one of " + strings.Join(values, ", ")
	}
	for _, b := range [][2]string{{"exclusiveMinimum", "more than "}, {"minimum", "from "}, {"maximum", "to "}, {"pattern", ""}} {
		if v := text(n, b[0]); v != "" {
			t += ", " + b[1] + v
		}
	}
	return t
}
