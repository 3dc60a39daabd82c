package clerk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"waitroom/internal/clerk"
)

// counter is the tools over HTTP before an API that answers whatever it is asked.
type counter struct {
	t     *testing.T
	url   string
	asked atomic.Int64
}

func openCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{t: t}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.asked.Add(1)
		io.WriteString(w, `{"order":"x","status":"paid","amount_minor":2500,"answer":"confirmed","refunds":[]}`) //nolint:errcheck // the model hears
	}))
	t.Cleanup(api.Close)
	tools := httptest.NewServer(clerk.Desk{URL: api.URL}.Handler("v"))
	t.Cleanup(tools.Close)
	c.url = tools.URL
	return c
}

// says sends one message and returns what is answered.
func (c *counter) says(message string) (status int, answer string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(message))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// A model that names no customer sees and asks nothing, whatever its key may read:
// to the API a request that names none is one about any order.
func TestAModelThatNamesNoCustomerSeesNothing(t *testing.T) {
	c := openCounter(t)
	for _, tool := range []string{"order_get", "refund_status", "refund_item"} {
		call := func(customer string) string {
			t.Helper()
			args := map[string]string{"order": "o", "line": "l", "customer": customer}
			if tool == "order_get" {
				delete(args, "line")
			}
			text, err := json.Marshal(map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, answer := c.says(string(text))
			return answer
		}
		for _, customer := range []string{"", " ", "\t", "\u00a0", "ann\nbea", "ann\r\nCustomer: bea"} {
			if answer := call(customer); c.asked.Load() > 0 || !strings.Contains(answer, `"isError":true`) {
				t.Errorf("%s of customer %q: the API was asked %d times, and %s", tool, customer, c.asked.Swap(0), answer)
			}
		}
		if answer := call("ann"); c.asked.Swap(0) != 1 {
			t.Errorf("%s of ann: %s", tool, answer)
		}
	}
	_, tools := c.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if n := strings.Count(tools, `"minLength":1`); n != 8 {
		t.Errorf("the schemas ask %d texts to be there, want 3 + 3 + 2: %s", n, tools)
	}
}

// What is no message is refused over HTTP in the words of JSON-RPC, too.
func TestABadRequestIsRefusedAsJSONRPCSays(t *testing.T) {
	c := openCounter(t)
	for message, code := range map[string]int{
		`{`: -32700, `{"jsonrpc":"2.0","id":1,"method":"tools/list"} and more`: -32700,
		`null`: -32600, `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`: -32600,
	} {
		status, body := c.says(message)
		var answer struct {
			JSONRPC string
			ID      *int
			Error   struct{ Code int }
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusBadRequest || answer.JSONRPC != "2.0" || answer.ID != nil || answer.Error.Code != code {
			t.Errorf("%s: %d %s (%v), want %d in JSON-RPC", message, status, body, err, code)
		}
	}
	if status, body := c.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list","x":"` + strings.Repeat("a", 70<<10) + `"}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("70 KiB: %d %s", status, body)
	}
	if status, body := c.says(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != http.StatusOK || !strings.Contains(body, "refund_item") {
		t.Errorf("a message: %d %s", status, body)
	}
}
