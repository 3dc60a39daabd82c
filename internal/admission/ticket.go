package admission

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync"
	"time"
)

// Refusal is why a ticket or a pass is not accepted. Each is definite, and a
// stable code for whoever shows it.
type Refusal string

const (
	Malformed    Refusal = "malformed"
	BadSignature Refusal = "bad_signature"
	WrongEvent   Refusal = "wrong_event"
	EpochChanged Refusal = "epoch_changed" // the event was reset since
	Expired      Refusal = "expired"
)

func (r Refusal) Error() string { return string(r) }

// Ticket is what a waiting person carries. It is the place: whoever shows it
// can be told where they stand without a store being read.
type Ticket struct {
	Event    string
	Epoch    int64
	Index    int64             // as allotted: it names the place
	Number   int64             // in the line; Undrawn while that is still to be drawn
	Hash     [sha256.Size]byte // of the possession secret
	IssuedAt time.Time         // to the second
	Proven   bool              // its holder has shown that they are a person
}

// Undrawn is the number of a place in a lobby that was not drawn yet.
const Undrawn = -1

// Holder is the hash as places name it.
func (t Ticket) Holder() string { return hex.EncodeToString(t.Hash[:]) }

// NewSecret makes the possession secret of somebody who brought none. Losing it
// loses the place; nobody can work it out from a ticket.
func NewSecret() string { return rand.Text() }

// HolderOf is how a possession secret is named everywhere but in its owner's
// hands: the hex of its SHA-256.
func HolderOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

const (
	ticketFormat = 2
	macSize      = 16 // bytes kept of HMAC-SHA256: 128 bits
	maxKeyID     = 16
	maxEvent     = 63 // as the events table has it
	maxTicket    = 4 + maxKeyID + maxEvent + 4*binary.MaxVarintLen64 + sha256.Size + macSize
)

// proven stands at the end of a ticket that is, and nothing in any other's place.
const proven = 1

// tickets are base64url without padding; strict, so that one ticket has one
// spelling.
var ticketText = base64.RawURLEncoding.Strict()

// TicketKeys is a ring: the first key signs, each of them verifies. A key is
// taken out once no place signed by it is waited for any more.
type TicketKeys struct {
	ids   []string
	desks sync.Pool // of *ticketDesk
}

// ticketDesk is where one ticket is read, so that checking allocates nothing.
type ticketDesk struct {
	macs []hash.Hash // one keyed with each key of the ring
	text [(maxTicket*8 + 5) / 6]byte
	raw  [maxTicket]byte
	sum  [sha256.Size]byte
}

// ParseTicketKeys reads "id:base64,id:base64": the signing key first. A key is
// at least 32 bytes; ids are 1 to 16 letters and say nothing.
func ParseTicketKeys(spec string) (*TicketKeys, error) {
	ring := &TicketKeys{}
	var keys [][]byte
	for entry := range strings.SplitSeq(spec, ",") {
		id, text, ok := strings.Cut(strings.TrimSpace(entry), ":")
		if !ok || id == "" || len(id) > maxKeyID {
			return nil, fmt.Errorf("ticket keys: want id:base64, ids of 1 to %d letters", maxKeyID)
		}
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) < 32 {
			return nil, fmt.Errorf("ticket key %s: want at least 32 bytes of base64", id)
		}
		if len(bytes.Trim(key, "\x00")) == 0 {
			return nil, fmt.Errorf("ticket key %s: nothing but zeros", id)
		}
		if ring.find([]byte(id)) >= 0 {
			return nil, fmt.Errorf("ticket key %s: twice", id)
		}
		ring.ids, keys = append(ring.ids, id), append(keys, key)
	}
	ring.desks.New = func() any {
		desk := &ticketDesk{}
		for _, key := range keys {
			desk.macs = append(desk.macs, hmac.New(sha256.New, key))
		}
		return desk
	}
	return ring, nil
}

// find is where the ring has that key; negative if it has not.
func (r *TicketKeys) find(id []byte) int {
	for i := range r.ids {
		if r.ids[i] == string(id) {
			return i
		}
	}
	return -1
}

// mac is key i's signature of raw, valid until the next.
func (d *ticketDesk) mac(i int, raw []byte) []byte {
	d.macs[i].Reset()
	d.macs[i].Write(raw)
	return d.macs[i].Sum(d.sum[:0])[:macSize]
}

// Sign writes the ticket down. The same ticket under the same key is the same
// text.
func (r *TicketKeys) Sign(t Ticket) string {
	desk := r.desks.Get().(*ticketDesk)
	defer r.desks.Put(desk)
	raw := append(desk.raw[:0], ticketFormat, byte(len(r.ids[0])))
	raw = append(raw, r.ids[0]...)
	raw = append(raw, byte(len(t.Event)))
	raw = append(raw, t.Event...)
	raw = binary.AppendUvarint(raw, uint64(t.Epoch))
	raw = binary.AppendUvarint(raw, uint64(t.Index))
	raw = binary.AppendUvarint(raw, uint64(t.Number-Undrawn))
	raw = append(raw, t.Hash[:]...)
	raw = binary.AppendUvarint(raw, uint64(t.IssuedAt.Unix()))
	if t.Proven {
		raw = append(raw, proven)
	}
	raw = append(raw, desk.mac(0, raw)...)
	return ticketText.EncodeToString(raw)
}

// Check accepts a ticket for the event at that epoch, and nothing else.
func (r *TicketKeys) Check(text, event string, epoch int64) (Ticket, error) {
	desk := r.desks.Get().(*ticketDesk)
	defer r.desks.Put(desk)
	t, name, err := r.read(desk, text)
	switch {
	case err != nil:
		return Ticket{}, err
	case string(name) != event:
		return Ticket{}, WrongEvent
	case t.Epoch != epoch:
		return Ticket{}, EpochChanged
	}
	t.Event = event
	return t, nil
}

// Read accepts a ticket of any event and epoch: for what belongs to a holder
// and not to a place, such as an order.
func (r *TicketKeys) Read(text string) (Ticket, error) {
	desk := r.desks.Get().(*ticketDesk)
	defer r.desks.Put(desk)
	t, name, err := r.read(desk, text)
	t.Event = string(name)
	return t, err
}

// read decodes a ticket on the desk and checks its signature; the event's name
// is valid until the desk is put back. The signature is compared in constant
// time, and before any field but the key's id is believed.
func (r *TicketKeys) read(desk *ticketDesk, text string) (t Ticket, event []byte, err error) {
	if len(text) > len(desk.text) {
		return t, nil, Malformed
	}
	n, err := ticketText.Decode(desk.raw[:], desk.text[:copy(desk.text[:], text)])
	if err != nil || n < 2+macSize || desk.raw[0] != ticketFormat {
		return t, nil, Malformed
	}
	body, mac := desk.raw[:n-macSize], desk.raw[n-macSize:n]
	f := fields{rest: body[1:]}
	key := r.find(f.short())
	if f.bad {
		return t, nil, Malformed
	}
	if key < 0 || !hmac.Equal(desk.mac(key, body), mac) {
		return t, nil, BadSignature
	}
	event = f.short()
	t.Epoch, t.Index, t.Number = int64(f.number()), int64(f.number()), int64(f.number())+Undrawn
	copy(t.Hash[:], f.take(sha256.Size))
	t.IssuedAt = time.Unix(int64(f.number()), 0).UTC()
	if len(f.rest) == 1 && f.rest[0] == proven {
		t.Proven = f.take(1) != nil
	}
	if f.bad || len(f.rest) != 0 {
		return Ticket{}, nil, Malformed
	}
	return t, event, nil
}

// fields reads what was appended, in order; bad once something was missing.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) take(n int) []byte {
	if f.bad || n > len(f.rest) {
		f.bad = true
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// short reads bytes behind a one-byte length.
func (f *fields) short() []byte {
	n := f.take(1)
	if n == nil {
		return nil
	}
	return f.take(int(n[0]))
}

func (f *fields) number() uint64 {
	v, n := binary.Uvarint(f.rest)
	if f.bad || n <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}
