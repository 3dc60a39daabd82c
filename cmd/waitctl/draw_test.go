package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
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

// A receipt of who came when the lobby had closed is none of the lobby, and no flaw
// of the draw; one of who came before and is not drawn is.
func TestAReceiptIsJudgedByWhenItsHolderCame(t *testing.T) {
	dir, seed := t.TempDir(), draw.NewSeed()
	commit := seed.Commit()
	closes := time.Date(2026, 3, 1, 12, 0, 0, 300e6, time.UTC)
	keys := signer(t)
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	status := file("status.json", fmt.Sprintf(`{"event":"gala","epoch":1,"draw":{"lobby_closes_at":%q,"commit":%q,"beacon":"","count":10,"seed":%q,"value":""}}`,
		closes.Format(time.RFC3339Nano), hex.EncodeToString(commit[:]), hex.EncodeToString(seed[:])))
	jwks := file("jwks.json", string(keys.JWKS()))
	for name, c := range map[string]struct {
		index int64
		after time.Duration
		code  int
		says  string
	}{
		"drawn":                                {3, -time.Minute, 0, "index 3 has number"},
		"after the closing":                    {10, 200 * time.Millisecond, 0, "came after the closing, keeps number 10"},
		"drawn, as the lobby was being closed": {9, 200 * time.Millisecond, 0, "index 9 has number"},
		"before the closing, and not drawn":    {10, -2 * time.Second, 2, "only 10 were drawn"},
	} {
		text, err := keys.SignReceipt(admission.Receipt{Event: "gala", Epoch: 1, Holder: "ann", Index: c.index, Commit: hex.EncodeToString(commit[:]), At: closes.Add(c.after)})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		code := run(t.Context(), []string{"draw", "verify", status, "--jwks", jwks, "--receipt", file("receipt", text)}, &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit %d saying %q, want %d saying %q", name, code, out.String(), c.code, c.says)
		}
	}
}

func signer(t *testing.T) *admission.PassKeys {
	t.Helper()
	key, err := admission.NewPassKey()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := admission.ParsePassKeys("waitroom", key)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
