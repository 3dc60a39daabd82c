package httpapi

import (
	"math"
	"strconv"
	"time"

	"waitroom/internal/webhooks"
)

// endpointSettingsBody is all that an organiser sets of an endpoint.
type endpointSettingsBody struct {
	URL         string   `json:"url"`
	Kinds       []string `json:"kinds"` // none: all
	MaxAttempts int      `json:"max_attempts"`
	BackoffBase float64  `json:"backoff_base_s"`
	DispatchGap float64  `json:"dispatch_gap_s"`
	MinInterval float64  `json:"min_interval_s"`
	PerMinute   int      `json:"per_minute"`
	InFlight    int      `json:"in_flight"`
}

func endpointSettingsMembers() []string {
	return []string{"backoff_base_s", "dispatch_gap_s", "in_flight", "kinds", "max_attempts", "min_interval_s", "per_minute", "url"}
}

func endpointSettingsOf(s webhooks.Settings) endpointSettingsBody {
	return endpointSettingsBody{
		URL: s.URL, Kinds: s.Kinds, MaxAttempts: s.MaxAttempts, BackoffBase: s.BackoffBase.Seconds(), DispatchGap: s.DispatchGap.Seconds(),
		MinInterval: s.MinInterval.Seconds(), PerMinute: s.PerMinute, InFlight: s.InFlight,
	}
}

// settings are the same in the house's terms. What no time could be is one that
// is refused.
func (b endpointSettingsBody) settings() webhooks.Settings {
	span := func(s float64) time.Duration {
		if !(math.Abs(s) < 1e6) {
			return -1
		}
		return micros(s)
	}
	return webhooks.Settings{
		URL: b.URL, Kinds: b.Kinds, MaxAttempts: b.MaxAttempts, BackoffBase: span(b.BackoffBase), DispatchGap: span(b.DispatchGap),
		MinInterval: span(b.MinInterval), PerMinute: b.PerMinute, InFlight: b.InFlight,
	}
}

// endpointBody is an endpoint and how it does. Its secret is not in it.
type endpointBody struct {
	ID             string               `json:"id"`
	Settings       endpointSettingsBody `json:"settings"`
	State          webhooks.State       `json:"state"`
	Reason         *string              `json:"reason"` // null: it is active
	Version        int64                `json:"version"`
	CreatedAt      time.Time            `json:"created_at"`
	OldSecretUntil *time.Time           `json:"old_secret_until"` // null: one secret signs
	Health         *endpointHealthBody  `json:"health,omitempty"`
}

type endpointHealthBody struct {
	Failures      int                  `json:"failures"`
	FailingSince  *time.Time           `json:"failing_since"`
	Waiting       int64                `json:"waiting"`
	Sending       int64                `json:"sending"`
	Dead          int64                `json:"dead"`
	OldestWaiting *time.Time           `json:"oldest_waiting_at"`
	NextStart     *time.Time           `json:"next_start_at"` // null: nothing holds it back
	LastSuccess   *time.Time           `json:"last_success_at"`
	LastFailure   *endpointFailureBody `json:"last_failure"`
}

type endpointFailureBody struct {
	At     time.Time `json:"at"`
	Status *int      `json:"status"` // null: no answer came
	Error  string    `json:"error"`
}

func endpointOf(e webhooks.Endpoint) endpointBody {
	return endpointBody{
		ID: e.ID, Settings: endpointSettingsOf(e.Settings), State: e.State, Reason: known(e.Reason), Version: e.Version,
		CreatedAt: e.CreatedAt.UTC(), OldSecretUntil: utc(e.OldSecretUntil),
	}
}

func endpointHealthOf(h webhooks.Health) endpointBody {
	b := endpointOf(h.Endpoint)
	b.Health = &endpointHealthBody{
		Failures: h.Failures, FailingSince: utc(h.FailingSince), Waiting: h.Waiting, Sending: h.Sending, Dead: h.Dead,
		OldestWaiting: utc(h.OldestWaiting), NextStart: utc(h.NextStartAt), LastSuccess: utc(h.LastSuccess),
	}
	if f := h.LastFailure; f != nil {
		b.Health.LastFailure = &endpointFailureBody{At: f.At.UTC(), Status: answered(f.Status), Error: f.Error}
	}
	return b
}

// known is nothing where there is nothing to say.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// answered is an answer's status; nothing where none came.
func answered(status int) *int {
	if status == 0 {
		return nil
	}
	return &status
}

// endpointTag names the endpoint as its organiser has set it.
func endpointTag(e webhooks.Endpoint) string { return `"` + strconv.FormatInt(e.Version, 10) + `"` }

func endpointReply(e webhooks.Endpoint, status int, body any) reply {
	return reply{status: status, body: body, header: [][2]string{{"ETag", endpointTag(e)}}}
}
