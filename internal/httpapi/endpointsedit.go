package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/webhooks"
)

// endpointEdit is a PUT of an endpoint's settings.
type endpointEdit struct {
	endpointRequest
	version  int64 // that it was made from; 0: whatever it is
	settings webhooks.Settings
}

func (a *API) readEndpointEdit(c *fiber.Ctx) (r endpointEdit, err error) {
	if r.endpointRequest, err = a.readEndpointChange(c); err != nil {
		return r, err
	}
	if r.version, err = readVersion(c.Get("If-Match")); err != nil {
		return r, err
	}
	var members map[string]json.RawMessage
	if err := jsonBody(c, &members); err != nil {
		return r, err
	}
	for _, name := range endpointSettingsMembers() {
		if value, there := members[name]; !there || strings.TrimSpace(string(value)) == "null" {
			return r, problem("bad_request", name+" is missing: a PUT states every setting").with("setting", name)
		}
	}
	var body endpointSettingsBody
	if err := jsonBody(c, &body); err != nil {
		return r, err
	}
	r.settings = body.settings()
	return r, nil
}

// readVersion is the version that an If-Match names; 0 for any. One that is no
// tag of ours matches nothing.
func readVersion(match string) (int64, error) {
	switch match = strings.TrimSpace(match); match {
	case "":
		return 0, problem("precondition_missing", "GET the settings first, and send their ETag as If-Match.")
	case "*":
		return 0, nil
	}
	version, err := strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
	if err != nil || version < 1 || match != `"`+strconv.FormatInt(version, 10)+`"` {
		return -1, nil
	}
	return version, nil
}

func (a *API) editEndpoint(ctx context.Context, r endpointEdit) (reply, error) {
	c, err := webhooks.Edit(ctx, a.Desk.Pool, r.id, r.version, r.settings, a.Desk.Endpoints.Loopback, r.who)
	if c, err = a.changed("edit", r.endpointRequest, c, err); err != nil {
		return reply{}, err
	}
	return endpointReply(c.Endpoint, 0, endpointSettingsOf(c.Endpoint.Settings)), nil
}

type stateRequest struct {
	endpointRequest
	body struct {
		State webhooks.State `json:"state"`
	}
}

func (a *API) readEndpointState(c *fiber.Ctx) (r stateRequest, err error) {
	if r.endpointRequest, err = a.readEndpointChange(c); err != nil {
		return r, err
	}
	if err := jsonBody(c, &r.body); err != nil {
		return r, err
	}
	if !slices.Contains(webhooks.States(), r.body.State) {
		return r, problem("bad_request", "state: active, draining or disabled")
	}
	return r, nil
}

func (a *API) setEndpointState(ctx context.Context, r stateRequest) (reply, error) {
	c, err := webhooks.SetState(ctx, a.Desk.Pool, r.id, r.body.State, r.who)
	if c, err = a.changed("state", r.endpointRequest, c, err); err != nil {
		return reply{}, err
	}
	return endpointReply(c.Endpoint, 0, endpointOf(c.Endpoint)), nil
}

func (a *API) deleteEndpoint(ctx context.Context, r endpointRequest) (reply, error) {
	c, err := webhooks.Delete(ctx, a.Desk.Pool, r.id, r.who)
	if c, err = a.changed("delete", r, c, err); err != nil {
		return reply{}, err
	}
	return reply{body: map[string]any{"endpoint": c.Endpoint.ID, "ended": c.Ended}}, nil
}
