package payprov

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

//go:embed checkout.html
var checkoutHTML string

func checkoutPage() *template.Template {
	return template.Must(template.New("checkout").Parse(checkoutHTML))
}

// view is what the page shows of a payment: a copy, so that a slow browser
// holds no lock.
type view struct {
	ID, Status, Amount, ReturnURL, Notice string
	Open                                  bool
}

// showCheckout is the provider's own page: plain HTML, no script.
func (p *Provider) showCheckout(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	v, found := viewOf(p.book.intent[r.PathValue("id")], r.URL.Query().Get("return_url"))
	p.mu.Unlock()
	if !found {
		p.show(w, http.StatusNotFound, v)
		return
	}
	p.show(w, http.StatusOK, v)
}

// actCheckout is the buyer's decision, from the page's buttons or from a
// program: a browser is sent back to the shop, a program gets JSON.
func (p *Provider) actCheckout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if r.ParseForm() != nil {
		p.show(w, http.StatusBadRequest, view{Notice: "The request could not be read."})
		return
	}
	p.mu.Lock()
	in := p.book.intent[r.PathValue("id")]
	no := p.decide(r, in)
	v, _ := viewOf(in, r.Form.Get("return_url"))
	p.mu.Unlock()
	switch browser := strings.Contains(r.Header.Get("Accept"), "text/html"); {
	case no != nil && browser:
		v.Notice = "That cannot be done. " + v.Notice
		p.show(w, no.status, v)
	case no != nil:
		no.write(w)
	case browser && v.ReturnURL != "":
		http.Redirect(w, r, v.back(), http.StatusSeeOther)
	case browser:
		p.show(w, http.StatusOK, v)
	default:
		writeJSON(w, http.StatusOK, map[string]string{"id": v.ID, "status": v.Status})
	}
}

// decide carries the decision out; what was decided before stands, and asking
// for the same again is no mistake.
func (p *Provider) decide(r *http.Request, in *intent) *answer {
	act := r.PathValue("act")
	var no answer
	switch {
	case in == nil:
		no = noSuch("payment_intent", "intent", r.PathValue("id"))
	case p.notices.full():
		no = busy("Too many notices are waiting to be delivered.")
	case act == "pay" && in.status == succeeded, act == "cancel" && in.status == canceled:
		return nil
	case ended(in):
		no = unexpectedState(in, act)
	case act == "pay":
		return p.payAsTold(r, in)
	case act == "decline":
		p.decline(in)
		return nil
	case act == "cancel":
		p.cancel(in, "requested_by_customer")
		return nil
	default:
		no = invalid(http.StatusNotFound, "", "", "Unrecognized request URL (POST: %s).", act)
	}
	return &no
}

// payAsTold pays in whole, unless a program says which part of it arrives, and
// with which of the test cards it is paid.
func (p *Provider) payAsTold(r *http.Request, in *intent) *answer {
	captured := in.amount
	if r.PostForm.Has("amount") {
		part, bad := amountOf(r)
		if bad != nil {
			return bad
		}
		captured = part
	}
	in.card = orDefault(r.PostForm.Get("payment_method"), in.card)
	p.pay(in, captured)
	return nil
}

func viewOf(in *intent, returnURL string) (view, bool) {
	if in == nil {
		return view{Notice: "There is no such payment."}, false
	}
	v := view{
		ID: in.id, Status: in.status, Amount: money(in.amount, in.currency),
		ReturnURL: orDefault(returnURL, in.returnURL), Open: !ended(in),
	}
	if !isWeb(v.ReturnURL) {
		v.ReturnURL = ""
	}
	switch {
	case in.status == succeeded:
		v.Notice = "This payment is paid."
	case in.status == canceled:
		v.Notice = "This payment was cancelled."
	case in.failure != nil:
		v.Notice = "The payment was declined. You can try again."
	}
	return v, true
}

// back is the shop's address with the outcome in it, as the real provider
// tells it. The shop must not believe it: anybody can write an address.
func (v view) back() string {
	u, err := url.Parse(v.ReturnURL)
	if err != nil {
		return v.ReturnURL
	}
	outcome := "failed"
	if !v.Open {
		outcome = v.Status
	}
	q := u.Query()
	q.Set("payment_intent", v.ID)
	q.Set("redirect_status", outcome)
	u.RawQuery = q.Encode()
	return u.String()
}

func (p *Provider) show(w http.ResponseWriter, status int, v view) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = p.checkout.Execute(w, v) // the reader is gone: nothing to be done
}

func (p *Provider) checkoutURL(r *http.Request, id string) string {
	return orDefault(strings.TrimRight(p.cfg.PublicURL, "/"), "http://"+r.Host) + "/checkout/" + id
}

// isWeb holds for absolute http(s) addresses; a script's address is none.
func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// money writes an amount for people, in the provider's unit of the currency.
func money(amount int64, currency string) string {
	code := strings.ToUpper(currency)
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF":
		return fmt.Sprintf("%d %s", amount, code)
	case "BHD", "JOD", "KWD", "OMR", "TND":
		return fmt.Sprintf("%d.%03d %s", amount/1000, amount%1000, code)
	}
	return fmt.Sprintf("%d.%02d %s", amount/100, amount%100, code)
}
