package main

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The command answers as the specification's vectors do, index 0 included: of
// large draws every 97th, for each is a command line of its own.
func TestDrawNumberAnswersTheVectors(t *testing.T) {
	text, err := os.ReadFile("../../internal/draw/testdata/draw.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Seed    string
		Count   int64
		Index   []int64 // nil: 0 … Count−1
		Numbers []int64
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, v := range all {
		for i, want := range v.Numbers {
			if len(v.Numbers) > 33 && i%97 != 0 {
				continue
			}
			index := int64(i)
			if v.Index != nil {
				index = v.Index[i]
			}
			var out strings.Builder
			code := run(t.Context(), []string{
				"draw", "number", "--seed", v.Seed, "--count", strconv.FormatInt(v.Count, 10), "--index", strconv.FormatInt(index, 10),
			}, &out, io.Discard)
			if code != 0 || out.String() != strconv.FormatInt(want, 10)+"\n" {
				t.Fatalf("seed %s, %d people, index %d: exit %d saying %q, want %d", v.Seed, v.Count, index, code, out.String(), want)
			}
			asked++
		}
	}
	if t.Logf("%d numbers of %d draws", asked, len(all)); asked < 70 {
		t.Errorf("only %d numbers were asked for", asked)
	}
}
