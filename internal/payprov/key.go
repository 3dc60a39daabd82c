package payprov

import (
	"crypto/sha256"
	"net/http"
	"time"
)

// keyLife is how long the first answer to a key is kept, by the provider's
// clock. Who comes after it is carried out anew.
const keyLife = 24 * time.Hour

// keys remembers, for each idempotency key, what was asked first and what the
// answer was, and which keys have a request under way.
type keys struct {
	kept  map[string]keptAnswer
	inUse map[string]bool
	queue []string // by age, so that forgetting costs what it forgets
	max   int
}

type keptAnswer struct {
	key    string
	asked  [sha256.Size]byte
	at     time.Time
	answer answer
	id     string // Request-Id of the first
}

func newKeys(limit int) keys {
	return keys{kept: map[string]keptAnswer{}, inUse: map[string]bool{}, max: limit}
}

// enter takes key for one request; false while another has it.
func (p *Provider) enter(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.inUse[key] {
		return false
	}
	p.keys.inUse[key] = true
	return true
}

func (p *Provider) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.keys.inUse, key)
}

func (k *keys) full() bool { return len(k.kept) >= k.max }

// first forgets what has lived its time, then looks key up.
func (k *keys) first(key string, now time.Time) (keptAnswer, bool) {
	for len(k.queue) > 0 && now.Sub(k.kept[k.queue[0]].at) >= keyLife {
		delete(k.kept, k.queue[0])
		k.queue = k.queue[1:]
	}
	first, ok := k.kept[key]
	return first, ok
}

func (k *keys) keep(a keptAnswer) {
	k.kept[a.key] = a
	k.queue = append(k.queue, a.key)
}

// again is the answer to whoever comes with a key that was used.
func (f keptAnswer) again(r *http.Request) answer {
	if f.asked != asked(r) {
		return refusal(http.StatusBadRequest, problem{Type: "idempotency_error", Message: "Keys for idempotent requests " +
			"can only be used with the same parameters they were first used with. Try using a key other than '" +
			f.key + "' if you meant to execute a different request."})
	}
	a := f.answer
	a.first = f.id
	return a
}

// asked is what two requests must share to be the same: where, and with what.
func asked(r *http.Request) [sha256.Size]byte {
	return sha256.Sum256([]byte(r.URL.Path + "?" + r.PostForm.Encode()))
}
