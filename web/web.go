// Package web carries the pages and their assets inside the binary. The line
// works without a script; scripts only save the reader a click. Scripts are written
// in src and built into assets by make assets, with each file of src's top a file of
// the same name.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"path"
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
	Gzip []byte
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
		small, err := zipped(body)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		url := "/assets/" + hex.EncodeToString(sum[:6]) + "/" + f.Name()
		out[url] = Asset{URL: url, Type: mime.TypeByExtension(path.Ext(f.Name())), Body: body, Gzip: small}
	}
	return out, nil
}

func zipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// Pages parses the templates as a language says them. money writes an amount in
// minor units.
func Pages(l *Language, served map[string]Asset, money func(minor int64, currency string) string) (*template.Template, error) {
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
		"tag": func() string { return l.Tag }, "dir": func() string { return l.Dir },
		"say": l.say, "scripts": l.scripts, "seat": l.Seat,
		"money": money, "clock": l.clock, "day": l.day, "iso": iso, "left": left, "num": Num,
	}).ParseFS(pages, "pages/*.html")
}
