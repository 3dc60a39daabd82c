package payprov

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// ParseScript reads a Script as the admin endpoint and cmd/payprov's settings
// take it, a form: "method=POST&path=/v1/refunds&times=2&say=rst&commit=true".
// Durations are Go's ("1.5s"). A field that it does not know is an error.
func ParseScript(form url.Values) (Script, error) {
	var s Script
	err := fill(form, map[string]any{
		"method": &s.Method, "path": &s.Path, "operation": &s.Operation, "key": &s.Key,
		"times": &s.Times, "share": &s.Share, "before": &s.Before, "after": &s.After,
		"say": &s.Say, "commit": &s.Commit, "status": &s.Status, "code": &s.Code,
		"retry_after": &s.RetryAfter, "location": &s.Location,
		"refund_pending": &s.Refund.Pending, "refund_then": &s.Refund.Then,
		"refund_in": &s.Refund.In, "refund_reason": &s.Refund.Reason,
	})
	return s, errors.Join(err, s.Validate())
}

// fill reads each field of form into the pointer of its name.
func fill(form url.Values, into map[string]any) error {
	var errs []error
	for name, values := range form {
		field, known := into[name]
		if !known {
			errs = append(errs, fmt.Errorf("%s: there is no such field", name))
			continue
		}
		if err := read(values[len(values)-1], field); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func read(text string, into any) (err error) {
	switch v := into.(type) {
	case *string:
		*v = text
	case *Say:
		*v = Say(text)
	case *Oddity:
		*v = Oddity(text)
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int:
		*v, err = strconv.Atoi(text)
	case *int64:
		*v, err = strconv.ParseInt(text, 10, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*v, err = time.ParseDuration(text)
	default:
		err = fmt.Errorf("%T cannot be read", into)
	}
	return err
}
