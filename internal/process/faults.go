package process

import (
	"errors"
	"sync"
)

// faults are what the parts ended with. The first brings the process down; all
// are told.
type faults struct {
	mu   sync.Mutex
	errs []error
	any  chan struct{} // closed at the first
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.errs = append(f.errs, err); len(f.errs) == 1 {
		close(f.any)
	}
}

func (f *faults) all() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}
