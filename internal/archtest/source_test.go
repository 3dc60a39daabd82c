package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// source is one file of the project.
type source struct {
	path string // from the project's top
	pkg  string // its folder
	test bool
	text string    // if it is SQL
	ast  *ast.File // if it is Go
	fset *token.FileSet
}

// read parses every Go and SQL file below root, but for what others wrote and
// the list of dependencies at the top.
func read(root fs.FS) ([]source, error) {
	var all []source
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == "node_modules" || n == "testdata" || n == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		s := source{path: p, pkg: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), fset: token.NewFileSet()}
		ext := path.Ext(p)
		if s.pkg == "." || ext != ".go" && ext != ".sql" {
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		if ext == ".sql" {
			s.text = string(text)
		} else if s.ast, err = parser.ParseFile(s.fset, p, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// imports are the paths that a file imports, ours without the module's name.
func (s source) imports() []string {
	if s.ast == nil {
		return nil
	}
	var paths []string
	for _, i := range s.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, strings.TrimPrefix(p, module+"/"))
	}
	return paths
}

// calls are the places where the file calls (or passes on) pkg.name.
func (s source) calls(pkg, name string) []token.Pos {
	if s.ast == nil {
		return nil
	}
	local := path.Base(pkg)
	imported := false
	for _, i := range s.ast.Imports {
		if p, _ := strconv.Unquote(i.Path.Value); p == pkg {
			imported = true
			if i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	var at []token.Pos
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != name {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && imported && x.Name == local {
			at = append(at, sel.Pos())
		}
		return true
	})
	return at
}

func (s source) generated() bool { return s.ast != nil && ast.IsGenerated(s.ast) }

func (s source) at(p token.Pos) string { return s.fset.Position(p).String() }

func ours(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return first == "internal" || first == "cmd" || first == "sql" || first == "web"
}

func isTestPackage(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// below says whether p is place or lies in it: "cmd/..." holds all of cmd.
func below(p, place string) bool {
	if root, ok := strings.CutSuffix(place, "/..."); ok {
		place = root
		return p == place || strings.HasPrefix(p, place+"/")
	}
	return p == place
}
