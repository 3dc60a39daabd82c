package clerk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"waitroom/internal/clerk"
)

// A line that is no message is refused with its code, and the next is answered:
// one bad line ends no conversation.
func TestABadLineEndsNoConversation(t *testing.T) {
	in, say := io.Pipe()
	hear, out := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- clerk.Desk{URL: "http://127.0.0.1:1"}.Server("key", "v").Run(ctx, clerk.Lines(in, out))
	}()
	answers := bufio.NewScanner(hear)
	answers.Buffer(nil, 1<<20)
	tell := func(line string, want int) {
		t.Helper()
		go io.WriteString(say, line+"\n") //nolint:errcheck // the answer tells
		if !answers.Scan() {
			t.Fatalf("%.60q ended the conversation: %v", line, answers.Err())
		}
		var a struct {
			ID    *int
			Error struct{ Code int }
		}
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil || a.Error.Code != want || (a.ID != nil) != (want == 0) {
			t.Errorf("%.60q: %s, want code %d", line, answers.Text(), want)
		}
	}
	tell(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 0)
	if _, err := io.WriteString(say, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n\n"); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		line string
		code int
	}{
		{`{"jsonrpc":"2.0","id":2,`, -32700},
		{"\x00\xff", -32700},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"} and more`, -32700},
		{`42`, -32600},
		{`[]`, -32600},
		{`{"id":4,"method":"ping"}`, -32600},
		{`"` + strings.Repeat("x", 2<<20) + `"`, -32600},
	} {
		tell(c.line, c.code)
		tell(`{"jsonrpc":"2.0","id":`+string(rune('5'+i%4))+`,"method":"ping"}`, 0)
	}
	end()
	say.Close() //nolint:errcheck // a pipe
	out.Close() //nolint:errcheck // a pipe
	if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
