package bench

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// What is polled takes a short way past the router. Both ways tell the same, header by
// header and byte by byte; only the time of the next poll is drawn anew.
func TestTheShortWaySaysWhatTheRouterDoes(t *testing.T) {
	l, err := still(t.Context(), file(t.TempDir(), "short"), long1m)
	if err != nil {
		t.Fatal(err)
	}
	app, err := public(t.Context(), &only{l})
	if err != nil {
		t.Fatal(err)
	}
	token, err := waiting(long1m)
	if err != nil {
		t.Fatal(err)
	}
	router, short := app.Handler(), app.Server().Handler
	poll := regexp.MustCompile(`"poll_s":[0-9.]+`)
	for path, token := range map[string]string{
		statusPath: "", placePath: token, placePath + "?anything": token, placePath + "#": "not " + token, statusPath + "#none": "",
	} {
		told := func(handle fasthttp.RequestHandler) string {
			c := asking(path, token)
			handle(c)
			body := poll.ReplaceAll(bytes.Clone(c.Response.Body()), []byte(`"poll_s":0`))
			return c.Response.Header.String() + string(body)
		}
		long := told(router)
		if strings.HasPrefix(long, "HTTP/1.1 200") == strings.HasPrefix(token, "not ") {
			t.Errorf("%s is answered %s", path, long)
		}
		if got := told(short); got != long {
			t.Errorf("%s\nshort  %s\nrouter %s", path, got, long)
		}
	}
}
