package clerk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = "These tools help the customers of a ticket sale. A refund is named by its order and line: asking again is the same " +
	"refund, and never another one. When an answer says queued, sending or unknown, do not ask again: tell the customer that it " +
	"is on its way or being confirmed, and look with refund_status. Never tell a customer that a refund failed unless the answer is refused."

// Server is the tools under one key.
func (d Desk) Server(key, version string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "waitroom", Title: "Waitroom refunds", Version: version},
		&mcp.ServerOptions{Instructions: instructions})
	at := desk{d, key}
	yes, no := true, false
	mcp.AddTool(s, &mcp.Tool{
		InputSchema: named[Line](),
		Name:        "refund_item", Title: "Refund one line of an order",
		Description: "Asks for the refund of one line of a customer's order, in full; the amount is worked out from the order. " +
			"Asked again for the same line it is the same refund. Unknown means: do not send again, we are finding out.",
		// Money that went back is not taken back; the provider is another's.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &yes},
	}, at.refundItem)
	mcp.AddTool(s, &mcp.Tool{
		InputSchema: named[Line](),
		Name:        "refund_status", Title: "See how a refund stands",
		Description: "Tells how the refund of one line stands. It only looks: it sends nothing and asks for nothing.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}, at.refundStatus)
	mcp.AddTool(s, &mcp.Tool{
		InputSchema: named[Of](),
		Name:        "order_get", Title: "See an order",
		Description: "Tells a customer's order: its lines, what each cost, and how the refund of each stands.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}, at.orderGet)
	return s
}

// named is the schema of what a tool takes: texts, none of them empty.
func named[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a struct of texts has a schema
	}
	for _, text := range s.Properties {
		text.MinLength = jsonschema.Ptr(1)
	}
	return s
}

// Handler serves the tools over HTTP, to whoever brings a key: each request's
// own is the one that the API is asked under. Browsers of other sites are
// refused.
func (d Desk) Handler(version string) http.Handler {
	tools := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return d.Server(keyOf(r), version) },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: bodyBytes})
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if keyOf(r) == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "an organiser's key is needed, as a bearer token", http.StatusUnauthorized)
			return
		}
		if readable(w, r) {
			tools.ServeHTTP(w, r)
		}
	}))
}

// bodyBytes bounds a request: the tools take three short texts.
const bodyBytes = 64 << 10

// readable refuses what is no message of JSON-RPC as its standard says; the library
// would answer with a text. Several at once are the library's.
func readable(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost {
		return true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytes))
	var long *http.MaxBytesError
	no := refusalOf(bytes.TrimSpace(body))
	switch {
	case errors.As(err, &long):
		http.Error(w, "a request is at most 64 KiB", http.StatusRequestEntityTooLarge)
		return false
	case err != nil:
		return false // nobody is there any more
	case no != "" && !(bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) && json.Valid(body)):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, no) //nolint:errcheck // whoever asked is there, or not
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func keyOf(r *http.Request) string {
	kind, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}
