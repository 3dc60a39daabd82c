package payprov

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
)

// Scripted is a script and how many requests met it.
type Scripted struct {
	Script
	Met int
}

type scripts struct {
	mu     sync.Mutex
	list   []*Scripted
	chance *rand.Rand
}

// Play adds scripts behind those that are there. Without an error all of them
// are in force; with one none is.
func (p *Provider) Play(list ...Script) error {
	for i, s := range list {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("script %d of %d: %w", i+1, len(list), err)
		}
	}
	p.scripts.mu.Lock()
	defer p.scripts.mu.Unlock()
	for _, s := range list {
		if s.Times == 0 && s.Share == 0 {
			s.Times = 1
		}
		p.scripts.list = append(p.scripts.list, &Scripted{Script: s})
	}
	return nil
}

// Clear takes all scripts back, those of notices too; what meets one now meets
// it to its end.
func (p *Provider) Clear() {
	p.mu.Lock()
	p.fate.scripts = nil
	p.mu.Unlock()
	p.scripts.mu.Lock()
	defer p.scripts.mu.Unlock()
	p.scripts.list = nil
}

// Scripts tells all that were given since the last Clear, also the spent.
func (p *Provider) Scripts() []Scripted {
	p.scripts.mu.Lock()
	defer p.scripts.mu.Unlock()
	told := make([]Scripted, 0, len(p.scripts.list))
	for _, s := range p.scripts.list {
		told = append(told, *s)
	}
	return told
}

// take is the script that r meets; the zero Script is none.
func (l *scripts) take(r *http.Request) Script {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.list {
		if s.Times > 0 && s.Met >= s.Times || !s.matches(r) || s.Share > 0 && l.chance.Float64() >= s.Share {
			continue
		}
		s.Met++
		return s.Script
	}
	return Script{}
}
