package seating

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
)

// priced is a plan with every category at its length in minor units.
func priced(t testing.TB, data []byte) Hall {
	t.Helper()
	p := parsed(t, "plan.json", data)
	o := Offer{Currency: "EUR"}
	for _, c := range p.Categories {
		o.Prices = append(o.Prices, Price{Category: c.Name, AmountMinor: int64(len(c.Name))})
	}
	h, err := Sell(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// drawsWhole reads a seat map as docs/SEATMAP.md tells a browser to, and wants
// every seat of the hall back at its pos.
func drawsWhole(t *testing.T, h Hall) {
	t.Helper()
	doc, hash := h.Seatmap()
	if sum := sha256.Sum256(doc); hash != hex.EncodeToString(sum[:]) {
		t.Fatalf("the hash %s is not the document's", hash)
	}
	var m struct {
		Scale, Seats int
		Tiers        []struct {
			ID     string
			Amount int64
		}
		Sections []string
		Rows     []struct {
			Section, General int
			Row, Prefix      string
			Numbers, GUIDs   []string
			X, Y, Accessible []int
			Tier             json.RawMessage
		}
	}
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatal(err)
	}
	pos := 0
	for _, r := range m.Rows {
		n := max(r.General, len(r.Numbers))
		tiers := make([]int, n)
		if r.Tier[0] == '[' {
			if err := json.Unmarshal(r.Tier, &tiers); err != nil {
				t.Fatal(err)
			}
		} else {
			one, _ := strconv.Atoi(string(r.Tier))
			for i := range tiers {
				tiers[i] = one
			}
		}
		var x, y int
		for i := range n {
			got := Seat{Section: m.Sections[r.Section], Row: r.Row, Kind: Numbered, Category: m.Tiers[tiers[i]].ID}
			if r.General > 0 {
				got.Kind, got.Number = General, strconv.Itoa(i+1)
			} else {
				x, y = x+r.X[i], y+r.Y[i]
				got.Number, got.X, got.Y = r.Numbers[i], float64(x)/float64(m.Scale), float64(y)/float64(m.Scale)
			}
			got.GUID = r.Prefix + got.Number
			if len(r.GUIDs) > 0 {
				got.GUID = r.GUIDs[i]
			}
			for _, a := range r.Accessible {
				if a == i {
					got.Kind = Accessible
				}
			}
			want := h.Plan.Seats[pos]
			if math.Abs(want.X-got.X) > 0.0501 || math.Abs(want.Y-got.Y) > 0.0501 {
				t.Fatalf("seat %d is drawn at (%g, %g), stands at (%g, %g)", pos, got.X, got.Y, want.X, want.Y)
			}
			want.X, want.Y = got.X, got.Y
			if got != want {
				t.Fatalf("seat %d is drawn as %+v, is %+v", pos, got, want)
			}
			pos++
		}
	}
	if pos != len(h.Plan.Seats) || m.Seats != pos {
		t.Fatalf("%d seats drawn, %d said, %d in the hall", pos, m.Seats, len(h.Plan.Seats))
	}
}

func TestSeatmapDrawsEverySeatAtItsPos(t *testing.T) {
	drawsWhole(t, priced(t, concertHall(t)))
	drawsWhole(t, priced(t, arena(t)))
	p := parsed(t, "plan.csv", []byte(mixed))
	h, err := Sell(p, Offer{
		Currency: "JPY", Prices: []Price{{Category: "A", AmountMinor: 1}, {Category: "B", AmountMinor: 2}},
		Admissions: []Admission{{Section: "Lawn", Category: "B", Count: 3}, {Section: "Lawn", Category: "A", Count: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	drawsWhole(t, h)
}

// The same hall gives the same bytes, so its hash names it for ever; any
// difference gives another.
func TestSeatmapIsTheHallsOwn(t *testing.T) {
	_, one := priced(t, concertHall(t)).Seatmap()
	_, two := priced(t, concertHall(t)).Seatmap()
	_, moved := priced(t, bytes.Replace(concertHall(t), []byte("-450"), []byte("-451"), 1)).Seatmap()
	dearer := priced(t, concertHall(t))
	dearer.Tiers[0].AmountMinor++
	_, three := dearer.Seatmap()
	if one != two || one == moved || one == three {
		t.Errorf("the same hall: %s, %s; a seat moved: %s; a price changed: %s", one, two, moved, three)
	}
}

// A phone in a crowd fetches this: at most 3 kB a thousand seats, compressed.
func TestSeatmapIsSmall(t *testing.T) {
	for name, data := range map[string][]byte{"concert hall": concertHall(t), "arena": arena(t)} {
		h := priced(t, data)
		doc, _ := h.Seatmap()
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := w.Write(doc); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		perThousand := z.Len() * 1000 / len(h.Plan.Seats)
		t.Logf("%s: %d seats, %d bytes, %d compressed: %d a thousand seats", name, len(h.Plan.Seats), len(doc), z.Len(), perThousand)
		if perThousand > 3000 {
			t.Errorf("%s: %d compressed bytes a thousand seats, want at most 3000", name, perThousand)
		}
	}
}

// A plan without a size, or with seats outside of it, is in view all the same.
func TestEverySeatIsInView(t *testing.T) {
	for name, data := range map[string][]byte{
		"sized": []byte(hall), "no size": edit(t, `"size": {"width": 100, "height": 80},`, ``),
		"outside": edit(t, `{"x": 10, "y": 20}`, `{"x": -500, "y": 20000}`), "arena": arena(t),
	} {
		h := priced(t, data)
		box := h.Plan.box()
		for _, s := range h.Plan.Seats {
			x, y := tenths(s.X)-box[0], tenths(s.Y)-box[1]
			if x < 0 || y < 0 || x > box[2] || y > box[3] {
				t.Fatalf("%s: seat %s at (%g, %g) is outside of %v", name, s.GUID, s.X, s.Y, box)
			}
		}
	}
}

// A colour goes into a page; nothing but a colour may.
func TestColoursAreColours(t *testing.T) {
	for _, good := range []string{"#fff", "#11223344", "red", "rgb(1, 2, 3)", "hsla(120deg, 50%, 20%, .5)"} {
		if color(good) != good {
			t.Errorf("%s was dropped", good)
		}
	}
	for _, bad := range []string{`"><script>`, "url(x)", "red;background:url(x)", "expression(1)", strings.Repeat("a", 50)} {
		if color(bad) != "" {
			t.Errorf("%s was kept", bad)
		}
	}
}
