// Package ticket owns the codes that open an event's door, and the record of who
// came in by them.
//
// A code is derived from its seat's row and signed; it is kept nowhere. It names
// its event, its seat and the taking of that seat for its order, so that a seat
// which was given back and sold anew, or moved, has another code, and the former
// opens nothing. It says nothing of who bought it. Whoever has the public keys
// checks it without us; that it was not used before, only the record knows.
package ticket

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Ticket is what a code names.
type Ticket struct {
	Event      string
	Seat       int    // its index in the event, 0-based
	Generation uint32 // which taking of the seat
}

// ID is the ticket's name within its event: seat and generation as 14 hex digits.
// Codes that different keys signed for one ticket have one ID.
func (t Ticket) ID() string {
	return hex.EncodeToString(t.stem())
}

func (t Ticket) stem() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(t.Seat))[1:]
	return binary.BigEndian.AppendUint32(b, t.Generation)
}

// Generation tells the takings of one seat apart: the first 32 bits of SHA-256
// over the order and the microsecond that it took the seat at.
func Generation(order uuid.UUID, takenAt time.Time) uint32 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(order[:], uint64(takenAt.UnixMicro())))
	return binary.BigEndian.Uint32(sum[:])
}

// A code is 76 bytes, which are 122 letters of base32: as much as a QR code of
// version 5 holds in its alphanumeric mode with error correction M.
//
//	bits 0–3    format, 1
//	bits 4–15   the key: the first bits of its SHA-256 thumbprint (RFC 7638, 8037)
//	bytes 2–4   the event: the first bytes of its id's SHA-256
//	bytes 5–7   the seat's index
//	bytes 8–11  the generation
//	bytes 12–75 Ed25519 over "waitroom seat code", 0, the event's id, 0, bytes 0–11
//
// The signature is over the whole id: that two ids may begin alike is no matter.
const (
	format     = 1
	headBytes  = 12
	codeBytes  = headBytes + 64
	mostSeats  = 1 << 24
	signedHead = "waitroom seat code\x00"
)

var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

func (t Ticket) head(key keyTag) []byte {
	sum := sha256.Sum256([]byte(t.Event))
	b := binary.BigEndian.AppendUint16(nil, format<<12|uint16(key))
	b = append(b, sum[:3]...)
	return append(b, t.stem()...)
}

func signed(event string, head []byte) []byte {
	return append([]byte(signedHead+event+"\x00"), head...)
}

// Flaw is what is wrong with a code; empty: nothing.
type Flaw string

// The flaws.
const (
	Unreadable   Flaw = "unreadable"  // it is no code of this house's
	OtherEvent   Flaw = "other_event" // it says so; nobody has checked whether it is good there
	UnknownKey   Flaw = "unknown_key" // signed by none of the keys that are known here
	BadSignature Flaw = "signature"   // forged, or for an event whose id begins alike
	Unknown      Flaw = "unknown"     // well signed, and no order has or had that seat so
)

// Sign writes the ticket's code, the same each time.
func (k *Keys) Sign(t Ticket) (string, error) {
	switch {
	case k.signer == nil:
		return "", fmt.Errorf("seat codes: no private key")
	case t.Seat < 0 || t.Seat >= mostSeats:
		return "", fmt.Errorf("seat codes: seat %d of %s: a code names the first %d", t.Seat, t.Event, mostSeats)
	}
	head := t.head(k.signs)
	return letters.EncodeToString(append(head, k.sign(signed(t.Event, head))...)), nil
}

// Read checks a code of that event, as it was scanned or typed: spaces, dashes and
// case say nothing.
func (k *Keys) Read(event, code string) (Ticket, Flaw) {
	text := strings.ToUpper(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -\r\n\t", r) {
			return -1
		}
		return r
	}, code))
	raw, err := letters.DecodeString(text)
	if err != nil || len(raw) != codeBytes || raw[0]>>4 != format || letters.EncodeToString(raw) != text {
		return Ticket{}, Unreadable
	}
	head := raw[:headBytes]
	t := Ticket{
		Event: event, Seat: int(binary.BigEndian.Uint32(head[4:8]) & (mostSeats - 1)),
		Generation: binary.BigEndian.Uint32(head[8:]),
	}
	tag := keyTag(binary.BigEndian.Uint16(head) & (1<<12 - 1))
	if string(t.head(tag)) != string(head) {
		return Ticket{}, OtherEvent
	}
	known, ok := k.known[tag]
	switch {
	case !ok:
		return Ticket{}, UnknownKey
	case !verify(known, signed(event, head), raw[headBytes:]):
		return Ticket{}, BadSignature
	}
	return t, ""
}
