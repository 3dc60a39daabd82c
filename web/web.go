// Package web carries the pages and their assets inside the binary. The line
// works without a script; scripts only save the reader a click.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"path"
	"time"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed assets/*
var assets embed.FS

// Asset is one file, named by what it holds, so that it can be kept for ever.
type Asset struct {
	URL  string
	Type string
	Body []byte
}

// Assets are all files by the path they are served under.
func Assets() (map[string]Asset, error) {
	files, err := fs.ReadDir(assets, "assets")
	if err != nil {
		return nil, err
	}
	out := map[string]Asset{}
	for _, f := range files {
		body, err := fs.ReadFile(assets, "assets/"+f.Name())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		a := Asset{URL: "/assets/" + hex.EncodeToString(sum[:6]) + "/" + f.Name(), Type: mime.TypeByExtension(path.Ext(f.Name())), Body: body}
		out[a.URL] = a
	}
	return out, nil
}

// Pages parses the templates. money writes an amount in minor units.
func Pages(served map[string]Asset, money func(minor int64, currency string) string) (*template.Template, error) {
	byName := map[string]string{}
	for url := range served {
		byName[path.Base(url)] = url
	}
	return template.New("").Funcs(template.FuncMap{
		"asset": func(name string) (string, error) {
			if url, ok := byName[name]; ok {
				return url, nil
			}
			return "", fmt.Errorf("there is no asset %q", name)
		},
		"money": money,
		"clock": func(t time.Time) string { return t.UTC().Format("15:04:05 UTC") },
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"people": func(n int64) string {
			if n == 1 {
				return "1 person"
			}
			return fmt.Sprintf("%d people", n)
		},
	}).ParseFS(pages, "pages/*.html")
}
