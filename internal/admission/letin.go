package admission

import (
	"context"
	"errors"
	"slices"
	"time"
)

const issueLimit = 4 * time.Second // writing one pass, in the line and in the ledger

func (t *turnstile) take(ctx context.Context, k int64) (Door, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	begun := time.Now()
	door, ok, err := t.line.cfg.Store.Take(ctx, t.line.event, t.line.epoch, k)
	if err != nil {
		t.line.door.doubt()
		return door, false, err
	}
	t.line.door.saw(door, begun)
	return door, ok, nil
}

// assign gives the takes that the door just counted to the chosen, in order.
// From here on each stands, whoever still waits for the answer. The take is
// counted when its credit ran in (Door.At); the pass is good from now on.
func (t *turnstile) assign(ctx context.Context, chosen []*ask, door Door) {
	first := door.Taken - int64(len(chosen)) + 1
	if door.At.IsZero() { // its holder is of an older version
		door.At = time.Now().UTC().Truncate(grain)
	}
	t.line.cfg.Metrics.takes.Add(float64(len(chosen)))
	t.mu.Lock()
	t.taken = time.Now()
	for i, a := range chosen {
		t.mine = append(t.mine, first+int64(i))
		t.letIn[a.place.Number] = t.taken
		t.writings.begin(first+int64(i), t.taken)
		if a.late {
			t.graced++
			t.allow--
			t.line.cfg.Metrics.grace.WithLabelValues(t.line.event).Inc()
		}
	}
	if over := len(t.mine) - mostMine; over > 0 {
		t.mine = slices.Delete(t.mine, 0, over)
	}
	t.mu.Unlock()
	for i, a := range chosen {
		take := first + int64(i)
		t.line.cfg.Books.Evidence(Evidence{
			Event: t.line.event, Epoch: t.line.epoch, Term: door.Term, Seq: take,
			Kind: "take", Milli: Milli, Front: door.Front, At: door.At,
		})
		t.issuing.Go(func() { t.issue(context.WithoutCancel(ctx), a, take, door.At) })
	}
}

// issue has the pass written down, and only then answers.
func (t *turnstile) issue(ctx context.Context, a *ask, take int64, at time.Time) {
	p := a.place
	p.State, p.Take, p.TakenAt = Passed, take, at
	p.PassUntil = time.Now().UTC().Add(t.line.Sale().PassLife).Truncate(time.Second)
	err := t.record(ctx, a, p)
	t.wrote(ctx, p, err)
	t.finish(a)
}

// record writes a pass down, in the line and then in the ledger. A place that had
// one already keeps that; this credit is burned. An error says that it is not
// known what became of it: see writings.
func (t *turnstile) record(ctx context.Context, a *ask, p Place) error {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	ctx, cancel := context.WithTimeout(ctx, issueLimit)
	defer cancel()
	got, err := t.write(ctx, p)
	admit := t.line.admit
	switch {
	case errors.Is(err, ErrNoPlace):
		t.burn("left")
		a.pass = Place{State: Left}
		return nil
	case err != nil:
		t.fault("pass", err)
		return err
	case got.Take != p.Take:
		t.burn("again")
		admit = t.line.readmit
	default:
		t.line.tell(func(r *Release) { r.LetIn(p.Take, p.Number, p.TakenAt, p.PassUntil) })
	}
	text, told, err := admit(ctx, got)
	switch {
	case errors.Is(err, errOtherPass): // one place's doubt: the ledger goes on for the others
		t.line.fault("ledger", err)
		return nil
	case err != nil:
		t.fault("ledger", err)
		return err
	}
	t.line.cfg.Metrics.passes.WithLabelValues("new").Inc()
	got.PassUntil = told.ExpiresAt
	a.text, a.told, a.pass = text, told, got
	return nil
}

// write asks again with the same take: harmless, whatever the first try did.
func (t *turnstile) write(ctx context.Context, p Place) (got Place, err error) {
	for range 2 {
		once, cancel := context.WithTimeout(ctx, storeLimit)
		got, err = t.line.cfg.Store.Pass(once, p)
		cancel()
		got.Number = p.Number
		if err == nil || errors.Is(err, ErrNoPlace) || errors.Is(err, ErrEpoch) {
			break
		}
	}
	return got, err
}

func (t *turnstile) burn(why string) {
	t.line.cfg.Metrics.burned.WithLabelValues(why).Inc()
}

// finish answers every request of the place.
func (t *turnstile) finish(a *ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.asks, a.place.Number)
	close(a.done)
	close(a.settled)
}

// admit writes the pass into the ledger and signs it as it is written there:
// nobody holds another. One that could not be written for a while lasts as long from
// now as any: nobody had it before. It ends after its credit was taken, whatever
// the clock of whoever counted that says.
func (l *Line) admit(ctx context.Context, p Place) (string, Pass, error) {
	sale, now := l.Sale(), time.Now().UTC()
	until := p.PassUntil
	if until.Sub(now) < sale.PassLife-issueLimit || !until.After(p.TakenAt) {
		until = now.Add(sale.PassLife + max(0, p.TakenAt.Sub(now))).Truncate(time.Second)
	}
	pass := Pass{
		Event: l.event, Holder: p.Holder, Epoch: l.epoch, Place: p.Number, Take: p.Take,
		IssuedAt: p.TakenAt.Truncate(time.Second), ExpiresAt: until, Quota: int(sale.PassQuota),
	}
	err := l.cfg.Books.LetIn(ctx, Entry{Pass: pass, TakenAt: p.TakenAt})
	if errors.Is(err, ErrWritten) { // an earlier writing landed late, and the settings have changed since
		pass, err = l.written(ctx, p.Number)
	}
	if err != nil {
		return "", Pass{}, err
	}
	text, err := l.cfg.Passes.Sign(pass)
	return text, pass, err
}

func (l *Line) written(ctx context.Context, place int64) (Pass, error) {
	e, found, err := l.cfg.Books.PassOf(ctx, l.event, l.epoch, place)
	if err == nil && !found {
		err = errNoPass
	}
	return e.Pass, err
}

// readmit signs the pass that the place has, to the letter: what it is good for
// was settled when it was written, whatever the settings are now. That one stands
// even when the line's store lost it and gave the place another take since.
func (l *Line) readmit(ctx context.Context, p Place) (string, Pass, error) {
	e, found, err := l.cfg.Books.PassOf(ctx, l.event, l.epoch, p.Number)
	if err != nil {
		return "", Pass{}, err
	}
	if !found || e.Holder != p.Holder { // not written yet, or the ledger has another's
		return l.admit(ctx, p)
	}
	text, err := l.cfg.Passes.Sign(e.Pass)
	return text, e.Pass, err
}
