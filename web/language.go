package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

//go:embed words/*.json
var wordFiles embed.FS

// Language is one that the pages speak. All of its words are in one file: a text
// may have two forms, parted by "|", of which the first is for one thing of {n}.
type Language struct {
	Tag   string // BCP 47, as the html element says it
	Name  string // in itself
	Dir   string // ltr or rtl
	Path  string // what stands after the event in an address: "" for the first
	words map[string]string
}

// tags are in the order in which a page offers them. The first needs no path.
var tags = [...]string{"en", "zh-Hant", "zh-Hans", "ja"}

// Languages are all that there are, the first for who names none.
func Languages() ([]*Language, error) {
	var all []*Language
	for i, tag := range tags {
		text, err := wordFiles.ReadFile("words/" + tag + ".json")
		if err != nil {
			return nil, err
		}
		l, err := NewLanguage(tag, text)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			l.Path = "/" + tag
		}
		all = append(all, l)
	}
	return all, nil
}

// NewLanguage reads a language's words.
func NewLanguage(tag string, text []byte) (*Language, error) {
	l := &Language{Tag: tag}
	if err := json.Unmarshal(text, &l.words); err != nil {
		return nil, fmt.Errorf("words of %s: %w", tag, err)
	}
	l.Name, l.Dir = l.words["language.name"], l.words["language.dir"]
	return l, nil
}

// Has tells whether there are words under a key.
func (l *Language) Has(key string) bool { _, ok := l.words[key]; return ok }

// Say is a text with its places filled: Say("place.ahead_title", "n", 5). A key
// that is nowhere says itself.
func (l *Language) Say(key string, pairs ...any) string {
	text, ok := l.words[key]
	if !ok {
		return key
	}
	return l.fill(form(text, pairs), pairs, func(s string) string { return s })
}

// form chooses between the forms for one and for many.
func form(text string, pairs []any) string {
	one, many, two := strings.Cut(text, "|")
	if !two {
		return text
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if n, is := whole(pairs[i+1]); is && pairs[i] == "n" && n == 1 {
			return one
		}
	}
	return many
}

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

func (l *Language) fill(text string, pairs []any, plain func(string) string) string {
	var places []string
	for i := 0; i+1 < len(pairs); i += 2 {
		value := ""
		switch v := pairs[i+1].(type) {
		case template.HTML:
			value = string(v)
		case int:
			value = Num(int64(v))
		case int64:
			value = Num(v)
		default:
			value = plain(fmt.Sprint(v))
		}
		places = append(places, fmt.Sprintf("{%v}", pairs[i]), value)
	}
	return strings.NewReplacer(places...).Replace(text)
}

// say is Say for templates: what fills a place is escaped unless it is markup of
// ours, and a key that is nowhere is a fault.
func (l *Language) say(key string, pairs ...any) (template.HTML, error) {
	text, ok := l.words[key]
	if !ok {
		return "", fmt.Errorf("%s has no words for %q", l.Tag, key)
	}
	return template.HTML(l.fill(form(text, pairs), pairs, template.HTMLEscapeString)), nil //nolint:gosec // our own words, and escaped ones
}

// scripts are the words that a page's scripts say: those whose keys begin so.
func (l *Language) scripts(groups ...string) map[string]string {
	out := map[string]string{}
	for key, text := range l.words {
		for _, g := range groups {
			if strings.HasPrefix(key, g) {
				out[key] = text
			}
		}
	}
	return out
}

// Times are written in UTC, and say so; a script makes them the reader's own.
func (l *Language) clock(t time.Time) template.HTML { return l.time(t, "format.clock", "") }
func (l *Language) day(t time.Time) template.HTML   { return l.time(t, "format.day", " data-day") }

func (l *Language) time(t time.Time, format, mark string) template.HTML {
	text := t.UTC().Format(l.words[format])
	return template.HTML(`<time datetime="` + iso(t) + `"` + mark + `>` + template.HTMLEscapeString(text) + `</time>`) //nolint:gosec // our own format
}

// left is the place of a count of the seconds until t, which a script keeps: a
// browser's clock may be wrong, a count that starts at ours is not. then, if any,
// is where the page goes when it is over.
func left(t time.Time, then ...string) template.HTML {
	mark := `<span data-left="` + strconv.Itoa(max(0, int(time.Until(t).Seconds()))) + `"`
	if len(then) > 0 {
		mark += ` data-then="` + template.HTMLEscapeString(then[0]) + `"`
	}
	return template.HTML(mark + `></span>`) //nolint:gosec // numbers, and escaped
}

func iso(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Num writes a count as people read it: 12,345.
func Num(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Seat is what people call a seat.
func (l *Language) Seat(section, row, number string) string {
	switch {
	case row != "" && number != "":
		return l.Say("seats.name_row_seat", "section", section, "row", row, "seat", number)
	case row != "":
		return l.Say("seats.name_row", "section", section, "row", row)
	case number != "":
		return l.Say("seats.name_seat", "section", section, "seat", number)
	}
	return section
}

// Roughly says a duration as people would.
func (l *Language) Roughly(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 90:
		return l.Say("time.seconds", "n", max(5, int(s/5+0.5)*5))
	case s < 90*60:
		return l.Say("time.minutes", "n", int(s/60+0.5))
	default:
		return l.Say("time.hours", "n", fmt.Sprintf("%.1f", s/3600))
	}
}
