package payprov

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"time"
)

// Oddity is one way in which a notice does not simply arrive once.
type Oddity string

// The oddities. None loses a notice, and none forges what a secret signs.
const (
	Doubled Oddity = "doubled" // told twice under one id
	Twin    Oddity = "twin"    // told again under a second id
	Behind  Oddity = "behind"  // not before a later notice was acknowledged, or a few seconds have passed
	Forged  Oddity = "forged"  // at first signed with another secret, then rightly
	Stale   Oddity = "stale"   // at first stamped an hour ago, then rightly
	Thin    Oddity = "thin"    // told also by a thin v1. notice, which names the object and does not carry it
	Foreign Oddity = "foreign" // ahead of it comes one of another application's payment
)

// behindLimit is how long a notice that is to be behind waits for a later one.
const behindLimit = 3 * time.Second

// Disorder is how badly notices travel, each field a share of them all, 0 to
// 1. The same Seed makes the same choices in the same order.
type Disorder struct {
	Doubled, Twin, Behind, Forged, Stale, Thin, Foreign float64

	MaxDelay time.Duration // each copy is held back for up to this long, by chance
	Seed     uint64
}

// Validate names what is no share and no delay.
func (d Disorder) Validate() error {
	var errs []error
	for o, share := range d.shares() {
		if !(share >= 0 && share <= 1) { // NaN is no share either
			errs = append(errs, fmt.Errorf("share of %s %v: want 0 to 1", o, share))
		}
	}
	if d.MaxDelay < 0 {
		errs = append(errs, fmt.Errorf("a delay of up to %s: not negative", d.MaxDelay))
	}
	return errors.Join(errs...)
}

func (d Disorder) shares() map[Oddity]float64 {
	return map[Oddity]float64{
		Doubled: d.Doubled, Twin: d.Twin, Behind: d.Behind, Forged: d.Forged, Stale: d.Stale, Thin: d.Thin, Foreign: d.Foreign,
	}
}

// oddities in the order in which chance is asked.
func oddities() []Oddity { return []Oddity{Doubled, Twin, Behind, Forged, Stale, Thin, Foreign} }

// NoticeScript asks for an oddity by name. Unlike requests, a notice meets
// every script that it matches.
type NoticeScript struct {
	Type  string // of notices; a pattern of path.Match: "refund.*"; "" is any
	Times int    // the next so many; 0 is one
	Odd   Oddity // "" is none: only the delay
	Delay time.Duration
}

// Validate names all that could not be played.
func (s NoticeScript) Validate() error {
	var errs []error
	if _, err := path.Match(s.Type, ""); err != nil {
		errs = append(errs, fmt.Errorf("%q is no pattern", s.Type))
	}
	if s.Odd != "" && !slices.Contains(oddities(), s.Odd) {
		errs = append(errs, fmt.Errorf("odd %q: want one of %v", s.Odd, oddities()))
	}
	if s.Times < 0 || s.Delay < 0 {
		errs = append(errs, fmt.Errorf("times %d, delay %s: not negative", s.Times, s.Delay))
	}
	return errors.Join(errs...)
}

// ParseNoticeScript reads what ParseScript is to requests:
// "type=refund.*&times=2&odd=twin&delay=1s".
func ParseNoticeScript(form url.Values) (NoticeScript, error) {
	var s NoticeScript
	err := fill(form, map[string]any{"type": &s.Type, "times": &s.Times, "odd": &s.Odd, "delay": &s.Delay})
	return s, errors.Join(err, s.Validate())
}

// PlayNotices adds scripts behind those that are there; with an error none.
func (p *Provider) PlayNotices(list ...NoticeScript) error {
	for i, s := range list {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("script %d of %d: %w", i+1, len(list), err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range list {
		s.Times = orDefault(s.Times, 1)
		p.fate.scripts = append(p.fate.scripts, s)
	}
	return nil
}

// fate decides how notices travel.
type fate struct {
	disorder Disorder
	chance   *rand.Rand
	scripts  []NoticeScript // those that are not spent
}

// journey is how one notice travels to one endpoint.
type journey struct {
	odd   map[Oddity]bool
	delay time.Duration
}

// next is the journey of the next notice of a type.
func (f *fate) next(kind string) journey {
	j := journey{odd: map[Oddity]bool{}}
	shares := f.disorder.shares()
	for _, o := range oddities() {
		j.odd[o] = shares[o] > 0 && f.chance.Float64() < shares[o]
	}
	for i := range f.scripts {
		s := &f.scripts[i]
		if fits, _ := path.Match(s.Type, kind); s.Type == "" || fits {
			s.Times--
			j.odd[s.Odd] = true
			j.delay += s.Delay
		}
	}
	f.scripts = slices.DeleteFunc(f.scripts, func(s NoticeScript) bool { return s.Times == 0 })
	return j
}

// late is by how much one copy is held back.
func (f *fate) late() time.Duration {
	if f.disorder.MaxDelay <= 0 {
		return 0
	}
	return time.Duration(f.chance.Int64N(int64(f.disorder.MaxDelay)))
}
