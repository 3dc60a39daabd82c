package payprov

import (
	"container/heap"
	"context"
	"time"
)

// take waits for the next delivery that is due; false when the provider ends.
func (n *notices) take(ctx context.Context) (*delivery, bool) {
	for ctx.Err() == nil {
		d, wait := n.poll()
		if d != nil {
			return d, true
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-n.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil, false
}

// poll takes the first delivery if it is due, else says how long to wait.
func (n *notices) poll() (*delivery, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.due) == 0 {
		return nil, time.Hour
	}
	if wait := time.Until(n.due[0].due); wait > 0 {
		return nil, wait
	}
	n.telling++
	d := heap.Pop(&n.due).(*delivery)
	if d.behind {
		d.behind = false
		n.behind--
	}
	if len(n.due) > 0 {
		n.hint() // one hint may stand for many notices: pass it on
	}
	return d, 0
}

// finish ends a delivery that was acknowledged with a 2xx, or puts it back for
// its next try. What was signed wrongly is not acknowledged by anything.
func (n *notices) finish(d *delivery, status int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.telling--
	n.told.add(Told{
		Seq: n.told.next(), At: time.Since(n.start), ID: d.id, Type: d.kind, About: d.about,
		URL: d.to.URL, Odd: d.oddAt(), Try: d.tries + 1, Status: status,
	})
	if status >= 200 && status < 300 && d.tries >= len(d.wrong) {
		n.release(d)
		return
	}
	d.due = time.Now().Add(min(n.backoff<<min(d.tries, 16), max(n.backoff, 30*time.Second)))
	d.tries++
	heap.Push(&n.due, d)
	n.hint()
}

// release lets go what was to come behind d.
func (n *notices) release(d *delivery) {
	if n.behind == 0 {
		return
	}
	for _, held := range n.due {
		if held.behind && held.seq < d.seq && held.to == d.to {
			held.behind, held.due = false, time.Now()
			n.behind--
		}
	}
	heap.Init(&n.due)
	n.hint()
}

type deliveries []*delivery

func (d deliveries) Len() int           { return len(d) }
func (d deliveries) Less(i, j int) bool { return d[i].due.Before(d[j].due) }
func (d deliveries) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)        { *d = append(*d, x.(*delivery)) }

func (d *deliveries) Pop() any {
	old := *d
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return last
}
