package notice

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// prefix stands before a notice's kind in the subject that it is published on.
const prefix = "waitroom.notices."

// Hint is a notice as NATS carries it. It may come twice, late or never: who
// listens looks at the truth again, and would have looked anyway.
type Hint struct {
	ID        int64           `json:"id"`
	Kind      string          `json:"kind"`
	Event     string          `json:"event,omitempty"`
	Organiser string          `json:"organiser,omitempty"` // of what is of no event
	Subject   string          `json:"subject"`
	Version   int64           `json:"version"`
	At        time.Time       `json:"at"`
	Body      json.RawMessage `json:"body"`
}

// Connect opens a process's connection to NATS. It does not wait for the
// server, tries again for ever, and keeps nothing that it could not send: what
// was refused while NATS was down is known to its caller at once, and does not
// go out a second time when NATS is back.
func Connect(urls, name string, log *slog.Logger) (*nats.Conn, error) {
	if err := checkURLs(urls); err != nil {
		return nil, err
	}
	nc, err := nats.Connect(urls,
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		// A password that is refused twice would else close the client for good.
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5*time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("nats disconnected", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("nats connected again") }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			log.Warn("nats", "subject", subjectOf(s), "error", err)
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("nats %s: %w", urls, err)
	}
	return nc, nil
}

// checkURLs refuses what no server could ever answer at: a connection that is
// tried for ever would hide it.
func checkURLs(list string) error {
	for one := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return fmt.Errorf("nats: %q is no address of a server; want nats://host:port", one)
		}
	}
	return nil
}

func subjectOf(s *nats.Subscription) string {
	if s == nil {
		return ""
	}
	return s.Subject
}

// Listen calls f for each hint of a kind ("order.paid", "order.*", ">" for
// all), one after the other. What is no hint is dropped, as a lost one would be.
func Listen(nc *nats.Conn, kind string, f func(Hint)) (stop func() error, err error) {
	sub, err := nc.Subscribe(prefix+kind, func(m *nats.Msg) {
		var h Hint
		if json.Unmarshal(m.Data, &h) == nil {
			f(h)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", kind, err)
	}
	return sub.Unsubscribe, nil
}
