// Package httpapi is every HTTP handler of the house: it decodes once, at the
// edge, calls one function of values, and turns what came out into one answer.
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
)

// Limits of a listener, each of them finite.
type Limits struct {
	Body    int           // bytes; 0: 64 KiB
	Conns   int           // open connections at most; 0: 100,000
	Read    time.Duration // 0: 10 s
	Write   time.Duration // 0: 15 s; longer than any request is held
	Idle    time.Duration // 0: 75 s; longer than a page's poll, so that polls reuse
	BaseCtx context.Context
}

const usualBody = 64 << 10

// newApp is a fiber app as this house sets it up. BaseCtx is what every
// request's deadline derives from: a browser that leaves cancels nothing.
func newApp(log *slog.Logger, l Limits) *fiber.App {
	or := func(v, d time.Duration) time.Duration {
		if v == 0 {
			return d
		}
		return v
	}
	l.Body = cmp.Or(l.Body, usualBody)
	if l.Conns == 0 {
		l.Conns = 100_000
	}
	app := fiber.New(fiber.Config{
		Immutable: true, CaseSensitive: true, StrictRouting: true, ReduceMemoryUsage: true,
		DisableStartupMessage: true, DisableDefaultDate: false, StreamRequestBody: false,
		BodyLimit: l.Body, Concurrency: l.Conns, ReadBufferSize: 8 << 10,
		ReadTimeout: or(l.Read, 10*time.Second), WriteTimeout: or(l.Write, 15*time.Second), IdleTimeout: or(l.Idle, 75*time.Second),
		ErrorHandler: failed(log),
	})
	// While it drains, an answer says that its connection is not to be used
	// again: else the next request would be cut off with it.
	app.Server().CloseOnShutdown = true
	app.Use(func(c *fiber.Ctx) error {
		c.SetUserContext(l.BaseCtx)
		return c.Next()
	})
	return app
}

// reply is an answer as a value.
type reply struct {
	status int // 0: 200
	body   any // nil: no content
	header [][2]string
}

// request is what a handler takes: it reads itself off the wire, and refuses.
type request[R any] interface {
	*R
	decode(c *fiber.Ctx) error
}

// serve turns a function of values into a handler. limit is the deadline of
// everything that the request causes. Answers of personal routes are never
// kept by anybody.
func serve[R any, P request[R]](limit time.Duration, do func(context.Context, R) (reply, error)) fiber.Handler {
	return serveRead(limit, func(c *fiber.Ctx) (req R, err error) {
		err = P(&req).decode(c)
		return req, err
	}, do)
}

// serveRead is serve for requests that need more than the wire to be read.
func serveRead[R any](limit time.Duration, read func(*fiber.Ctx) (R, error), do func(context.Context, R) (reply, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		req, err := read(c)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.UserContext(), limit)
		defer cancel()
		out, err := do(ctx, req)
		if err != nil {
			return err
		}
		return out.send(c)
	}
}

func (r reply) send(c *fiber.Ctx) error {
	c.Set("Cache-Control", "private, no-store")
	for _, h := range r.header {
		c.Set(h[0], h[1])
	}
	if r.status != 0 {
		c.Status(r.status)
	}
	if r.body == nil {
		if r.status == 0 {
			c.Status(204)
		}
		return nil
	}
	text, err := json.Marshal(r.body)
	if err != nil {
		return err
	}
	c.Set("Content-Type", "application/json")
	return c.Send(text)
}

// jsonBody decodes a body strictly: one value, no member that we do not know,
// so that a misspelt one is refused and not ignored.
func jsonBody(c *fiber.Ctx, into any) error {
	if err := jsonKind(c); err != nil {
		return err
	}
	if body := c.BodyRaw(); !isText(string(body)) || bytes.Contains(body, []byte(`\u0000`)) {
		return errNoText()
	}
	return strictly(c.BodyRaw(), into)
}

// jsonKind refuses what does not say that it is JSON as it stands.
func jsonKind(c *fiber.Ctx) error {
	if c.Get("Content-Encoding") != "" {
		return problem("encoding_refused", "")
	}
	if kind, _, err := mime.ParseMediaType(c.Get("Content-Type")); err != nil || kind != "application/json" {
		return problem("bad_request", "Content-Type must be application/json")
	}
	return nil
}

// strictly decodes one JSON value, with no member that we do not know; URL is not url.
func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return problem("bad_request", readable(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return problem("bad_request", "there is more than one JSON value")
	}
	if name := misnamed(text, reflect.TypeOf(into)); name != "" {
		return problem("bad_request", fmt.Sprintf("unknown field %q", name))
	}
	return nil
}

// isText says whether it is text that a store takes.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

func errNoText() error { return problem("bad_request", "text is UTF-8, and nothing in it is NUL") }

// readable says what is wrong with a body in the client's terms.
func readable(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Sprintf("%s is a %s, which it cannot be", cmp.Or(wrong.Field, "the body"), wrong.Value)
	case errors.Is(err, io.EOF):
		return "the body is empty"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// bearer is the request's token, "" without one.
func bearer(c *fiber.Ctx) string {
	kind, token, ok := strings.Cut(c.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// idempotencyKey is the name that the caller gives an attempt: the same key and
// body, any number of times, has the effect of one.
func idempotencyKey(c *fiber.Ctx) (string, error) {
	key := strings.TrimSpace(c.Get("Idempotency-Key"))
	if key == "" {
		return "", problem("key_missing", "")
	}
	return key, checkKey(key)
}

func checkKey(key string) error {
	if len(key) > 200 || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return problem("bad_request", "Idempotency-Key is 1 to 200 visible ASCII characters")
	}
	return nil
}
