package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// languages: a sale from the list of events to the paid order, in another
// language, which the way back from the provider keeps; and the place is the same
// in all of them.
func (w *world) languages(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	for _, l := range []struct{ tag, join, turn, goIn, choose, take, yours string }{
		{"ja", "列に並ぶ", "あなたの番です", "入場する", "座席を選んでください", "この座席を確保する", "座席はあなたのものです"},
		{"zh-Hant", "加入隊伍", "輪到您了", "入場", "選擇您的座位", "取得這些座位", "座位是您的了"},
		{"zh-Hans", "加入队伍", "轮到您了", "入场", "选择您的座位", "取得这些座位", "座位是您的了"},
	} {
		t.Run(l.tag, func(t *testing.T) {
			t.Parallel()
			e := w.sale(t, stalls(t))
			b := w.tab(t)
			call(b, "a reader's languages", emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
				UserAgent: ask[string](b, "navigator.userAgent"), AcceptLanguage: l.tag,
			})
			b.open("/e/" + e)
			b.sees("where their language is", "document.querySelector('.tongues a.yours')?.lang === '"+l.tag+"'")
			b.click(".tongues a[lang=" + l.tag + "]")
			b.sees("the event in it", "location.pathname === '/e/"+e+"/"+l.tag+"' && document.documentElement.lang === '"+l.tag+"' && document.readyState === 'complete'")
			b.keep("language-event-" + l.tag)
			b.press(l.join)
			b.heading(l.turn)
			b.axe("place in "+l.tag, rules["light"], axe)
			b.keep("language-place-" + l.tag)
			b.press(l.goIn)
			b.heading(l.choose)
			b.tick("A-2")
			b.keep("language-seats-" + l.tag)
			b.press(l.take)
			b.sees("the order", "location.pathname.includes('/orders/') && document.readyState === 'complete'")
			order := b.path()
			b.click("#order form.act button")
			b.sees("the provider's page", "location.href.startsWith('"+w.house.ProviderURL+"') && document.readyState === 'complete'")
			b.press("Pay")
			b.heading(l.yours)
			if b.path() != order || !strings.HasPrefix(order, "/e/"+e+"/"+l.tag+"/") {
				t.Errorf("paid at %s, back at %s", order, b.path())
			}
			b.keep("language-order-" + l.tag)
		})
	}
}
