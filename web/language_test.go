package web_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"waitroom/web"
)

func words(t *testing.T) map[string]map[string]string {
	t.Helper()
	languages, err := web.Languages()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, l := range languages {
		text, err := os.ReadFile("words/" + l.Tag + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if err := json.Unmarshal(text, &said); err != nil {
			t.Fatal(err)
		}
		all[l.Tag] = said
	}
	return all
}

var (
	places = regexp.MustCompile(`\{\w+\}`)
	marks  = regexp.MustCompile(`</?b>`)
)

// Every language says everything, with the same in it, and no markup but bold.
func TestEveryLanguageSaysEverything(t *testing.T) {
	all := words(t)
	if len(all) != 4 {
		t.Fatalf("%d languages, want 4", len(all))
	}
	filled := func(text string) []string {
		one, _, _ := strings.Cut(text, "|")
		found := slices.Compact(slices.Sorted(slices.Values(append(places.FindAllString(one, -1), marks.FindAllString(one, -1)...))))
		return found
	}
	for tag, said := range all {
		for key, english := range all["en"] {
			text, ok := said[key]
			if !ok || strings.TrimSpace(text) == "" {
				t.Errorf("%s does not say %s", tag, key)
				continue
			}
			if got, want := filled(text), filled(english); !strings.HasPrefix(key, "format.") && !slices.Equal(got, want) {
				t.Errorf("%s says %s with %q in it, English with %q", tag, key, got, want)
			}
			if rest := marks.ReplaceAllString(text, ""); strings.ContainsAny(rest, "<>&\"") {
				t.Errorf("%s says %s with markup: %q", tag, key, text)
			}
		}
		for key := range said {
			if _, ok := all["en"][key]; !ok {
				t.Errorf("%s says %s, which English does not", tag, key)
			}
		}
	}
	t.Logf("%d texts in each of %d languages", len(all["en"]), len(all))
}

func sources(t *testing.T, globs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, g := range globs {
		files, err := filepath.Glob(g)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", g, len(files), err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(f, "_test.go") {
				out[f] = string(text)
			}
		}
	}
	return out
}

// families are keys whose end is a word of the domain: state.open.
var families = regexp.MustCompile(`^(state|doubt|verdict|refused|help)\.(\w+)$`)

// Every text is said somewhere, and what is said somewhere is a text.
func TestEveryTextIsUsed(t *testing.T) {
	all := sources(t, "pages/*.html", "src/*.ts", "src/fan/*.ts", "language.go", "../internal/httpapi/*.go", "../internal/admission/*.go")
	text := strings.Join(slices.Collect(maps.Values(all)), "\n")
	english := words(t)["en"]
	for key := range english {
		family := families.FindStringSubmatch(key)
		if strings.Contains(text, `"`+key+`"`) || family != nil && strings.Contains(text, `"`+family[2]+`"`) {
			continue
		}
		t.Errorf("nobody says %s", key)
	}
	said := regexp.MustCompile(`\b[sS]ay\(?\s?"(\w+\.\w+)"`)
	for file, source := range all {
		for _, found := range said.FindAllStringSubmatch(source, -1) {
			if _, ok := english[found[1]]; !ok {
				t.Errorf("%s says %q, for which there are no words", file, found[1])
			}
		}
	}
}

// A page has all the words that its scripts say.
func TestPagesHaveTheirScriptsWords(t *testing.T) {
	pages, scripts := sources(t, "pages/*.html"), sources(t, "src/*.ts", "src/fan/*.ts")
	asset, groups := regexp.MustCompile(`asset "(\w+)\.js"`), regexp.MustCompile(`\{\{scripts ([^}]*)\}\}`)
	said, quoted := regexp.MustCompile(`\bsay\("([\w.]+)"`), regexp.MustCompile(`"([^"]*)"`)
	checked := 0
	for file, page := range pages {
		if !strings.Contains(page, `{{template "top" .}}`) {
			continue
		}
		var has []string
		for _, g := range groups.FindAllStringSubmatch(page, -1) {
			for _, q := range quoted.FindAllStringSubmatch(g[1], -1) {
				has = append(has, q[1])
			}
		}
		for _, used := range asset.FindAllStringSubmatch(page, -1) {
			for name, script := range madeOf(scripts, "src/"+used[1]+".ts") {
				for _, s := range said.FindAllStringSubmatch(script, -1) {
					checked++
					if !slices.ContainsFunc(has, func(g string) bool { return strings.HasPrefix(s[1], g) || strings.HasPrefix(g, s[1]) }) {
						t.Errorf("%s: %s, of %s.js, says %s, and the page has only %q", file, name, used[1], s[1], has)
					}
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d uses were looked at", checked)
	}
}

// madeOf are the sources that a script is built of: its own, and all that it imports.
func madeOf(scripts map[string]string, name string) map[string]string {
	of, imported := map[string]string{}, regexp.MustCompile(`(?m)^import [^;]*"\./([\w/]+)";$`)
	var add func(name string)
	add = func(name string) {
		if _, done := of[name]; done || scripts[name] == "" {
			return
		}
		of[name] = scripts[name]
		for _, i := range imported.FindAllStringSubmatch(scripts[name], -1) {
			add(filepath.Join(filepath.Dir(name), i[1]+".ts"))
		}
	}
	add(name)
	return of
}

// A language that is written from right to left is only one more file.
func TestRightToLeft(t *testing.T) {
	said := maps.Clone(words(t)["en"])
	for key, text := range said {
		if !strings.HasPrefix(key, "format.") {
			said[key] = "\u202e" + text
		}
	}
	said["language.dir"], said["language.name"] = "rtl", "Mirrored"
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	l, err := web.NewLanguage("ar-XB", text)
	if err != nil {
		t.Fatal(err)
	}
	served, err := web.Assets()
	if err != nil {
		t.Fatal(err)
	}
	html, err := web.Pages(l, served, func(int64, string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	type frame struct {
		Title, Heading, Message, Sale, Home, At, By, Accent string
		Tongues                                             []struct{ Tag, URL, Name string }
		Refresh                                             int
	}
	if err := html.ExecuteTemplate(&b, "problem.html", frame{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<html lang="ar-XB" dir="rtl">`, "\u202eSkip to the content", "\u202eAll events"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
	physical := regexp.MustCompile(`(margin|padding|border|inset)-(left|right)|text-align:(left|right)|[;{](left|right):|float:`)
	for file, css := range sources(t, "assets/page.css") {
		if found := physical.FindAllString(css, -1); found != nil {
			t.Errorf("%s says left and right where it means start and end: %q", file, found)
		}
	}
}

func TestOneAndMany(t *testing.T) {
	languages, err := web.Languages()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tag  string
		n    int64
		want string
	}{{"en", 1, "<b>1</b> person ahead of you"}, {"en", 12345, "<b>12,345</b> people ahead of you"}, {"ja", 1, "前に <b>1</b> 人"}} {
		at := slices.IndexFunc(languages, func(l *web.Language) bool { return l.Tag == c.tag })
		if got := languages[at].Say("place.ahead", "n", c.n); got != c.want {
			t.Errorf("%s: %q, want %q", c.tag, got, c.want)
		}
	}
}
