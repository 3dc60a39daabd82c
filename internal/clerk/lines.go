package clerk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lineBytes bounds a message: the tools take three short texts.
const lineBytes = 1 << 20

// Lines is a transport of one message a line. What is no message is refused in an
// answer of its own, and the next line is read: the library's own ends there.
func Lines(in io.Reader, out io.Writer) mcp.Transport {
	answers := &whole{to: out}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(sift(in, w, answers)) }() // always nil
	return &mcp.IOTransport{Reader: r, Writer: answers}
}

// sift passes messages on and refuses what is none, until in ends or nobody reads.
func sift(in io.Reader, messages, answers io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		to := messages
		if no := refusalOf(line); no != "" {
			line, to = []byte(no), answers
		}
		if len(line) > 0 {
			if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads one line without the space around it; of one that is too long, no
// more than shows that.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if len(line) <= lineBytes {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// refusalOf is "" for a message, and for an empty line. What cannot be read names
// no request: the answer's id is null.
func refusalOf(line []byte) string {
	const no = `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`
	_, err := jsonrpc.DecodeMessage(line)
	switch {
	case len(line) == 0:
		return ""
	case len(line) > lineBytes:
		return fmt.Sprintf(no, -32600, "a message is at most 1 MiB")
	case !json.Valid(line):
		return fmt.Sprintf(no, -32700, "this is no JSON")
	case err != nil:
		return fmt.Sprintf(no, -32600, "this is no message of JSON-RPC 2.0")
	}
	return ""
}

// whole writes one answer at a time: the library and the sifter share the line.
type whole struct {
	mu sync.Mutex
	to io.Writer
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// Close leaves what is beneath open: it is the process's.
func (w *whole) Close() error { return nil }
