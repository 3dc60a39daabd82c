package httpapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/admission"
	"waitroom/internal/daemon"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
)

// signIn is an organiser's sign-in, and the settings that take its tokens.
type signIn struct {
	t   *testing.T
	key *ecdsa.PrivateKey
}

func newSignIn(t *testing.T) (signIn, daemon.Identity) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	enc := base64.RawURLEncoding.EncodeToString
	return signIn{t, key}, daemon.Identity{
		AccountIssuer: "https://sign-in.example", AccountAudience: "waitroom", AccountAlgs: []string{"ES256"},
		AccountKeys:   fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","use":"sig","kid":"a","x":%q,"y":%q}]}`, enc(point[1:33]), enc(point[33:])),
		AccountSecret: strings.Repeat("s", 32), AccountCookie: "session", SignIn: "https://sign-in.example/login",
	}
}

// token is one of that account's; each is another text.
func (s signIn) token(account string, life time.Duration) string {
	s.t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": "https://sign-in.example", "aud": "waitroom", "sub": account, "exp": time.Now().Add(life).Unix(),
	})
	token.Header["kid"] = "a"
	text, err := token.SignedString(s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// joins asks for a place with what the event asks for.
func (h *house) joins(secret string, asked map[string]string) answer {
	h.t.Helper()
	c := call{method: "POST", path: places, token: secret}
	if asked != nil {
		c.body = asked
	}
	return h.do(c)
}

func (h *house) placed(a answer, status int) (j joined) {
	h.t.Helper()
	h.want(a, status, "").into(h.t, &j)
	return j
}

func asking(accounts, codes inventory.Asked) inventory.Event {
	e := demotest.Event()
	e.Accounts, e.Codes = accounts, codes
	return e
}

// One account has one place, from whichever browser; who has none, or another's
// token, has none and uses no number; and nothing that leaves us says whose
// account it is.
func TestOneAccountOnePlace(t *testing.T) {
	desk, settings := newSignIn(t)
	h := open(t, demo.Build{Event: asking(inventory.Required, ""), Identity: settings})
	by := func(account string) map[string]string {
		return map[string]string{"account": desk.token(account, time.Minute)}
	}
	first := h.placed(h.joins("", by("ada@example.com")), 201)
	again := h.placed(h.joins(admission.NewSecret(), by("ada@example.com")), 200)
	if again.Ticket != first.Ticket || first.Secret != "" || again.Secret != "" {
		t.Errorf("one account from two browsers: %+v and %+v", first, again)
	}
	other := h.placed(h.joins("", by("ben@example.com")), 201)
	if other.Place.Number <= first.Place.Number {
		t.Errorf("another account has %d, behind %d", other.Place.Number, first.Place.Number)
	}
	refused := 0
	for code, asked := range map[string]map[string]string{
		"account_required": nil,
		"account_invalid":  {"account": desk.token("cy@example.com", -time.Minute)},
	} {
		h.want(h.joins(admission.NewSecret(), asked), 401, code)
		refused++
	}
	stranger, _ := newSignIn(t)
	h.want(h.joins("", map[string]string{"account": stranger.token("ada@example.com", time.Minute)}), 401, "account_invalid")
	if all := h.export(); len(all) != 2 {
		t.Errorf("%d places of two accounts, after %d refused joins", len(all), refused+1)
	}
	if n := h.metric(`waitroom_refusals_total{code="account_invalid",route="join"}`); n != 2 {
		t.Errorf("%g joins with bad tokens are counted, want 2", n)
	}
	g := h.enter("", first)
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(g.pass, ".")[1])
	if err != nil || strings.Contains(string(body), "ada") {
		t.Errorf("the pass says %s", body)
	}
	h.want(h.claim(g, "a", named("A-1", "A-2", "A-3")), 201, "")
	if n := h.one(`SELECT count(*) FROM orders WHERE account LIKE '%ada%' OR holder LIKE '%ada%' OR account <> holder`); n != 0 {
		t.Errorf("%d orders name the account as it is", n)
	}
}

// What an account may have counts over all its places: another go is no other
// person.
func TestAnAccountsLimitIsOverAllItsPlaces(t *testing.T) {
	desk, settings := newSignIn(t)
	event := asking(inventory.Required, "")
	event.PassLife = 10 * time.Second
	h := open(t, demo.Build{Event: event, Identity: settings})
	by := map[string]string{"account": desk.token("ada", time.Hour)}
	g := h.enter("", h.placed(h.joins("", by), 201))
	h.want(h.claim(g, "a", named("A-1", "A-2", "A-3")), 201, "")
	var next joined
	h.until("another place", func() bool {
		a := h.joins("", by)
		a.into(t, &next)
		return a.status == 201
	})
	g = h.enter("", next)
	// Its one order is pending still: what is refused is the second at once, or
	// the limit, by the same account either way.
	if a := h.claim(g, "b", named("B-1", "B-2")); a.status != 409 || a.code() != "over_limit" {
		t.Errorf("2 more of the 4 that an account may have, after 3: %s", a)
	}
}

// A place's whole life: it waits, is left, waits anew at the tail, is called,
// passes, runs out, and its holder may wait once more, at the tail. What it was
// does not come back.
func TestAPlacesWholeLife(t *testing.T) {
	event := demotest.Event()
	event.PassLife = 10 * time.Second
	h := open(t, demo.Build{Event: event, OpensIn: 12 * time.Second})
	secret := admission.NewSecret()
	state := func(j joined) string {
		t.Helper()
		var at struct{ State string }
		h.want(h.do(call{method: "GET", path: places + "/me", token: j.Ticket}), 200, "").into(t, &at)
		return at.State
	}
	first, neighbour := h.join(secret), h.join("")
	if first.Place.State != "waiting" || first.status != 201 {
		t.Errorf("joined: %+v", first)
	}
	h.want(h.do(call{method: "DELETE", path: places + "/me", token: first.Ticket}), 200, "")
	second := h.join(secret)
	if second.status != 201 || second.Place.Number <= neighbour.Place.Number {
		t.Errorf("after leaving: %+v, want a new place behind %d", second, neighbour.Place.Number)
	}
	h.until("called", func() bool { return state(second) == "called" })
	if a := h.do(call{method: "POST", path: places + "/me/pass", token: first.Ticket}); a.status != 410 {
		t.Errorf("the place that was left is called: %s", a)
	}
	g := h.enter(secret, second)
	if again := h.enter(secret, second); state(second) != "passed" || again.pass != g.pass {
		t.Errorf("passed: %s; another pass than the first: %t", state(second), again.pass != g.pass)
	}
	if again := h.join(secret); again.status != 200 || again.Place.Number != second.Place.Number {
		t.Errorf("a join while the pass is good: %+v", again)
	}
	h.until("over", func() bool { return state(second) == "over" })
	h.want(h.do(call{method: "POST", path: places + "/me/pass", token: second.Ticket}), 410, "place_over")
	h.want(h.claim(g, "late", named("A-1")), 401, "pass_invalid")
	third := h.join(secret)
	if third.status != 201 || third.Place.Number <= second.Place.Number {
		t.Errorf("another go: %+v, want a new place behind %d", third, second.Place.Number)
	}
	if next := h.enter(secret, third); next.take == g.take || next.pass == g.pass {
		t.Errorf("another go has the pass of the first, take %d", next.take)
	}
}

func imported(t *testing.T, h *house, uses int, codes ...string) {
	t.Helper()
	all := inventory.AccessCodes{Uses: uses}
	for _, code := range codes {
		hash, ok := admission.CodeHash(demotest.EventID, code)
		if !ok {
			t.Fatalf("%q is no code", code)
		}
		all.Hashes = append(all.Hashes, hash[:])
	}
	if c, err := inventory.ImportCodes(t.Context(), h.pool, demotest.EventID, all); err != nil || c != inventory.Changed {
		t.Fatal(c, err)
	}
}

// A code is asked for at the join and never again: it lets in as many as it has
// uses, a join that is repeated uses it once, and a code that fails later keeps
// the place.
func TestACodeIsCheckedAtTheJoin(t *testing.T) {
	h := open(t, demo.Build{Event: asking("", inventory.Required)})
	imported(t, h, 2, "FAN-0001")
	imported(t, h, 1, "SOLO-01")
	code := func(c string) map[string]string { return map[string]string{"code": c} }
	secret := admission.NewSecret()
	h.want(h.joins(secret, nil), 403, "code_required")
	h.want(h.joins(secret, code("FAN-0002")), 403, "code_wrong")
	h.want(h.joins(secret, code("x")), 403, "code_wrong")
	h.want(h.joins("", code("FAN-0001")), 400, "bad_request") // a lost answer would lose the use
	h.want(h.do(call{method: "POST", path: places, token: secret, body: `{"kode":"FAN-0001"}`}), 400, "bad_request")
	var mine joined
	var asked sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 8 { // one person, who presses again and again
		asked.Go(func() {
			a := h.joins(secret, code("fan 0001"))
			mu.Lock()
			defer mu.Unlock()
			if a.status == 201 {
				fresh++
			}
			a.into(t, &mine)
		})
	}
	asked.Wait()
	if fresh != 1 {
		t.Errorf("%d new places of one person", fresh)
	}
	h.placed(h.joins(admission.NewSecret(), code("FAN-0001")), 201)
	last := admission.NewSecret()
	h.want(h.joins(last, code("FAN-0001")), 409, "code_used_up")
	h.placed(h.joins(last, code("SOLO-01")), 201)
	h.want(h.joins(admission.NewSecret(), code("solo01")), 409, "code_used_up")
	if all := h.export(); len(all) != 3 {
		t.Errorf("%d places by 3 uses", len(all))
	}
	if _, err := h.pool.Exec(t.Context(), `DELETE FROM access_codes`); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []map[string]string{nil, code("FAN-0001"), code("nonsense")} {
		if again := h.placed(h.joins(secret, asked), 200); again.Ticket != mine.Ticket {
			t.Errorf("a place whose code is gone: %+v, was %+v", again, mine)
		}
	}
	if g := h.enter(secret, mine); g.pass == "" {
		t.Error("a place whose code is gone has no pass")
	}
	if n := h.metric(`waitroom_refusals_total{code="code_used_up",route="join"}`); n != 2 {
		t.Errorf("%g joins by used codes are counted, want 2", n)
	}
}

// By page the code is asked for on a page of its own, after which the browser
// has the secret that the use is named by.
func TestAPageAsksForTheCode(t *testing.T) {
	h := open(t, demo.Build{Event: asking("", inventory.Required), OpensIn: time.Hour})
	imported(t, h, 1, "FAN-0001")
	jar, _ := cookiejar.New(nil) // it never fails
	browser := &http.Client{Jar: jar, CheckRedirect: h.client.CheckRedirect}
	post := func(form url.Values) int {
		t.Helper()
		res, err := browser.PostForm(h.Public+"/e/"+demotest.EventID+"/join", form)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() //nolint:errcheck // nothing is read
		return res.StatusCode
	}
	code := url.Values{"code": {"fan-0001"}}
	if got := post(code); got != 403 {
		t.Errorf("a browser without a secret: %d, want to be asked first", got)
	}
	for _, want := range []int{303, 303} { // and once more
		if got := post(code); got != want {
			t.Errorf("with the code: %d, want %d", got, want)
		}
	}
	other := &http.Client{CheckRedirect: h.client.CheckRedirect}
	res, err := other.PostForm(h.Public+"/e/"+demotest.EventID+"/join", code)
	if err != nil || res.StatusCode != 403 {
		t.Fatal(res, err)
	}
	res.Body.Close() //nolint:errcheck // nothing is read
	if all := h.export(); len(all) != 1 {
		t.Errorf("%d places, want 1", len(all))
	}
}

// By page the account is the one that is signed in on this host.
func TestAPageTakesTheAccountThatIsSignedIn(t *testing.T) {
	desk, settings := newSignIn(t)
	h := open(t, demo.Build{Event: asking(inventory.Required, ""), Identity: settings, OpensIn: time.Hour})
	join := "/e/" + demotest.EventID + "/join"
	if a := h.do(call{method: "POST", path: join, page: true}); a.status != 401 || !strings.Contains(string(a.body), settings.SignIn) {
		t.Errorf("nobody signed in: %d, without the way to do so", a.status)
	}
	for range 2 {
		session := map[string]string{"Cookie": "session=" + desk.token("ada", time.Minute)}
		if a := h.do(call{method: "POST", path: join, page: true, header: session}); a.status != 303 {
			t.Errorf("signed in: %s", a)
		}
	}
	if all := h.export(); len(all) != 1 {
		t.Errorf("%d places of one account in two browsers", len(all))
	}
}

// Who is taken for a machine is asked to prove otherwise, and loses nothing: a
// place that exists stays what it is. Whoever cannot be asked lets people
// through; the line lets in what it lets in.
func TestSuspicionAsksAndNeverDrops(t *testing.T) {
	var away atomic.Bool
	var hooked atomic.Int64
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/judge":
			hooked.Add(1)
			fmt.Fprintf(w, `{"suspicious":%t}`, strings.Contains(r.UserAgent()+readAll(r), "robot"))
		default:
			fmt.Fprintf(w, `{"success":%t,"hostname":"x"}`, r.FormValue("response") == "I am" && r.FormValue("secret") == "ours")
		}
	}))
	t.Cleanup(judge.Close)
	h := open(t, demo.Build{OpensIn: time.Hour, Identity: daemon.Identity{
		SuspectLimit:  2 * time.Second, // for a machine that does much besides
		SuspectHeader: "Waitroom-Suspect", SuspectHook: judge.URL + "/judge",
		ChallengeURL: "/challenge", ChallengeVerify: judge.URL + "/verify", ChallengeSecret: "ours",
	}})
	as := func(secret, answer string, header map[string]string) answer {
		t.Helper()
		c := call{method: "POST", path: places, token: secret, header: header}
		if answer != "" {
			c.body = map[string]string{"challenge": answer}
		}
		return h.do(c)
	}
	marked, robot := map[string]string{"Waitroom-Suspect": "1"}, map[string]string{"User-Agent": "robot/1"}
	before := admission.NewSecret()
	early := h.placed(as(before, "", map[string]string{"Waitroom-Suspect": "0"}), 201)
	for name, header := range map[string]map[string]string{"marked by the edge": marked, "by the hook": robot} {
		secret := admission.NewSecret()
		a := h.want(as(secret, "", header), 403, "challenge_required")
		var says struct {
			At string `json:"challenge_url"`
		}
		if a.into(t, &says); says.At != "/challenge" {
			t.Errorf("%s: to solve at %q", name, says.At)
		}
		h.want(as(secret, "I am not", header), 403, "challenge_required")
		mine := h.placed(as(secret, "I am", header), 201)
		if mine.Place.Number <= early.Place.Number {
			t.Errorf("%s: place %d", name, mine.Place.Number)
		}
		if again := h.placed(as(secret, "", header), 200); again.Place.Number != mine.Place.Number {
			t.Errorf("%s, later, with a place: %+v, was %+v", name, again, mine)
		}
	}
	// Who is suspected only after a long wait keeps the place that they have.
	for name, header := range map[string]map[string]string{"marked by the edge": marked, "by the hook": robot} {
		if again := h.placed(as(before, "I am not", header), 200); again.Ticket != early.Ticket {
			t.Errorf("%s, after a long wait: %+v, was %+v", name, again, early)
		}
		a := h.want(h.do(call{method: "GET", path: places + "/me", token: early.Ticket, header: header}), 200, "")
		if strings.Contains(string(a.body), `"state":"left"`) {
			t.Errorf("%s, after a long wait: %s", name, a)
		}
	}
	page := h.do(call{method: "POST", path: "/e/" + demotest.EventID + "/join", page: true, header: marked})
	if page.status != 403 || !strings.Contains(string(page.body), `href="/challenge"`) {
		t.Errorf("by page: %d", page.status)
	}
	away.Store(true)
	h.placed(as(admission.NewSecret(), "", robot), 201)
	h.placed(as(admission.NewSecret(), "I am", marked), 201)
	h.placed(as(admission.NewSecret(), "", marked), 201) // nobody is sent to solve what cannot be checked
	if n := h.metric("waitroom_suspicion_faults_total"); n < 2 {
		t.Errorf("%g faults are counted, want those that were let through", n)
	}
	if hooked.Load() == 0 {
		t.Error("the hook was never asked")
	}
}

func readAll(r *http.Request) string {
	b := make([]byte, 4096)
	n, _ := r.Body.Read(b)
	return string(b[:n])
}

// detector is who judges requests and checks answers, and can be made to fail.
type detector struct {
	*httptest.Server
	suspects, away, slow atomic.Bool
	judged               atomic.Int64
}

func newDetector(t *testing.T) (d *detector, settings daemon.Identity) {
	t.Helper()
	d = &detector{}
	ended := make(chan struct{})
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.slow.Load() {
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		}
		switch {
		case d.away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/judge":
			d.judged.Add(1)
			fmt.Fprintf(w, `{"suspicious":%t}`, d.suspects.Load())
		default:
			fmt.Fprintf(w, `{"success":%t}`, r.FormValue("response") == "I am")
		}
	}))
	t.Cleanup(d.Close)
	t.Cleanup(func() { close(ended) })
	return d, daemon.Identity{
		SuspectLimit: 2 * time.Second, // for a machine that does much besides
		SuspectHook:  d.URL + "/judge", ChallengeURL: "/challenge", ChallengeVerify: d.URL + "/verify", ChallengeSecret: "ours",
	}
}

// atDoor asks for the pass, with the answer to a challenge if there is one.
func (h *house) atDoor(ticket, proof string) answer {
	h.t.Helper()
	c := call{method: "POST", path: places + "/me/pass", token: ticket}
	if proof != "" {
		c.body = map[string]string{"challenge": proof}
	}
	return h.do(c)
}

// Whoever is taken for a bot after hours in the line is asked at the door to
// prove otherwise, as often as they come. Their place stays what it was, nobody
// is let in by it meanwhile, and once they have answered they get in, without
// being asked again; so they do who answer by a join.
func TestJudgedABotAtTheDoorIsAskedAndNeverDropped(t *testing.T) {
	d, settings := newDetector(t)
	h := open(t, demo.Build{Identity: settings})
	secrets := []string{admission.NewSecret(), admission.NewSecret()}
	var places [2]joined
	for i, s := range secrets {
		places[i] = h.join(s)
	}
	d.suspects.Store(true)
	mine := places[0]
	h.until("called, and asked", func() bool { return h.atDoor(mine.Ticket, "").code() == "challenge_required" })
	for _, proof := range []string{"", "I am not", ""} {
		a := h.want(h.atDoor(mine.Ticket, proof), 403, "challenge_required")
		var says struct {
			At string `json:"challenge_url"`
		}
		if a.into(t, &says); says.At != "/challenge" {
			t.Errorf("to solve at %q", says.At)
		}
		var me struct {
			State  string
			Number int64
			Late   bool
		}
		h.want(h.do(call{method: "GET", path: "/v1/events/" + demotest.EventID + "/places/me", token: mine.Ticket}), 200, "").into(t, &me)
		if me.State != "called" || me.Number != mine.Place.Number || me.Late {
			t.Errorf("asked to prove it, they stand at %+v, were at %d", me, mine.Place.Number)
		}
	}
	if s := h.status(); s.Taken != 0 || h.one(`SELECT count(*) FROM passes`) != 0 {
		t.Errorf("%d let in who have not answered", s.Taken)
	}

	// Answered at the door: there, or from the next request on by the ticket anew.
	in := func(ticket, proof string, place int64) {
		t.Helper()
		var got struct {
			Pass, Ticket string
			Number       int64
		}
		h.until("let in", func() bool {
			a := h.atDoor(ticket, proof)
			if a.status != 200 && a.status != 202 {
				t.Fatalf("having answered: %s", a)
			}
			a.into(t, &got)
			if got.Ticket != "" {
				ticket, proof = got.Ticket, ""
			}
			return a.status == 200
		})
		if got.Pass == "" || got.Number != place {
			t.Errorf("let in at %d, was %d", got.Number, place)
		}
	}
	in(mine.Ticket, "I am", mine.Place.Number)

	// Answered by a join, as the challenge's page does.
	other := h.placed(h.do(call{method: "POST", path: "/v1/events/" + demotest.EventID + "/places", token: secrets[1], body: map[string]string{"challenge": "I am"}}), 200)
	if other.Place.Number != places[1].Place.Number || other.Ticket == places[1].Ticket {
		t.Errorf("having answered: %+v, was %+v", other, places[1])
	}
	in(other.Ticket, "", other.Place.Number)
	if n := h.metric(`waitroom_refusals_total{code="challenge_required",route="pass"}`); n < 4 {
		t.Errorf("%g refusals at the door are counted, want 4 and more", n)
	}
}

// While who judges is away or slow, whoever is at the door gets in: suspicion
// guards nothing that the line's own credit does not bound.
func TestADetectorThatIsAwayShutsNoDoor(t *testing.T) {
	d, settings := newDetector(t)
	h := open(t, demo.Build{Identity: settings})
	d.suspects.Store(true)
	for name, fails := range map[string]*atomic.Bool{"away": &d.away, "slow": &d.slow} {
		const hook = `waitroom_suspicion_faults_total{who="hook"}`
		fails.Store(true)
		secret, before := admission.NewSecret(), h.metric(hook)
		j := h.join(secret)
		joins := h.metric(hook)
		h.enter(secret, j)
		if door := h.metric(hook); joins == before || door == joins {
			t.Errorf("%s: %g faults at the join and %g at the door are counted", name, joins-before, door-joins)
		}
		fails.Store(false)
	}
}

// By page somebody suspected at the door is shown where to prove it; the
// challenge's page sends the answer to the join's address, and the button works.
func TestAPageAsksAtTheDoor(t *testing.T) {
	d, settings := newDetector(t)
	h := open(t, demo.Build{Identity: settings})
	jar, _ := cookiejar.New(nil) // it never fails
	browser := &http.Client{Jar: jar, CheckRedirect: h.client.CheckRedirect}
	post := func(to string, form url.Values) (status int, page string) {
		t.Helper()
		res, err := browser.PostForm(h.Public+"/e/"+demotest.EventID+to, form)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // read only
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	if status, page := post("/join", nil); status != 303 {
		t.Fatalf("joined: %d %s", status, page)
	}
	d.suspects.Store(true)
	var page string
	h.until("called, and asked", func() (asked bool) {
		var status int
		status, page = post("/pass", nil)
		return status == 403
	})
	for _, words := range []string{`href="/challenge"`, `action="/e/` + demotest.EventID + `/pass"`, "Go in", "It is your turn, and it stays yours"} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %s: %s", words, page)
		}
	}
	if status, page := post("/join", url.Values{"challenge": {"I am"}}); status != 303 {
		t.Fatalf("answered: %d %s", status, page)
	}
	h.until("let in", func() bool {
		status, page := post("/pass", nil)
		if status == 403 {
			t.Fatalf("asked once more: %s", page)
		}
		return status == 303
	})
}
