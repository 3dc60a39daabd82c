package process

import (
	"io"
	"log/slog"
	"time"
)

// Logger writes one JSON object a line, times in UTC, each naming its process.
func Logger(w io.Writer, name string, level slog.Level) *slog.Logger {
	h := slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				a.Value = slog.TimeValue(a.Value.Time().UTC())
			}
			return a
		},
	})
	return slog.New(h).With("process", name)
}

// quiet bounds how often the same failure is logged: the first at once, then
// one a period with the number of those that were not told.
type quiet struct {
	period time.Duration
	last   time.Time
	untold int
}

// tell says whether to log a failure at now, and how many went before unlogged.
func (q *quiet) tell(now time.Time) (tell bool, untold int) {
	if !q.last.IsZero() && now.Sub(q.last) < q.period {
		q.untold++
		return false, 0
	}
	untold, q.untold, q.last = q.untold, 0, now
	return true, untold
}
