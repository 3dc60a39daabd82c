package payprov

import (
	"context"
	"time"
)

// until is a context that ends when its channel is closed. What a Provider
// does by itself has no caller whose context it could be under.
type until chan struct{}

func (u until) Done() <-chan struct{}       { return u }
func (u until) Deadline() (time.Time, bool) { return time.Time{}, false }
func (u until) Value(any) any               { return nil }

func (u until) Err() error {
	select {
	case <-u:
		return context.Canceled
	default:
		return nil
	}
}
