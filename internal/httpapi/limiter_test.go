package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/httpapi"
	"waitroom/internal/stack"
)

// from joins as somebody behind our edge.
func (h *house) from(addr string) answer {
	return h.do(call{method: "POST", path: places, header: map[string]string{"X-Forwarded-For": addr}})
}

func limited(t *testing.T, redis string) *house {
	return open(t, demo.Build{
		Services: demo.Services{RedisURL: redis}, OpensIn: time.Hour,
		JoinsPerNetwork: 6, TrustedProxies: []string{"127.0.0.0/8"},
	})
}

// One network has so many joins a minute, whatever it writes into its headers;
// others are none the worse, and everybody is told where they stand.
func TestOneNetworkJoinsAtItsRate(t *testing.T) {
	server := redisServer(t)
	for name, url := range map[string]string{"counted together": server.URL, "each for itself": ""} {
		t.Run(name, func(t *testing.T) {
			h := limited(t, url)
			for left := 5; left >= 0; left-- {
				h.stands(h.want(h.from("203.0.113.9"), 201, ""), left)
			}
			h.refused(h.from("203.0.113.9"))
			h.refused(h.from("198.51.100.77, 203.0.113.9")) // what it forges is not believed
			h.stands(h.want(h.from("203.0.113.10"), 201, ""), 5)
			for i := range 6 {
				h.want(h.from(fmt.Sprintf("2001:db8:1:2::%d", i+1)), 201, "")
			}
			h.refused(h.from("2001:db8:1:2:ffff::1")) // another address of the same household
			h.stands(h.want(h.from("2001:db8:1:3::1"), 201, ""), 5)
			page := h.do(call{method: "POST", path: "/e/" + demotest.EventID + "/join", page: true, header: map[string]string{"X-Forwarded-For": "203.0.113.9"}})
			if page.status != 429 || page.header.Get("Retry-After") == "" || len(page.header.Values("Set-Cookie")) > 0 {
				t.Errorf("join by page: %d, Retry-After %q, cookies %q", page.status, page.header.Get("Retry-After"), page.header.Values("Set-Cookie"))
			}
			if n := len(h.export()); n != 14 {
				t.Errorf("%d places, want 14: a refused join has none", n)
			}
			if got := h.metric("waitroom_limiter_faults_total"); got != 0 {
				t.Errorf("%g faults", got)
			}
		})
	}
}

func redisServer(t *testing.T) *stack.Server {
	t.Helper()
	s, err := stack.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() }) //nolint:errcheck // it keeps nothing
	return s
}

var (
	policy    = regexp.MustCompile(`^"joins";q=6;w=60$`)
	remaining = regexp.MustCompile(`^"joins";r=(\d+);t=(\d+)$`)
)

// stands holds an answer's RateLimit fields against what is left.
func (h *house) stands(a answer, left int) {
	h.t.Helper()
	now := remaining.FindStringSubmatch(a.header.Get("RateLimit"))
	if !policy.MatchString(a.header.Get("RateLimit-Policy")) || now == nil || now[1] != strconv.Itoa(left) {
		h.t.Errorf("RateLimit-Policy %q, RateLimit %q, want %d left", a.header.Get("RateLimit-Policy"), a.header.Get("RateLimit"), left)
		return
	}
	if reset, _ := strconv.Atoi(now[2]); reset < 1 || reset > 60 {
		h.t.Errorf("RateLimit %q: want all back within a minute", now[0])
	}
}

func (h *house) refused(a answer) {
	h.t.Helper()
	h.stands(h.want(a, 429, "too_many_requests"), 0)
	if s, _ := strconv.Atoi(a.header.Get("Retry-After")); s < 1 || s > 10 {
		h.t.Errorf("Retry-After %q, want at most the 10 s in which one more is let through", a.header.Get("Retry-After"))
	}
}

// metric adds up a counter of the waitroom's.
func (h *house) metric(name string) (sum float64) {
	h.t.Helper()
	res, err := h.client.Get(h.Ops("waitroom") + "/metrics")
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.HasPrefix(line, name) {
			n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				h.t.Fatal(line)
			}
			sum += n
		}
	}
	return sum
}

// Redis only counts: wiped, it forgets who joined; gone, each replica counts for
// itself. Neither keeps anybody out, and it is seen that it happened.
func TestLimiterOutlivesRedis(t *testing.T) {
	server := redisServer(t)
	h := limited(t, server.URL)
	for range 6 {
		h.want(h.from("203.0.113.9"), 201, "")
	}
	h.refused(h.from("203.0.113.9"))
	opt, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer client.Close() //nolint:errcheck // the test's own
	if n := client.DBSize(t.Context()).Val(); n == 0 {
		t.Error("Redis has no count: this is not the limiter that is meant")
	}
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	h.stands(h.want(h.from("203.0.113.9"), 201, ""), 5)
	if got := h.metric("waitroom_limiter_faults_total"); got != 0 {
		t.Errorf("a wipe counts %g faults", got)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		began := time.Now()
		h.want(h.from("203.0.113.9"), 201, "")
		if took := time.Since(began); took > time.Second {
			t.Errorf("without Redis a join takes %s", took)
		}
	}
	h.refused(h.from("203.0.113.9"))
	if got := h.metric("waitroom_limiter_faults_total"); got != 7 {
		t.Errorf("%g faults counted of 7 joins without Redis", got)
	}
}

// A Redis that takes calls and never answers costs one join its 300 ms, and the
// others nothing.
func TestSilentRedisHoldsNobodyUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // the test's own
	h := limited(t, "redis://"+silent.Addr().String())
	for i := range 5 {
		began := time.Now()
		h.want(h.from("203.0.113.9"), 201, "")
		if took := time.Since(began); took > 900*time.Millisecond {
			t.Errorf("join %d took %s", i, took)
		}
	}
}

// Without a limit there is none, and nobody is told of one.
func TestNoLimitByDefault(t *testing.T) {
	h := open(t, demo.Build{OpensIn: time.Hour})
	for range 30 {
		a := h.want(h.from("203.0.113.9"), 201, "")
		if a.header.Get("RateLimit") != "" || a.header.Get("RateLimit-Policy") != "" {
			t.Fatalf("RateLimit %q without a limit", a.header.Get("RateLimit"))
		}
	}
}

// What one replica remembers is bounded: with more networks than it keeps it
// lets strangers through, and forgets those that stand where a stranger does.
func TestLimiterRemembersSoMany(t *testing.T) {
	l := httpapi.NewCounter(t, 60)
	now := time.Now()
	network := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{100, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
	}
	for i := range httpapi.NetworksMost {
		l.Judge(t.Context(), network(i), now)
	}
	began := time.Now()
	for range 1000 {
		if !l.Judge(t.Context(), network(httpapi.NetworksMost+1), now) {
			t.Fatal("one too many is kept out")
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("1,000 joins beside a full memory took %s", took)
	}
	if kept := l.Kept(); kept > httpapi.NetworksMost {
		t.Errorf("it keeps %d networks, want at most %d", kept, httpapi.NetworksMost)
	}
	later := now.Add(2 * time.Second) // each has its one join back
	l.Judge(t.Context(), network(httpapi.NetworksMost+1), later)
	if kept := l.Kept(); kept > 10 {
		t.Errorf("it keeps %d networks that are as good as new", kept)
	}
}

// Joins of an event that there is not use up nothing of what a network may join.
func TestJoinsOfNoEventUseUpNoNetworksJoins(t *testing.T) {
	h := limited(t, "")
	for range 6 {
		h.want(h.do(call{method: "POST", path: "/v1/events/none/places", header: map[string]string{"X-Forwarded-For": "203.0.113.9"}}), 404, "no_such_event")
	}
	if a := h.from("203.0.113.9"); a.status != 201 {
		t.Errorf("after six joins of no event, a join from the same network is answered %d", a.status)
	}
}
