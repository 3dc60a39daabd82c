// Package demotest opens whole houses for tests: every process, real servers,
// a database of the test's own.
package demotest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/inventory"
	"waitroom/internal/listing"
	"waitroom/internal/pgtest"
	"waitroom/internal/seating"
	"waitroom/internal/stack"
)

// EventID is the event of Event, unless a test names another.
const EventID = "gala"

// Event is one that lets people in as fast as they come.
func Event() inventory.Event {
	rate := 500.0
	return inventory.Event{
		ID: EventID, Title: "Gala", Currency: "EUR", Rate: &rate, LineCap: 100_000,
		OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		PayWithin: 10 * time.Minute, PayExtension: time.Minute, StockSlack: 0.5,
	}
}

// Hall has rows of ten numbered seats, A-1 to A-10 and on, and standing places.
func Hall(t testing.TB, rows, standing int) inventory.Hall {
	t.Helper()
	var b strings.Builder
	b.WriteString("guid,section,row,number,x,y,category,kind,count\n")
	for r := range rows {
		for n := range 10 {
			fmt.Fprintf(&b, "%[1]s-%[2]d,Stalls,%[1]s,%[2]d,%[3]d,%[4]d,Seats,numbered,\n", rowName(r), n+1, 20*n, 20*r)
		}
	}
	prices := []seating.Price{{Category: "Seats", AmountMinor: 4000}}
	if standing > 0 {
		fmt.Fprintf(&b, ",Floor,,,,,Standing,general,%d\n", standing)
		prices = append(prices, seating.Price{Category: "Standing", AmountMinor: 1500})
	}
	plan, err := seating.Parse("hall.csv", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	sold, err := seating.Sell(plan, seating.Offer{File: "hall.csv", Currency: "EUR", Prices: prices})
	if err != nil {
		t.Fatal(err)
	}
	return *(&listing.Hall{Hall: sold}).Kept()
}

// rowName counts A to Z, AA, AB …
func rowName(r int) string {
	if r < 26 {
		return string(rune('A' + r))
	}
	return rowName(r/26-1) + rowName(r%26)
}

// Open opens a house with a database of the test's own. What the test leaves
// out is Event, a hall of 100 seats and 50 standing places, and a line in a
// file. Its processes' log is shown if the test fails.
func Open(t testing.TB, b demo.Build) *demo.House {
	t.Helper()
	if b.DatabaseURL == "" {
		b.DatabaseURL = pgtest.URL(t)
	}
	if b.Event.ID == "" {
		b.Event = Event()
	}
	if b.Hall.Hash == "" {
		b.Hall = Hall(t, 10, 50)
	}
	if b.Line == "" {
		b.Line = "local"
	}
	logs := &tail{}
	b.Addr, b.Dir, b.Logs = "127.0.0.1:0", t.TempDir(), logs
	h, err := demo.Open(t.Context(), b)
	if err != nil {
		t.Fatalf("house: %v\n%s", err, logs)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("house: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of its log:\n%s", logs)
		}
	})
	return h
}

// Dynalite is DynamoDB's stand-in, for one test; `make test` installs it.
func Dynalite(t testing.TB) string {
	t.Helper()
	s, err := stack.Dynalite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("dynalite: %v", err)
		}
	})
	return s.URL
}
