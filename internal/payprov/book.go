package payprov

import (
	"crypto/rand"
	"time"
)

// Ledger is what the provider knows of its account. Amounts are in its own
// units, currencies in lower case.
type Ledger struct {
	Payments []LedgerPayment `json:"payment_intents"`
	Refunds  []LedgerRefund  `json:"refunds"`
	Foreign  []LedgerPayment `json:"foreign,omitempty"` // of another application on the same account
}

// LedgerPayment is one payment intent.
type LedgerPayment struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Amount   int64             `json:"amount"`
	Captured int64             `json:"captured"`
	Refunded int64             `json:"refunded"` // pending and succeeded; what failed came back
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata"`
	Created  int64             `json:"created"`
}

// LedgerRefund is one refund.
type LedgerRefund struct {
	ID       string            `json:"id"`
	Payment  string            `json:"payment_intent"`
	Status   string            `json:"status"`
	Amount   int64             `json:"amount"`
	Currency string            `json:"currency"`
	Failure  string            `json:"failure_reason,omitempty"`
	Key      string            `json:"idempotency_key,omitempty"` // of the request that made it; none: by hand
	Metadata map[string]string `json:"metadata"`
	Created  int64             `json:"created"`
}

// Ledger is what the provider knows: the truth that money is judged by.
func (p *Provider) Ledger() Ledger {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.book.ledger()
}

// book holds the account. Lists are by age; pages are read from their ends.
type book struct {
	clock   *clock
	seq     int64
	changes int64     // whatever happens to an intent or a refund counts
	courses []*refund // those that are still to become something, by when
	intents []*intent
	refunds []*refund
	intent  map[string]*intent
	refund  map[string]*refund
}

func newBook(c *clock) book {
	return book{clock: c, intent: map[string]*intent{}, refund: map[string]*refund{}}
}

func (b *book) ledger() Ledger {
	l := Ledger{Payments: make([]LedgerPayment, 0, len(b.intents)), Refunds: make([]LedgerRefund, 0, len(b.refunds))}
	for _, in := range b.intents {
		list := &l.Payments
		if in.foreign {
			list = &l.Foreign
		}
		*list = append(*list, LedgerPayment{
			in.id, in.status, in.amount, in.captured, in.refunded, in.currency, in.metadata, in.created.Unix(),
		})
	}
	for _, re := range b.refunds {
		l.Refunds = append(l.Refunds, LedgerRefund{
			re.id, re.of.id, re.status, re.amount, re.of.currency, re.failure, re.key, re.metadata, re.created.Unix(),
		})
	}
	return l
}

// header is what everything in the book has.
type header struct {
	seq      int64
	id       string
	created  time.Time
	metadata map[string]string
}

func (h *header) head() *header { return h }

func (b *book) header(prefix string, metadata map[string]string) header {
	b.seq++
	return header{seq: b.seq, id: newID(prefix), created: b.clock.now(), metadata: metadata}
}

func newID(prefix string) string { return prefix + rand.Text() }
