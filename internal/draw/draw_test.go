package draw_test

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/draw"
)

//go:embed testdata/draw.json
var vectors []byte

type vector struct {
	Seed    string
	Count   int64
	Index   []int64 // nil: 0 … Count−1
	Numbers []int64
}

func seed(t testing.TB, text string) (s draw.Seed) {
	t.Helper()
	if n, err := hex.Decode(s[:], []byte(text)); err != nil || n != len(s) {
		t.Fatalf("seed %q: %d bytes, %v", text, n, err)
	}
	return s
}

// The numbers are those of Ethereum's consensus specification.
func TestNumbersAreTheSpecifications(t *testing.T) {
	var all []vector
	if err := json.Unmarshal(vectors, &all); err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, v := range all {
		s := draw.New(seed(t, v.Seed), v.Count)
		for i, want := range v.Numbers {
			index := int64(i)
			if v.Index != nil {
				index = v.Index[i]
			}
			if got := s.Number(index); got != want {
				t.Fatalf("seed %s, %d people: index %d gets %d, want %d", v.Seed, v.Count, index, got, want)
			}
			judged++
		}
	}
	t.Logf("%d numbers of %d draws", judged, len(all))
	if judged < 1000 {
		t.Errorf("only %d numbers were judged", judged)
	}
}

// Everybody drawn gets a number of their own, and all numbers are given.
func TestDrawIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s draw.Seed
		copy(s[:], rapid.SliceOfN(rapid.Byte(), len(s), len(s)).Draw(t, "seed"))
		count := rapid.Int64Range(1, 700).Draw(t, "count")
		shuffle := draw.New(s, count)
		given := make([]bool, count)
		for i := range count {
			n := shuffle.Number(i)
			if n < 0 || n >= count || given[n] {
				t.Fatalf("index %d of %d gets %d, which is another's or none", i, count, n)
			}
			given[n] = true
		}
		if late := count + rapid.Int64Range(0, 100).Draw(t, "late"); shuffle.Number(late) != late {
			t.Fatalf("who came as %d, after the lobby of %d, gets %d", late, count, shuffle.Number(late))
		}
	})
}

// The seed cannot be told from its commitment, nor the draw from the seed
// without its beacon.
func TestBothValuesDecide(t *testing.T) {
	a, b := draw.NewSeed(), draw.NewSeed()
	if a == b || a.Commit() == b.Commit() || a.Commit() != sha256.Sum256(a[:]) {
		t.Error("two seeds are one, or the commitment is not the seed's SHA-256")
	}
	if a.Mix("x") == a.Mix("y") || a.Mix("x") == b.Mix("x") || a.Mix("") == a {
		t.Error("seed and beacon do not both decide")
	}
	if got, want := a.Mix("12 34"), sha256.Sum256(append(a[:], "12 34"...)); got != want {
		t.Errorf("mixed %x, want %x", got, want)
	}
}

func TestNobodyIsDrawn(t *testing.T) {
	s := draw.New(draw.Seed{1}, 0)
	for _, i := range []int64{0, 1, 17} {
		if n := s.Number(i); n != i {
			t.Errorf("in an empty lobby index %d gets %d", i, n)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	s := draw.New(draw.NewSeed(), 1_000_000)
	b.ReportAllocs()
	for i := range b.N {
		s.Number(int64(i % 1_000_000))
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		draw.New(draw.Seed{1}, 1_000_000)
	}
}
