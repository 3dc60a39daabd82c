package httpapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/organiser"
)

const endpointsPath = "/v1/organiser/endpoints"

// still is where nobody listens: what is for it waits.
const still = "http://127.0.0.1:65535/hooks"

type endpointAnswer struct {
	ID       string
	State    string
	Reason   *string
	Version  int64
	Settings map[string]any
	Until    *time.Time `json:"old_secret_until"`
	Health   *struct{ Waiting, Sending, Dead, Failures int }
}

type secretAnswer struct {
	Endpoint endpointAnswer
	Secret   *string
}

type deliveryAnswer struct {
	ID                             int64
	Endpoint, Notice, Kind, Status string
	Subject                        string
	Go, Attempts                   int
	Reason                         *string
	CanReplay                      bool `json:"can_replay"`
}

func (d sure) added(key string, body any) (s secretAnswer) {
	d.t.Helper()
	d.want(d.ask("POST", endpointsPath, key, body), 201, "").into(d.t, &s)
	return s
}

// An organiser adds an endpoint, edits it, rotates its secret, tests it, drains it and
// deletes it; each change once, and each secret shown once.
func TestAnOrganiserKeepsAnEndpoint(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("acme", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	looks := h.helper("acme", "looks", organiser.WebhooksRead)
	other := h.helper("other", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	wish := map[string]any{"url": still, "kinds": []string{"order.paid"}}
	made := d.added("a1", wish)
	if made.Secret == nil || !strings.HasPrefix(*made.Secret, "whsec_") || made.Endpoint.State != "active" {
		t.Fatalf("added: %+v", made)
	}
	if again := d.added("a1", wish); again.Secret != nil || again.Endpoint.ID != made.Endpoint.ID {
		t.Errorf("the same again: %+v", again)
	}
	d.want(d.ask("POST", endpointsPath, "a1", map[string]any{"url": still}), 422, "key_reused")
	d.want(d.ask("POST", endpointsPath, "", wish), 400, "key_missing")
	looks.want(looks.ask("POST", endpointsPath, "a2", wish), 403, "scope_missing")
	d.want(d.ask("POST", endpointsPath, "a2", map[string]any{"url": "http://hooks.example.com"}), 422, "senseless_setting")
	d.want(d.ask("POST", endpointsPath, "a2", map[string]any{"url": still, "secret": "mine"}), 400, "bad_request")
	d.want(d.ask("POST", endpointsPath, "a2", map[string]any{"URL": still}), 400, "bad_request")
	at := endpointsPath + "/" + made.Endpoint.ID

	// GET then PUT is nothing; what was edited meanwhile is not overwritten.
	settings := map[string]any{}
	a := d.want(d.ask("GET", at+"/settings", "", nil), 200, "")
	a.into(t, &settings)
	tag := a.header.Get("ETag")
	if same := d.want(d.ask("PUT", at+"/settings", "", settings, "If-Match", tag), 200, ""); same.header.Get("ETag") != tag {
		t.Errorf("put back, the tag is %s and was %s", same.header.Get("ETag"), tag)
	}
	edited := with(settings, map[string]any{"per_minute": 60, "kinds": []string{}})
	d.want(d.ask("PUT", at+"/settings", "", edited), 428, "precondition_missing")
	now := d.want(d.ask("PUT", at+"/settings", "", edited, "If-Match", tag), 200, "").header.Get("ETag")
	for _, stale := range []string{tag, "W/" + now, "7", `"07"`, `"x"`} {
		d.want(d.ask("PUT", at+"/settings", "", settings, "If-Match", stale), 412, "settings_changed")
	}
	d.want(d.ask("PUT", at+"/settings", "", edited, "If-Match", "*"), 200, "")
	for name := range settings {
		less := with(edited, nil)
		delete(less, name)
		d.want(d.ask("PUT", at+"/settings", "", less, "If-Match", now), 400, "bad_request")
	}
	d.want(d.ask("PUT", at+"/settings", "", with(edited, map[string]any{"backoff_base_s": 1e300}), "If-Match", now), 422, "senseless_setting")

	var rotated secretAnswer
	d.want(d.ask("POST", at+"/secret", "r1", nil), 200, "").into(t, &rotated)
	if rotated.Secret == nil || *rotated.Secret == *made.Secret || rotated.Endpoint.Until == nil || time.Until(*rotated.Endpoint.Until) < 23*time.Hour {
		t.Errorf("rotated: %+v", rotated)
	}
	d.want(d.ask("POST", at+"/secret", "r1", nil), 200, "").into(t, &rotated)
	if rotated.Secret != nil {
		t.Error("the same again showed a secret")
	}
	d.want(d.ask("POST", at+"/secret", "r2", nil), 409, "secret_rotating")
	d.want(d.ask("POST", at+"/secret", "r2", map[string]any{"replace": true}), 200, "")
	d.want(d.ask("POST", at+"/secret", "r3", map[string]any{"overlap_s": 0}), 200, "")
	d.want(d.ask("POST", at+"/secret", "r4", map[string]any{"overlap_s": 1e9}), 422, "senseless_setting")

	d.want(d.ask("PUT", at+"/state", "", map[string]any{"state": "asleep"}), 400, "bad_request")
	d.want(d.ask("PUT", at+"/state", "", map[string]any{"state": "draining"}), 200, "")
	var sent struct {
		Delivery int64
		State    string
	}
	tested := d.want(d.ask("POST", at+"/test", "t1", nil), 202, "")
	tested.into(t, &sent)
	var whole struct {
		Delivery deliveryAnswer
		Body     string
		Tries    []struct{ Status *int }
	}
	d.want(d.ask("GET", tested.header.Get("Location"), "", nil), 200, "").into(t, &whole)
	if sent.State != "draining" || whole.Delivery.Status != "waiting" || whole.Delivery.Kind != "endpoint.test" || !strings.Contains(whole.Body, "endpoint.test") || len(whole.Tries) != 0 {
		t.Errorf("a test of what is draining waits: %+v, %+v", sent, whole)
	}

	for _, x := range []call{
		{method: "GET", path: at},
		{method: "GET", path: at + "/settings"},
		{method: "GET", path: at + "/changes"},
		{method: "DELETE", path: at},
		{method: "PUT", path: at + "/settings", body: edited, header: map[string]string{"If-Match": "*"}},
		{method: "PUT", path: at + "/state", body: map[string]any{"state": "active"}},
		{method: "POST", path: at + "/secret", key: "x"},
		{method: "POST", path: at + "/test", key: "y"},
		{method: "POST", path: at + "/replays", key: "z", body: map[string]any{"since": "2026-01-01T00:00:00Z"}},
	} {
		var headers []string
		for k, v := range x.header {
			headers = append(headers, k, v)
		}
		other.want(other.ask(x.method, x.path, x.key, x.body, headers...), 404, "no_such_endpoint")
		if x.method != "GET" {
			looks.want(looks.ask(x.method, x.path, x.key, x.body, headers...), 403, "scope_missing")
		}
	}
	var list struct{ Endpoints []endpointAnswer }
	other.want(other.ask("GET", endpointsPath, "", nil), 200, "").into(t, &list)
	if len(list.Endpoints) != 0 {
		t.Errorf("another sees %+v", list)
	}
	looks.want(looks.ask("GET", endpointsPath, "", nil), 200, "").into(t, &list)
	if len(list.Endpoints) != 1 || list.Endpoints[0].Health == nil || list.Endpoints[0].Health.Waiting != 1 {
		t.Errorf("%+v; want one endpoint, for which one waits", list)
	}
	var past struct {
		Changes []struct{ By, Did string }
		Next    *int64
	}
	changes := looks.want(looks.ask("GET", at+"/changes?limit=100", "", nil), 200, "")
	changes.into(t, &past)
	var did []string
	for _, c := range past.Changes {
		did = append(did, c.Did)
	}
	if got := strings.Join(did, " "); got != "tested state rotated rotated rotated edited added" || past.Changes[0].By != "desk" {
		t.Errorf("the record says %s", got)
	}
	if strings.Contains(string(changes.body), "whsec_") || strings.Contains(string(changes.body), (*made.Secret)[6:]) {
		t.Error("a secret stands in the record")
	}
	var gone struct{ Ended int }
	d.want(d.ask("DELETE", at, "", nil), 200, "").into(t, &gone)
	d.want(d.ask("DELETE", at, "", nil), 404, "no_such_endpoint")
	d.want(d.ask("POST", at+"/secret", "r1", nil), 404, "no_such_endpoint")
	d.want(d.ask("GET", at+"/changes", "", nil), 200, "")
	if gone.Ended != 1 {
		t.Errorf("%d ended with it, want 1", gone.Ended)
	}
	d.want(d.ask("GET", "/v1/organiser/deliveries?status=dead", "", nil), 200, "")
}

// As many endpoints as the house allows, and no more.
func TestEndpointsAreBounded(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("acme", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	for i := range 20 {
		d.added(fmt.Sprint("a", i), map[string]any{"url": still})
	}
	d.want(d.ask("POST", endpointsPath, "more", map[string]any{"url": still}), 409, "too_many_endpoints")
}

// What ended is found and sent again, one or all since then, each once under its
// name.
func TestAnOrganiserReplays(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("acme", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	other := h.helper("other", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	id := d.added("a", map[string]any{"url": still}).Endpoint.ID
	at := endpointsPath + "/" + id
	d.want(d.ask("PUT", at+"/state", "", map[string]any{"state": "disabled"}), 200, "")
	const dead = 7
	if _, err := h.pool.Exec(t.Context(), `
		WITH told AS (
		  INSERT INTO notices (kind, organiser, subject, version, body, addressed, relayed_at)
		  SELECT 'order.paid', 'acme', 'order-' || k, 1, '{}', 1, now() FROM generate_series(1, $2) k RETURNING id
		), made AS (
		  INSERT INTO deliveries (notice_id, endpoint_id, status, attempts, reason, ended_at)
		  SELECT id, $1, 'dead', 1, 'max_attempts', now() FROM told RETURNING id
		)
		INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status, error, answer)
		SELECT id, $1, 1, 1, 'c', now(), now(), 500, '', convert_to('<b>no</b>', 'utf8') || '\xff'::bytea FROM made`, id, dead); err != nil {
		t.Fatal(err)
	}
	var page struct {
		Deliveries []deliveryAnswer
		Next       *int64
	}
	seen := 0
	for path := "/v1/organiser/deliveries?status=dead&limit=3&endpoint=" + id; ; path = fmt.Sprintf("/v1/organiser/deliveries?status=dead&limit=3&before=%d", *page.Next) {
		page.Next, page.Deliveries = nil, nil
		d.want(d.ask("GET", path, "", nil), 200, "").into(t, &page)
		if seen += len(page.Deliveries); page.Next == nil {
			break
		}
	}
	if seen != dead {
		t.Errorf("%d on the pages, want %d", seen, dead)
	}
	for _, bad := range []string{"status=lost", "since=yesterday", "before=x", "limit=0"} {
		d.want(d.ask("GET", "/v1/organiser/deliveries?"+bad, "", nil), 400, "bad_request")
	}
	d.want(d.ask("GET", "/v1/organiser/deliveries?about=order-3&kind=order.paid&since=2026-01-01T00:00:00Z", "", nil), 200, "").into(t, &page)
	if len(page.Deliveries) != 1 || !page.Deliveries[0].CanReplay || !strings.HasPrefix(page.Deliveries[0].Notice, "ntc_") {
		t.Fatalf("about order 3: %+v", page)
	}
	one := fmt.Sprint("/v1/organiser/deliveries/", page.Deliveries[0].ID)
	var whole struct {
		Delivery deliveryAnswer
		Tries    []struct {
			Status *int
			Answer string
		}
	}
	d.want(d.ask("GET", one, "", nil), 200, "").into(t, &whole)
	if len(whole.Tries) != 1 || *whole.Tries[0].Status != 500 || whole.Tries[0].Answer != "<b>no</b>\uFFFD" {
		t.Errorf("what was answered: %+v", whole)
	}
	d.want(d.ask("POST", one+"/replay", "", nil), 400, "key_missing")
	for range 2 {
		d.want(d.ask("POST", one+"/replay", "p1", nil), 202, "")
	}
	d.want(d.ask("POST", one+"/replay", "p2", nil), 409, "delivery_not_ended")
	d.want(d.ask("GET", one, "", nil), 200, "").into(t, &whole)
	if whole.Delivery.Status != "waiting" || whole.Delivery.Go != 2 || whole.Delivery.Attempts != 0 {
		t.Errorf("replayed: %+v", whole.Delivery)
	}
	for _, path := range []string{one, "/v1/organiser/deliveries/999999", "/v1/organiser/deliveries/x"} {
		other.want(other.ask("GET", path, "", nil), 404, "no_such_delivery")
		other.want(other.ask("POST", path+"/replay", "q", nil), 404, "no_such_delivery")
	}
	d.want(d.ask("POST", at+"/replays", "all", map[string]any{}), 400, "bad_request")
	d.want(d.ask("POST", at+"/replays", "all", map[string]any{"since": "2026-01-01T00:00:00Z", "only": "lost"}), 400, "bad_request")
	for _, never := range []string{"9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59"} { // in UTC there is no such year
		d.want(d.ask("POST", at+"/replays", "never", map[string]any{"since": never}), 400, "bad_request")
	}
	var many struct {
		Replayed int
		Whole    bool
	}
	for range 2 {
		d.want(d.ask("POST", at+"/replays", "all", map[string]any{"since": "2026-01-01T00:00:00Z", "only": "dead"}), 200, "").into(t, &many)
		if many.Replayed != dead-1 || !many.Whole {
			t.Errorf("all since: %+v, want %d", many, dead-1)
		}
	}
	d.want(d.ask("POST", at+"/replays", "all", map[string]any{"since": "2026-01-01T00:00:00Z"}), 422, "key_reused")
}

// A page of a list before, or after, any number that an id can be is a page: none is
// an outage because the number is above what four bytes hold.
func TestAListGoesOnFromAnyNumber(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("house", "desk", organiser.WebhooksRead, organiser.WebhooksWrite, organiser.RefundsApprove, organiser.RefundsRead, organiser.LineRead, organiser.ScansRead)
	id := d.added("a", map[string]any{"url": still}).Endpoint.ID
	for _, list := range []string{
		endpointsPath + "/" + id + "/changes?before=", "/v1/organiser/deliveries?before=", "/v1/organiser/human?before=",
		"/v1/organiser/refunds/approvals?after=", own + "/changes?before=", doorPath + "/scans/conflicts?before=",
	} {
		for _, number := range []string{"2147483647", "2147483648", "9223372036854775807"} {
			d.want(d.ask("GET", list+number, "", nil), 200, "")
		}
	}
}

// The page acts for a person who is signed in, and for no other site's form.
func TestTheWebhooksPageActsForWhoIsSignedIn(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("acme", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	looks := h.helper("acme", "looks", organiser.WebhooksRead)
	id := d.added("a", map[string]any{"url": still}).Endpoint.ID
	d.want(d.ask("PUT", endpointsPath+"/"+id+"/state", "", map[string]any{"state": "disabled"}), 200, "")
	form := func(token, path, body, origin string) answer {
		_, a := h.send(t.Context(), call{method: http.MethodPost, path: path, body: body, base: h.Admin, page: true, header: map[string]string{
			"Authorization": basic("kim", token), "Content-Type": "application/x-www-form-urlencoded", "Origin": origin,
		}})
		return a
	}
	get := func(path string) answer {
		_, a := h.send(t.Context(), call{method: http.MethodGet, path: path, base: h.Admin, page: true, header: map[string]string{"Authorization": basic("kim", looks.token)}})
		return a
	}
	at := "/webhooks/endpoints/" + id
	h.want(form("", at, "do=test", h.Admin), 401, "")
	h.want(form(looks.token, at, "do=test", h.Admin), 403, "")
	h.want(form(d.token, at, "do=test", "https://evil.example"), 403, "")
	for _, do := range []string{"test", "test", "draining", "nonsense"} {
		h.want(form(d.token, at, "do="+do, h.Admin), 303, "")
	}
	for path, says := range map[string]string{"/webhooks": id, "/webhooks?status=waiting&since=2026-01-01T00:00": "endpoint.test", "/webhooks/deliveries/1": "Body as sent"} {
		if a := h.want(get(path), 200, ""); !strings.Contains(string(a.body), says) {
			t.Errorf("%s does not say %s", path, says)
		}
	}
	h.want(get("/webhooks?since=yesterday"), 400, "")
	h.want(get("/webhooks/deliveries/9"), 404, "")
	if got := h.count(`SELECT count(*) FROM deliveries`); got != 1 {
		t.Errorf("%d deliveries of a test that was sent twice, want 1", got)
	}
	if got := h.count(`SELECT count(*) FROM endpoint_changes WHERE by = 'desk/kim' AND did IN ('tested', 'state')`); got != 2 {
		t.Errorf("%d changes by desk/kim, want 2", got)
	}
	if a := form(d.token, "/webhooks/deliveries/1/replay", "", h.Admin); a.status != 303 || !strings.HasSuffix(a.header.Get("Location"), "said=delivery_not_ended") {
		t.Errorf("replayed what waits: %d %s", a.status, a.header.Get("Location"))
	}
}

func basic(person, token string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(person+":"+token))
}

func (h *house) count(sql string) (n int) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), sql).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// A test is sent, signed with the secret that was shown, and what its receiver
// answered is read where it was asked for; sent again, it has the same id.
func TestATestIsSentAndItsAnswerRead(t *testing.T) {
	h := open(t, demo.Build{})
	d := h.helper("acme", "desk", organiser.WebhooksRead, organiser.WebhooksWrite)
	type got struct{ id, stamp, signature, body string }
	came := make(chan got, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- got{r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), string(body)}
		io.WriteString(w, "thank you") //nolint:errcheck // the test sees it
	}))
	t.Cleanup(receiver.Close)
	made := d.added("a", map[string]any{"url": receiver.URL + "/hooks"})
	at := d.want(d.ask("POST", endpointsPath+"/"+made.Endpoint.ID+"/test", "t", nil), 202, "").header.Get("Location")
	var whole struct {
		Delivery deliveryAnswer
		Body     string
		Tries    []struct {
			Status *int
			Answer string
		}
	}
	delivered := func(turn int) func() bool {
		return func() bool {
			d.want(d.ask("GET", at, "", nil), 200, "").into(t, &whole)
			return whole.Delivery.Status == "delivered" && whole.Delivery.Go == turn
		}
	}
	h.until("it is delivered", delivered(1))
	first := <-came
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(*made.Secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", first.id, first.stamp, first.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); first.signature != want {
		t.Errorf("signed %s, want %s", first.signature, want)
	}
	if len(whole.Tries) == 0 || *whole.Tries[0].Status != 200 || whole.Tries[0].Answer != "thank you" || whole.Body != first.body || whole.Delivery.Notice != first.id {
		t.Errorf("it says %+v, sent was %+v", whole, first)
	}
	d.want(d.ask("POST", at+"/replay", "r", nil), 202, "")
	h.until("it is delivered again", delivered(2))
	if again := <-came; again.id != first.id || again.body != first.body {
		t.Errorf("again it was %+v, first %+v", again, first)
	}
}
