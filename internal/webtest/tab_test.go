package webtest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is one browser window of one person.
type tab struct {
	t   *testing.T
	w   *world
	ctx context.Context

	noScript bool

	mu     sync.Mutex
	faults []string // what the browser complained of
	hosts  []string // who was asked for anything
}

// actionLimit is far above what a step takes on a busy machine.
const actionLimit = 20 * time.Second

// tab opens a window with cookies of its own.
func (w *world) tab(t *testing.T) *tab {
	t.Helper()
	b := &tab{t: t, w: w}
	var end context.CancelFunc
	b.ctx, end = chromedp.NewContext(w.browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	t.Cleanup(func() { b.judge(); end() })
	b.do("a new tab", chromedp.EmulateViewport(1100, 800))
	return b
}

// second opens another window of the same person.
func (b *tab) second() *tab {
	b.t.Helper()
	other := &tab{t: b.t, w: b.w}
	var end context.CancelFunc
	other.ctx, end = chromedp.NewContext(b.ctx, chromedp.WithListener(other.listen))
	b.t.Cleanup(func() { other.judge(); end() })
	other.do("a second tab", chromedp.EmulateViewport(1100, 800))
	return other
}

func (b *tab) withoutScript() *tab {
	b.t.Helper()
	b.noScript = true
	call(b, "script off", emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return b
}

// call sends one protocol command.
func call[P, R any](b *tab, what string, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	return run(b, what, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}

func run[T any](b *tab, what string, a chromedp.Action[T]) T {
	b.t.Helper()
	first := chromedp.FromContext(b.ctx).Target == nil
	ctx := b.ctx
	if !first { // a limit on the first action would end the tab with it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(b.ctx, actionLimit)
		defer cancel()
	}
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return v
}

func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, what, chromedp.Steps(steps...))
}

func (b *tab) open(path string) {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.w.house.Public + path
	}
	b.do("open "+path, chromedp.Navigate(path))
}

// click presses what sel names with the mouse.
func (b *tab) click(sel string) {
	b.t.Helper()
	b.hit(sel, fmt.Sprintf("document.querySelector(%q)", sel))
}

// press clicks the button, link or fold whose text begins so.
func (b *tab) press(text string) {
	b.t.Helper()
	b.hit(text, fmt.Sprintf("[...document.querySelectorAll('main :is(button, a, summary)')].find(e => e.innerText.trim().replace(/\\s+/g, ' ').startsWith(%q))", text))
}

// hit clicks the element that an expression finds, where a person would: what
// is hidden, or lies under something else, cannot be hit.
func (b *tab) hit(what, js string) {
	b.t.Helper()
	js = `(() => {
		const el = ` + js + `;
		if (!el || document.readyState !== "complete" || !el.checkVisibility()) return null;
		el.scrollIntoView({block: "center", behavior: "instant"});
		const box = el.getClientRects()[0], x = box.left + box.width / 2, y = box.top + box.height / 2;
		return el.contains(document.elementFromPoint(x, y)) ? [x, y] : null })()`
	var at []float64
	until(b.t, what+" can be clicked, and stands still", func() bool {
		was := at
		at, _ = chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](js))
		return at != nil && slices.Equal(at, was)
	})
	b.do("click "+what, chromedp.MouseClickXY(at[0], at[1]))
}

// leave presses what leads to another page, and waits for it.
func (b *tab) leave(text string) {
	b.t.Helper()
	ask[bool](b, "(document.documentElement.dataset.old = true)")
	b.press(text)
	b.sees("another page", "!document.documentElement.dataset.old && document.readyState === 'complete'")
}

// key types into whatever has the focus.
func (b *tab) key(keys string) {
	b.t.Helper()
	b.do("key", chromedp.KeyEvent(keys))
}

// ask evaluates an expression in the page.
func ask[T any](b *tab, js string, opts ...chromedp.EvaluateOption) T {
	b.t.Helper()
	return run(b, js, chromedp.Evaluate[T](js, opts...))
}

func (b *tab) cookies() []*network.Cookie {
	b.t.Helper()
	return call(b, "cookies", network.GetCookies, network.GetCookiesParams{}).Cookies
}

// sees waits until an expression holds in the page.
func (b *tab) sees(what, js string) {
	b.t.Helper()
	b.within(30*time.Second, what, js)
}

func (b *tab) within(limit time.Duration, what, js string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	again := time.NewTicker(40 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		if err == nil && ok { // an error is a page that is just changing
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("not within %s: %s; the page %s says:\n%s", limit, what, b.at(), b.text())
		case <-again.C:
		}
	}
}

// heading waits for a page by its heading.
func (b *tab) heading(want string) {
	b.t.Helper()
	b.sees("the heading "+want, fmt.Sprintf("document.readyState === 'complete' && document.querySelector('h1')?.textContent.trim() === %q", want))
}

func (b *tab) text() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
	return text
}

func (b *tab) at() string {
	at, _ := chromedp.Run(b.ctx, chromedp.Location())
	return at
}

// path is where the tab is, without its host.
func (b *tab) path() string {
	u, err := url.Parse(b.at())
	if err != nil {
		b.t.Fatal(err)
	}
	return u.Path
}

// listen notes what a careful person would see in the browser's console.
func (b *tab) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError || ev.Entry.Level == log.EntryLevelWarning {
			b.faults = append(b.faults, fmt.Sprintf("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, "console: "+string(ev.Type))
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(ev.Request.URL); err == nil && u.Host != "" && !slices.Contains(b.hosts, u.Host) {
			b.hosts = append(b.hosts, u.Host)
		}
	}
}

// expect takes a complaint that the test provoked off the list.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = slices.DeleteFunc(b.faults, func(f string) bool { return strings.Contains(f, part) })
}

// judge: no page makes the browser complain, and nobody but the house and the
// provider is asked for anything.
func (b *tab) judge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Errorf("the browser complains: %s", f)
	}
	ours := []string{host(b.w.house.Public), host(b.w.house.Pay), host(b.w.house.ProviderURL)}
	for _, h := range b.hosts {
		if !slices.Contains(ours, h) {
			b.t.Errorf("a third party was asked: %s", h)
		}
	}
}

func host(address string) string {
	_, host, _ := strings.Cut(address, "://")
	return host
}
