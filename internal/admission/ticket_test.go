package admission

import (
	"encoding/base64"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// testTicketKeys makes a ring whose keys are as telling as their ids.
func testTicketKeys(t testing.TB, ids ...string) *TicketKeys {
	t.Helper()
	var spec []string
	for _, id := range ids {
		key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id, 32)[:32]))
		spec = append(spec, id+":"+key)
	}
	ring, err := ParseTicketKeys(strings.Join(spec, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func someTicket() Ticket {
	t := Ticket{Event: "hall-1", Epoch: 3, Index: 41_234, Number: 7, IssuedAt: time.Unix(1_900_000_000, 0).UTC()}
	copy(t.Hash[:], "thirty-two bytes of holder hash!")
	return t
}

func TestTicketComesBackAsSigned(t *testing.T) {
	ring, want := testTicketKeys(t, "a"), someTicket()
	for _, want.Proven = range []bool{false, true} {
		text := ring.Sign(want)
		got, err := ring.Check(text, want.Event, want.Epoch)
		if err != nil || got != want {
			t.Fatalf("checked %+v, %v; want %+v", got, err, want)
		}
		if got, err = ring.Read(text); err != nil || got != want {
			t.Fatalf("read %+v, %v; want %+v", got, err, want)
		}
		if again := ring.Sign(want); again != text {
			t.Fatal("the same place has two tickets")
		}
		t.Logf("a ticket is %d characters", len(text))
	}
}

func TestTicketIsRefusedWithAReason(t *testing.T) {
	ring, ticket := testTicketKeys(t, "a"), someTicket()
	good := ring.Sign(ticket)
	other := ticket
	other.Event = "hall-2"
	for name, c := range map[string]struct {
		text  string
		epoch int64
		want  Refusal
	}{
		"empty":               {"", 3, Malformed},
		"not base64":          {"!!!!", 3, Malformed},
		"too long":            {strings.Repeat("A", 4096), 3, Malformed},
		"cut short":           {good[:20], 3, Malformed},
		"a byte longer":       {good + "A", 3, BadSignature},
		"another format":      {"B" + good[1:], 3, Malformed},
		"another's event":     {ring.Sign(other), 3, WrongEvent},
		"epoch before":        {good, 4, EpochChanged},
		"epoch to come":       {good, 2, EpochChanged},
		"a key of nobody's":   {testTicketKeys(t, "z").Sign(ticket), 3, BadSignature},
		"a namesake's key":    {forgedRing(t, "a").Sign(ticket), 3, BadSignature},
		"last letter changed": {good[:len(good)-3] + flip(good[len(good)-3]) + good[len(good)-2:], 3, BadSignature},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ring.Check(c.text, "hall-1", c.epoch)
			if !errors.Is(err, c.want) {
				t.Fatalf("refused with %v, want %v", err, c.want)
			}
		})
	}
}

// forgedRing has a key under a known id with other bytes.
func forgedRing(t testing.TB, id string) *TicketKeys {
	ring, err := ParseTicketKeys(id + ":" + base64.StdEncoding.EncodeToString([]byte("a ticket key that tests alone use")))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func TestTicketKeysRotate(t *testing.T) {
	before, during, after := testTicketKeys(t, "old"), testTicketKeys(t, "new", "old"), testTicketKeys(t, "new")
	old := before.Sign(someTicket())
	if _, err := during.Read(old); err != nil {
		t.Fatalf("a ticket of the old key during the rotation: %v", err)
	}
	if _, err := after.Read(during.Sign(someTicket())); err != nil {
		t.Fatalf("the first key did not sign: %v", err)
	}
	if _, err := after.Read(old); !errors.Is(err, BadSignature) {
		t.Fatalf("a ticket of a key taken out: %v", err)
	}
}

func TestTicketKeysThatAreNone(t *testing.T) {
	long := base64.StdEncoding.EncodeToString([]byte("a ticket key that tests alone use"))
	for _, spec := range []string{
		"", "a", "a:", ":" + long, "a:short", "a:" + long[:40], "a:" + long + ",a:" + long,
		strings.Repeat("k", 17) + ":" + long, "a:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	} {
		if _, err := ParseTicketKeys(spec); err == nil {
			t.Errorf("%q was accepted", spec)
		}
	}
}

// underRace reports whether the race detector runs: it makes a sync.Pool forget
// at random.
func underRace() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func TestTicketCheckAllocatesNothing(t *testing.T) {
	ring := testTicketKeys(t, "a", "b")
	text := ring.Sign(someTicket())
	allocs := testing.AllocsPerRun(1000, func() {
		if _, err := ring.Check(text, "hall-1", 3); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 && !underRace() {
		t.Fatalf("%v allocations a check, want none", allocs)
	}
}

// No text but the signed one is accepted, whatever was changed where.
func FuzzTicket(f *testing.F) {
	ring := testTicketKeys(f, "a")
	good := ring.Sign(someTicket())
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(strings.Repeat("A", len(good)))
	for i := range good {
		f.Add(good[:i] + flip(good[i]) + good[i+1:])
	}
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := ring.Read(text)
		if err == nil && ring.Sign(ticket) != strings.NewReplacer("\r", "", "\n", "").Replace(text) {
			t.Fatalf("%q was accepted as %+v", text, ticket)
		}
	})
}

func BenchmarkTicketCheck(b *testing.B) {
	ring := testTicketKeys(b, "a", "b")
	text := ring.Sign(someTicket())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Check(text, "hall-1", 3); err != nil {
			b.Fatal(err)
		}
	}
}
