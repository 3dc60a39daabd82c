package stack

import (
	"context"
	"fmt"
	"time"
)

// Until asks every few milliseconds whether it is so. What is not within the limit is
// an error that says what.
func Until(ctx context.Context, what string, limit time.Duration, is func() (bool, error)) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		ok, err := is()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return fmt.Errorf("not within %s: %s", limit, what)
		case <-again.C:
		}
	}
}
