package demo_test

import (
	"strings"
	"sync"
)

// lastLines keeps what the demo prints, for a test that fails.
type lastLines struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}
