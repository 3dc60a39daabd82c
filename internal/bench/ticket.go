package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"waitroom/internal/admission"
)

const event = "hall-1"

var aSecret = bytes.Repeat([]byte{7}, 32)

func ticketKeys() (*admission.TicketKeys, error) {
	return admission.ParseTicketKeys("a:" + base64.StdEncoding.EncodeToString(aSecret))
}

// aTicket is the place of that number.
func aTicket(number int64) admission.Ticket {
	t := admission.Ticket{Event: event, Epoch: 1, Index: number, Number: number, IssuedAt: time.Unix(1_700_000_000, 0)}
	copy(t.Hash[:], aSecret)
	return t
}

// ticketClaims is a ticket as golang-jwt reads it fastest: into a struct.
type ticketClaims struct {
	jwt.RegisteredClaims
	Epoch  int64 `json:"epoch"`
	Index  int64 `json:"index"`
	Number int64 `json:"number"`
}

// tickets: the check of a place ticket, against golang-jwt's of the same facts
// under HS256.
func tickets(_ context.Context, _ string, e Effort, _ io.Writer) ([]Figure, error) {
	ring, err := ticketKeys()
	if err != nil {
		return nil, err
	}
	ours := ring.Sign(aTicket(123_456))
	theirs, err := jwt.NewWithClaims(jwt.SigningMethodHS256, ticketClaims{jwt.RegisteredClaims{
		Audience: jwt.ClaimStrings{event}, Subject: aTicket(0).Holder(), IssuedAt: jwt.NewNumericDate(time.Unix(1_700_000_000, 0)),
	}, 1, 123_456, 123_456}).SignedString(aSecret)
	if err != nil {
		return nil, err
	}
	check := func() error {
		_, err := ring.Check(ours, event, 1)
		return err
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}))
	anchor := func() error {
		_, err := parser.ParseWithClaims(theirs, &ticketClaims{}, func(*jwt.Token) (any, error) { return aSecret, nil })
		return err
	}
	return against(e, "ticket_check_vs_jwt", "ticket_check_allocations", check, anchor)
}

// against is a call's cost and its allocations, by its anchor's.
func against(e Effort, speed, allocs string, call, anchor func() error) ([]Figure, error) {
	ns, err := e.costs(call, anchor)
	if err != nil {
		return nil, err
	}
	a, err := allocations(call)
	if err != nil {
		return nil, err
	}
	b, err := allocations(anchor)
	if err != nil {
		return nil, err
	}
	return []Figure{faster(speed, "ns", ns[0], ns[1]), times(allocs, "allocations", a, b)}, nil
}
