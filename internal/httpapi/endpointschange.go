package httpapi

import (
	"context"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/webhooks"
)

// changed is the endpoint after a change, or why there was none.
func (a *API) changed(what string, r endpointRequest, c webhooks.Changed, err error) (webhooks.Changed, error) {
	var flaw *webhooks.Flaw
	switch {
	case errors.As(err, &flaw):
		return c, problem("senseless_setting", flaw.Error()).with("setting", flaw.Setting)
	case err != nil:
		return c, a.unavailable(what, err)
	}
	a.Log.Info("endpoint", "did", what, "endpoint", r.id, "by", r.who.Organiser+"/"+r.who.By, "answer", c.Answer)
	return c, endpointRefusal(c)
}

func endpointRefusal(c webhooks.Changed) error {
	switch c.Answer {
	case webhooks.Done, webhooks.Unchanged:
		return nil
	case webhooks.NoEndpoint:
		return problem("no_such_endpoint", "")
	case webhooks.NoDelivery:
		return problem("no_such_delivery", "")
	case webhooks.TooMany:
		return problem("too_many_endpoints", "Delete one that is not needed.")
	case webhooks.Edited:
		return problem("settings_changed", "Somebody changed them meanwhile: GET them again.").with("etag", endpointTag(c.Endpoint))
	case webhooks.Rotating:
		return problem("secret_rotating", "The secret before the present one signs too until then. "+
			"replace: true makes another in the place of the present one; overlap_s: 0 has only the new one sign.").
			with("until", c.Endpoint.OldSecretUntil.UTC())
	case webhooks.NotEnded:
		return problem("delivery_not_ended", "It waits, or is being sent: it will come anyway.")
	}
	return problem("key_reused", "")
}

type additionRequest struct {
	endpointRequest
	settings webhooks.Settings
}

// readAddition takes the usual for whatever is left out.
func (a *API) readAddition(c *fiber.Ctx) (r additionRequest, err error) {
	if r.endpointRequest, err = a.readEndpointWish(c); err != nil {
		return r, err
	}
	body := endpointSettingsOf(webhooks.DefaultSettings(""))
	if err := jsonBody(c, &body); err != nil {
		return r, err
	}
	r.settings = body.settings()
	return r, nil
}

type secretBody struct {
	Endpoint endpointBody `json:"endpoint"`
	Secret   *string      `json:"secret"` // null: it was shown before
}

func (a *API) addEndpoint(ctx context.Context, r additionRequest) (reply, error) {
	rules := a.Desk.Endpoints
	c, err := webhooks.Add(ctx, a.Desk.Pool, r.who, webhooks.Addition{Settings: r.settings, Most: rules.Most, Loopback: rules.Loopback})
	r.id = c.Endpoint.ID
	if c, err = a.changed("add", r.endpointRequest, c, err); err != nil {
		return reply{}, err
	}
	out := endpointReply(c.Endpoint, fiber.StatusCreated, secretBody{endpointOf(c.Endpoint), known(c.Secret)})
	out.header = append(out.header, [2]string{"Location", "/v1/organiser/endpoints/" + c.Endpoint.ID})
	return out, nil
}

type rotationRequest struct {
	endpointRequest
	rotation webhooks.Rotation
}

func (a *API) readRotation(c *fiber.Ctx) (r rotationRequest, err error) {
	if r.endpointRequest, err = a.readEndpointWish(c); err != nil {
		return r, err
	}
	body := struct {
		Overlap float64 `json:"overlap_s"`
		Replace bool    `json:"replace"`
	}{Overlap: webhooks.UsualOverlap.Seconds()}
	if len(c.BodyRaw()) > 0 {
		if err := jsonBody(c, &body); err != nil {
			return r, err
		}
	}
	if !(body.Overlap >= 0 && body.Overlap <= webhooks.LongestOverlap.Seconds()) {
		body.Overlap = -1
	}
	r.rotation = webhooks.Rotation{Overlap: micros(body.Overlap), Replace: body.Replace}
	return r, nil
}

func (a *API) rotateSecret(ctx context.Context, r rotationRequest) (reply, error) {
	c, err := webhooks.Rotate(ctx, a.Desk.Pool, r.id, r.rotation, r.who)
	if c, err = a.changed("rotate", r.endpointRequest, c, err); err != nil {
		return reply{}, err
	}
	return endpointReply(c.Endpoint, 0, secretBody{endpointOf(c.Endpoint), known(c.Secret)}), nil
}

type scheduledBody struct {
	Endpoint string         `json:"endpoint"`
	State    webhooks.State `json:"state"` // it goes out while that is active
	Delivery int64          `json:"delivery"`
}

func scheduledReply(c webhooks.Changed) reply {
	at := "/v1/organiser/deliveries/" + strconv.FormatInt(c.Delivery, 10)
	return reply{
		status: fiber.StatusAccepted, body: scheduledBody{c.Endpoint.ID, c.Endpoint.State, c.Delivery},
		header: [][2]string{{"Location", at}},
	}
}

func (a *API) testEndpoint(ctx context.Context, r endpointRequest) (reply, error) {
	c, err := webhooks.Test(ctx, a.Desk.Pool, r.id, r.who)
	if c, err = a.changed("test", r, c, err); err != nil {
		return reply{}, err
	}
	return scheduledReply(c), nil
}
