package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// rules by name; each answers with what is wrong, one line a fault.
var rules = map[string]func([]source) []string{
	"arrows":     brokenArrows,
	"walls":      brokenWalls,
	"production": carriedAboard,
	"names":      shapelessNames,
	"init":       initFuncs,
	"background": bornContexts,
	"sleep":      sleeps,
	"star":       stars,
	"skip":       bareSkips,
}

func brokenArrows(all []source) (faults []string) {
	for _, s := range all {
		if s.ast == nil {
			continue
		}
		if !planned(s.pkg) {
			faults = append(faults, s.path+": package "+s.pkg+" has no place in the plan")
			continue
		}
		for _, i := range s.imports() {
			if !s.test && ours(i) && i != s.pkg && !mayImport(s.pkg, i) {
				faults = append(faults, fmt.Sprintf("%s: %s may not import %s", s.path, s.pkg, i))
			}
		}
	}
	return faults
}

func brokenWalls(all []source) (faults []string) {
	for _, s := range all {
		for _, i := range s.imports() {
			for _, w := range walls {
				inside := func(place string) bool { return below(s.pkg, place) || s.path == place }
				if !s.test && below(i, w.library+"/...") && !slices.ContainsFunc(w.places, inside) {
					faults = append(faults, fmt.Sprintf("%s: imports %s, which stays in %s", s.path, i, strings.Join(w.places, ", ")))
				}
			}
		}
	}
	return faults
}

// carriedAboard follows our own imports down from each production binary.
func carriedAboard(all []source) (faults []string) {
	imports := map[string][]string{}
	for _, s := range all {
		if !s.test {
			imports[s.pkg] = append(imports[s.pkg], s.imports()...)
		}
	}
	for _, binary := range production {
		seen := map[string]bool{}
		var follow func(pkg, way string)
		follow = func(pkg, way string) {
			if seen[pkg] {
				return
			}
			seen[pkg] = true
			if slices.ContainsFunc(aboard, func(lib string) bool { return below(pkg, lib+"/...") }) || ours(pkg) && isTestPackage(pkg) {
				faults = append(faults, way+": not aboard a production binary")
			}
			for _, i := range imports[pkg] {
				follow(i, way+" > "+i)
			}
		}
		follow(binary, binary)
	}
	return faults
}

func shapelessNames(all []source) (faults []string) {
	for _, s := range all {
		for dir := range strings.SplitSeq(s.pkg, "/") {
			if slices.Contains(shapeless, dir) {
				faults = append(faults, s.path+": folder "+dir+" says nothing of the trade")
			}
		}
		if s.ast != nil && slices.Contains(shapeless, s.ast.Name.Name) {
			faults = append(faults, s.path+": package "+s.ast.Name.Name+" says nothing of the trade")
		}
	}
	return faults
}

func initFuncs(all []source) (faults []string) {
	for _, s := range all {
		if s.ast == nil {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				faults = append(faults, s.at(f.Pos())+": init runs before anyone asked for it")
			}
		}
	}
	return faults
}

// bornContexts: below cmd a context comes from the caller, so that whoever
// drains the process reaches all of it.
func bornContexts(all []source) (faults []string) {
	for _, s := range all {
		if s.test || below(s.pkg, "cmd/...") {
			continue
		}
		for _, name := range []string{"Background", "TODO"} {
			for _, p := range s.calls("context", name) {
				faults = append(faults, s.at(p)+": context."+name+" below cmd")
			}
		}
	}
	return faults
}

func sleeps(all []source) (faults []string) {
	for _, s := range all {
		if s.generated() {
			continue
		}
		for _, p := range s.calls("time", "Sleep") {
			faults = append(faults, s.at(p)+": time.Sleep cannot be woken")
		}
	}
	return faults
}

// star is a column list that changes when the table does. Columns that the same
// statement names, as unnest's are, cannot change behind its back.
var star = regexp.MustCompile(`(?i)\b(select\s+(distinct\s+|all\s+)?\*(\s+from\s+unnest\b)?|returning\s+(\w+\.)?\*)`)

func starsIn(sql string) (found []string) {
	for _, s := range star.FindAllString(sql, -1) {
		if !strings.HasSuffix(strings.ToLower(s), "unnest") {
			found = append(found, strings.Join(strings.Fields(s), " "))
		}
	}
	return found
}

func stars(all []source) (faults []string) {
	for _, s := range all {
		if s.test || isTestPackage(s.pkg) {
			continue
		}
		for _, found := range starsIn(s.text) {
			faults = append(faults, s.path+": "+found)
		}
		if s.ast == nil {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				for _, found := range starsIn(lit.Value) {
					faults = append(faults, s.at(lit.Pos())+": "+found)
				}
			}
			return true
		})
	}
	return faults
}

// bareSkips: a test that does not run says why.
func bareSkips(all []source) (faults []string) {
	for _, s := range all {
		if s.ast == nil || !s.test && !isTestPackage(s.pkg) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Skip" || sel.Sel.Name == "SkipNow") {
				if x, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"t", "b", "tb", "f"}, x.Name) {
					faults = append(faults, s.at(call.Pos())+": "+path.Base(x.Name)+"."+sel.Sel.Name+" without a reason")
				}
			}
			return true
		})
	}
	return faults
}
