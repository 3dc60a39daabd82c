package demo

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"time"

	"waitroom/internal/organiser"
	"waitroom/internal/pg"
)

// OpenStart serves the page that a newcomer begins at: from it every other page of
// the house is reached. Its key opens the organisers' pages; the house is on the
// loopback, and goes with the demo.
func (h *House) OpenStart(ctx context.Context, addr, event string) error {
	key, err := h.organisersKey(ctx)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil { // somebody has it: any other will do
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	h.Start, h.Key = "http://"+l.Addr().String()+"/", key
	page := struct{ Public, Admin, Provider, Event, Key string }{h.Public, h.Admin, h.ProviderURL, event, key}
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		startPage.Execute(w, page) //nolint:errcheck // the reader has gone
	})}
	go server.Serve(l) //nolint:errcheck // it ends when it is closed
	h.opened = append(h.opened, server.Close)
	return nil
}

// organisersKey is a key with every scope, good for as long as a demo stays open.
func (h *House) organisersKey(ctx context.Context) (string, error) {
	pool, err := pg.Open(ctx, h.DatabaseURL, "demo", pg.Limits{Conns: 1, Statement: 10 * time.Second})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	until := time.Now().Add(24 * time.Hour)
	for n := range 100 { // a database that stays has the keys of earlier demos
		name := fmt.Sprintf("demo-%s-%d", time.Now().UTC().Format("20060102-150405"), n)
		key, made, err := organiser.Create(ctx, pool, organiser.Key{Organiser: organiser.House, Name: name, Scopes: organiser.Scopes(), ExpiresAt: &until})
		if err != nil || made == organiser.Done {
			return key, err
		}
	}
	return "", errors.New("no name is free for the demo's key")
}

var startPage = template.Must(template.New("start").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Waitroom: where to begin</title>
<style>
:root{--ink:#1b2530;--soft:#52606c;--paper:#fff;--well:#f4f6f8;--line:#d5dce2;--go:#0b57d0}
@media (prefers-color-scheme:dark){:root{--ink:#e7edf2;--soft:#a5b1bb;--paper:#12181e;--well:#1a222a;--line:#33404b;--go:#8ab4f8}}
body{margin:0;font:1.0625rem/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}h1{font-size:1.85rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
a{color:var(--go)}:focus-visible{outline:3px solid var(--go);outline-offset:2px}
ul{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:.75rem}
li{border:1px solid var(--line);border-radius:.75rem;padding:.75rem 1rem}li a{font-weight:600;font-size:1.125rem}li p{margin:.25rem 0;color:var(--soft)}
.key{background:var(--well);padding:.75rem 1rem;border-radius:.5rem;font:.95rem/1.5 ui-monospace,monospace;user-select:all}
</style></head><body><main>
<h1>Waitroom: where to begin</h1>
<p>A whole on-sale runs on this machine, with fans, a payment provider and an organiser who is told. Nothing of it is real, and all of it ends with the demo.</p>
<h2>As a fan</h2><ul>
<li><a href="{{.Public}}/e/{{.Event}}">The event on sale</a><p>Join the line, wait, choose seats, pay at the stand-in.</p></li>
<li><a href="{{.Public}}/e/{{.Event}}/place">Your place in line</a><p>Once you have joined.</p></li>
<li><a href="{{.Public}}/">All events</a><p>Whatever is on sale here.</p></li></ul>
<h2>As an organiser</h2>
<p>These pages ask for a key. For this demo it is</p><p class="key" tabindex="0">{{.Key}}</p><ul>
<li><a href="{{.Admin}}/console#/e/{{.Event}}">The console</a><p>The rate and what it means, pause, stop, live charts, new events, the record.</p></li>
<li><a href="{{.Admin}}/human">The human list</a><p>Refunds that wait for a yes. Any name, and the key as the password.</p></li>
<li><a href="{{.Admin}}/webhooks">Webhooks</a><p>Endpoints and deliveries. Any name, and the key as the password.</p></li></ul>
<h2>As a programmer</h2><ul>
<li><a href="{{.Public}}/docs">The API</a><p>Every operation, with examples that are run in tests.</p></li>
<li><a href="{{.Public}}/problems">Problems</a><p>What each refusal means, and what to do.</p></li>
<li><a href="{{.Public}}/v1/public/events/{{.Event}}/status">The status document</a><p>What every waiting page polls.</p></li></ul>
</main></body></html>
`))
